"""The solvers that can minimise a risk, and what the others lack."""

from __future__ import annotations

from stepless.proof import optimum_distance
from stepless.risks.risk import Risk, RowRisk
from stepless.solvers import SOLVERS, Solver


def suited(kind: type) -> list[str]:
    """Return the names of the solvers that take risks of a kind.

    Examples
    --------
    >>> suited(Risk)
    ['bundle', 'proximal-bundle']
    """
    return [name for name, solver in SOLVERS.items() if issubclass(kind, solver.needs)]


def lack_of(solver: Solver, risk: Risk) -> str | None:
    """Return what of a risk a solver cannot handle, with a remedy, or None."""
    needed = getattr(solver, "needs", RowRisk)  # a user-defined solver may not have it
    if not (isinstance(needed, type) and issubclass(needed, Risk)):
        raise TypeError(f"needs of solver {solver.name!r} must be a kind of Risk, not {needed!r}")
    if not isinstance(risk, needed):
        names = ", ".join(map(repr, suited(type(risk))))
        return f"needs a risk that is {needed.kind}; use one of {names}"
    return risk.lacks(needed) or _lack_of_rows(solver, risk) or solver.lacks(risk.objective)


def works_anywhere(solver: Solver | type) -> bool:
    """Return whether a solver can do without the rows in this process."""
    return getattr(solver, "anywhere", False)


def _lack_of_rows(solver: Solver, risk: Risk) -> str | None:
    """Return what a solver misses of rows that are not in this process, or None."""
    if not isinstance(risk, RowRisk) or risk.source.home.here:
        return None
    if not works_anywhere(solver):
        names = ", ".join(repr(name) for name, kind in SOLVERS.items() if works_anywhere(kind))
        return f"needs all rows in one memory, and these are in blocks of Dask; use one of {names}"
    if optimum_distance.unbounded(risk.objective):
        return (
            "cannot certify an answer without a penalty from blocks of Dask; use penalty='l2', or "
            "compute() the examples first"
        )
    return None
