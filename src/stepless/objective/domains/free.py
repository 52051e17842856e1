"""All weights."""

from __future__ import annotations

from stepless.objective.domains.domain import Domain


class Free(Domain):
    """S = R^d.

    Examples
    --------
    >>> Free().radius()
    inf
    """

    def project(self, w):
        pass

    def vertex(self, g, w):
        raise ValueError("a linear function has no minimum over all of R^d")
