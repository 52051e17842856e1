"""The next point of a bundle whose penalty is not curved: near the best one, if the model is low.

The minimiser of a model with corners is a corner of it, far from all that is known. Instead,
w_{t+1} minimises Ω(w) + max(0, max_i ⟨a_i, w⟩ + b_i) + ‖w − c‖²/(2η) around the best point c, where
η is such that the model comes down to a level between the bound and the best objective: about the
projection of c onto a level set (Lemaréchal, Nemirovskii, Nesterov 1995).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.certificates import GeneralPlanes, PolyhedralPlanes
from stepless.jit import compiled
from stepless.objective import Penalized, Regularizer

DUALS = 3  # dual points: of the certificate, of moves, of long moves
_MOVE, _LONG = 1, 2
_LOW, _HIGH = 0.4, 0.8  # shares of the gap between which the level may lie
_TRIALS = 12  # of η; after the last, its point is taken as it is
_FARTHEST = 64.0  # by how much η may grow in a round
_LONGEST = 1e10  # and in all
_LONG_STEPS, _LONGER = 12, 4.0  # where only the bound matters: how many, and how η grows
_PROVED = 0.1  # of the gap: how near a bound is to the model's minimum
_ENOUGH = 0.02  # of the gap: how exactly a model is minimised
_ROUNDS = 8  # between good bounds, each of which takes longer than a pass


@dataclass
class LevelState:
    """The numbers that one level step leaves to the next."""

    eta: float = 0.0  # the last one
    longest: float = 0.0  # beyond, the distance to the best point hardly counts
    wait: int = 0  # rounds until a good bound is due


class _ProximalModel:
    """Ω + the domain + ‖w − c‖²/(2η), by its conjugate: weights are proxes."""

    def __init__(self, objective: Penalized, centre: Array, eta: float) -> None:
        self._objective, self._centre, self._eta = objective, centre, eta
        K = objective.outputs
        self._steps = np.full((centre.size // K, K), eta)
        self._low, self._high = -math.inf, math.inf
        if objective.domain.separable:
            self._low, self._high = objective.domain.interval()

    def weights(self, u: Array) -> Array:
        w = self._centre + self._eta * u
        _shrink(self._objective.regularizer, w.reshape(self._steps.shape), self._steps)
        if not self._objective.domain.separable:
            self._objective.domain.project(w)
        return np.clip(w, self._low, self._high)

    def curvature(self, u: Array) -> tuple[Array, float, Array]:
        w, domain = self.weights(u), self._objective.domain
        moves = w != 0.0
        if domain.separable:
            if self._objective.regularizer.zero:
                moves[:] = True  # nothing holds a weight at 0 but an end of its interval
            inside = (self._low < w) & (w < self._high)
            return self._eta * (moves & inside), 0.0, np.zeros(w.size)
        full = domain.simplex or float(np.abs(w).sum()) >= (1.0 - 1e-12) * domain.l1_radius()
        share = self._eta / max(int(moves.sum()), 1) if full else 0.0
        return self._eta * moves, -share, np.sign(w)


@compiled("w[d,K] steps[d,K]")
def _shrink(regularizer: Regularizer, w: Array, steps: Array) -> None:
    regularizer.shrink(w, steps)


def _descend(
    objective: Penalized, planes: GeneralPlanes, w: Array, lowest: float, eta: float
) -> tuple[float, Array, bool]:
    """Descend on the model by ever longer steps, until their dual point proves its minimum.

    Return the bound, the point, and whether that was so.
    """
    bound = planes.bound_of(_LONG, objective, lowest)
    for _ in range(_LONG_STEPS):
        near = _ProximalModel(objective, w, eta)
        w = planes.minimise(near, _ENOUGH * (lowest - bound), _LONG)
        bound = planes.bound_of(_LONG, objective, lowest)
        if _model(objective, planes, w) - bound <= _PROVED * (lowest - bound):
            return bound, w, True
        eta *= _LONGER
    return bound, w, False


def _model(objective: Penalized, planes: GeneralPlanes, w: Array) -> float:
    return objective.penalty(w) + planes.height(w)


def level_step(
    objective: Penalized, planes: GeneralPlanes, best: Array, lowest: float, level: LevelState
) -> tuple[float, Array]:
    """Return the bound on the optimum and the next point, near the best one, with J = `lowest`.

    Every step's own dual point gives a bound; now and then a better one is sought: by a linear
    programme where the model is that, else by steps towards its minimum. A level that is not
    reached says that the bound is too low.
    """
    if level.eta == 0.0 and lowest < math.inf:
        square = float(planes.A[-1] @ planes.A[-1])
        level.eta = lowest / square if square > 0.0 else 0.0  # to where the plane meets 0
        level.longest = _LONGEST * level.eta
    bound, w, fresh = planes.bound_of(_MOVE, objective, lowest), best, False
    if level.wait > 0:
        level.wait -= 1
        planes.age_unused()
    else:
        level.wait = _ROUNDS - 1
        if isinstance(planes, PolyhedralPlanes):
            bound, w = planes.lower_bound(objective, lowest)
            fresh = True
        elif level.eta > 0.0:
            bound, w, fresh = _descend(objective, planes, best, lowest, level.eta)
            planes.age_unused()
    if not (level.eta > 0.0 and lowest > bound):
        return bound, w
    return bound, _to_level(objective, planes, level, (best, lowest, bound), fresh)


def _to_level(
    objective: Penalized,
    planes: GeneralPlanes,
    level: LevelState,
    known: tuple[Array, float, float],
    fresh: bool,
) -> Array:
    """Return the point near the best one at which the model is about at the level; adapt η.

    `known` is the best point, its objective and the bound; `fresh` says that the bound is a good
    one.
    """
    best, lowest, bound = known
    gap = lowest - bound
    farthest = min(_FARTHEST * level.eta, level.longest)
    short, long, before = 0.0, math.inf, math.inf
    for _ in range(_TRIALS):
        w = planes.minimise(_ProximalModel(objective, best, level.eta), _ENOUGH * gap, _MOVE)
        model = _model(objective, planes, w)  # the lower the farther
        if model < bound + _LOW * gap:
            long = level.eta
        elif model <= bound + _HIGH * gap or level.eta >= farthest:
            break
        elif not fresh and before - model <= _ENOUGH * gap:  # no step seems long enough
            level.eta, level.wait = short, 0
            break
        else:
            short, before = level.eta, model
        if short == 0.0:
            level.eta = long / 4.0
        else:
            level.eta = min(4.0 * short, math.sqrt(short * long), farthest)
    return w
