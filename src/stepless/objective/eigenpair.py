"""The lowest eigenvalue of a symmetric matrix, without all the others."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.assigning import assign, assign_multiple
from stepless.rounding import UNIT

_SMALL = 32  # rows: below, all eigenvalues cost no more
_TIGHT = 3e-11  # residual, relative to the largest eigenvalue: none that is lower is overlooked
_MOST_STEPS = 200  # beyond, all eigenvalues cost no more
_NOISE = 0.3  # share of a start that is random: a guess may lack the eigenvector altogether
_LOOK = 4  # steps between two looks at how good the eigenvalue is


@compiled("X[n,n] u[n]")
def lowest(X: Array, u: Array) -> float:
    """Write into u a unit eigenvector of the lowest eigenvalue of X; return that eigenvalue.

    By Lanczos's method with full reorthogonalisation, from the guess that u holds (or zeros), and
    a share of every eigenvector: one lower by δ leaves a residual of δ times its share. An estimate
    by the gap between Ritz values would end sooner, and overlook the lower of two close ones.
    Where eigenvalues lie so close that this takes long, all of them are computed.
    """
    n = X.shape[0]
    if n <= _SMALL:
        return _lowest_of_all(X, u)
    V = np.empty((_MOST_STEPS + 1, n))
    a, b, s = np.zeros(_MOST_STEPS), np.zeros(_MOST_STEPS), np.zeros(_MOST_STEPS)
    _begin(u, V[0])
    size = 0.0
    for k in range(min(_MOST_STEPS, n)):
        r = V[k] @ X  # X is symmetric, and rows lie side by side
        a[k] = V[k] @ r
        before = math.sqrt(r @ r)
        basis = V[: k + 1]
        r -= (basis @ r) @ basis
        b[k] = math.sqrt(r @ r)
        if b[k] < 0.1 * before:  # what is left has lost digits
            r -= (basis @ r) @ basis
            b[k] = math.sqrt(r @ r)
        size = max(size, abs(a[k]) + b[k])  # no eigenvalue is larger than thrice that
        if size == 0.0:
            assign(u, V[0])
            return 0.0
        ended = b[k] <= 2.0**-50 * size
        if ended or (k % _LOOK == _LOOK - 1 and k > _LOOK):
            theta = _ritz(a[: k + 1], b[:k], s[: k + 1])
            if ended or b[k] * abs(s[k]) <= _TIGHT * size:
                assign(u, s[: k + 1] @ basis)
                u /= math.sqrt(u @ u)
                return theta
        assign_multiple(V[k + 1], 1.0 / b[k], r)
    return _lowest_of_all(X, u)


@compiled()
def _begin(u: Array, v: Array) -> None:
    """Write into v a unit vector near u; a random one, always the same, if u is 0."""
    state = np.uint64(0x9E3779B97F4A7C15)
    size = math.sqrt(u @ u)
    for j in range(u.size):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        v[j] = np.int64(state >> np.uint64(33)) * 2.0**-30 - 1.0
    v *= (_NOISE if size > 0.0 else 1.0) / math.sqrt(v @ v)
    if size > 0.0:
        v += u / size
        v /= math.sqrt(v @ v)


@compiled()
def _ritz(a: Array, b: Array, s: Array) -> float:
    """Write s, the lowest eigenvector of the tridiagonal matrix (a, b); return its eigenvalue."""
    low, high = math.inf, -math.inf
    for k in range(a.size):
        around = (abs(b[k - 1]) if k else 0.0) + (abs(b[k]) if k < b.size else 0.0)
        low, high = min(low, a[k] - around), max(high, a[k] + around)
    size = max(abs(low), abs(high))
    while high - low > 2.0 * UNIT * size:  # Sturm's bisection: is any eigenvalue lower?
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _positive(a, b, middle) else (low, middle)
    theta, shift = 0.5 * (low + high), low - 2.0**-50 * size  # below: no pivot is 0
    s[:] = 1.0
    pivots = np.empty(a.size)
    for _ in range(3):  # inverse iteration, by Cholesky's factors
        pivots[0] = a[0] - shift
        for k in range(1, a.size):
            factor = b[k - 1] / pivots[k - 1]
            pivots[k] = a[k] - shift - factor * b[k - 1]
            s[k] -= factor * s[k - 1]
        s[a.size - 1] /= pivots[a.size - 1]
        for k in range(a.size - 2, -1, -1):
            s[k] = (s[k] - b[k] * s[k + 1]) / pivots[k]
        s /= math.sqrt(s @ s)
    return theta


@compiled()
def _positive(a: Array, b: Array, shift: float) -> bool:
    """Return whether the tridiagonal matrix (a, b) less the shift is positive definite."""
    pivot = 1.0
    for k in range(a.size):
        pivot = a[k] - shift - (b[k - 1] * b[k - 1] / pivot if k else 0.0)
        if not pivot > 0.0:
            return False
    return True


@compiled()
def _lowest_of_all(X: Array, u: Array) -> float:
    values, vectors = np.linalg.eigh(X)
    assign(u, vectors[:, 0])
    return float(values[0])
