"""The one loop: start, step, certify, call the watchers, stop."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from stepless.arguments import refuse_unless
from stepless.compile_errors import in_one_sentence
from stepless.compiled.blas import single_threaded_blas
from stepless.interrupts import interruptible
from stepless.result import Onward, Result, Start
from stepless.risks.risk import Risk
from stepless.solvers import Solver
from stepless.solvers.lacking import lack_of
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping
from stepless.under_way import RunUnderWay
from stepless.user_terms import check_user_terms
from stepless.watchers import Keeper, Watcher, keeper_among, validated_watchers


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

    With a `Checkpoint` among the watchers it can go on where it was broken off, in another process.
    What is restored are claims: they are proved again.

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
    sequence, listed = SolverSequence.of(solver), validated_watchers(watchers)
    for member in sequence.solvers:
        if (lack := lack_of(member, risk)) is not None:
            raise ValueError(f"solver {member.name!r} {lack}")
    check_user_terms(risk)
    with in_one_sentence(), single_threaded_blas(), interruptible() as request:
        identity, keeper = _identity(risk, start, resumable), keeper_among(listed)
        start = start.result if isinstance(start, Onward) else start
        told = [watcher for watcher in listed if not isinstance(watcher, Keeper)]
        rng = rng or np.random.default_rng(0)
        kept = None if keeper is None else keeper.begin(risk, sequence, stopping, rng)
        if kept is None:
            run, reason = RunUnderWay.begin(risk, sequence, stopping, start), None
        else:
            run, reason = RunUnderWay.resume(risk, sequence, stopping, kept, rng)
            identity = identity if kept["reason"] is None else None  # no planes were kept
        if keeper is not None and reason is not None:
            keeper.keep(partial(run.content, rng, reason), reason)
        while reason is None:
            run.hand_over()
            finding = run.step(rng)
            event = run.record()
            stops = [watcher(event, run.w, run.b) for watcher in told]
            reason = run.ends(finding, request.heed(), any(stops))
            if keeper is not None:
                keeper.keep(partial(run.content, rng, reason), reason)
        return run.result(reason, identity)


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
