"""The dynamic programme of folding, O(n³), and the loops of a given structure.

Bases are numbered from 1 to n; x[0] and x[n + 1] are N, of which every table holds 0. Scores of the
best of its kind: C[i, j] of a pair (i, j) with all that is inside; D[i, j] the same as the inner
pair of a bulge, E[i, j] of an interior loop; inside a multiloop, M[i, j] of bases i to j with one
branch or more, T[i, j] with one that begins at i; F[j] of the first j bases. Rows are filled from
the last to the first, each by whole rows below it, which the processor's vectors do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import compiled
from stepless.structured.rna.loops import (
    AFTER,
    ASYMMETRY,
    BEFORE,
    BOTH_SMALL,
    BULGE,
    BULGED,
    CLOSING,
    HAIRPIN,
    INTERIOR,
    KIND,
    LONGEST,
    MISMATCH,
    MULTI_BRANCH,
    MULTI_LOOP,
    MULTI_UNPAIRED,
    NO_PAIR,
    ONE_BY_ONE,
    OUTER_BRANCH,
    OUTER_UNPAIRED,
    PAIR,
    SHORTEST,
    SMALL,
    STACK,
)

_N = KIND.shape[0]
_T = NO_PAIR + 1
_HAIRPIN, _MULTILOOP, _STACK, _BULGE, _INTERIOR, _ONE_BASE, _ONE_BY_ONE = range(7)  # loops
_EXTERIOR, _PAIRED, _BRANCHES, _BRANCH = range(4)  # what is left to trace


class Tables(NamedTuple):
    """The scores θ, those of an interior loop's sides, the bases, and the best of each kind."""

    theta: Array
    sides: Array
    x: Indices
    C: Array
    D: Array
    E: Array
    M: Array
    T: Array
    F: Array


@compiled()
def _mismatch(x, i, j):
    """Return the entry of the bases inside of the pair (i, j)."""
    return MISMATCH + (KIND[x[i], x[j]] * _N + x[i + 1]) * _N + x[j - 1]


@compiled()
def _edge(theta, x, i, j):
    """Worth of the pair (i, j) in a multiloop or the exterior loop, seen from it."""
    kind = KIND[x[i], x[j]]
    return (
        theta[CLOSING + kind]
        + theta[AFTER + kind * _N + x[i + 1]]
        + theta[BEFORE + kind * _N + x[j - 1]]
    )


@compiled()
def _sides(theta):
    """Worth of an interior loop by the lengths of its sides, but for its pairs and bases."""
    worth = np.full((LONGEST, LONGEST), -np.inf)
    for u in range(1, LONGEST):
        for v in range(1, LONGEST - u + 1):
            worth[u, v] = theta[INTERIOR + u + v] + theta[ASYMMETRY + abs(u - v)]
            if u <= SMALL and v <= SMALL:
                worth[u, v] += theta[BOTH_SMALL + u * (SMALL + 1) + v]
    return worth


@compiled("x[n] mate[n] truth[n] theta[ENTRIES]")
def fold(mate, theta, x, truth, missed, wrong):
    """Write the structure of the largest score into mate; return that score.

    With costs: a pair that `truth` has not adds `wrong`, one that it has takes away `missed`.
    """
    n = x.size - 2
    sides = _sides(theta)
    C = np.full((n + 2, n + 2), -np.inf)
    D, E, M, T, F = C.copy(), C.copy(), C.copy(), C.copy(), np.zeros(n + 1)
    tables = Tables(theta, sides, x, C, D, E, M, T, F)
    within = np.full(n + 2, -np.inf)  # two branches or more in bases i + 1 to j
    several = np.full(n + 2, -np.inf)  # … in bases i to j
    bulge, wide = np.full(n + 2, -np.inf), np.full(n + 2, -np.inf)
    unpaired = theta[MULTI_UNPAIRED]
    for i in range(n, 0, -1):
        _bulges(bulge, theta, x, D, i)
        _interiors(wide, sides, E, i)
        several[:] = -np.inf
        for j in range(i + 1, n + 1):
            kind = KIND[x[i], x[j]]
            T[i, j] = T[i, j - 1] + unpaired
            if kind != NO_PAIR and j - i > SHORTEST:
                best, _ = _inside(tables, bulge[j], wide[j], within[j - 1], i, j)
                best += theta[PAIR + kind]
                best += -missed if truth[i] == j else wrong
                C[i, j] = best
                D[i, j] = best + theta[CLOSING + KIND[x[j], x[i]]]
                E[i, j] = D[i, j] + theta[_mismatch(x, j, i)]
                T[i, j] = max(T[i, j], best + theta[MULTI_BRANCH] + _edge(theta, x, j, i))
            M[i, j] = max(several[j], T[i, j], M[i + 1, j] + unpaired)
            if M[i, j] > -np.inf:
                _raise(several[j + 1 :], T[j + 1, j + 1 :], M[i, j])
        within, several = several, within
    for j in range(1, n + 1):
        F[j], _ = _outermost(tables, j)
    _trace(mate, tables)
    return F[n]


