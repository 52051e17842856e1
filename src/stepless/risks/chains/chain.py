"""Dynamic programmes on a chain of tags: the best labeling, and the sum over all of them."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array, Indices
from stepless.design import Design
from stepless.jit import FAST, compiled
from stepless.risks.chains.pairs import Pairs

_SAFE = 600.0  # e to the minus this is far from where numbers lose digits


@compiled(fastmath=FAST)
def emissions(z: Array, pairs: Pairs, X: Design, w: Array, first: int, last: int) -> None:
    """Write z (positions × tags): the scores that the features of each position give its tags."""
    n, K = last - first, z.shape[1]
    offset = pairs.weights()
    for t in range(n):
        row = z[t]
        row[:] = 0.0
        begin, end = X.span(first + t)
        for e in range(begin, end):
            j, x = X.entry(first + t, e)
            if x == 0.0:
                continue
            here, there = pairs.span(j)
            for k in range(here, there):
                row[pairs.tag(j, k)] += x * w[k]
    edges = offset + K * K
    for c in range(K):
        z[0, c] += w[edges + c]
        z[n - 1, c] += w[edges + K + c]


@compiled(fastmath=FAST)
def scatter(g: Array, p: Array, pairs: Pairs, X: Design, s: float, first: int, last: int) -> None:
    """Add to g: s Σ_t p_t ⊗ x_t, and what belongs to the first and the last tag."""
    n, K = last - first, p.shape[1]
    for t in range(n):
        row = p[t]
        begin, end = X.span(first + t)
        for e in range(begin, end):
            j, x = X.entry(first + t, e)
            if x == 0.0:
                continue
            here, there = pairs.span(j)
            for k in range(here, there):
                g[k] += s * x * row[pairs.tag(j, k)]
    edges = pairs.weights() + K * K
    for c in range(K):
        g[edges + c] += s * p[0, c]
        g[edges + K + c] += s * p[n - 1, c]


@compiled(fastmath=FAST)
def path_score(z: Array, T: Array, y: Indices) -> float:
    """Return the score of the labeling y: its emissions z and transitions T."""
    total: float = z[0, y[0]]
    for t in range(1, z.shape[0]):
        total += z[t, y[t]] + T[y[t - 1], y[t]]
    return total


@compiled()
def best_path(path: Indices, came: Indices, z: Array, T: Array) -> float:
    """Write path, the labeling of the highest score (Viterbi); return that score.

    `came` (positions × tags) is work for where each tag is best reached from, `z` is used up. Of
    equal labelings it is the one whose tags, from the last on, come first.
    """
    n, K = z.shape
    for t in range(1, n):
        here, before, source = z[t], z[t - 1], came[t]
        for c in range(K):
            best, at = before[0] + T[0, c], 0
            for a in range(1, K):
                value = before[a] + T[a, c]
                if value > best:
                    best, at = value, a
            source[c] = at
            here[c] += best
    last = 0
    for c in range(1, K):
        if z[n - 1, c] > z[n - 1, last]:
            last = c
    total: float = z[n - 1, last]
    for t in range(n - 1, -1, -1):
        path[t] = last
        if t > 0:
            last = came[t, last]
    return total


@compiled(fastmath=FAST)
def exponentials(E: Array, T: Array) -> tuple[float, float]:
    """Write E = exp(T − max T); return max T, and how far the entries of T lie apart."""
    most = least = T[0, 0]
    for a in range(T.shape[0]):
        for c in range(T.shape[1]):
            most, least = max(most, T[a, c]), min(least, T[a, c])
    for a in range(T.shape[0]):
        for c in range(T.shape[1]):
            E[a, c] = math.exp(T[a, c] - most)
    return most, most - least


@compiled(fastmath=FAST)
def marginals(p: Array, joint: Array, forth: Array, z: Array, E: Array, s: float) -> float:
    """Write p (positions × tags), P(y_t = c); return the log of the sum over all labelings.

    But for n − 1 times max T, with E what `exponentials` makes of T. To `joint` is added
    s Σ_t P(y_t = a, y_{t+1} = c)/E_ac. `forth` is work, z is used up. Sums are scaled, position by
    position. No digit is lost as long as `scores_are_near`: no two numbers at a position differ by
    more than the scores of two tags and of two transitions do together.
    """
    log_sum = _forward(forth, z, E)
    _backward(p, joint, forth, z, E, s)
    return log_sum


@compiled(fastmath=FAST)
def _forward(forth: Array, z: Array, E: Array) -> float:
    """Write forth: sums over all beginnings, scaled to 1; return the log of the sum over all.

    z becomes what the way back multiplies with.
    """
    n, K = z.shape
    log_sum = 0.0
    for t in range(n):
        row, here = z[t], forth[t]
        top = row[0]
        for c in range(1, K):
            top = max(top, row[c])
        for c in range(K):
            row[c] = math.exp(row[c] - top)
        if t == 0:
            for c in range(K):
                here[c] = row[c]
        else:
            before = forth[t - 1]
            here[:] = 0.0
            for a in range(K):
                share, line = before[a], E[a]
                for c in range(K):
                    here[c] += share * line[c]
            for c in range(K):
                here[c] *= row[c]
        scale = 0.0
        for c in range(K):
            scale += here[c]
        inverse = 1.0 / scale
        for c in range(K):
            here[c] *= inverse
            row[c] *= inverse
        log_sum += math.log(scale) + top
    return log_sum


@compiled(fastmath=FAST)
def _backward(p: Array, joint: Array, forth: Array, z: Array, E: Array, s: float) -> None:
    """Write p, and add to `joint`, from the sums over all endings."""
    n, K = z.shape
    for c in range(K):
        p[n - 1, c] = 1.0
    for t in range(n - 2, -1, -1):  # p holds what is yet to come, until all of it has
        after, ahead, row, before = p[t], p[t + 1], z[t + 1], forth[t]
        for c in range(K):
            row[c] *= ahead[c]
        for a in range(K):
            line, pair, share = E[a], joint[a], s * before[a]
            total = 0.0
            for c in range(K):
                total += line[c] * row[c]
                pair[c] += share * row[c]
            after[a] = total
    for t in range(n):
        for c in range(K):
            p[t, c] *= forth[t, c]


@compiled(fastmath=FAST)
def scores_are_near(z: Array, apart: float) -> bool:
    """Return whether `marginals` loses no digits, where transitions differ by at most `apart`."""
    for t in range(z.shape[0]):
        row = z[t]
        low = high = row[0]
        for c in range(1, row.size):
            low, high = min(low, row[c]), max(high, row[c])
        if not high - low + apart < _SAFE:
            return False
    return True


@compiled()
def marginals_by_logarithms(
    p: Array, joint: Array, forth: Array, far: Array, z: Array, T: Array, s: float
) -> float:
    """Write p as `marginals` does, for scores however far apart, and slowly; return log Z.

    To `joint` is added s Σ_t P(y_t = a, y_{t+1} = c); `far` is raised to the largest logarithm.
    """
    n, K = z.shape
    terms = np.empty(K)
    most = far[0]
    for c in range(K):
        forth[0, c] = z[0, c]
    for t in range(1, n):
        for c in range(K):
            for a in range(K):
                terms[a] = forth[t - 1, a] + T[a, c]
            forth[t, c] = _log_sum(terms) + z[t, c]
    log_sum = _log_sum(forth[n - 1])
    for c in range(K):
        p[n - 1, c] = 0.0
    for t in range(n - 2, -1, -1):
        for a in range(K):
            for c in range(K):
                terms[c] = T[a, c] + z[t + 1, c] + p[t + 1, c]
                joint[a, c] += s * min(1.0, math.exp(forth[t, a] + terms[c] - log_sum))
            p[t, a] = _log_sum(terms)
    for t in range(n):
        for c in range(K):
            most = max(most, abs(z[t, c]), abs(forth[t, c]), abs(p[t, c]))
            p[t, c] = min(1.0, math.exp(forth[t, c] + p[t, c] - log_sum))
    for a in range(K):
        for c in range(K):
            most = max(most, abs(T[a, c]))
    far[0] = max(most, abs(log_sum))
    return log_sum


@compiled()
def _log_sum(terms: Array) -> float:
    top: float = terms[0]
    for k in range(1, terms.size):
        top = max(top, terms[k])
    total = 0.0
    for k in range(terms.size):
        total += math.exp(terms[k] - top)
    return top + math.log(total)
