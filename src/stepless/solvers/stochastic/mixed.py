"""The base of mixed optimisation: epochs of stochastic steps around a full gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import mixed, mixed_lagged
from stepless.compiled.mixed import Epoch
from stepless.compiled.rows import steepest
from stepless.compiled.vertices import enter
from stepless.objective import L1, Objective, Regularizer, Zero
from stepless.risks.linear_risk import Anchor
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.smoothness import needs_prox
from stepless.solvers.solver import Finding, needs_one_output

Schedule = Literal["practical", "theory"]
_FLATTEST = 1e-12  # share of L below which the observed smoothness is rounding
_LEVER = 0.5  # an intercept is a feature half as large as the longest example


@dataclass
class Centre:
    """A point, its objective and full gradient, and each example's prediction and slope there."""

    w: Array
    b: float
    objective: float
    pull: Array  # μ = ∇F(w), of all but what is left to the prox
    z: Array
    a: Array

    @classmethod
    def at(cls, risk: RowRisk, w: Array, anchor: Anchor) -> Centre:
        objective = risk.objective.penalty(w) + anchor.tangent.value
        pull = anchor.g + parts(risk.objective)[0] * w
        return cls(w.copy(), anchor.tangent.b, objective, pull, anchor.z.whole, anchor.a.whole)


@dataclass(frozen=True)
class EpochPlan:
    """An epoch to come: its numbers, its rounds, and the ridge around 0 that it adds."""

    epoch: Epoch
    rounds: int
    fading: float = 0.0


@dataclass
class EpochState:
    """An epoch under way: its numbers, and the arrays of its compiled loop."""

    epoch: Epoch
    pull: Array  # the centre's, and that of the added ridge
    kept: Array
    motion: Array


@dataclass
class MixedState:
    """A centre, and the epoch around it."""

    centre: Centre
    steepest: float  # L: the largest smoothness of an example's loss
    observed: float  # smoothness, in the last epoch
    lever: float  # size of the intercept's feature
    first: float  # the objective at the start
    left: int = 0  # rounds of the epoch; 0: between two of them
    epoch: EpochState | None = None
    epochs: int = 0  # done so far
    rises: int = 0  # how many of them, the last ones, ended higher than they began


class Mixed:
    """Epochs of stochastic steps, each example's gradient corrected by that at the centre."""

    name: ClassVar[str]
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def __init__(self, schedule: Schedule = "practical", delta: float = 0.01) -> None:
        if schedule not in ("practical", "theory"):
            raise ValueError(f"schedule must be 'practical' or 'theory', not {schedule!r}")
        if not 0.0 < delta < 1.0:
            raise ValueError(f"delta is a probability between 0 and 1, not {delta:g}")
        self.schedule, self.delta = schedule, delta

    def lacks(self, objective: Objective) -> str | None:
        loss = objective.loss
        if lack := needs_one_output(loss, "; use multi_class='ovr', or solver='auto'"):
            return lack
        if math.isinf(loss.smoothness()):
            return (
                f"needs a smooth loss, and {type(loss).__name__} is not; "
                "use loss='smoothed_hinge' or 'huber', or solver='auto'"
            )
        if self.schedule == "theory" and objective.intercept:
            return "has a theorem without a free intercept only; use fit_intercept=False"
        return needs_prox(objective)

    def plan(self, risk: RowRisk, state: MixedState) -> EpochPlan:
        """Return the next epoch."""
        raise NotImplementedError

    def start(self, risk: RowRisk, w: Array, b: float) -> MixedState:
        square, longest = steepest(risk.source.X, risk.source.s)
        lever = _LEVER * longest if risk.objective.intercept else 0.0
        square += lever * lever * risk.source.s.max()
        steep = float(risk.objective.loss.smoothness() * square) or 1.0  # where nothing moves
        w = w.copy()
        enter(risk.objective.domain, w)  # means count the first centre too, and 0 may lie outside
        centre = Centre.at(risk, w, risk.anchor(w, b))
        return MixedState(centre, steep, steep, lever, centre.objective)

    def step(self, risk: RowRisk, state: MixedState, rng: np.random.Generator) -> Finding:
        if state.epoch is None:
            plan = self.plan(risk, state)
            state.epoch, state.left = _begin_epoch(risk, state.centre, plan), plan.rounds
        m, n, drawn = risk.m, min(state.left, risk.m), self.schedule == "theory"
        order: Indices
        if drawn:
            order = rng.integers(m, size=n, dtype=np.uint32)
        else:
            order = risk.source.random_order(rng)[:n]
        _continue_epoch(risk, state.centre, state.epoch, order)
        state.left -= order.size
        w, b = _mean(risk, state.centre, state.epoch)
        if state.left:
            return Finding(w, b)
        under_way, anchor = state.epoch, risk.anchor(w, b)
        arrived = Centre.at(risk, w, anchor)
        if self.schedule == "theory" or arrived.objective <= state.centre.objective:
            state.centre, state.rises = arrived, 0
            state.observed = _observed_smoothness(under_way, state.steepest)
        else:  # steps were too long: again from the old centre
            state.rises += 1
        state.epoch, state.epochs = None, state.epochs + 1
        found = _polished(risk, arrived, under_way.epoch.step)
        return Finding(found.w, found.b, objective=found.objective, plane=anchor.tangent.plane)