@compiled()
def _raise(best, scores, worth):
    """Raise best to scores + worth where that is more."""
    for k in range(min(best.size, scores.size)):
        score = scores[k] + worth
        if score > best[k]:  # noqa: PLR1730 (a max() takes twice as long: no vectors)
            best[k] = score


@compiled()
def _bulges(best, theta, x, D, i):
    """Write the best bulge inside of (i, j), for all j, without what that pair adds.

    Not that of the one base j − 1: what it is worth depends on j.
    """
    best[:] = -np.inf
    for u in range(1, min(LONGEST, D.shape[0] - i - 3) + 1):
        k = i + u + 1
        one = theta[BULGED + x[i + 1]] if u == 1 else 0.0
        _raise(best[k + 1 :], D[k, k:], theta[BULGE + u] + one)
        if u > 1:
            _raise(best[i + u + 2 :], D[i + 1, i + 1 :], theta[BULGE + u])


@compiled()
def _interiors(best, sides, E, i):
    """Write the best interior loop inside of (i, j), for all j, without what that pair adds.

    Not that of one base on either side: what it is worth depends on the two.
    """
    best[:] = -np.inf
    for u in range(1, min(LONGEST - 1, E.shape[0] - i - 3) + 1):
        k = i + u + 1
        for v in range(1 + (u == 1), LONGEST - u + 1):
            _raise(best[k + v + 1 :], E[k, k:], sides[u, v])


@compiled()
def _inside(tables, bulge, wide, branches, i, j):
    """Return the score of the best loop closed by (i, j), with all that is within, and its kind.

    From the best bulge, interior loop and branches.
    """
    theta, sides, x, C, D, E, _, _, _ = tables
    kind = KIND[x[i], x[j]]
    closing = theta[CLOSING + kind]
    border = closing + theta[_mismatch(x, i, j)]
    best, loop = border + theta[HAIRPIN + min(j - i - 1, LONGEST)], _HAIRPIN
    score = theta[MULTI_LOOP] + theta[MULTI_BRANCH] + _edge(theta, x, i, j) + branches
    if score > best:
        best, loop = score, _MULTILOOP
    score = theta[STACK + kind * _T + KIND[x[i + 1], x[j - 1]]] + C[i + 1, j - 1]
    if score > best:
        best, loop = score, _STACK
    score = closing + bulge
    if score > best:
        best, loop = score, _BULGE
    score = closing + theta[BULGE + 1] + theta[BULGED + x[j - 1]] + D[i + 1, j - 2]
    if score > best:
        best, loop = score, _ONE_BASE
    score = border + wide
    if score > best:
        best, loop = score, _INTERIOR
    score = border + theta[ONE_BY_ONE + x[i + 1] * _N + x[j - 1]] + sides[1, 1] + E[i + 2, j - 2]
    if score > best:
        best, loop = score, _ONE_BY_ONE
    return best, loop


