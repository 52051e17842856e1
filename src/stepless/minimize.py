"""The one loop: start, step, certify, tell the watchers, stop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from stepless.arguments import refuse_unless
from stepless.arrays import Array
from stepless.certificates import Aggregate, Certifier, Planes
from stepless.compile_errors import in_one_sentence
from stepless.compiled.blas import single_threaded_blas
from stepless.interrupts import Request, interruptible
from stepless.proof.witness import Witness
from stepless.risks.risk import Risk
from stepless.solvers import Solver
from stepless.solvers.lacking import lack_of
from stepless.solvers.solver import Remarking, Resumable
from stepless.solvers.turns import NEAR, Turns
from stepless.stopping import Stopping
from stepless.trace import Event, Trace
from stepless.user_terms import check_user_terms
from stepless.verdict import Verdict, number
from stepless.watchers import Watcher, watching

_REFUTED = 1e-6  # of an objective: a bound so much above it is no rounding of a true one


@dataclass(frozen=True)
class Result:
    """The best point of a run, what is known of the optimum, and how the run went."""

    w: Array
    b: Any  # a number, or an array for a joint loss
    objective: float
    risk: float  # the objective without the penalty
    lower_bound: float
    trace: Trace
    # "gap", "passes", "seconds", "watcher"; "interrupt", by Ctrl-C or SIGTERM; "solver", whose
    # theorem is satisfied; or "rounding", which is all that is left of the gap
    stopped_by: str
    state: Any  # the solver's, with which a later run can go on
    planes: Planes | Aggregate | None  # under the risk, that the run left
    runner: str  # the name of the solver that was last
    remark: str | None = None  # what the solver says of its parameters, if they were ill chosen
    asked: Any = None  # of which problem, but for the strength
    witness: Witness | None = None  # by which the lower bound can be proved again
    at_zero: float = 0.0  # of Interval, as is
    steepness: Array | None = None  # of the plane that the lower bound is proved by

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
    risk: Risk,
    solver: Solver | Turns,
    stopping: Stopping,
    *,
    start: tuple[Array, Any] | Result | None = None,
    watchers: Iterable[Watcher] = (),
    rng: np.random.Generator | None = None,
    resumable: bool = True,
) -> Result:
    """Minimise the regularized risk until the certified gap, the passes or the seconds are reached.

    It may start from weights and an intercept, or from a result on the same examples with another
    strength: that keeps planes and, of the same solver, dual points: they are still true. To tell
    the same examples all of them are read once; unless `resumable`, that is spared, and no run can
    go on from the result.

    Ctrl-C or SIGTERM ends the run after the step that is under way, with the best weights so far
    and their certificate; a second one breaks it off.

    Examples
    --------
    >>> from stepless.data import Source
    >>> from stepless.objective import Objective, Squared, SquaredL2
    >>> from stepless.risks.linear_risk import LinearRisk
    >>> from stepless.solvers import Bundle
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    >>> risk = LinearRisk(Objective(Squared(), SquaredL2(1e-3), intercept=False), Source(X, y))
    >>> result = minimize(risk, Bundle(), Stopping(gap=1e-6))
    >>> result.stopped_by, result.w.round(3)
    ('gap', array([1.]))
    """
    _refuse_kinds(risk, solver, stopping, rng)
    turns = Turns.of(solver)
    for one in turns.solvers:
        lack = lack_of(one, risk)
        if lack is not None:
            raise ValueError(f"solver {one.name!r} {lack}")
    check_user_terms(risk)
    with in_one_sentence(), single_threaded_blas(), interruptible() as request:
        asked = _asked(risk, start, resumable)
        return _run(risk, turns, stopping, start, asked, watching(watchers), rng, request)


def _refuse_kinds(risk: Any, solver: Any, stopping: Any, rng: Any) -> None:
    """Refuse arguments that are in a wrong place, or names where objects are asked for."""
    refuse_unless(isinstance(risk, Risk), "risk", "Risk", risk)
    steps = isinstance(solver, Turns) or (hasattr(solver, "step") and not isinstance(solver, type))
    refuse_unless(steps, "solver", "solver, such as Bundle()", solver)
    refuse_unless(isinstance(stopping, Stopping), "stopping", "Stopping", stopping)
    chance = rng is None or isinstance(rng, np.random.Generator)
    refuse_unless(chance, "rng", "numpy.random.Generator", rng)


def _asked(risk: Risk, start: Any, resumable: bool) -> tuple[Any, ...] | None:
    """The risk's identity, which a result to go on from must share; None if none goes on."""
    begun = isinstance(start, Result)
    asked = risk.identity if resumable or begun else None
    if begun and start.asked != asked:
        raise ValueError(
            "a run goes on from a result on the same examples with the same loss and intercept, "
            "at another strength; for another problem start from (result.w, result.b)"
        )
    return asked


