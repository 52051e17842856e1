"""Dual coordinate ascent."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import dual_ascent as loops
from stepless.data import Column, sum_blocks
from stepless.objective import Objective
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.dual_moves import Move, climb
from stepless.solvers.batch.dual_variables import DualAscentState, effects
from stepless.solvers.solver import Finding, needs_euclidean_sum, needs_ridge

_SHORTEST, _LONGEST = 2.0, 8.0  # sweeps per step; few, so that a limit of seconds is kept
_LONG = 32.0  # entries per example in a sweep, that is worth a longer move along it
_CAUTION = 0.1  # of a sweep's largest move: an example this far from moving rests
_LAGGING = 0.75  # of the last |Σ s_i a_i|: from there on r² doubles,
_MOST_BIAS = 0.5  # to at most this part of Σ s_i‖x_i‖²/m: a larger r² slows the sweeps


class DualAscent:
    """Exact steps in one dual variable at a time; the dual point is its own certificate.

    Solves      min_w (λ/2)‖w‖² + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/m by
                max_a D(a) = −Σ s_i ℓ*(a_i, y_i)/m − (λ/2)‖w(a)‖², w(a) = −Σ s_i a_i x_i/(λm)
    Algorithm   Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate descent method for
                large-scale linear SVM" (2008), Alg. 3, for any loss: the step in a_i alone ends
                where a_i ∈ ∂ℓ(z_i), with z_i moving by −q_i = −s_i‖x_i‖²/(λm) a unit of a_i; in a
                new random order each sweep, and examples that do not move rest. Rows that are slow
                to read come in turns (Yu, Hsieh, Chang, Lin, "Large linear classification when data
                cannot fit in memory" (2010)): a sweep over those of a turn, up to two more
                over the few that move, then the next turn's; there nobody rests between walks.
                Two halves of a turn are swept at the same time, from the same weights, and their
                changes added up, each half taking q_i and its own changes for twice what they are
                (Ma et al., "Adding vs. averaging in distributed primal-dual optimization" (2015):
                σ' = 2)
    Guarantee   D(a) ≤ J* at every step, and D rises with every coordinate (in turns, with every
                sweep of a turn). E J(w(a)) − D(a) ≤ ε
                after O((m + L²R²/(λε)) log) coordinate steps for an L-Lipschitz loss,
                O((m + βR²/λ) log 1/ε) for a β-smooth one, ‖x_i‖ ≤ R (Shalev-Shwartz & Zhang,
                "Stochastic dual coordinate ascent methods" (2013), Th. 2 and 5)
    Cost        a step is √t sweeps (t: those before it; 2 to 8) over the examples that move, on one
                thread (in turns, two), and one pass over all on all threads; memory O(m + d)
    Needs       λ > 0, no domain, and of the loss `implicit_slope` and `conjugate`
    Differs     An example rests if its step is none at predictions a tenth of the last sweep's
                largest move away, too; the certificate's pass over all examples calls back those
                that would move. It also computes w(a) anew, so that nothing drifts. A free
                intercept is a constant feature r, penalised by its distance from a centre that
                moves there after each step: the method of multipliers for Σ s_i a_i = 0. For the
                bound, the a_i of one sign are scaled down until that holds. r² begins at
                max(Σ s_i‖x_i‖²/(10m), 10λ) and grows while Σ s_i a_i hardly falls: with a larger
                one the sweeps converge more slowly, with a smaller one the multiplier.
                Where many entries are swept, all a_i go on along the last sweep's move before
                the next one, as far as D is highest, if it rises: 36 sweeps of imdb, hinge, 1e-6,
                not 49.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1, solver="dual-ascent")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "dual-ascent"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        if lack := needs_euclidean_sum(objective) or needs_ridge(objective):
            return lack
        if not objective.loss.offers("implicit_slope", "conjugate"):
            return (
                "needs a loss with implicit_slope and conjugate, "
                f"and {type(objective.loss).__name__} has not both; use solver='proximal-bundle'"
            )
        return None

    def start(self, risk: RowRisk, w: Array, b: float) -> DualAscentState:
        source, objective, m = risk.source, risk.objective, risk.m
        slow, squares, strength = source.home.slow, np.full(m, math.nan), objective.strength
        if slow and not w.any():  # the first walk finds them
            length = float(risk.sizes @ risk.sizes)
        else:
            squares = source.column(loops.squares).whole
            length = float(source.s @ squares) / m
        bias_square = _least_bias_square(objective, length)
        q = effects(squares, source.s, bias_square, strength * m)
        order = np.flatnonzero(source.s if not slow else ()).astype(np.uint32)
        point = np.zeros(m), w.copy(), np.array([b, math.inf, 0.0])
        state = DualAscentState(*point, q, length, bias_square, order, order.size, strength)
        if w.any():
            self._explain(risk, state)
        elif objective.intercept:
            state.motion[loops.BIAS] = risk.cut_at_zero(b).b
        return state

    def resume(self, risk: RowRisk, state: DualAscentState) -> DualAscentState:
        """Return a state at the best dual variables in a plane through those carried along.

        They are feasible at every strength, and w(a) grows as λ falls. In the plane they are scaled
        down, and extrapolated from those of the strength before, to the highest dual objective.
        """
        ratio = state.strength / risk.objective.strength
        b, moves = float(state.motion[loops.BIAS]), list[Move]()
        bias_square = _least_bias_square(risk.objective, state.length)
        grown = (bias_square - state.bias_square) / (risk.objective.strength * risk.m)
        found = replace(
            state,
            a=state.a.copy(),
            w=ratio * state.w,
            motion=np.array([b, math.inf, 0.0]),
            q=state.q * ratio + risk.source.s * grown,
            bias_square=bias_square,
            order=state.order.copy(),
            active=state.order.size,
            strength=risk.objective.strength,
            before=state.waypoint() if ratio != 1.0 else None,
            last=None,
            tilt=math.inf,
            work=0.0,
            given=None,
            resumed=True,
        )
        if ratio > 1.0:
            moves.append(Move.to_zero(found, 1.0 / ratio))
        if state.before is not None and ratio != 1.0:
            moves.append(Move.onward(found, state.before, b - state.before.b))
        if moves:
            climb(risk, found, moves)
        return found

    def _explain(self, risk: RowRisk, state: DualAscentState) -> None:
        """Take the slopes at w as dual variables, and set w to their weights."""
        w, b = state.w, float(state.motion[loops.BIAS])
        loops.explain(risk.problem, state.q, risk.source.predictions(w, b), state.a)
        (total, _), _, g = _gather(risk, state, (1.0, 1.0))
        state.given = risk.objective.penalty(w) + total, w, b
        state.w = g.sum(axis=0) / -risk.objective.strength

    def step(self, risk: RowRisk, state: DualAscentState, rng: np.random.Generator) -> Finding:
        # A certificate costs about half a sweep. With √t sweeps between two of them, they cost
        # about as much as is swept in vain before the last one.
        least = 1.0 if state.resumed and not state.work else _SHORTEST
        until = state.work + min(_LONGEST, max(least, math.sqrt(state.work)))
        moves = True
        while state.work < until and moves:
            long = state.active * risk.source.nnz > _LONG * risk.m**2
            if long and state.last is not None:
                climb(risk, state, [Move.onward(state, state.last)])
            state.last = state.waypoint() if long else None
            top = state.walk(risk, rng)
            moves = top > 0.0
            state.motion[loops.SLACK] = _CAUTION * top
        return self._certify(risk, state)

    def _certify(self, risk: RowRisk, state: DualAscentState) -> Finding:
        """Return the point and its bound; reactivate examples that should move; recompute w."""
        objective, motion, a = risk.objective, state.motion, state.a
        w, b = state.w, float(motion[loops.BIAS])
        shares, shift = self._level(risk, state) if objective.intercept else ((1.0, 1.0), 0.0)
        (total, conjugates), z, g = _gather(risk, state, shares)
        motion[loops.BIAS] += shift  # the centre is now where the intercept was
        state.recall(risk, z, shift)
        state.w = g.sum(axis=0) / -objective.strength

        level = shares[0] * g[0] + shares[1] * g[1] if objective.intercept else g[0]
        slope = float(np.sqrt(level @ level))
        best = objective.penalty(w) + total, w, b
        if state.given is not None and state.given[0] < best[0]:
            best = state.given
        state.given = None
        (value, w, b), bound = best, objective.floor(slope, -conjugates)
        claim = Slopes(risk.source.split(a.copy()))
        return Finding(w, b, value, lower_bound=bound, claim=claim)

    @staticmethod
    def _level(risk: RowRisk, state: DualAscentState) -> tuple[tuple[float, float], float]:
        """Return the shares of a_i > 0 and a_i < 0 that are level in b, and the multiplier's step.

        Any share of a_i is feasible, as 0 is: the losses are bounded below.
        """
        s, scale = risk.source.s, risk.objective.strength * risk.m
        rise, fall = float(s @ np.maximum(state.a, 0.0)), float(s @ np.maximum(-state.a, 0.0))
        least, tilt = min(rise, fall), abs(rise - fall)
        if tilt > _LAGGING * state.tilt and state.bias_square < _MOST_BIAS * state.length:
            state.q += s * state.bias_square / scale
            state.bias_square *= 2.0
        state.tilt = tilt
        shares = (least / rise if rise else 0.0, least / fall if fall else 0.0)
        return shares, state.bias_square * (fall - rise) / scale  # −r²Σ s_i a_i/(λm)


def _least_bias_square(objective: Objective, length: float) -> float:
    """Return the r² with which a run begins."""
    return max(0.1 * length, 10.0 * objective.strength) if objective.intercept else 0.0


def _gather(
    risk: RowRisk, state: DualAscentState, shares: tuple[float, float]
) -> tuple[tuple[float, float], Column, Array]:
    """Return means of losses and conjugates; predictions; Σ s_i a_i x_i/m by sign of a_i."""
    b, kinds = float(state.motion[loops.BIAS]), 2 if risk.objective.intercept else 1
    z, given = risk.source.empty(), (risk.objective.loss, (state.w, b), shares)
    a, shape = risk.source.split(state.a), (kinds, risk.d)
    parts, g = risk.source.survey((z,), loops.gather, shape, a, *given)
    total, conjugates = (part / risk.m for part in sum_blocks(parts))
    return (total, conjugates), z, g / risk.m
