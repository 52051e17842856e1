"""A run under way: its steps, its best point, and what is known of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.certificates import Certifier
from stepless.intercept import Intercept
from stepless.result import Result
from stepless.risks.risk import Risk
from stepless.solvers import Finding, Solver
from stepless.solvers.solver import Remarking, Resumable
from stepless.solvers.solver_sequence import NEAR, SolverSequence
from stepless.stopping import Stopping
from stepless.trace import Event, Trace
from stepless.verdict import Verdict, refuse_nan

_REFUTED = 1e-6  # of an objective: a bound farther above it is false, not rounded
Begun = tuple[Array, Intercept] | Result | None
_OVER = ("gap", "rounding", "solver", "watcher")  # reasons to end that no other limit lifts


@dataclass
class RunUnderWay:
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
    before: tuple[Any, ...] = ()  # the content of the verdict before the last event

    @classmethod
    def begin(
        cls, risk: Risk, sequence: SolverSequence, stopping: Stopping, start: Begun
    ) -> RunUnderWay:
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

    @classmethod
    def resume(
        cls,
        risk: Risk,
        sequence: SolverSequence,
        stopping: Stopping,
        kept: dict[str, Any],
        rng: np.random.Generator,
    ) -> tuple[RunUnderWay, str | None]:
        """Return the run that left this content, and why it ends, if nothing is left to do."""
        risk.begin()
        rng.bit_generator.state = kept["random"]
        trace, certifier = Trace.of_columns(kept["trace"]), kept["certifier"]
        verdict = Verdict(risk, certifier, stopping)
        verdict.restore(*kept["verdict"])
        began, gaps = perf_counter() - trace[-1].seconds, kept["gaps"]
        (turn, state), (w, b, lowest) = kept["turn"], kept["best"]
        given = risk, sequence, stopping, certifier, verdict, began
        run = cls(*given, turn, state, w, b, lowest, trace, gaps)
        return run, kept["reason"] or run.ends(Finding(w, b), False, False)

    def content(self, rng: np.random.Generator, reason: str | None) -> dict[str, Any]:
        """Return what the run needs to go on; of one that is over, what its result is made of."""
        over = reason in _OVER
        return {
            "reason": reason if over else None,
            "best": (self.w, self.b, self.lowest),
            "turn": (self.turn, None if over else self.state),
            "certifier": None if over else self.certifier,
            # a run that goes on must prove what one without an end here would have proved
            "verdict": self.verdict.content() if over else self.before,
            "trace": self.trace.as_columns(),
            "gaps": self.gaps,
            "random": rng.bit_generator.state,
        }

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

    def ends(self, finding: Finding, interrupted: bool, stopped: bool) -> str | None:
        """Return why the run ends here, once the verifier has confirmed it, or None."""
        event, self.before = self.trace[-1], self.verdict.content()
        reason = "interrupt" if interrupted else self.verdict.limits().reason(event)
        if reason is None and finding.finished:
            reason = "solver"
        closed = finding.spent or self.lower_bound >= self.lowest
        if reason is None and (closed or self.verdict.rounds_to_zero(event)):
            reason = "rounding"
        if reason is None and stopped:
            reason = "watcher"
        return reason and self.verdict.confirm(event, reason, self.w, self.b)

    def hand_over(self) -> None:
        """Start the next solver if this one has had its turn."""
        if not self.trace:
            return
        self.gaps.append(self.trace[-1].rel_gap)
        if self.sequence.ends(self.turn, self.gaps, self.stopping.gap):
            near = self.gaps[-1] <= NEAR
            at = (self.w, self.b) if near else (np.zeros(self.risk.d), 0.0)
            self.turn, self.gaps = self.turn + 1, []
            self.state = self.solver.start(self.risk, *at)

    def result(self, reason: str, identity: tuple[Any, ...] | None) -> Result:
        """Return what was proved at the last event."""
        verdict, proved, trace = self.verdict, self.verdict.interval, self.trace
        last = verdict.proved(trace[-1])
        trace.events[:] = [*map(verdict.capped, trace[:-1]), last]
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
        bare = not verdict.interval.lower_bound > 0.0 and risk.objective.unpenalized(self.w).size
        unproved = (reason == "rounding" or bare) and verdict.rel_gap > max(gap, NEAR)
        return risk.shortfall(verdict.w, verdict.b) if unproved else None


def _first_turn(
    risk: Risk, sequence: SolverSequence, before: Result | None, w: Array, b: Intercept
) -> tuple[int, Any]:
    """Return the index and the state of the first solver: the one that ended `before`, if any."""
    for turn, solver in enumerate(sequence.solvers):
        if before and before.runner == solver.name and isinstance(solver, Resumable):
            return turn, solver.resume(risk, before.state)
    return 0, sequence.solvers[0].start(risk, w, b)


def _starting_point(risk: Risk, start: Begun) -> tuple[Array, Intercept, float]:
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
