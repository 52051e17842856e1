"""Coordinate descent on a quadratic model of a risk, with a penalty and a domain of one weight."""

from __future__ import annotations

import math

from stepless.compiled.rows import product
from stepless.jit import FAST, compiled


@compiled("w[d] g[d] h[d] gains[d]")
def gains(regularizer, domain, w, g, h, gains):
    """Write what each weight alone would gain in a model of slopes g and curvatures h."""
    for j in range(w.size):
        v = domain.clip(regularizer.prox_of(j, w[j] - g[j] / h[j], 1.0 / h[j]))
        gains[j] = 0.5 * h[j] * (v - w[j]) * (v - w[j])


@compiled("H[k,k] point.*[k] path[n,k]", fastmath=FAST)
def descend(regularizer, domain, H, point, path, stop):
    """Minimise ⟨g, v⟩ + ½⟨v − w, H(v − w)⟩ + Ω(v) in each weight in turn, n − 1 times.

    `point` is g, v and H(v − w); the last two are written, and into `path` where sweeps end, after
    the beginning. `stop` is what was gained before, and the share of all gains that may be left.
    Return the number of sweeps, n if more are needed, and all gains, without the curvature of Ω.
    """
    g, v, r = point
    total, enough = stop
    path[0] = v
    before = 0.0
    for sweep in range(1, path.shape[0]):
        gain = 0.0
        for j in range(v.size):
            h = H[j, j]
            step = domain.clip(regularizer.prox_of(j, v[j] - (g[j] + r[j]) / h, 1.0 / h)) - v[j]
            if step != 0.0:
                v[j] += step
                gain += 0.5 * h * step * step
                row = H[j]
                for i in range(v.size):
                    r[i] += step * row[i]
        path[sweep] = v
        total += gain
        if ends(gain, before, enough * total):
            return sweep, total
        before = gain
    return path.shape[0], total


@compiled(
    "columns.0[_,m] columns.1[k] columns.2[m] given.*[k] point.0[k] point.1[m] point.2[1] "
    "path[n,k]",
    fastmath=FAST,
)
def descend_columns(regularizer, domain, columns, given, point, path, stop):
    """Do as `descend` with H = A diag(c) Aᵀ + diag(damping) − ppᵀ, of which no entry is computed.

    `columns` are a matrix, its rows that A is made of, and c; `given` are w, g, the diagonal of H,
    the damping and p; `point` is v, diag(c) Aᵀ(v − w) and −⟨p, v − w⟩, all three written.
    """
    A, rows, c = columns
    w, g, heights, damping, p = given
    v, t, shift = point
    total, enough = stop
    path[0] = v
    before = 0.0
    for sweep in range(1, path.shape[0]):
        gain = 0.0
        for j in range(v.size):
            h = heights[j]
            slope = g[j] + damping[j] * (v[j] - w[j]) + p[j] * shift[0]
            slope += product(A, rows[j], t)
            step = domain.clip(regularizer.prox_of(j, v[j] - slope / h, 1.0 / h)) - v[j]
            if step != 0.0:
                v[j] += step
                gain += 0.5 * h * step * step
                shift[0] -= step * p[j]
                first, last = A.span(rows[j])
                for k in range(first, last):
                    i, x = A.entry(rows[j], k)
                    t[i] += step * x * c[i]
        path[sweep] = v
        total += gain
        if ends(gain, before, enough * total):
            return sweep, total
        before = gain
    return path.shape[0], total


@compiled()
def ends(gain, before, enough):
    """Return whether sweeps that gain less and less at this rate gain no more than `enough`."""
    return gain * gain <= enough * (before - gain)


@compiled("g[d]")
def feasible_share(regularizer, low, high, g):
    """Return the largest share θ ≤ 1 for which Ω(v) + θ⟨g, v⟩ has a minimum between low and high.

    Of weights between 0 and their bound each has one, if it is finite.
    """
    share = 1.0
    for j in range(g.size):
        u = -g[j]
        if u == 0.0 or (u > 0.0 and high < math.inf) or (u < 0.0 and low > -math.inf):
            continue
        if math.isfinite(regularizer.conjugate(share * u)):
            continue
        good, bad = 0.0, share
        while bad - good > 1e-15 * bad:
            middle = 0.5 * (good + bad)
            if middle <= good or middle >= bad:
                break
            if math.isfinite(regularizer.conjugate(middle * u)):
                good = middle
            else:
                bad = middle
        share = good
    return share
