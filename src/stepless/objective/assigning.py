"""Arrays written from others: numba's own `w[:] = v` takes two seconds to compile."""

from __future__ import annotations

from stepless.arrays import Array
from stepless.jit import compiled


@compiled("w[d] v[d]")
def assign(w: Array, v: Array) -> None:
    """Set w to v."""
    for j in range(w.size):
        w[j] = v[j]


@compiled("w[d] v[d]")
def assign_multiple(w: Array, t: float, v: Array) -> None:
    """Set w to t·v."""
    for j in range(w.size):
        w[j] = t * v[j]


@compiled("X[n,d] Y[n,d]")
def assign_rows(X: Array, Y: Array) -> None:
    """Set the matrix X to Y."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = Y[i, j]