@compiled()
def _outermost(tables, j):
    """Return the best of the first j bases, and the base that the last one pairs with, or 0."""
    theta, x, C, F = tables.theta, tables.x, tables.C, tables.F
    best, at = F[j - 1] + theta[OUTER_UNPAIRED], 0
    for i in range(1, j):
        if C[i, j] > -np.inf:
            score = F[i - 1] + C[i, j] + theta[OUTER_BRANCH] + _edge(theta, x, j, i)
            if score > best:
                best, at = score, i
    return best, at


@compiled()
def _push(left, size, what, i, j):
    """Write what is left to trace on top of the pile; return its new size."""
    left[size, 0] = what
    left[size, 1] = i
    left[size, 2] = j
    return size + 1


@compiled()
def _trace(mate, tables):
    """Write mate: the choices that made the best score, made again."""
    theta, _, x, _, _, _, M, T, _ = tables
    n = x.size - 2
    mate[:] = 0
    left = np.empty((2 * n + 4, 3), dtype=np.int64)
    size = _push(left, 0, _EXTERIOR, 1, n)
    while size:
        size -= 1
        what, i, j = left[size, 0], left[size, 1], left[size, 2]
        if what == _EXTERIOR and j > 0:
            _, at = _outermost(tables, j)
            size = _push(left, size, _EXTERIOR, 1, j - 1 if at == 0 else at - 1)
            if at:
                size = _push(left, size, _PAIRED, at, j)
        elif what == _PAIRED:
            mate[i], mate[j] = j, i
            at, to, last = _inner(tables, i, j)
            if last:
                size = _push(left, size, _BRANCHES, i + 1, last - 1)
                size = _push(left, size, _BRANCH, last, j - 1)
            elif at:
                size = _push(left, size, _PAIRED, at, to)
        elif what == _BRANCHES:
            several, last = _last_branch(M, T, i, j)
            if M[i, j] == several:
                size = _push(left, size, _BRANCHES, i, last - 1)
                size = _push(left, size, _BRANCH, last, j)
            elif M[i, j] == T[i, j]:
                size = _push(left, size, _BRANCH, i, j)
            else:
                size = _push(left, size, _BRANCHES, i + 1, j)
        elif what == _BRANCH:
            longer = T[i, j] == T[i, j - 1] + theta[MULTI_UNPAIRED]
            size = _push(left, size, _BRANCH if longer else _PAIRED, i, j - 1 if longer else j)


@compiled()
def _inner(tables, i, j):
    """Return the inner pair of the best loop inside of (i, j), and where its last branch begins.

    The latter is of a multiloop; what does not exist is 0.
    """
    branches, last = _last_branch(tables.M, tables.T, i + 1, j - 1)
    bulge, bulge_at, bulge_to = _best_bulge(tables.theta, tables.x, tables.D, i, j)
    wide, wide_at, wide_to = _best_interior(tables.sides, tables.E, i, j)
    _, loop = _inside(tables, bulge, wide, branches, i, j)
    at, to = 0, 0
    if loop == _STACK:
        at, to = i + 1, j - 1
    elif loop == _BULGE:
        at, to = bulge_at, bulge_to
    elif loop == _ONE_BASE:
        at, to = i + 1, j - 2
    elif loop == _INTERIOR:
        at, to = wide_at, wide_to
    elif loop == _ONE_BY_ONE:
        at, to = i + 2, j - 2
    return at, to, last if loop == _MULTILOOP else 0


@compiled()
def _last_branch(M, T, i, j):
    """Return the best of two branches or more in bases i to j, and where the last one begins."""
    best, at = -np.inf, 0
    for k in range(i + 1, j + 1):
        score = T[k, j] + M[i, k - 1]
        if score > best:
            best, at = score, k
    return best, at


@compiled()
def _best_bulge(theta, x, D, i, j):
    """Return the bulge that `_bulges` finds for (i, j), and its inner pair."""
    best, at, to = -np.inf, 0, 0
    for u in range(1, min(LONGEST, j - i - 3) + 1):
        one = theta[BULGED + x[i + 1]] if u == 1 else 0.0
        score = D[i + u + 1, j - 1] + (theta[BULGE + u] + one)
        if score > best:
            best, at, to = score, i + u + 1, j - 1
        score = D[i + 1, j - u - 1] + theta[BULGE + u]
        if u > 1 and score > best:
            best, at, to = score, i + 1, j - u - 1
    return best, at, to


