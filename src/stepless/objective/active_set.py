"""The nearest point of a polytope, by a dual active-set method."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepless.jit import compiled

_ROUNDING = 2.0**-45  # relative: what lies outside by less lies inside
_PARALLEL = 1e-10  # share of a row that must be independent of the active ones
_MOST_ROUNDS = 50  # for each inequality: a method that ends takes a few


@compiled("A[n,d] w[d] b[n] active[n]")
def nearest(w: NDArray, A: NDArray, b: NDArray, active: NDArray) -> bool:
    """Move w, in place, to the nearest v with Av ≤ b, all rows of A being of length 1.

    Write `active`: which inequalities hold v where it is. Goldfarb and Idnani's method (1983) for
    min ‖v − w‖²: v is always nearest for the active inequalities alone, and the one that it breaks
    most joins them; ‖v − w‖ only grows, so the method ends. Return whether there is such a point.
    """
    if b.size == 0:
        return True
    feasible = _approach(w, A, b, active)
    if feasible and active.any():
        # From far away v carries the rounding of w; from nearby it does not.
        _approach(w, A, b, np.zeros(b.size, dtype=np.bool_))
    return feasible


@compiled
def _approach(w: NDArray, A: NDArray, b: NDArray, active: NDArray) -> bool:
    d, count = w.size, 0
    rows = np.empty(d + 1, dtype=np.int64)  # the active ones,
    u = np.zeros(d + 1)  # their multipliers,
    Q, R = np.zeros((d, d)), np.zeros((d, d))  # and their factors: row k is Σ_l R_lk Q_l
    active[:] = False
    v = w.copy()
    slack = _ROUNDING * (np.abs(w).max() + np.abs(b).max())
    for _ in range(_MOST_ROUNDS * b.size):
        broken = A @ v - b
        for k in range(count):
            broken[rows[k]] = -math.inf
        worst = broken.argmax()
        if broken[worst] <= slack:
            _settle(w, A, b, rows[:count], Q, R)
            return True
        u[count] = 0.0
        while True:
            normal = A[worst]
            shares, z = _split(Q[:count], normal)
            r = _back(R, shares)
            free = z @ z
            blocking, most = -1, math.inf
            for k in range(count):
                if r[k] > 0.0 and u[k] < most * r[k]:
                    blocking, most = k, u[k] / r[k]
            full = (normal @ v - b[worst]) / free if free > _PARALLEL**2 else math.inf
            step = min(most, full)
            if math.isinf(step):
                return False
            for k in range(count):
                u[k] -= step * r[k]
            u[count] += step
            if full < math.inf:
                v -= step * z
            if full <= most:
                _join(Q, R, count, shares, z)
                rows[count] = worst
                active[worst] = True
                count += 1
                break
            active[rows[blocking]] = False
            for k in range(blocking, count):
                u[k] = u[k + 1]
                if k + 1 < count:
                    rows[k] = rows[k + 1]
            count -= 1
            for k in range(blocking, count):
                _join(Q, R, k, *_split(Q[:k], A[rows[k]]))
    return False


@compiled
def _split(Q: NDArray, normal: NDArray) -> tuple[NDArray, NDArray]:
    """Return the normal's shares of the orthonormal rows Q, and what is at right angles to them."""
    shares = Q @ normal
    z = normal - shares @ Q
    more = Q @ z  # a second time, for what rounding left
    z -= more @ Q
    return shares + more, z


@compiled
def _join(Q: NDArray, R: NDArray, count: int, shares: NDArray, z: NDArray) -> None:
    """Write Q and R: one more row, of these shares and this rest."""
    R[:count, count] = shares
    R[count, count] = math.sqrt(z @ z)
    Q[count] = z / R[count, count]


@compiled
def _back(R: NDArray, t: NDArray) -> NDArray:
    """Solve Rx = t."""
    x = t.copy()
    for k in range(t.size - 1, -1, -1):
        for later in range(k + 1, t.size):
            x[k] -= R[k, later] * x[later]
        x[k] /= R[k, k]
    return x


@compiled
def _settle(w: NDArray, A: NDArray, b: NDArray, rows: NDArray, Q: NDArray, R: NDArray) -> None:
    """Replace w by the nearest point with equality in these rows: w − Qᵀ R⁻ᵀ(Aw − b)."""
    t = A[rows] @ w - b[rows]
    for k in range(t.size):
        for former in range(k):
            t[k] -= R[former, k] * t[former]
        t[k] /= R[k, k]
    w -= t @ Q[: rows.size]
