"""The nearest point of a polytope, by a dual active-set method."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array, Indices, Mask
from stepless.jit import FAST, compiled
from stepless.objective.assigning import assign

_INSIDE = 2.0**-45  # relative: what lies outside by less lies inside
_PARALLEL = 1e-10  # share of a row that must be independent of the active ones
_MOST_ROUNDS = 50  # for each inequality: a method that ends takes a few


@compiled("A[n,d] w[d] b[n] active[n]", inline=False)
def nearest(w: Array, A: Array, b: Array, active: Mask) -> bool:
    """Move w, in place, to the nearest v with Av ≤ b, all rows of A being of length 1.

    Write `active`: which inequalities hold v where it is. Goldfarb and Idnani's method (1983) for
    min ‖v − w‖²: v is always nearest for the active inequalities alone, and the one that it breaks
    most joins them; ‖v − w‖ only grows, so the method ends. Return whether there is such a point.
    """
    if b.size == 0:
        return True
    feasible: bool = _approach(w, A, b, active)
    held = False
    for i in range(b.size):
        held = held or active[i]
    if feasible and held:
        # From far away v carries the rounding of w; from nearby it does not.
        _approach(w, A, b, np.empty(b.size, dtype=np.bool_))
    return feasible


@compiled(fastmath=FAST, inline=False)
def _approach(w: Array, A: Array, b: Array, active: Mask) -> bool:
    d, count = w.size, 0
    rows = np.empty(d + 1, dtype=np.int64)  # the active ones,
    u = np.empty(d + 1)  # their multipliers,
    Q, R = np.empty((d, d)), np.empty((d, d))  # and their factors: row k is Σ_l R_lk Q_l
    v, z, shares, r = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    assign(v, w)
    for i in range(b.size):
        active[i] = False
    slack = _INSIDE * (_largest(w) + _largest(b))
    for _ in range(_MOST_ROUNDS * b.size):
        worst, most_broken = _most_broken(A, b, active, v)
        if most_broken <= slack:
            _settle(w, A, b, rows, count, Q, R)
            return True
        u[count] = 0.0
        while True:
            normal = A[worst]
            _split(Q, count, normal, shares, z)
            _back(R, count, shares, r)
            free = _dot(z, z)
            blocking, most = _first_blocking(u, r, count)
            full = (_dot(normal, v) - b[worst]) / free if free > _PARALLEL**2 else math.inf
            step = min(most, full)
            if math.isinf(step):
                return False
            for k in range(count):
                u[k] -= step * r[k]
            u[count] += step
            if full < math.inf:
                for j in range(d):
                    v[j] -= step * z[j]
            if full <= most:
                _join(Q, R, count, shares, z)
                rows[count] = worst
                active[worst] = True
                count += 1
                break
            active[rows[blocking]] = False
            count -= 1
            for k in range(blocking, count):
                rows[k] = rows[k + 1]
            for k in range(blocking, count + 1):
                u[k] = u[k + 1]
            for k in range(blocking, count):
                _split(Q, k, A[rows[k]], shares, z)
                _join(Q, R, k, shares, z)
    return False


@compiled(fastmath=FAST)
def _most_broken(A: Array, b: Array, active: Mask, v: Array) -> tuple[int, float]:
    """Return the inactive inequality that v breaks most, and by how much."""
    worst, most_broken = 0, -math.inf
    for i in range(b.size):
        if not active[i]:
            broken = _dot(A[i], v) - b[i]
            if broken > most_broken:
                worst, most_broken = i, broken
    return worst, most_broken


@compiled(fastmath=FAST)
def _first_blocking(u: Array, r: Array, count: int) -> tuple[int, float]:
    """Return the multiplier that a step along −r makes 0 first, −1 if none, and that step."""
    blocking, most = -1, math.inf
    for k in range(count):
        if r[k] > 0.0 and u[k] < most * r[k]:
            blocking, most = k, u[k] / r[k]
    return blocking, most


@compiled(fastmath=FAST, inline=False)
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for j in range(x.size):
        total += x[j] * y[j]
    return total


@compiled()
def _largest(x: Array) -> float:
    top = 0.0
    for j in range(x.size):
        top = max(top, abs(x[j]))
    return top


@compiled(fastmath=FAST, inline=False)
def _split(Q: Array, count: int, normal: Array, shares: Array, z: Array) -> None:
    """Write the normal's shares of the orthonormal rows of Q, and z, at right angles to them."""
    for j in range(z.size):
        z[j] = normal[j]
    for k in range(count):
        shares[k] = 0.0
    for _ in range(2):  # the second time for what rounding left
        for k in range(count):
            share = _dot(Q[k], z)
            shares[k] += share
            for j in range(z.size):
                z[j] -= share * Q[k, j]


@compiled()
def _join(Q: Array, R: Array, count: int, shares: Array, z: Array) -> None:
    """Write Q and R: one more row, of these shares and this rest."""
    length = math.sqrt(_dot(z, z))
    R[count, count] = length
    for k in range(count):
        R[k, count] = shares[k]
    for j in range(z.size):
        Q[count, j] = z[j] / length


@compiled()
def _back(R: Array, count: int, t: Array, x: Array) -> None:
    """Write x with Rx = t."""
    for k in range(count - 1, -1, -1):
        x[k] = t[k]
        for later in range(k + 1, count):
            x[k] -= R[k, later] * x[later]
        x[k] /= R[k, k]


@compiled()
def _settle(w: Array, A: Array, b: Array, rows: Indices, count: int, Q: Array, R: Array) -> None:
    """Replace w by the nearest point with equality in these rows: w − Qᵀ R⁻ᵀ(Aw − b)."""
    t = np.empty(count)
    for k in range(count):
        t[k] = _dot(A[rows[k]], w) - b[rows[k]]
        for former in range(k):
            t[k] -= R[former, k] * t[former]
        t[k] /= R[k, k]
    for k in range(count):
        for j in range(w.size):
            w[j] -= t[k] * Q[k, j]
