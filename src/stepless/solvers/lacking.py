"""The solvers that can minimise a risk, and what the others lack."""

from __future__ import annotations

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
    return risk.lacks(needed) or solver.lacks(risk.objective)
