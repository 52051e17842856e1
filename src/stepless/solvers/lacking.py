"""Which solvers can minimise a risk, and what the others miss."""

from __future__ import annotations

from typing import Any

from stepless.risks.risk import Risk, RowRisk
from stepless.solvers import SOLVERS


def suited(kind: type) -> list[str]:
    """The names of the solvers that take risks of a kind.

    Examples
    --------
    >>> suited(Risk)
    ['bundle', 'proximal-bundle']
    """
    return [name for name, solver in SOLVERS.items() if issubclass(kind, solver.needs)]


def lack_of(solver: Any, risk: Risk) -> str | None:
    """What of a risk a solver cannot handle, with a remedy; None if it can."""
    needed = getattr(solver, "needs", RowRisk)  # one's own may not say
    if not (isinstance(needed, type) and issubclass(needed, Risk)):
        raise TypeError(f"needs of solver {solver.name!r} must be a kind of Risk, not {needed!r}")
    if not isinstance(risk, needed):
        names = ", ".join(map(repr, suited(type(risk))))
        return f"needs a risk that is {needed.kind}; use one of {names}"
    return risk.lacks(needed) or solver.lacks(risk.objective)
