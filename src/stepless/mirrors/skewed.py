"""A domain seen in other coordinates."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray

from stepless.objective import Constraint, Domain


class Skewed(Constraint):
    """S = {u : Tu of the domain}, T a square matrix: the domain offers `excess` and `outward`."""

    _coerce: ClassVar[dict[str, Any]] = {}

    domain: Domain
    T: NDArray

    def excess(self, u: Any) -> Any:
        return self.domain.excess(self.T @ u)

    def outward(self, u: Any, g: Any) -> Any:
        inner = g.copy()
        c = self.domain.outward(self.T @ u, inner)
        g[:] = inner @ self.T
        return c
