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
from stepless.objective import L2Ball, LpBall, Objective, Regularizer, SquaredL2, SquaredLp
from stepless.risks.risk import RowRisk
from stepless.solvers.online.iterates import Iterate, Iterates, Total, checked
from stepless.solvers.online.stretches import first_intercept
from stepless.solvers.online.walker import UNKNOWN, Walker
from stepless.solvers.solver import Finding, needs_one_output, needs_steps

_ROUNDS = 100  # that a pass has at least, whatever the batch
_HALVINGS = 200


@dataclass
class PGSState:
    """Dual weights, motion, and what is kept of the iterates."""

    kept: Array
    motion: Array
    first: float  # R(0), the intercept at its best: Ω(w*) is no larger
    level: float  # that intercept
    passes: int = 0
    iterates: Iterates = field(default_factory=Iterates)
    picked: Array = field(default_factory=lambda: np.zeros(0))  # the iterate that is drawn
    clock: int = 0  # examples learned
    rounds: int = 0  # of the pass, or the stretch of a stream, that is under way
    lost: float = 0.0  # R(0) of a stream, as far as it is known


class PGS(Walker):
    """Gradients are added up in the dual, and each round's weights are what their sum means.

    Solves      min_w Ω(w) + R(w), one batch a round; ‖w‖_p ≤ B if asked
    Algorithm   ZHU Fig. 1, 2, with the ball's ‖w‖_p (docs/papers.md): θ ← θ − mean of ∂ℓ over the
                batch at w_{t−1}; w_t = ∇Ω*(θ/(t + 1)), scaled into the ball
    Guarantee   Σ_t c_t(w_{t−1}) − c_t(u) ≤ ½ Σ_t ‖λ_t‖_q²/(αt) for every u, c_t the objective on
                batch t (ZHU Lemma 1 as mended); so E J(w̄) − J* ≤ L²(1 + log T)/(2αT) for the mean
                w̄ of w_0, …, w_{T−1}, or one of them drawn, if batches are drawn independently
    Cost        O(nnz) a round for every p, O(d) memory: w_j depends on θ_j and on Σ|θ_j|^q alone,
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
        Which point a pass offers: the ``"last"`` one; one drawn uniformly at ``"random"`` from all
        so far, as in the paper; the ``"average"`` of all; or the ``"suffix"`` average of at least
        the last half.
    batch
        Examples a round. None: 1, but d over the mean number of non-zeros for p < 2 (ZHU §VII), so
        that a power is taken but once for many entries; 1 in a stream. Larger ones end there with a
        chunk: only batches of 1 make it the same however it is cut.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="lp(1.5)", alpha=1e-2, solver="pgs", passes=50)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "pgs"

    def __init__(self, iterate: Iterate = "last", batch: int | None = None) -> None:
        checked(iterate, batch)
        self.iterate = iterate
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
        if not domain.free and not _same_norm(objective):
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
        """A state as if these weights had been reached in so many rounds."""
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
        # so many rounds that the next has a step of 1: what was fitted before is not lost at once
        state = self._at(w, b, objective, UNKNOWN, math.ceil(max(1.0 / strength, _ROUNDS)))
        state.motion[primal_gradient.STREAM] = 1.0
        return state

    def _meet(self, risk: RowRisk, state: PGSState, first: Indices) -> bool:
        i, motion, (loss, _, y, s) = first[0], state.motion, risk.problem
        theta, b = state.kept[:, primal_gradient.THETA], motion[primal_gradient.BIAS]
        b, new = first_intercept(risk.objective, theta, b, y[i])
        motion[primal_gradient.BIAS] = motion[primal_gradient.FIRST] = b
        state.lost = float(s[i] * loss.value(b, y[i]))
        return new

    def _widen(self, objective: Objective, state: PGSState) -> None:
        lost = float(state.motion[primal_gradient.LOST]) / max(state.clock, 1)
        state.lost = max(state.lost, lost)
        state.first = state.lost or UNKNOWN
        primal_gradient.settle(_link(objective, state.first), state.kept, state.motion)

    def _judged(self, risk: RowRisk, state: PGSState, finding: Finding) -> Finding:
        assert finding.objective is not None
        nothing = np.zeros(risk.d)
        least = risk.objective.penalty(nothing) + state.first
        if not finding.objective <= least:  # early rounds may go far astray
            return replace(finding, w=nothing, b=state.level, objective=least)
        return finding

    def _open(self, risk: RowRisk, state: PGSState, count: int, rng: np.random.Generator) -> None:
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

    def _close(self, objective: Objective, state: PGSState, rng: np.random.Generator) -> None:
        motion, kept = state.motion, state.kept
        primal_gradient.settle(_link(objective, state.first), kept, motion)
        if self.iterate != "last":
            summed = kept[:, primal_gradient.SUM].copy(), float(motion[primal_gradient.BIASES])
            drawn = state.picked.copy(), float(motion[primal_gradient.ITS_BIAS])
            state.iterates.keep(self.iterate, summed, state.rounds, drawn, rng)
        state.rounds = 0

    def _point(self, objective: Objective, state: PGSState) -> tuple[Array, float]:
        if self.iterate != "last":
            if state.rounds == 0:
                return state.iterates.point()
            _, psi, summed, since = state.kept.T
            summed = summed + (state.motion[primal_gradient.PASSED] - since) * psi
            biases = float(state.motion[primal_gradient.BIASES])
            return state.iterates.point(Total(summed, biases, state.rounds))
        w = np.empty(state.kept.shape[0])
        link, bound = _link(objective, state.first), _bound(objective, state.first)
        primal_gradient.weights(Rule(link, bound, 1, 0.0), state.kept, state.motion, w)
        return w, float(state.motion[primal_gradient.BIAS])

    def _batch(self, risk: RowRisk, stream: bool = False) -> int:
        if self.batch is not None:
            return self.batch
        if stream or not isinstance(risk.objective.regularizer, SquaredLp):
            return 1
        spread = risk.d * risk.m // max(risk.source.X.nnz, 1)
        return max(1, min(spread, risk.m // _ROUNDS))


def _same_norm(objective: Objective) -> bool:
    match objective.regularizer, objective.domain:
        case SquaredL2(), L2Ball():
            return True
        case SquaredLp() as penalty, LpBall() as ball:
            return penalty.p == ball.p
    return False


def _link(objective: Objective, first: float) -> Linear | Power | Separate:
    penalty = objective.regularizer
    match penalty:
        case SquaredL2():
            return Linear(penalty.alpha)
        case SquaredLp():
            return Power(penalty.alpha, penalty.p)
    return Separate(penalty, _reach(penalty, first))


def _bound(objective: Objective, first: float) -> float:
    """Return a bound on ‖w*‖: the domain's, and that of Ω(w*) ≤ R(0); of its weights otherwise."""
    penalty, domain = objective.regularizer, objective.domain
    asked = domain.bound if isinstance(domain, L2Ball | LpBall) else math.inf
    if not isinstance(penalty, SquaredL2 | SquaredLp):
        return _reach(penalty, first)
    p = penalty.p if isinstance(penalty, SquaredLp) else 2.0
    return min(asked, math.sqrt(2.0 * (p - 1.0) * max(first, 1e-30) / penalty.alpha))


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
    match penalty:
        case SquaredL2():
            return penalty.alpha * w
        case SquaredLp():
            size = float(np.sum(np.abs(w) ** penalty.p)) ** (1.0 / penalty.p) or 1.0
            shares = np.copysign((np.abs(w) / size) ** (penalty.p - 1.0), w)
            return penalty.alpha / (penalty.p - 1.0) * size * shares
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
