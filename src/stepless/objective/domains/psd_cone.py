"""Weights that are a positive semidefinite matrix."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.assigning import assign_rows
from stepless.objective.domains.domain import Domain
from stepless.objective.eigenpair import lowest


class PSDCone(Domain):
    """S = {X symmetric, X ⪰ 0}, an n × n matrix kept as one array of n² weights, its rows in turn.

    c(X) = λ_max(−X), whose subgradient is −uuᵀ: one eigenvector, by Lanczos's method, where a
    projection takes all of them.

    Examples
    --------
    >>> X = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> PSDCone().excess(X.ravel())
    2.0
    >>> PSDCone().project(X.ravel())  # X.ravel() is a view
    >>> X.round(9)
    array([[1., 1.],
           [1., 1.]])
    """

    def admit(self, d: int) -> None:
        admit_square(d)

    def project(self, w: Array) -> None:
        X = w.reshape((side(w.size), side(w.size)))
        symmetrise(X)
        values, vectors = np.linalg.eigh(X)
        if values[0] < 0.0:
            rebuild(X, np.maximum(values, 0.0), vectors)

    def into_span(self, w: Array) -> None:
        symmetrise(w.reshape((side(w.size), side(w.size))))

    def excess(self, w: Array) -> float:
        n = side(w.size)
        return -lowest(w.reshape((n, n)), np.zeros(n))

    def outward(self, w: Array, g: Array) -> float:
        n = side(w.size)
        return inward_eigenvector(w.reshape((n, n)), g.reshape((n, n)))

    def vertex(self, g: Array, w: Array) -> None:
        raise ValueError("a linear function need not have a minimum over a cone")

    def floor(self, a: Array) -> float:
        return self.floor_within(a, math.inf)

    def floor_within(self, a: Array, radius: float) -> float:
        falling = float(np.linalg.norm(np.minimum(eigenvalues(a), 0.0)))
        return -falling * radius if falling else 0.0


def eigenvalues(a: Array) -> Array:
    """Return lower bounds on the eigenvalues of a matrix's symmetric part, rounding counted."""
    n = side(a.size)
    X = a.reshape(n, n)
    values = np.linalg.eigvalsh((X + X.T) / 2.0).astype(np.float64)
    return values - n * 2.0**-50 * float(np.linalg.norm(X))


def admit_square(d: int) -> None:
    """Refuse a number of weights that is not a square."""
    if math.isqrt(d) ** 2 != d:
        raise ValueError(
            f"{d} weights are no square matrix, of which a positive semidefinite one is made; "
            f"{math.isqrt(d) ** 2} or {(math.isqrt(d) + 1) ** 2} would be"
        )


@compiled("")
def side(d: int) -> int:
    """Return the number of rows of a square matrix of d entries."""
    n = int(math.sqrt(d) + 0.5)
    if n * n != d:
        raise ValueError("a positive semidefinite matrix needs a square number of weights")
    return n


@compiled("X[n,n]")
def symmetrise(X: Array) -> None:
    """Replace X by (X + Xᵀ)/2."""
    for i in range(X.shape[0]):
        for j in range(i):
            X[i, j] = 0.5 * (X[i, j] + X[j, i])
            X[j, i] = X[i, j]


@compiled("X[n,n] values[n] vectors[n,n]")
def rebuild(X: Array, values: Array, vectors: Array) -> None:
    """Write X: the matrix of these eigenvalues ≥ 0 and vectors, exactly symmetric."""
    half = vectors * np.sqrt(values)
    assign_rows(X, half @ half.T)
    symmetrise(X)


@compiled("X[n,n] G[n,n]")
def inward_eigenvector(X: Array, G: Array) -> float:
    """Write G = −uuᵀ for X's lowest eigenvector u; return minus its eigenvalue."""
    n = X.shape[0]
    top = 0
    for j in range(n):
        if abs(G[j, j]) > abs(G[top, top]):
            top = j
    u = G[top].copy()  # parallel to the eigenvector that G was made of
    value = lowest(X, u)
    for i in range(n):
        for j in range(n):
            G[i, j] = -u[i] * u[j]
    return -value