def _run(
    risk: Risk,
    turns: Turns,
    stopping: Stopping,
    start: tuple[Array, Any] | Result | None,
    asked: tuple[Any, ...] | None,
    watchers: list[Watcher],
    rng: np.random.Generator | None,
    request: Request,
) -> Result:
    began = perf_counter()
    rng = rng or np.random.default_rng(0)
    before = start if isinstance(start, Result) else None
    risk.begin()
    w, b, lowest = _begin(risk, start)
    certifier = None
    if risk.unproven is None:
        certifier = Certifier(risk.objective, risk.d, before.planes if before else risk.planes())
    verdict = Verdict(risk, certifier, stopping)
    turn, state = _first_turn(risk, turns, before, w, b)
    trace, gaps = Trace(), []  # those of this turn
    while True:
        solver = turns.solvers[turn]
        finding = solver.step(risk, state, rng)
        objective = finding.objective
        if objective is None:
            objective = risk.penalty(finding.w) + risk.value(finding.w, finding.b)
        if objective < lowest:
            w, b, lowest = finding.w, finding.b, objective
        elif math.isinf(lowest):  # it is not a number: only the start is left to offer
            lowest = number(risk.penalty(w) + risk.value(w, b))
        bound = -math.inf
        if certifier is not None:
            if finding.plane is not None:
                certifier.learn(finding.plane, lowest)
            certifier.hear(finding.lower_bound, finding.claim)
            if certifier.lower_bound > lowest * (1.0 + _REFUTED):
                certifier.forget()
            bound = certifier.lower_bound

        event = Event(
            passes=len(trace) + 1,
            examples=(len(trace) + 1) * risk.m,
            seconds=perf_counter() - began,
            objective=lowest,
            lower_bound=min(bound, lowest),
            norm=risk.norm(w),
            nonzeros=int(np.count_nonzero(w)),
            solver=solver.name,
        )
        trace.append(event)
        stops = [watcher(event, w, b) for watcher in watchers]
        reason = "interrupt" if request.heed() else verdict.asked().reason(event)
        if reason is None and finding.finished:
            reason = "solver"
        if reason is None and (finding.spent or bound >= lowest or verdict.nothing(event)):
            reason = "rounding"
        if reason is None and any(stops):
            reason = "watcher"
        if reason is not None:
            reason = verdict.confirmed(event, reason, w, b)
        if reason is not None:
            proved = verdict.interval
            highest, lowest = proved.objective, proved.lower_bound
            trace.events[:] = [verdict.tempered(event) for event in trace]
            trace.events[-1] = verdict.proved(event)
            return Result(
                w=verdict.w,
                b=verdict.b,
                objective=highest,
                risk=highest - risk.penalty(verdict.w),
                lower_bound=lowest,
                trace=trace,
                stopped_by=reason,
                state=state,
                planes=None if certifier is None else certifier.planes,
                runner=solver.name,
                remark=_remark(risk, solver, stopping, verdict, reason),
                asked=asked,
                witness=verdict.witness,
                at_zero=proved.at_zero,
                steepness=proved.steepness,
            )
        gaps.append(event.rel_gap)
        if turns.ends(turn, gaps, stopping.gap):
            at = (w, b) if gaps[-1] <= NEAR else (np.zeros(risk.d), 0.0)
            turn, gaps = turn + 1, []
            state = turns.solvers[turn].start(risk, *at)


def _remark(
    risk: Risk, solver: Solver, stopping: Stopping, verdict: Verdict, reason: str
) -> str | None:
    """What is to be said of the solver's parameters, or of a gap that nothing can prove."""
    if isinstance(solver, Remarking):
        return solver.remark(verdict.interval.lower_bound)
    if stopping.gap == 0.0 or risk.unproven is not None:
        return risk.unproven if stopping.gap > 0.0 else None
    unproved = reason == "rounding" and verdict.rel_gap > max(stopping.gap, NEAR)
    return risk.shortfall(verdict.w, verdict.b) if unproved else None


def _first_turn(
    risk: Risk, turns: Turns, before: Result | None, w: Array, b: Any
) -> tuple[int, Any]:
    """Whose turn it is, and its state: that of the solver which ended the run before, if any."""
    for turn, solver in enumerate(turns.solvers):
        if before and before.runner == solver.name and isinstance(solver, Resumable):
            return turn, solver.resume(risk, before.state)
    return 0, turns.solvers[0].start(risk, w, b)


def _begin(risk: Risk, start: tuple[Array, Any] | Result | None) -> tuple[Array, Any, float]:
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
    value = start.risk if known else risk.value(w, b)  # type: ignore[union-attr]
    return w, b, risk.penalty(w) + value


def _sized(risk: Risk, start: Any) -> tuple[Array, Any]:
    """Weights and intercept of the sizes that compiled loops rely on."""
    K = risk.objective.outputs
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
