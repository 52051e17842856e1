"""Weights that are a positive semidefinite matrix of a bounded trace."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.objective.assigning import assign
from stepless.objective.domains.domain import Bounded
from stepless.objective.domains.psd_cone import (
    admit_square,
    eigenvalues,
    inward_eigenvector,
    rebuild,
    side,
    symmetrise,
)
from stepless.objective.domains.simplex import project_simplex
from stepless.objective.eigenpair import lowest
from stepless.rounding import UNIT


class Spectrahedron(Bounded):
    """S = {X symmetric, X ⪰ 0, tr X ≤ R}, n × n, kept as one array of n² weights, its rows in turn.

    c(X) is the larger of λ_max(−X) and (tr X − R)/√n: both have subgradients of length 1.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0], [0.0, -1.0]])
    >>> Spectrahedron(2.0).excess(X.ravel())
    1.0
    >>> Spectrahedron(2.0).project(X.ravel())  # X.ravel() is a view
    >>> X
    array([[2., 0.],
           [0., 0.]])
    """

    wanted: ClassVar[str] = "a spectrahedron needs a positive trace"

    def admit(self, d: int) -> None:
        admit_square(d)

    def project(self, w: Array) -> None:
        X = w.reshape((side(w.size), side(w.size)))
        symmetrise(X)
        values, vectors = np.linalg.eigh(X)
        most = self.bound * (1.0 + w.size * 2.0 * UNIT)  # a projection stays where it is
        if values[0] >= -most * 2.0**-50 and values.sum() <= most:
            return
        values = np.maximum(values, 0.0)
        if values.sum() > most:
            project_simplex(values, np.ones(values.size), self.bound)
        rebuild(X, values, vectors)

    def into_span(self, w: Array) -> None:
        symmetrise(w.reshape((side(w.size), side(w.size))))

    def excess(self, w: Array) -> float:
        n = side(w.size)
        X = w.reshape((n, n))
        return max(-lowest(X, np.zeros(n)), (float(np.trace(X)) - self.bound) / math.sqrt(n))

    def outward(self, w: Array, g: Array) -> float:
        n = side(w.size)
        X, G = w.reshape((n, n)), g.reshape((n, n))
        indefinite = inward_eigenvector(X, G)
        heavy = (float(np.trace(X)) - self.bound) / math.sqrt(n)
        if heavy > indefinite:
            for i in range(n):
                for j in range(n):
                    G[i, j] = 1.0 / math.sqrt(n) if i == j else 0.0
        return max(indefinite, heavy)

    def vertex(self, g: Array, w: Array) -> None:
        n = side(w.size)
        X, u = w.reshape((n, n)), np.zeros(n)
        assign(w, g)
        symmetrise(X)
        trace = self.bound if lowest(X, u) < 0.0 else 0.0
        for i in range(n):
            for j in range(n):
                X[i, j] = trace * (u[i] * u[j])

    def floor(self, a: Array) -> float:
        # Of all eigenvalues, and rounding counts against it: a vertex is only nearly the lowest.
        return float(self.bound * min(eigenvalues(a)[0], 0.0)) if a.any() else 0.0
