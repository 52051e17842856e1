"""The small quadratic programme at the heart of bundle methods.

Planes ⟨a_i, w⟩ + b_i lie below a risk; G = (⟨a_i, a_j⟩) is their Gram matrix. With q = λb,

    max_α  q'α − α'Gα/2,   α ≥ 0, 1'α ≤ 1            is λ times the dual of
    min_w  λ/2 ‖w‖² + max(0, max_i ⟨a_i, w⟩ + b_i),   and w = −A'α/λ.

Own, because a bundle method solves a sequence of these, each with one plane more than the last:
from the last α a handful of pivots do. Solvers from outside take 8 to 1000 times as long on such
sequences, and come no closer to the optimum (benchmarks/qp.py).

The slack of 1'α ≤ 1 is a plane of its own, the last one, with a zero row: x = (α, slack) lives on a
simplex. There H = G + c 11' may stand for G, since c (1'x)² is constant; H[W, W] is regular as soon
as the planes of the working set W are affinely independent. Throughout, R'R = H[W, W], and rhs
holds R⁻ᵀ1 and R⁻ᵀr, where r are the slopes on W that the Newton step is to level.
"""

import math
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import compiled
from stepless.objective.assigning import assign

_TOLERANCE = 1e-8  # of the value; less costs pivots and, at λ = 1e-8, drowns in rounding
_NOTHING = 1e-25  # of the size of G: a gap that no λ ≥ 1e-10 can tell from none
_STALLS = 5  # Newton steps in a row that may fail to raise the value before rounding has won
_RIDGE = 1e-16  # the least share of a plane that is new to W: no pivot is zero or negative
_THIN = 1e-11  # a start's plane with a smaller share is dropped: two such planes would spoil R
_SUMS = {"reassoc", "contract"}  # sums in any order; NaN and infinity keep their meaning


class Factor(NamedTuple):
    """The working set W, R with R'R = H[W, W], and both right-hand sides R⁻ᵀ1 and R⁻ᵀr."""

    W: Indices
    R: Array
    rhs: Array


@compiled(fastmath=_SUMS)
def _start(gram, alpha, x):
    """Make α feasible and x = (α, slack); return the shift c, of the size of G."""
    n = alpha.size
    shift = total = 0.0
    for i in range(n):
        shift += gram[i, i] / n
        if not 0.0 < alpha[i] < np.inf:
            alpha[i] = 0.0
        total += alpha[i]
    x[n] = 1.0 - total if total < 1.0 - 1e-14 else 0.0  # less is the rounding of a sum of 1
    for i in range(n):
        if total > 1.0:
            alpha[i] /= total
        x[i] = alpha[i]
    return shift if shift > 0.0 else 1.0


@compiled(fastmath=_SUMS)
def _price(gram, q, x, g):
    """Scale x back to sum 1, write g = q − Gx; return the steepest plane, x'g, q'x − x'Gx/2."""
    n = q.size
    total = x[n]
    for i in range(n):
        total += x[i]
        g[i] = q[i]
    x[n] /= total
    for j in range(n):
        if x[j] > 0.0:
            x[j] /= total
            for i in range(n):
                g[i] -= x[j] * gram[j, i]
    j = n
    mean = linear = 0.0
    for i in range(n):
        mean += x[i] * g[i]
        linear += x[i] * q[i]
        if g[i] > g[j]:
            j = i
    return j, mean, 0.5 * (mean + linear)


@compiled(fastmath=_SUMS)
def _enter(gram, shift, factor, k, j, slope):
    """Append plane j, r_j = slope, to the k of W; return the share of it that is new to them."""
    W, R, rhs = factor
    n = W.size - 1
    square = shift
    one = 1.0
    for i in range(k):  # row k of R is free left of its diagonal: H[W, j] is solved there
        R[k, i] = shift
        if j < n and W[i] < n:
            R[k, i] += gram[j, W[i]]
    if j < n:
        square += gram[j, j]
    pivot = square
    for i in range(k):
        u = R[k, i] / R[i, i]
        for c in range(i + 1, k):
            R[k, c] -= u * R[i, c]
        R[i, k] = u
        pivot -= u * u
        one -= u * rhs[0, i]
        slope -= u * rhs[1, i]
    if not pivot > _RIDGE * square:
        pivot = _RIDGE * square
    root = math.sqrt(pivot)
    R[k, k] = root
    rhs[0, k] = one / root
    rhs[1, k] = slope / root
    W[k] = j
    return pivot / square


@compiled()
def _leave(factor, k, e):
    """Take the e-th plane out of W: its column out of R, the rows below rotated to a triangle."""
    W, R, rhs = factor
    for i in range(e):
        for c in range(e, k - 1):
            R[i, c] = R[i, c + 1]
    for i in range(e, k - 1):
        W[i] = W[i + 1]
        u = R[i, i + 1]
        v = R[i + 1, i + 1]
        root = math.sqrt(u * u + v * v)
        cos = u / root
        sin = v / root
        R[i, i] = root
        for c in range(i + 1, k - 1):
            u = R[i, c + 1]
            v = R[i + 1, c + 1]
            R[i, c] = cos * u + sin * v
            R[i + 1, c + 1] = cos * v - sin * u
        for c in range(2):
            u = rhs[c, i]
            v = rhs[c, i + 1]
            rhs[c, i] = cos * u + sin * v
            rhs[c, i + 1] = cos * v - sin * u


