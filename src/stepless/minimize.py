"""The one loop: start, step, certify, tell the watchers, stop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.certificates import Aggregate, Certifier, Planes, Witness
from stepless.compile_errors import in_one_sentence
from stepless.given import refuse_unless
from stepless.interrupts import Request, interruptible
from stepless.kernels.blas import single_threaded_blas
from stepless.risk import Risk
from stepless.solvers import TANGENTS_ONLY, Solver
from stepless.solvers.solver import Remarking, Resumable
from stepless.stopping import Stopping
from stepless.trace import Event, Trace
from stepless.watchers import Watcher, watching
from stepless.whole_risk import WholeRisk


@dataclass(frozen=True)
class Result:
    """The best point of a run, what is known of the optimum, and how the run went."""

    w: NDArray
    b: Any  # a number, or an array for a joint loss
    objective: float
    risk: float  # the objective without the penalty
    lower_bound: float
    trace: Trace
    # "gap", "passes", "seconds", "watcher"; "interrupt", by Ctrl-C or SIGTERM; "solver", whose
    # theorem is satisfied; or "rounding", which is all that is left of the gap
    stopped_by: str
    state: Any  # the solver's, with which a later run can go on
    planes: Planes | Aggregate  # under the risk, that the run left
    runner: str  # the solver's name
    remark: str | None = None  # what the solver says of its parameters, if they were ill chosen
    asked: Any = None  # of which problem, but for the strength

    @property
    def solver(self) -> str:
        """Who did it; several names if solvers took turns."""
        return ", ".join(dict.fromkeys(event.solver for event in self.trace))

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be at most."""
        return self.trace[-1].gap

    @property
    def rel_gap(self) -> float:
        """The gap in units of the objective."""
        return self.trace[-1].rel_gap


def minimize(
    risk: Risk | WholeRisk,
    solver: Solver,
    stopping: Stopping,
    *,
    start: tuple[NDArray, Any] | Result | None = None,
    watchers: Iterable[Watcher] = (),
    rng: np.random.Generator | None = None,
) -> Result:
    """Minimise the regularized risk until the certified gap, the passes or the seconds are reached.

    It may start from weights and an intercept, or from a result on the same examples with another
    strength: that keeps planes and, of the same solver, dual points: they are still true.

    Ctrl-C or SIGTERM ends the run after the step that is under way, with the best weights so far
    and their certificate; a second one breaks it off.

    Examples
    --------
    >>> from stepless.data import Source
    >>> from stepless.objective import Objective, Squared, SquaredL2
    >>> from stepless.solvers import Bundle
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    >>> risk = Risk(Objective(Squared(), SquaredL2(1e-3), intercept=False), Source(X, y))
    >>> result = minimize(risk, Bundle(), Stopping(gap=1e-6))
    >>> result.stopped_by, result.w.round(3)
    ('gap', array([1.]))
    """
    _refuse_kinds(risk, solver, stopping, rng)
    lack = solver.lacks(risk.objective)
    if isinstance(risk, WholeRisk) and not isinstance(solver, TANGENTS_ONLY):
        names = ", ".join(repr(kind.name) for kind in TANGENTS_ONLY)
        lack = f"needs a risk that is a sum over examples; use one of {names}"
    if lack is not None:
        raise ValueError(f"solver {solver.name!r} {lack}")
    with in_one_sentence(), single_threaded_blas(), interruptible() as request:
        return _run(risk, solver, stopping, start, watching(watchers), rng, request)


def _refuse_kinds(risk: Any, solver: Any, stopping: Any, rng: Any) -> None:
    """Refuse arguments that are in a wrong place, or names where objects are asked for."""
    refuse_unless(isinstance(risk, Risk | WholeRisk), "risk", "Risk or a WholeRisk", risk)
    steps = hasattr(solver, "step") and not isinstance(solver, type)
    refuse_unless(steps, "solver", "solver, such as Bundle()", solver)
    refuse_unless(isinstance(stopping, Stopping), "stopping", "Stopping", stopping)
    chance = rng is None or isinstance(rng, np.random.Generator)
    refuse_unless(chance, "rng", "numpy.random.Generator", rng)


