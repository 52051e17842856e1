"""A solver that lets a player learn a linear model: every example is a round."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from stepless.arrays import Array, Indices
from stepless.compiled.rows import spread
from stepless.games.costs import Cost, ExampleLoss
from stepless.games.players import Player
from stepless.games.players.refusals import refuse_non_player
from stepless.mirrors.elastic import elastic_shares
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.tangents import finding_of_pass
from stepless.solvers.solver import Finding

Iterate = Literal["average", "last"]


@dataclass
class PlayerState:
    """The player, and the sum of all its decisions so far."""

    player: Player
    ridge: float  # strength of a ridge that is added to each cost
    plays: Array
    rounds: int = 0


class Ridged(Cost):
    """f(w) + (λ/2)‖w‖²."""

    def __init__(self, f: Cost, strength: float) -> None:
        self.f, self.strength, self.d = f, strength, f.d
        self.smoothness = f.smoothness + strength

    def value(self, w: Array) -> float:
        return self.f.value(w) + 0.5 * self.strength * float(w @ w)

    def gradient(self, w: Array) -> Array:
        return self.f.gradient(w) + self.strength * w


class LearnerFromPlayer:
    """A solver that lets a player decide, example after example, in their order.

    Solves      min_w∈S Ω(w) + R(w), one example per round: f_t(w) = s_i ℓ(⟨w, x_i⟩, y_i) + Ω(w)
    Algorithm   from online to batch, MAH §2.2.5: the mean of all decisions so far
    Guarantee   for examples drawn at random, E J(w̄_T) − J* ≤ E regret/T, and the player's theorem
                bounds its regret
    Cost        the player's, m times per pass, with O(d) more per example
    Needs       a bounded domain, no free intercept; a penalty that the player takes, or a ridge
    Differs     examples are taken in their order, pass after pass, so that each pass leaves a plane
                for the certificate. The player has its own first decision, whatever the start

    Parameters
    ----------
    player
        The player; a copy of it is used.
    iterate
        The weights of a pass: the ``"average"`` of all decisions so far or the ``"last"``.
    seed
        Seed of the player's random draws.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> from stepless.games import OGD, LearnerFromPlayer
    >>> clf = LinearClassifier(
    ...     domain="ball(10)", penalty="none", fit_intercept=False,
    ...     solver=LearnerFromPlayer(OGD()), passes=20,
    ... )
    >>> clf.fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1]).predict([[-1.5], [1.5]])
    array([0, 1])
    """

    online = True
    needs = RowRisk

    def __init__(self, player: Player, iterate: Iterate = "average", seed: int = 0) -> None:
        if iterate not in ("average", "last"):
            raise ValueError(f"iterate must be 'average' or 'last', not {iterate!r}")
        refuse_non_player(player)
        self.player, self.iterate, self.seed = player, iterate, seed
        self.name = player.name

    def lacks(self, objective: Objective) -> str | None:
        if objective.outputs > 1:
            return (
                f"does not know {type(objective.loss).__name__}, a loss of several classes at "
                "once; use multi_class='ovr'"
            )
        if objective.intercept:
            return (
                "has no free intercept; use fit_intercept=False, if need be with a feature that "
                "is always 1"
            )
        try:
            self._enter(objective, _trial_size(objective))
        except ValueError as error:
            return f"cannot play: {error}"
        return None

    def start(self, risk: RowRisk, w: Array, b: Any) -> PlayerState:
        return self.begin_stream(risk.objective, w, b)

    def begin_stream(self, objective: Objective, w: Array, b: Any) -> PlayerState:
        return PlayerState(*self._enter(objective, w.size), np.zeros(w.size))

    def step(self, risk: RowRisk, state: PlayerState, rng: Generator) -> Finding:
        return self.walk(risk, state, np.arange(risk.m, dtype=np.uint32), rng)

    def walk(
        self, risk: RowRisk, state: PlayerState, order: Indices, rng: Generator | None = None
    ) -> Finding:
        """Pass over the examples in a given order."""
        scores = self.learn(risk, state, order)
        return finding_of_pass(risk, self._point(state), 0.0, order, scores[:, 0])

    def learn(
        self, risk: RowRisk, state: PlayerState, order: Indices, rng: Generator | None = None
    ) -> Array:
        """Learn one more chunk; return the predictions before each example was learned (m × 1)."""
        player, scores = state.player, np.empty((order.size, 1))
        loss, X, y, s = risk.problem
        values_only = player.feedback == "values"
        for k, i in enumerate(order.tolist()):
            x = np.empty(risk.d)
            spread(X, i, x)
            f = ExampleLoss(loss, x, y[i], s[i])
            cost: Cost = Ridged(f, state.ridge) if state.ridge > 0.0 else f
            points, w = player.play(), player.w
            state.plays += w
            scores[k] = float(x @ w)
            values = [cost.value(v) for v in np.atleast_2d(points)] if values_only else None
            player.observe(cost if values is None else values)
        state.rounds += order.size
        return scores

    def weights(self, objective: Objective, state: PlayerState) -> tuple[Array, Array]:
        """Return the weights (d × 1) and an intercept of 0."""
        return self._point(state).reshape(-1, 1), np.zeros(1)

    def _point(self, state: PlayerState) -> Array:
        if self.iterate == "last" or state.rounds == 0:
            return state.player.w.copy()
        return state.plays / state.rounds

    def _enter(self, objective: Objective, d: int) -> tuple[Player, float]:
        """Return a copy of the player in the game, and the ridge if the player does not take it."""
        penalty = None if objective.regularizer.zero else objective.regularizer
        player = copy.deepcopy(self.player)
        try:
            return player.enter(objective.domain, d, penalty=penalty, seed=self.seed), 0.0
        except ValueError:
            shares = elastic_shares(penalty)
            if penalty is None or shares is None or shares[0] > 0.0:
                raise
        player = copy.deepcopy(self.player)
        return player.enter(objective.domain, d, seed=self.seed), shares[1]


def _trial_size(objective: Objective) -> int:
    """Return a number of weights that the domain admits."""
    for name in ("A", "center"):
        array = getattr(objective.domain, name, None)
        if array is not None:
            return int(array.shape[-1])
    return 4  # a matrix, too