@compiled(fastmath=_SUMS)
def _newton(factor, k, p):
    """Write p with R'Rp = r − μ1 and 1'p = 0."""
    _, R, rhs = factor
    top = bottom = 0.0
    for i in range(k):
        top += rhs[0, i] * rhs[1, i]
        bottom += rhs[0, i] * rhs[0, i]
    mu = top / bottom
    for i in range(k - 1, -1, -1):
        s = rhs[1, i] - mu * rhs[0, i]
        for c in range(i + 1, k):
            s -= R[i, c] * p[c]
        p[i] = s / R[i, i]


@compiled(fastmath=_SUMS)
def _level(gram, shift, factor, k, g, mean, drifted):
    """Write the right-hand side of r = g − mean on W; if R has drifted, R is made anew."""
    W, R, rhs = factor
    if drifted:
        for i in range(k):
            _enter(gram, shift, factor, i, W[i], g[W[i]] - mean)
        return
    for i in range(k):
        rhs[1, i] = g[W[i]] - mean
    for i in range(k):
        rhs[1, i] /= R[i, i]
        for c in range(i + 1, k):
            rhs[1, c] -= rhs[1, i] * R[i, c]


@compiled(fastmath=_SUMS)
def _advance(factor, k, p, rest, x):
    """Move x along p by `rest` of it, or until a plane leaves; return what is left, and new k."""
    W = factor.W
    t = rest
    out = -1
    for i in range(k):
        if x[W[i]] < -t * p[i]:
            t = -x[W[i]] / p[i]
            out = i
    for i in range(k - 1, -1, -1):
        j = W[i]
        x[j] += t * p[i]
        if i == out or x[j] <= 0.0:
            x[j] = 0.0
            _leave(factor, k, i)
            k -= 1
    return rest - t, k


@compiled("alpha[n] q[n] gram[≥n,≥n]", fastmath=_SUMS)
def maximise(gram, q, alpha):
    """Climb in place from alpha to the maximiser; return the number of pivots.

    Solves      max q'α − α'Gα/2 over α ≥ 0, 1'α ≤ 1, for G = gram[:n, :n] ⪰ 0 of any rank.
    Algorithm   Primal active set (Wolfe 1976 for q = 0, Kiwiel 1986 for bundles). Slopes
                g = q − Gx; stop if the gap max(g) − x'g is small; the steepest plane enters W; a
                Newton step on W, planes that reach zero leaving it on the way. A plane dependent on
                W gets a proximal ridge around x, which moves no fixed point: the step is then so
                long that one of them leaves.
    Guarantee   α is feasible, whatever came in. Each Newton step ends at the maximiser over a face,
                values rise, so no face comes twice; at most 10n + 100 pivots.
    Cost        |W|³/6 once, then O(n|W|) per pivot; n² numbers.
    Differs     Stops at a gap of 1e-8 of the value, or when six Newton steps do not raise it.

    >>> alpha = np.zeros(2)
    >>> maximise(np.eye(2), np.array([0.25, -1.0]), alpha), alpha
    (1, array([0.25, 0.  ]))
    """
    n = alpha.size
    k, pivots, stalls, highest = 0, 0, 0, -np.inf
    x, g, p = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    factor = Factor(np.empty(n + 1, np.int64), np.empty((n + 1, n + 1)), np.empty((2, n + 1)))
    shift = _start(gram, alpha, x)
    for i in range(n + 1):
        if x[i] > 0.0 and _enter(gram, shift, factor, k, i, 0.0) > _THIN:
            k += 1
        else:
            x[i] = 0.0
    g[n] = rest = 0.0  # rest: the part of the Newton step still to go
    while pivots < 10 * n + 100:
        if rest == 0.0:
            j, mean, value = _price(gram, q, x, g)
            stalls += 1
            if value > highest - 2e-16 * shift:  # of values equal but for rounding the last is best
                assign(alpha, x[:n])
            if value > highest:
                highest, stalls = value, 0
            if stalls > _STALLS or g[j] - mean <= _TOLERANCE * value + _NOTHING * shift:
                break
            _level(gram, shift, factor, k, g, mean, x[j] > 0.0)  # W's own slopes: R has drifted
            if x[j] == 0.0 and k <= n:
                _enter(gram, shift, factor, k, j, g[j] - mean)
                k += 1
            rest = 1.0
        pivots += 1
        _newton(factor, k, p)
        rest, k = _advance(factor, k, p, rest, x)
        if k == 0:  # only a G that is not semidefinite takes all weight away
            break
    return pivots
