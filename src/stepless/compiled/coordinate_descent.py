"""Coordinate descent on a quadratic model of a risk, with a penalty and a domain of one weight."""

from __future__ import annotations

import math

from stepless.jit import FAST, compiled


@compiled("w[d] g[d] h[d] gains[d]")
def gains(regularizer, domain, w, g, h, gains):
    """Write what each weight alone would gain in a model of slopes g and curvatures h."""
    for j in range(w.size):
        v = domain.clip(regularizer.prox(w[j] - g[j] / h[j], 1.0 / h[j]))
        gains[j] = 0.5 * h[j] * (v - w[j]) * (v - w[j])


@compiled("H[k,k] v[k] r[k] path[n,k]", fastmath=FAST)
def descend(regularizer, domain, H, v, r, path, stop):
    """Minimise ½⟨v, Hv⟩ + Ω(v) + …, whose slopes are r, in each weight in turn, n − 1 times.

    Write where each sweep ends into `path`, after the beginning. `stop` is what was gained before,
    and the share of all gains that may be left. Return the number of sweeps, n if more are needed,
    and all gains, without the curvature of Ω.
    """
    total, enough = stop
    path[0] = v
    before = 0.0
    for sweep in range(1, path.shape[0]):
        gain = 0.0
        for j in range(v.size):
            h = H[j, j]
            step = domain.clip(regularizer.prox(v[j] - r[j] / h, 1.0 / h)) - v[j]
            if step != 0.0:
                v[j] += step
                gain += 0.5 * h * step * step
                row = H[j]
                for i in range(v.size):
                    r[i] += step * row[i]
        path[sweep] = v
        total += gain
        # sweeps that gain less and less at this rate gain so much in all
        if gain * gain <= enough * total * (before - gain):
            return sweep, total
        before = gain
    return path.shape[0], total


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
