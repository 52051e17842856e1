"""The one loop: start, step, certify, call the watchers, stop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from stepless.arguments import refuse_unless
from stepless.arrays import Array
from stepless.certificates import Aggregate, Certifier, Planes
from stepless.compile_errors import in_one_sentence
from stepless.compiled.blas import single_threaded_blas
from stepless.intercept import Intercept
from stepless.interrupts import interruptible
from stepless.proof.witness import Witness
from stepless.risks.risk import Risk
from stepless.solvers import Finding, Solver
from stepless.solvers.lacking import lack_of
from stepless.solvers.solver import Remarking, Resumable
from stepless.solvers.solver_sequence import NEAR, SolverSequence
from stepless.stopping import Stopping
from stepless.trace import Event, Trace
from stepless.user_terms import check_user_terms
from stepless.verdict import Verdict, refuse_nan
from stepless.watchers import Watcher, validated_watchers

_REFUTED = 1e-6  # of an objective: a bound farther above it is false, not rounded


@dataclass(frozen=True)
class Result:
    """The best point of a run, what is known of the optimum, and the run's trace."""

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
    runner: str  # the name of the last solver
    remark: str | None = None  # the solver's, on badly chosen parameters
    asked: tuple[Any, ...] | None = None  # the identity of the risk, except for the strength
    witness: Witness | None = None  # by which the lower bound can be proved again
    at_zero: float = 0.0  # as in Interval
    steepness: Array | None = None  # of the plane that proves the lower bound

    @property
    def solver(self) -> str:
        """The solver's name; several names for a sequence."""
        return ", ".join(dict.fromkeys(event.solver for event in self.trace))

    @property
    def gap(self) -> float:
        """An upper bound on the distance of the objective from the optimum."""
        return self.trace[-1].gap

    @property
    def rel_gap(self) -> float:
        """The gap relative to the objective."""
        return self.trace[-1].rel_gap


Start = tuple[Array, Intercept] | Result | None


def minimize(
    risk: Risk,
    solver: Solver | SolverSequence,
    stopping: Stopping,
    *,
    start: Start = None,
    watchers: Iterable[Watcher] = (),
    rng: np.random.Generator | None = None,
    resumable: bool = True,
) -> Result:
    """Minimise the regularized risk until the certified gap, the passes or the seconds are reached.

    It may start from weights and an intercept, or from a result on the same examples at another
    strength, whose planes and, with the same solver, dual points are still true. All examples are
    read once to recognise them later; without `resumable` they are not, and no run can go on from
    the result.

    Ctrl-C or SIGTERM ends the run after the current step, with the best weights so far and their
    certificate; a second one ends it at once.

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
    sequence = SolverSequence.of(solver)
    for member in sequence.solvers:
        if (lack := lack_of(member, risk)) is not None:
            raise ValueError(f"solver {member.name!r} {lack}")
    check_user_terms(risk)
    with in_one_sentence(), single_threaded_blas(), interruptible() as request:
        identity, watchers = _identity(risk, start, resumable), validated_watchers(watchers)
        rng = rng or np.random.default_rng(0)
        run = _Run.begin(risk, sequence, stopping, start)
        while True:
            finding = run.step(rng)
            event = run.record()
            stops = [watcher(event, run.w, run.b) for watcher in watchers]
            reason = run.ends(event, finding, request.heed(), any(stops))
            if reason is not None:
                return run.result(event, reason, identity)
            run.hand_over(event)


def _refuse_kinds(risk: object, solver: object, stopping: object, rng: object) -> None:
    """Refuse arguments in the wrong place, or names in place of objects."""
    refuse_unless(isinstance(risk, Risk), "risk", "Risk", risk)
    steps = hasattr(solver, "step") and not isinstance(solver, type)
    known = isinstance(solver, SolverSequence) or steps
    refuse_unless(known, "solver", "solver, such as Bundle()", solver)
    refuse_unless(isinstance(stopping, Stopping), "stopping", "Stopping", stopping)
    known = rng is None or isinstance(rng, np.random.Generator)
    refuse_unless(known, "rng", "numpy.random.Generator", rng)


def _identity(risk: Risk, start: Start, resumable: bool) -> tuple[Any, ...] | None:
    """Return the risk's identity, which a result to go on from must share, if any run goes on."""
    identity = risk.identity if resumable or isinstance(start, Result) else None
    if isinstance(start, Result) and start.asked != identity:
        raise ValueError(
            "a run goes on from a result on the same examples with the same loss and intercept, "
            "at another strength; for another problem start from (result.w, result.b)"
        )
    return identity


