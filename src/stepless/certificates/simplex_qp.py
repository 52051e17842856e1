"""The small quadratic programme at the heart of bundle methods.

Solves      max_alpha  q'alpha - alpha'G alpha / 2,   alpha >= 0, sum(alpha) <= 1,
"""

import numpy as np
from numba import njit

_TOLERANCE = 1e-8
_RIDGE = 4e-16


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _enter(gram, lift, W, k, j, R, rhs, slope):
    n, column, pivot, one = W.size - 1, R[k], lift, 1.0
    for i in range(k):
        column[i] = lift
        if j < n and W[i] < n:
            column[i] += gram[j, W[i]]
    if j < n:
        pivot += gram[j, j]
    floor = _RIDGE * pivot
    for i in range(k):
        u = column[i] / R[i, i]
        for l in range(i + 1, k):
            column[l] -= u * R[i, l]
        R[i, k] = u
        pivot -= u * u
        one -= u * rhs[0, i]
        slope -= u * rhs[1, i]
    R[k, k] = np.sqrt(max(pivot, floor))
    rhs[0, k], rhs[1, k] = one / R[k, k], slope / R[k, k]
    W[k] = j


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _leave(W, k, e, R, rhs):
    for i in range(e):
        for l in range(e, k - 1):
            R[i, l] = R[i, l + 1]
    for i in range(e, k - 1):
        W[i] = W[i + 1]
        u, v = R[i, i + 1], R[i + 1, i + 1]
        h = np.sqrt(u * u + v * v)
        c, s = u / h, v / h
        R[i, i] = h
        for l in range(i + 1, k - 1):
            u, v = R[i, l + 1], R[i + 1, l + 1]
            R[i, l] = c * u + s * v
            R[i + 1, l + 1] = c * v - s * u
        for l in range(2):
            u, v = rhs[l, i], rhs[l, i + 1]
            rhs[l, i], rhs[l, i + 1] = c * u + s * v, c * v - s * u


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _newton(R, rhs, k, p):
    top = bottom = 0.0
    for i in range(k):
        top += rhs[0, i] * rhs[1, i]
        bottom += rhs[0, i] * rhs[0, i]
    mu = top / bottom
    for i in range(k - 1, -1, -1):
        s = rhs[1, i] - mu * rhs[0, i]
        for l in range(i + 1, k):
            s -= R[i, l] * p[l]
        p[i] = s / R[i, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _price(gram, q, x, g):
    n = q.size
    for i in range(n):
        g[i] = q[i]
    for j in range(n):
        if x[j] > 0.0:
            for i in range(n):
                g[i] -= x[j] * gram[j, i]
    mean = linear = 0.0
    for i in range(n):
        mean += x[i] * g[i]
        linear += x[i] * q[i]
    return mean, 0.5 * (mean + linear)


@njit(cache=True, nogil=True, error_model="numpy")
def _step(x, W, k, p):
    t, out = 1.0, -1
    for i in range(k):
        if x[W[i]] + t * p[i] < 0.0:
            t, out = -x[W[i]] / p[i], i
    total = 0.0
    for i in range(k):
        x[W[i]] = max(x[W[i]] + t * p[i], 0.0) if i != out else 0.0
        total += x[W[i]]
    for i in range(k):
        x[W[i]] /= total
    return t


@njit(cache=True, nogil=True, error_model="numpy")
def maximise(gram, q, alpha, stat):
    n = alpha.size
    x, g, p = np.zeros(n + 1), np.zeros(n + 1), np.empty(n + 1)
    R, rhs, W = np.empty((n + 1, n + 1)), np.empty((2, n + 1)), np.empty(n + 1, np.int64)
    lift = total = 0.0
    for i in range(n):
        lift += gram[i, i] / n
        if 1e-15 < alpha[i] < np.inf:
            x[i] = alpha[i]
            total += alpha[i]
    if total < 1 - 1e-14:
        x[n] = 1 - total
        total = 1.0
    for i in range(n):
        x[i] /= total
        alpha[i] = x[i]
    if not lift > 0.0:
        lift = 1.0
    k = 0
    for i in range(n + 1):
        if x[i] > 0:
            _enter(gram, lift, W, k, i, R, rhs, 0.0)
            k += 1
    highest, stalls, t, pivots = -np.inf, 0, 1.0, 0
    stat[1] = 0
    stat[4] = 0
    while pivots < 10 * n + 100:
        if t == 1:
            stat[1] += 1
            mean, value = _price(gram, q, x, g)
            stalls += 1
            if value > highest:
                highest, stalls = value, 0
                for i in range(n):
                    alpha[i] = x[i]
            j = n
            for i in range(n):
                if g[i] > g[j]:
                    j = i
            stat[3] = stalls
            if stalls > 1 or not g[j] - mean > _TOLERANCE * value:
                break
            spread = 0.0
            for i in range(k):
                rhs[1, i] = g[W[i]] - mean
                spread = max(spread, abs(rhs[1, i]))
            if x[j] == 0 and spread < 0.5 * (g[j] - mean):
                stat[4] += 1
                for i in range(k):
                    rhs[1, i] = 0.0
                _enter(gram, lift, W, k, j, R, rhs, g[j] - mean)
                k += 1
            else:
                for i in range(k):
                    rhs[1, i] /= R[i, i]
                    for l in range(i + 1, k):
                        rhs[1, l] -= rhs[1, i] * R[i, l]
        pivots += 1
        _newton(R, rhs, k, p)
        t = _step(x, W, k, p)
        for i in range(k):
            rhs[1, i] *= 1 - t
        for i in range(k - 1, -1, -1):
            if x[W[i]] == 0:
                _leave(W, k, i, R, rhs)
                k -= 1
    stat[0] = pivots; stat[2] = k
    return pivots