def _run(
    risk: Any,
    solver: Solver,
    stopping: Stopping,
    start: tuple[NDArray, Any] | Result | None,
    watchers: list[Watcher],
    rng: np.random.Generator | None,
    request: Request,
) -> Result:
    began = perf_counter()
    rng = rng or np.random.default_rng(0)
    before = start if isinstance(start, Result) else None
    asked = risk.identity
    if before and before.asked != asked:
        raise ValueError(
            "a run goes on from a result on the same examples with the same loss and intercept, "
            "at another strength; for another problem start from (result.w, result.b)"
        )
    if isinstance(risk, WholeRisk):
        risk = Witness(risk)
    w, b, lowest = _begin(risk, start)
    seen = math.inf  # the lowest objective as it was computed, by which solvers go
    certifier = Certifier(risk.objective, risk.d, before.planes if before else None)
    if before and before.runner == solver.name and isinstance(solver, Resumable):
        state = solver.resume(risk, before.state)
    else:
        state = solver.start(risk, w, b)
    trace, passes = Trace(), 0
    while True:
        finding = solver.step(risk, state, rng)
        passes += 1
        objective = finding.objective
        if objective is None:
            objective = risk.objective.penalty(finding.w) + risk.value(finding.w, finding.b)
        seen = min(seen, objective)
        lifted = _lifted(risk, finding.w, finding.b, objective)
        if lifted < lowest:
            w, b, lowest = finding.w, finding.b, lifted
        elif math.isinf(lowest):  # it is not a number: only the start is left to offer
            lowest = _lifted(risk, w, b, risk.objective.penalty(w) + risk.value(w, b))
        if finding.plane is not None:
            certifier.learn(finding.plane, lowest)
        certifier.lower_bound = max(certifier.lower_bound, finding.lower_bound)
        # Bounds count on weights whose penalty is no more than an objective that was seen, and so
        # hold up to there; where an optimum is met exactly, rounding may lift them above.
        most = min(lowest, seen)

        event = Event(
            passes=passes,
            examples=passes * risk.m,
            seconds=perf_counter() - began,
            objective=lowest,
            lower_bound=min(certifier.lower_bound, most),
            norm=float(np.sqrt(w @ w)),
            nonzeros=int(np.count_nonzero(w)),
            solver=finding.solver or solver.name,
        )
        trace.append(event)
        stops = [watcher(event, w, b) for watcher in watchers]
        reason = "interrupt" if request.heed() else stopping.reason(event)
        if reason is None and finding.finished:
            reason = "solver"
        # an objective that nothing but rounding may keep from 0
        nothing = event.lower_bound >= 0.0 and seen <= lowest - seen < math.inf
        if reason is None and (finding.spent or nothing or certifier.lower_bound >= most):
            reason = "rounding"
        if reason is None and any(stops):
            reason = "watcher"
        if reason is not None:
            return Result(
                w=w,
                b=b,
                objective=lowest,
                risk=lowest - risk.objective.penalty(w),
                lower_bound=event.lower_bound,
                trace=trace,
                stopped_by=reason,
                state=state,
                planes=certifier.planes,
                runner=solver.name,
                remark=solver.remark(event.lower_bound) if isinstance(solver, Remarking) else None,
                asked=asked,
            )


def _begin(
    risk: Risk | WholeRisk, start: tuple[NDArray, Any] | Result | None
) -> tuple[NDArray, Any, float]:
    """Return weights, intercept and their objective; infinite if there is no start."""
    if start is None:
        return np.zeros(risk.d), 0.0, math.inf
    given, b = (start.w, start.b) if isinstance(start, Result) else _sized(risk, start)
    w = given.copy()
    # a start from elsewhere may lie outside, or have an intercept where there is none
    risk.objective.domain.project(w)
    if risk.objective.regularizer.nonnegative:
        np.maximum(w, 0.0, out=w)
    if not risk.objective.intercept:
        b = np.zeros_like(b) if np.ndim(b) else 0.0
    known = isinstance(start, Result) and np.array_equal(w, given)
    penalty = risk.objective.penalty(w)
    if known:  # its risk has been lifted
        return w, b, penalty + start.risk + _blur(risk.d, penalty)  # type: ignore[union-attr]
    return w, b, _lifted(risk, w, b, penalty + risk.value(w, b))


def _sized(risk: Risk | WholeRisk, start: Any) -> tuple[NDArray, Any]:
    """Weights and intercept of the sizes that compiled loops rely on."""
    K = risk.objective.loss.outputs()
    try:
        w, b = (np.array(part, dtype=np.float64) for part in start)
        fits = w.shape == (risk.d,) and b.shape in ((), (K,))
    except (TypeError, ValueError):
        fits = False
    if not (fits and np.isfinite(w).all() and np.isfinite(b).all()):
        intercepts = "an intercept" if K == 1 else f"{K} intercepts"
        raise ValueError(
            f"start must be a result or ({risk.d} weights, {intercepts}), all finite numbers"
        )
    return w, b if b.ndim and K > 1 else b.item()


def _lifted(risk: Risk | WholeRisk, w: NDArray, b: Any, objective: float) -> float:
    """The objective, by so much higher that rounding cannot have put it below the truth."""
    penalty = risk.objective.penalty(w)
    blur = risk.blur(w, b, max(objective - penalty, 0.0))
    return objective + blur + _blur(risk.d, penalty)


def _blur(d: int, penalty: float) -> float:
    """By how much a sum over d weights, none of whose terms is negative, may be too low."""
    return (d + 4) * 2.0**-53 * penalty
