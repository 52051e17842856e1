"""Coordinate descent on a quadratic model of a risk, with a penalty and a domain of one weight."""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.rows import product
from stepless.jit import FAST, compiled


@compiled("w[d] g[d] h[d] gains[_]")
def gains(blocks, w, g, h, gains):
    """Write what each block alone would gain in a model of slopes g and curvatures h."""
    v, steps = np.empty(w.size), np.empty(w.size)
    for b in range(blocks.count(w.size)):
        first, last = blocks.span(b)
        for j in range(first, last):
            steps[j] = 1.0 / h[j]
            v[j] = w[j] - g[j] * steps[j]
        blocks.shrink(v, steps, first, last)
        gains[b] = 0.0
        for j in range(first, last):
            gains[b] += 0.5 * h[j] * (v[j] - w[j]) * (v[j] - w[j])


@compiled("H[k,k] point.*[k] path[n,k]", fastmath=FAST)
def descend(blocks, H, point, path, stop):
    """Minimise ⟨g, v⟩ + ½⟨v − w, H(v − w)⟩ + Ω(v) in each block in turn, n − 1 times.

    In a block H must be diagonal. `point` is g, v and H(v − w); the last two are written, and into
    `path` where sweeps end, after the beginning. `stop` is what was gained before, and the share of
    all gains that may be left. Return the number of sweeps, n if more are needed, and all gains,
    without the curvature of Ω.
    """
    g, v, r = point
    total, enough = stop
    path[0] = v
    u, steps = np.empty(v.size), np.empty(v.size)
    for j in range(v.size):
        steps[j] = 1.0 / H[j, j]
    before = 0.0
    for sweep in range(1, path.shape[0]):
        gain = 0.0
        for b in range(blocks.count(v.size)):
            first, last = blocks.span(b)
            for j in range(first, last):
                u[j] = v[j] - (g[j] + r[j]) * steps[j]
            blocks.shrink(u, steps, first, last)
            for j in range(first, last):
                step = u[j] - v[j]
                if step != 0.0:
                    v[j] += step
                    row = H[j]
                    gain += 0.5 * row[j] * step * step
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
def descend_columns(blocks, columns, given, point, path, stop):
    """Do as `descend` with H = QᵀA diag(c) AᵀQ + diag(damping) − ppᵀ, which is not computed.

    `columns` are a matrix, its rows that A is made of, and c; Q turns each block to its axes.
    `given` are w, g, curvatures of at least the blocks of H, the damping and p; `point` is v,
    diag(c) AᵀQ(v − w) and −⟨p, v − w⟩, all three written.
    """
    A, rows, c = columns
    w, g, h, damping, p = given
    v, t, shift = point
    total, enough = stop
    path[0] = v
    u, steps, room = np.empty(v.size), 1.0 / h, np.empty(v.size)
    before = 0.0
    for sweep in range(1, path.shape[0]):
        gain = 0.0
        for b in range(blocks.count(v.size)):
            first, last = blocks.span(b)
            for j in range(first, last):
                u[j] = product(A, rows[j], t)
            blocks.turn(b, u, room)
            for j in range(first, last):
                slope = u[j] + g[j] + damping[j] * (v[j] - w[j]) + p[j] * shift[0]
                u[j] = v[j] - slope * steps[j]
            blocks.shrink(u, steps, first, last)
            moved = 0.0
            for j in range(first, last):
                step = u[j] - v[j]
                v[j] += step
                moved += 0.5 * h[j] * step * step
                shift[0] -= step * p[j]
                u[j] = step
            if moved == 0.0:
                continue
            gain += moved
            blocks.turn_back(b, u, room)
            for j in range(first, last):
                begin, end = A.span(rows[j])
                for k in range(begin, end):
                    i, x = A.entry(rows[j], k)
                    t[i] += u[j] * x * c[i]
        path[sweep] = v
        total += gain
        if ends(gain, before, enough * total):
            return sweep, total
        before = gain
    return path.shape[0], total


@compiled(
    "columns.0[_,m] columns.1[k] columns.2[m] starts[b] places[b] hessians[_] h[k]", fastmath=FAST
)
def add_block_hessians(columns, starts, places, hessians, h):
    """Write the lower triangle of each block's A diag(c) Aᵀ, where it has a place.

    Where it has none, add to h a diagonal matrix that is no less than the block.
    """
    A, rows, c = columns
    t = np.zeros(c.size)
    for b in range(starts.size - 1):
        first, last, place = starts[b], starts[b + 1], places[b]
        if place == places[b + 1]:  # Σ_e |A_je| c_e Σ_i |A_ie|: the rest is diagonally dominant
            for j in range(first, last):
                begin, end = A.span(rows[j])
                for k in range(begin, end):
                    e, x = A.entry(rows[j], k)
                    t[e] += abs(x) * c[e]
            for j in range(first, last):
                begin, end = A.span(rows[j])
                for k in range(begin, end):
                    e, x = A.entry(rows[j], k)
                    h[j] += abs(x) * t[e]
            t[:] = 0.0
            continue
        for j in range(first, last):
            begin, end = A.span(rows[j])
            for k in range(begin, end):
                e, x = A.entry(rows[j], k)
                t[e] = x * c[e]
            for i in range(first, j + 1):
                hessians[place + i - first] = product(A, rows[i], t)
            for k in range(begin, end):
                e, _ = A.entry(rows[j], k)
                t[e] = 0.0
            place += last - first


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