@compiled()
def _best_interior(sides, E, i, j):
    """Return the loop that `_interiors` finds for (i, j), and its inner pair."""
    best, at, to = -np.inf, 0, 0
    for u in range(1, min(LONGEST - 1, j - i - 4) + 1):
        k = i + u + 1
        for v in range(1 + (u == 1), min(LONGEST - u, j - k - 2) + 1):
            score = E[k, j - v - 1] + sides[u, v]
            if score > best:
                best, at, to = score, k, j - v - 1
    return best, at, to


@compiled("x[n] mate[n] counts[ENTRIES]")
def count(counts, x, mate):
    """Write how often a structure takes each entry of the tables."""
    n = x.size - 2
    counts[:] = 0.0
    p = 1
    while p <= n:
        if mate[p] == 0:
            counts[OUTER_UNPAIRED] += 1.0
            p += 1
        else:
            counts[OUTER_BRANCH] += 1.0
            _count_edge(counts, x, mate[p], p)
            p = mate[p] + 1
    for i in range(1, n + 1):
        if mate[i] > i:
            counts[PAIR + KIND[x[i], x[mate[i]]]] += 1.0
            _count_loop(counts, x, mate, i, mate[i])


@compiled()
def _count_edge(counts, x, i, j):
    kind = KIND[x[i], x[j]]
    counts[CLOSING + kind] += 1.0
    counts[AFTER + kind * _N + x[i + 1]] += 1.0
    counts[BEFORE + kind * _N + x[j - 1]] += 1.0


@compiled()
def _count_multiloop(counts, x, mate, i, j):
    """Count the multiloop that (i, j) closes, and its edges."""
    counts[MULTI_LOOP] += 1.0
    _count_edge(counts, x, i, j)
    p = i + 1
    while p < j:
        if mate[p] == 0:
            p += 1
        else:
            _count_edge(counts, x, mate[p], p)
            p = mate[p] + 1


@compiled()
def _count_loop(counts, x, mate, i, j):
    """Count the loop that (i, j) closes; lengths that no folding has count as the nearest."""
    branches, unpaired, k = 0, 0, 0
    p = i + 1
    while p < j:
        if mate[p] == 0:
            unpaired += 1
            p += 1
        else:
            branches += 1
            k = p
            p = mate[p] + 1
    if branches > 1:
        counts[MULTI_BRANCH] += 1.0 + branches
        counts[MULTI_UNPAIRED] += unpaired
        _count_multiloop(counts, x, mate, i, j)
        return
    kind = KIND[x[i], x[j]]
    if branches == 0:
        counts[CLOSING + kind] += 1.0
        counts[_mismatch(x, i, j)] += 1.0
        counts[HAIRPIN + min(max(unpaired, SHORTEST), LONGEST)] += 1.0
        return
    last = mate[k]
    if unpaired == 0:
        counts[STACK + kind * _T + KIND[x[k], x[last]]] += 1.0
        return
    counts[CLOSING + kind] += 1.0
    counts[CLOSING + KIND[x[last], x[k]]] += 1.0
    u, v = k - i - 1, j - last - 1
    length = min(unpaired, LONGEST)
    if u == 0 or v == 0:
        counts[BULGE + length] += 1.0
        if length == 1:
            counts[BULGED + (x[i + 1] if u else x[j - 1])] += 1.0
        return
    counts[_mismatch(x, i, j)] += 1.0
    counts[_mismatch(x, last, k)] += 1.0
    counts[INTERIOR + length] += 1.0
    counts[ASYMMETRY + min(abs(u - v), LONGEST)] += 1.0
    if u <= SMALL and v <= SMALL:
        counts[BOTH_SMALL + u * (SMALL + 1) + v] += 1.0
    if u == 1 and v == 1:
        counts[ONE_BY_ONE + x[i + 1] * _N + x[j - 1]] += 1.0