@dataclass
class _Run:
    """A run under way: whose turn it is, the best point so far, and what is known of it."""

    risk: Risk
    sequence: SolverSequence
    stopping: Stopping
    certifier: Certifier | None
    verdict: Verdict
    began: float
    turn: int  # index of the solver at work
    state: Any  # of that solver
    w: Array  # the best point,
    b: Intercept
    lowest: float  # and its objective
    trace: Trace = field(default_factory=Trace)
    gaps: list[float] = field(default_factory=list)  # relative ones, of this turn

    @classmethod
    def begin(cls, risk: Risk, sequence: SolverSequence, stopping: Stopping, start: Start) -> _Run:
        began, before = perf_counter(), start if isinstance(start, Result) else None
        risk.begin()
        w, b, lowest = _starting_point(risk, start)
        certifier = None
        if risk.unproven is None:
            planes = before.planes if before else risk.planes()
            certifier = Certifier(risk.objective, risk.d, planes)
        verdict = Verdict(risk, certifier, stopping)
        turn, state = _first_turn(risk, sequence, before, w, b)
        return cls(risk, sequence, stopping, certifier, verdict, began, turn, state, w, b, lowest)

    @property
    def solver(self) -> Solver:
        return self.sequence.solvers[self.turn]

    @property
    def lower_bound(self) -> float:
        """The best bound that was claimed."""
        return -math.inf if self.certifier is None else self.certifier.lower_bound

    def step(self, rng: np.random.Generator) -> Finding:
        """Let the solver pass once over the data; keep the best point and the best bound."""
        risk, finding = self.risk, self.solver.step(self.risk, self.state, rng)
        objective = finding.objective
        if objective is None:
            objective = risk.penalty(finding.w) + risk.value(finding.w, finding.b)
        if objective < self.lowest:
            self.w, self.b, self.lowest = finding.w, finding.b, objective
        elif math.isinf(self.lowest):  # the objective is NaN: only the start is left
            self.lowest = refuse_nan(risk.penalty(self.w) + risk.value(self.w, self.b))
        if self.certifier is not None:
            if finding.plane is not None:
                self.certifier.learn(finding.plane, self.lowest)
            self.certifier.accept(finding.lower_bound, finding.claim)
            if self.certifier.lower_bound > self.lowest * (1.0 + _REFUTED):
                self.certifier.forget()
        return finding

    def record(self) -> Event:
        """Append the present point to the trace."""
        passes = len(self.trace) + 1
        event = Event(
            passes=passes,
            examples=passes * self.risk.m,
            seconds=perf_counter() - self.began,
            objective=self.lowest,
            lower_bound=min(self.lower_bound, self.lowest),
            norm=self.risk.norm(self.w),
            nonzeros=int(np.count_nonzero(self.w)),
            solver=self.solver.name,
        )
        self.trace.append(event)
        return event

    def ends(self, event: Event, finding: Finding, interrupted: bool, stopped: bool) -> str | None:
        """Return why the run ends at this event, once the verifier has confirmed it, or None."""
        reason = "interrupt" if interrupted else self.verdict.limits().reason(event)
        if reason is None and finding.finished:
            reason = "solver"
        closed = finding.spent or self.lower_bound >= self.lowest
        if reason is None and (closed or self.verdict.rounds_to_zero(event)):
            reason = "rounding"
        if reason is None and stopped:
            reason = "watcher"
        return reason and self.verdict.confirm(event, reason, self.w, self.b)

    def hand_over(self, event: Event) -> None:
        """Start the next solver if this one has had its turn."""
        self.gaps.append(event.rel_gap)
        if self.sequence.ends(self.turn, self.gaps, self.stopping.gap):
            near = self.gaps[-1] <= NEAR
            at = (self.w, self.b) if near else (np.zeros(self.risk.d), 0.0)
            self.turn, self.gaps = self.turn + 1, []
            self.state = self.solver.start(self.risk, *at)

    def result(self, event: Event, reason: str, identity: tuple[Any, ...] | None) -> Result:
        """Return what was proved at the last event."""
        verdict, proved, trace = self.verdict, self.verdict.interval, self.trace
        trace.events[:] = [verdict.capped(event) for event in trace]
        trace.events[-1] = verdict.proved(event)
        return Result(
            w=verdict.w,
            b=verdict.b,
            objective=proved.objective,
            risk=proved.objective - self.risk.penalty(verdict.w),
            lower_bound=proved.lower_bound,
            trace=trace,
            stopped_by=reason,
            state=self.state,
            planes=None if self.certifier is None else self.certifier.planes,
            runner=self.solver.name,
            remark=self._remark(reason),
            asked=identity,
            witness=verdict.witness,
            at_zero=proved.at_zero,
            steepness=proved.steepness,
        )

    def _remark(self, reason: str) -> str | None:
        """Return a remark on the solver's parameters, or on a gap that nothing can prove."""
        risk, verdict, gap = self.risk, self.verdict, self.stopping.gap
        if isinstance(self.solver, Remarking):
            return self.solver.remark(verdict.interval.lower_bound)
        if gap == 0.0 or risk.unproven is not None:
            return risk.unproven if gap > 0.0 else None
        unproved = reason == "rounding" and verdict.rel_gap > max(gap, NEAR)
        return risk.shortfall(verdict.w, verdict.b) if unproved else None


def _first_turn(
    risk: Risk, sequence: SolverSequence, before: Result | None, w: Array, b: Intercept
) -> tuple[int, Any]:
    """Return the index and the state of the first solver: the one that ended `before`, if any."""
    for turn, solver in enumerate(sequence.solvers):
        if before and before.runner == solver.name and isinstance(solver, Resumable):
            return turn, solver.resume(risk, before.state)
    return 0, sequence.solvers[0].start(risk, w, b)


def _starting_point(risk: Risk, start: Start) -> tuple[Array, Intercept, float]:
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


def _sized(risk: Risk, start: tuple[Array, Intercept]) -> tuple[Array, Intercept]:
    """Return weights and intercept of the sizes that compiled loops rely on."""
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
