"""The primal gradient solver."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import primal_gradient
from stepless.compiled.links import Linear, Power, Separate
from stepless.compiled.primal_gradient import Rule
from stepless.compiled.rows import longest
from stepless.objective import Objective, Regularizer
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterate, Iterates, IterateSum, Point
from stepless.solvers.online.pass_solver import UNKNOWN, PassSolver
from stepless.solvers.online.segments import first_intercept
from stepless.solvers.solver import Finding, needs_one_output, needs_steps

_ROUNDS = 100  # that a pass has at least, whatever the batch
_HALVINGS = 200


@dataclass
class PGSState:
    """Dual weights, numbers of the compiled loop, and sums of the iterates."""

    kept: Array
    motion: Array
    first: float  # R(0), the intercept at its best: Ω(w*) is no larger
    level: float  # that intercept
    passes: int = 0
    iterates: Iterates = field(default_factory=Iterates)
    picked: Array = field(default_factory=lambda: np.zeros(0))  # the iterate that is drawn
    clock: int = 0  # examples learned
    rounds: int = 0  # of the segment that is under way
    lost: float = 0.0  # R(0) of a stream, as far as it is known


class PGS(PassSolver[PGSState]):
    """Dual averaging: gradients are summed, and ∇Ω* of their sum gives each round's weights.

    Solves      min_w Ω(w) + R(w), one batch per round; ‖w‖_p ≤ B if asked
    Algorithm   ZHU Fig. 1, 2, with the ball's ‖w‖_p (docs/papers.md): θ ← θ − mean of ∂ℓ over the
                batch at w_{t−1}; w_t = ∇Ω*(θ/(t + 1)), scaled into the ball
    Guarantee   Σ_t c_t(w_{t−1}) − c_t(u) ≤ ½ Σ_t ‖λ_t‖_q²/(αt) for every u, c_t the objective on
                batch t (ZHU Lemma 1 as mended); so E J(w̄) − J* ≤ L²(1 + log T)/(2αT) for the mean
                w̄ of w_0, …, w_{T−1}, or one of them drawn, if batches are drawn independently
    Cost        O(nnz) per round for every p, O(d) memory: w_j depends on θ_j and on Σ|θ_j|^q alone,
                which is carried along; the paper's is O(nnz + d) for p < 2
    Needs       l2, lp(p), elasticnet, entropy, hyperbolic, or a penalty with a smooth conjugate; a
                Lipschitz or a smooth loss; for domains l2 or lp(p), and a ball of the same norm
    Differs     Random order without replacement, so that a pass leaves a plane for the certificate.
                Ω(w*) ≤ R(0), so that weights are kept in the ball that this implies, for every
                loss. A free intercept moves by DLF Alg. 2 with λ = 0; for the paper's, which the
                norm sees, add a column of ones. In a stream R(0) is that of the examples before,
                taken anew after 1, 2, 4, 8, … of them; the intercept begins as in Pegasos

    Parameters
    ----------
    iterate
        The point that a pass offers: the ``"last"`` iterate; the ``"average"`` of all so far; the
        ``"suffix"`` average of at least the last half; or one drawn uniformly at ``"random"`` from
        all so far, as in the paper.
    batch
        Examples per round. None: 1, but d over the mean number of non-zeros for p < 2 (ZHU §VII),
        so that one power is taken for many entries; 1 in a stream. Larger ones end there with a
        chunk: only with batches of 1 is the result independent of the cuts.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="lp(1.5)", alpha=1e-2, solver="pgs", passes=50)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "pgs"

    def __init__(self, iterate: Iterate = "last", batch: int | None = None) -> None:
        super().__init__(iterate, batch)
        self.batch = batch

    def lacks(self, objective: Objective) -> str | None:
        loss, penalty, domain = objective.loss, objective.regularizer, objective.domain
        if lack := needs_one_output(loss, "; use solver='auto', or multi_class='ovr'"):
            return lack
        if not penalty.smooth_conjugate():
            return (
                f"needs a penalty with a smooth conjugate, and {type(penalty).__name__} has none; "
                "use penalty='l2', 'lp(p)' or 'elasticnet(ρ)', or solver='auto'"
            )
        p = penalty.norm_exponent
        if not domain.free and (p is None or p != domain.ball_exponent):
            return (
                "knows the domains free and the ball of the penalty's norm; use domain='ball(R)' "
                "for l2, 'lp_ball(R, p)' for lp(p), or solver='auto'"
            )
        if lack := needs_steps(loss, "; use solver='auto', if need be with domain='free'"):
            return lack
        if self.iterate in ("average", "suffix") and not _link(objective, 0.0).linear:
            return (
                f"has no cheap average for {type(penalty).__name__}; use iterate='last' or 'random'"
            )
        return None

    def start(self, risk: RowRisk, w: Array, b: float) -> PGSState:
        origin = risk.tangent(np.zeros(risk.d), 0.0)
        far = _bound(risk.objective, origin.value) * longest(risk.source.X, risk.source.s)[0]
        # as if the start had been reached by a pass: a round alone would count for nothing
        rounds = -(-risk.m // self._batch(risk))
        level = b if w.any() else origin.b
        state = self._at(w, level, risk.objective, float(origin.value), rounds)
        state.level, state.motion[primal_gradient.REACH] = origin.b, min(1.0, max(far, 1e-30))
        return state

    def _at(self, w: Array, b: float, objective: Objective, first: float, rounds: int) -> PGSState:
        """Return a state as if these weights had been reached in `rounds` rounds."""
        kept = np.zeros((w.size, 2 if self.iterate == "last" else 4))
        motion = np.zeros(primal_gradient.SIZE)
        motion[primal_gradient.UNIT] = motion[primal_gradient.REACH] = 1.0
        motion[primal_gradient.BIAS] = b
        if w.any():
            motion[primal_gradient.CLOCK] = rounds
            kept[:, primal_gradient.THETA] = (rounds + 1.0) * gradient_of(objective.regularizer, w)
            primal_gradient.settle(_link(objective, first), kept, motion)
        picked = np.zeros(w.size if self.iterate == "random" else 0)
        return PGSState(kept, motion, first, b, picked=picked)

    def begin_stream(self, objective: Objective, w: Array, b: float) -> PGSState:
        strength = objective.strength or 1.0
        # the next round then has a step of at most 1: what was fitted before is not lost at once
        state = self._at(w, b, objective, UNKNOWN, math.ceil(max(1.0 / strength, _ROUNDS)))
        state.motion[primal_gradient.STREAM] = 1.0
        return state

    def _take_first_example(self, risk: RowRisk, state: PGSState, first: Indices) -> bool:
        i, motion, (loss, _, y, s) = first[0], state.motion, risk.problem
        theta, b = state.kept[:, primal_gradient.THETA], motion[primal_gradient.BIAS]
        b, new = first_intercept(risk.objective, theta, b, y[i])
        motion[primal_gradient.BIAS] = motion[primal_gradient.FIRST] = b
        state.lost = float(s[i] * loss.value(b, y[i]))
        return new

    def _update_sizes(self, objective: Objective, state: PGSState) -> None:
        lost = float(state.motion[primal_gradient.LOST]) / max(state.clock, 1)
        state.lost = max(state.lost, lost)
        state.first = state.lost or UNKNOWN
        self._settle(objective, state)

    def _reviewed(self, risk: RowRisk, state: PGSState, finding: Finding) -> Finding:
        assert finding.objective is not None
        nothing = np.zeros(risk.d)
        least = risk.objective.penalty(nothing) + state.first
        if not finding.objective <= least:  # early rounds may go far astray
            return replace(finding, w=nothing, b=state.level, objective=least)
        return finding

    def _begin_segment(
        self, risk: RowRisk, state: PGSState, count: int, rng: np.random.Generator
    ) -> None:
        batch = self._batch(risk, state.motion[primal_gradient.STREAM] > 0.0)
        pick = rng.integers(-(-count // batch)) if self.iterate == "random" else -1
        state.motion[primal_gradient.PICK] = pick
        state.motion[primal_gradient.BIASES] = state.motion[primal_gradient.PASSED] = 0.0
        state.kept[:, primal_gradient.SUM :] = 0.0

    def _descend(self, risk: RowRisk, state: PGSState, order: Indices) -> Array:
        batch = self._batch(risk, state.motion[primal_gradient.STREAM] > 0.0)
        scores, room = np.empty(order.size), (np.zeros((2, risk.d), dtype=np.uint32), state.picked)
        link, bound = _link(risk.objective, state.first), _bound(risk.objective, state.first)
        rule = Rule(link, bound, batch, float(risk.objective.intercept))
        primal_gradient.descend(risk.problem, rule, order, state.kept, state.motion, room, scores)
        state.clock += order.size
        state.rounds += -(-order.size // batch)
        return scores

    def _settle(self, objective: Objective, state: PGSState) -> None:
        primal_gradient.settle(_link(objective, state.first), state.kept, state.motion)

    def _take_segment(self, state: PGSState) -> tuple[IterateSum, Point]:
        motion, w = state.motion, state.kept[:, primal_gradient.SUM].copy()
        segment = IterateSum(w, float(motion[primal_gradient.BIASES]), state.rounds)
        return segment, (state.picked.copy(), float(motion[primal_gradient.ITS_BIAS]))

    def _unfinished_segment(self, state: PGSState) -> IterateSum:
        _, psi, summed, since = state.kept.T
        summed = summed + (state.motion[primal_gradient.PASSED] - since) * psi
        return IterateSum(summed, float(state.motion[primal_gradient.BIASES]), state.rounds)

    def _last(self, objective: Objective, state: PGSState) -> Point:
        w = np.empty(state.kept.shape[0])
        link, bound = _link(objective, state.first), _bound(objective, state.first)
        primal_gradient.weights(Rule(link, bound, 1, 0.0), state.kept, state.motion, w)
        return w, float(state.motion[primal_gradient.BIAS])

    def _batch(self, risk: RowRisk, stream: bool = False) -> int:
        if self.batch is not None:
            return self.batch
        if stream or risk.objective.regularizer.norm_exponent in (None, 2.0):
            return 1
        spread = risk.d * risk.m // max(risk.source.X.nnz, 1)
        return max(1, min(spread, risk.m // _ROUNDS))


def _link(objective: Objective, first: float) -> Linear | Power | Separate:
    penalty, p = objective.regularizer, objective.regularizer.norm_exponent
    if p is None:
        return Separate(penalty, _reach(penalty, first))
    return Linear(objective.strength) if p == 2.0 else Power(objective.strength, p)


def _bound(objective: Objective, first: float) -> float:
    """Return a bound on ‖w*‖: the domain's, and that of Ω(w*) ≤ R(0); of its weights otherwise."""
    p = objective.regularizer.norm_exponent
    if p is None:
        return _reach(objective.regularizer, first)
    size = math.sqrt(2.0 * (p - 1.0) * max(first, 1e-30) / objective.strength)
    return min(objective.radius, size)


def _reach(penalty: Regularizer, first: float) -> float:
    """Return the |w_j| beyond which ω(w_j) > R(0) on either side."""
    low, high = 0.0, 1.0
    while min(penalty.value(high), penalty.value(-high)) <= first:
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        inside = min(penalty.value(middle), penalty.value(-middle)) <= first
        low, high = (middle, high) if inside else (low, middle)
    return high


def gradient_of(penalty: Regularizer, w: Array) -> Array:
    """∇Ω(w): the u with ∇Ω*(u) = w."""
    p, strength = penalty.norm_exponent, penalty.strong_convexity()
    if p == 2.0:
        return strength * w
    if p is not None:
        size = float(np.sum(np.abs(w) ** p)) ** (1.0 / p) or 1.0
        return strength / (p - 1.0) * size * np.copysign((np.abs(w) / size) ** (p - 1.0), w)
    low, high = -np.ones_like(w), np.ones_like(w)
    for _ in range(_HALVINGS):
        short = (penalty.conjugate_weights(high) < w) | (penalty.conjugate_weights(low) > w)
        if not short.any():
            break
        low, high = 2.0 * low, 2.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        under = penalty.conjugate_weights(middle) < w
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return high
