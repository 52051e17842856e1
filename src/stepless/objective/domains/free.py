"""All weights."""

from __future__ import annotations

import math
from typing import ClassVar

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

    def project(self, w):
        pass

    def project_in(self, w, h):
        pass

    def clip(self, wj):
        return wj

    def excess(self, w):
        return -math.inf

    def outward(self, w, g):
        g[:] = 0.0
        return -math.inf

    def vertex(self, g, w):
        raise ValueError("a linear function has no minimum over all of R^d")
