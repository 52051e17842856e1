"""All weights."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.arrays import Array
from stepless.objective.domains.domain import Domain


class Free(Domain):
    """S = R^d.

    Examples
    --------
    >>> Free().radius()
    inf
    """

    separable: ClassVar[bool] = True
    free: ClassVar[bool] = True

    def project(self, w: Array) -> None:
        pass

    def project_in(self, w: Array, h: Array) -> None:
        pass

    def clip(self, wj: float) -> float:
        return wj

    def excess(self, w: Array) -> float:
        return -math.inf

    def outward(self, w: Array, g: Array) -> float:
        g[:] = 0.0
        return -math.inf

    def vertex(self, g: Array, w: Array) -> None:
        raise ValueError("a linear function has no minimum over all of R^d")
