"""The loop for sums of kernels: step, evaluate, certify, tell the watchers, stop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import attrgetter
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stepless.certificates import Certifier, Planes
from stepless.certificates.kernel_planes import KernelPlanes
from stepless.compile_errors import in_one_sentence
from stepless.data.gram import TABLED
from stepless.interrupts import Request, interruptible
from stepless.kernel_risk import KernelRisk
from stepless.kernels.blas import single_threaded_blas
from stepless.minimize import Result
from stepless.objective import Objective
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.solvers.solver import Finding
from stepless.stopping import Stopping
from stepless.trace import Event, Trace
from stepless.watchers import Watcher, watching


class KernelSolver(Protocol):
    """An algorithm on coefficients, one an example: `bundle` and `proximal-bundle` are such too."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    def lacks(self, objective: Objective) -> str | None:
        """What of this objective the solver cannot handle, with a remedy; None if it can."""
        ...

    def start(self, risk: Any, w: NDArray, b: Any) -> Any:
        """A state at these coefficients."""
        ...

    def step(self, risk: Any, state: Any, rng: np.random.Generator) -> Finding:
        """Pass once over the data."""
        ...


def minimize_expansion(
    risk: KernelRisk,
    solver: KernelSolver,
    stopping: Stopping,
    *,
    watchers: Iterable[Watcher] = (),
    rng: np.random.Generator | None = None,
) -> Result:
    """Minimise (α/2)‖f‖² + R(f, b) until the certified gap, the passes or the seconds are reached.

    Where the table of all kernels is at hand, the planes of each pass, of the point that it ends
    at and of the planes' own minimiser prove a lower bound; that minimiser is offered too, where
    a budget of support vectors allows it. A solver that has planes of its own is taken at its
    word. Elsewhere the bound is −∞. The result's `w` are the coefficients of f. Ctrl-C and SIGTERM
    end the run as they do in `minimize`.

    Examples
    --------
    >>> from stepless.data.gram import Gram
    >>> from stepless.kernel_functions import Gaussian
    >>> from stepless.objective import Hinge, Objective, SquaredL2
    >>> from stepless.solvers import Bundle
    >>> gram = Gram(Gaussian(1.0), np.array([[0.0], [1.0], [2.0]]))
    >>> risk = KernelRisk(Objective(Hinge(), SquaredL2(0.1)), gram, np.array([-1.0, 1.0, -1.0]))
    >>> minimize_expansion(risk, Bundle(), Stopping(gap=1e-3)).stopped_by
    'gap'
    """
    lack = solver.lacks(risk.objective)
    if risk.gram.table is None and not isinstance(solver, KernelPGS):
        lack = (
            f"needs all kernels of {risk.m} examples, and they are kept for {TABLED} at most; "
            "use solver='pgs'"
        )
    if lack is not None:
        raise ValueError(f"solver {solver.name!r} {lack}")
    rng = rng or np.random.default_rng(0)
    with in_one_sentence(), single_threaded_blas(), interruptible() as request:
        return _run(risk, solver, stopping, watching(watchers), rng, request)


def _run(
    risk: KernelRisk,
    solver: KernelSolver,
    stopping: Stopping,
    watchers: list[Watcher],
    rng: np.random.Generator,
    request: Request,
) -> Result:
    began = perf_counter()
    best = risk.expansion(np.zeros(risk.m), 0.0)
    certifier = None
    if risk.certifiable:
        certifier = Certifier(risk.objective, risk.m, KernelPlanes(risk.gram))
    budget = (solver.budget if isinstance(solver, KernelPGS) else None) or risk.m
    state, trace = solver.start(risk, best.coefficients, best.b), Trace()
    while True:
        finding = solver.step(risk, state, rng)
        found = risk.expansion(finding.w, finding.b)
        best = min(best, found, key=attrgetter("height"))
        if certifier is not None and math.isinf(finding.lower_bound):
            if finding.plane is not None:
                certifier.learn(finding.plane, best.height)
            w = certifier.learn(found.plane, best.height)
            if w is not None:
                found = risk.expansion(w, best.b)
                certifier.learn(found.plane, best.height)
                if np.count_nonzero(w) <= budget:
                    best = min(best, found, key=attrgetter("height"))
        bound = -math.inf
        if certifier is not None:
            bound = certifier.lower_bound = max(certifier.lower_bound, finding.lower_bound)
        event = Event(
            passes=len(trace) + 1,
            examples=(len(trace) + 1) * risk.m,
            seconds=perf_counter() - began,
            objective=best.height,
            # rounding may lift a bound above an optimum that was met exactly
            lower_bound=min(bound, best.objective),
            norm=best.norm,
            nonzeros=int(np.count_nonzero(best.coefficients)),
            solver=solver.name,
        )
        trace.append(event)
        stops = [watcher(event, best.coefficients, best.b) for watcher in watchers]
        spent = finding.spent or bound >= best.objective
        reason = "interrupt" if request.heed() else stopping.reason(event)
        reason = reason or ("rounding" if spent else None)
        reason = reason or ("watcher" if any(stops) else None)
        if reason is not None:
            return Result(
                w=best.coefficients,
                b=best.b,
                objective=best.height,
                risk=best.risk + best.blur,
                lower_bound=event.lower_bound,
                trace=trace,
                stopped_by=reason,
                state=state,
                planes=Planes(0) if certifier is None else certifier.planes,
                runner=solver.name,
                remark=_remark(risk) if certifier is None and stopping.gap > 0.0 else None,
            )


def _remark(risk: KernelRisk) -> str:
    if risk.gram.table is None:
        return (
            f"no gap is certified: {risk.m} examples have too many kernels for it ({TABLED} can be "
            "had). The run ends by passes= or seconds=; say gap=0 if that is meant"
        )
    return (
        f"no gap is certified: {risk.gram.kernel} does not say its steepness. The run ends by "
        "passes= or seconds=; say gap=0 if that is meant"
    )