def _polished(risk: RowRisk, arrived: Centre, step: float) -> Centre:
    """Return the point after a full step, where there is a prox: a mean is not sparse."""
    _, rest = parts(risk.objective)
    if rest.zero:
        return arrived
    w, aim = np.empty(risk.d), arrived.w - step * arrived.pull
    mixed.approach((rest, risk.objective.domain), aim, step, arrived.w, 1.0, w)
    return replace(arrived, w=w, objective=risk.objective.penalty(w) + risk.value(w, arrived.b))


def parts(objective: Objective) -> tuple[float, Regularizer]:
    """Return the λ of (λ/2)‖w‖² in each example's function, and what is left to the prox."""
    shares = objective.regularizer.elastic_shares
    if shares is None:
        return 0.0, objective.regularizer
    return shares[1], L1(shares[0]) if shares[0] > 0.0 else Zero()


def _begin_epoch(risk: RowRisk, centre: Centre, plan: EpochPlan) -> EpochState:
    motion = np.zeros(9)
    pull = centre.pull + plan.fading * centre.w
    kind = _kind(risk.objective, plan.epoch)
    if kind == "plain":
        kept = np.zeros((risk.d, 3))
        kept[:, mixed.PULL] = pull
        motion[mixed.SCALE] = 1.0
    elif kind == "lagged":
        kept = np.zeros((risk.d, 4))
        kept[:, mixed_lagged.VALUE] = centre.w
        kept[:, mixed_lagged.PULL] = pull - plan.epoch.strength * centre.w
    else:
        kept = np.zeros((2, risk.d))  # w, and Σ (w_t − w̄)
        kept[0] = centre.w
    return EpochState(plan.epoch, pull, kept, motion)


def _kind(objective: Objective, epoch: Epoch) -> Literal["plain", "lagged", "eager"]:
    """Return the loop for the rounds: O(nnz) with a ball, O(nnz) with a lasso, or O(d)."""
    _, rest = parts(objective)
    if not objective.domain.free:
        return "eager"
    if rest.zero:
        return "plain"
    return "lagged" if rest.has_lasso and math.isinf(epoch.radius) else "eager"


def _continue_epoch(risk: RowRisk, centre: Centre, under_way: EpochState, order: Indices) -> None:
    snapshot = mixed.Snapshot(centre.w, under_way.pull, centre.z, centre.a)
    kind, epoch, motion = _kind(risk.objective, under_way.epoch), under_way.epoch, under_way.motion
    _, rest = parts(risk.objective)
    if kind == "plain":
        mixed.walk(risk.problem, epoch, order, snapshot, under_way.kept, motion)
    elif kind == "lagged":
        lasso = rest.alpha  # type: ignore[attr-defined]
        mixed_lagged.walk(risk.problem, lasso, epoch, order, snapshot, under_way.kept, motion)
    else:
        penalty = rest, risk.objective.domain
        mixed.stride(risk.problem, penalty, epoch, order, snapshot, tuple(under_way.kept), motion)


def _mean(risk: RowRisk, centre: Centre, under_way: EpochState) -> tuple[Array, float]:
    """Return the mean of the epoch's iterates so far, the present one included."""
    motion, kept, epoch = under_way.motion, under_way.kept, under_way.epoch
    count = motion[mixed.COUNT] + 1.0
    b = centre.b + epoch.lever * float(motion[mixed.BIASES] + motion[mixed.BIAS]) / count
    kind = _kind(risk.objective, epoch)
    if kind == "plain":
        along = motion[mixed.ALONGS] + motion[mixed.ALONG]
        scale = motion[mixed.SCALES] + motion[mixed.SCALE]
        moved = along * kept[:, mixed.PULL] + scale * kept[:, mixed.MOVED] + kept[:, mixed.SUM]
        return centre.w + moved / count, b
    if kind == "eager":
        return centre.w + (kept[1] + (kept[0] - centre.w)) / count, b
    cut = epoch.step * parts(risk.objective)[1].alpha  # type: ignore[attr-defined]
    clock = motion[mixed.COUNT]
    mixed_lagged.settle(kept, clock, epoch.step * epoch.strength, epoch.step, cut)
    return (kept[:, mixed_lagged.SUM] + kept[:, mixed_lagged.VALUE]) / count, b


def _observed_smoothness(under_way: EpochState, steepest: float) -> float:
    """Return Σ‖Δg_i‖²/Σ⟨Δg_i, u⟩ of the epoch's rounds: by convexity at most the largest L."""
    spread, bend = under_way.motion[mixed.SPREAD], under_way.motion[mixed.BEND]
    if not (spread > 0.0 and bend > 0.0):  # slopes that no longer change, or only by rounding
        return steepest
    return float(min(max(spread / bend, _FLATTEST * steepest), steepest))
