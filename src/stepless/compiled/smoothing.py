"""Terms σ_i max(0, p_i − k_i) with their corners rounded, over a block of rows.

The rounded term max_β σ(βt − (width/2)(β − centre)²), 0 ≤ β ≤ 1, t = p − k, has slope σβ with
β = centre + t/width cut off at 0 and 1: a slope of the exact term too, taken elsewhere. Loops
take `terms` = (k, σ), centre and width; the arrays are (corners, rows).
"""

from __future__ import annotations

from stepless.compiled.light import light, rowless
from stepless.jit import FAST, compiled


@light
@compiled("p[m] terms.0[n,m] terms.1[n,m] centre[n,m] slopes[m] c[m]", fastmath=FAST)
def survey(block, slopes, c, terms, centre, p, numbers):
    """Write slopes, c: each row's slope Σσβ and curvature Σσ/width (where 0 < β < 1) at p + shift.

    `numbers` are width and shift. Return Σσβ, Σσ/width, and the gap Σσ(max(0, t) − βt) that the
    smoothing costs.
    """
    k, sigma = terms
    width, shift = numbers
    tilt = bend = gap = 0.0
    for i in range(p.size):
        slopes[i] = c[i] = 0.0
    for n in range(k.shape[0]):
        for i in range(p.size):
            t = p[i] + shift - k[n, i]
            free = centre[n, i] + t / width
            beta = min(max(free, 0.0), 1.0)
            here = sigma[n, i] * beta
            slopes[i] += here
            tilt += here
            inside = sigma[n, i] / width if beta == free else 0.0
            c[i] += inside
            bend += inside
            gap += sigma[n, i] * (max(0.0, t) - beta * t)
    return tilt, bend, gap


@rowless
@compiled("block[m,_] first[m] slopes[m] p[m]", fastmath=FAST)
def exact(block, loss, first, slopes, p, shift):
    """Return the exact risk's sum Σ s_i ℓ(p_i + shift), and that of |first + slopes|."""
    _, y, s = block
    total = size = 0.0
    for i in range(s.size):
        total += s[i] * loss.value(p[i] + shift, y[i])
        size += abs(first[i] + slopes[i])
    return total, size


@light
@compiled("p[m] terms.0[n,m] terms.1[n,m] centre[n,m] move[m]", fastmath=FAST)
def along(block, terms, centre, width, p, move, length):
    """Return the first two derivatives of the rounded terms' sum along `move`, at this length."""
    k, sigma = terms
    first = second = 0.0
    for n in range(k.shape[0]):
        for i in range(p.size):
            free = centre[n, i] + (p[i] + length * move[i] - k[n, i]) / width
            beta = min(max(free, 0.0), 1.0)
            first += sigma[n, i] * beta * move[i]
            if beta == free:
                second += sigma[n, i] / width * move[i] * move[i]
    return first, second


@light
@compiled("centre[n,m] terms.0[n,m] terms.1[n,m] p[m]", fastmath=FAST)
def recentre(block, centre, terms, width, p):
    """Write centre: β itself, the dual point so far."""
    k, _ = terms
    for n in range(k.shape[0]):
        for i in range(p.size):
            free = centre[n, i] + (p[i] - k[n, i]) / width
            centre[n, i] = min(max(free, 0.0), 1.0)
