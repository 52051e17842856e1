"""A smooth risk at kept predictions, over a range of rows; sums are not yet divided by m."""

from __future__ import annotations

from stepless.jit import FAST, compiled


@compiled("problem[m,_,_] p[m] slopes[m] c[m] lo:hi[m]", fastmath=FAST)
def survey(problem, p, shift, slopes, c, lo, hi):
    """Write slopes, c: s_i ℓ'(p_i + shift) and s_i ℓ''(p_i + shift).

    Return the sums of s_i ℓ, s_i ℓ', s_i ℓ'' and |s_i ℓ' p_i|.
    """
    loss, _, y, s = problem
    total = 0.0
    tilt = 0.0
    bend = 0.0
    rough = 0.0
    for i in range(lo, hi):
        z = p[i] + shift
        total += s[i] * loss.value(z, y[i])
        a = s[i] * loss.slope(z, y[i])
        curvature = s[i] * loss.curvature(z, y[i])
        slopes[i] = a
        c[i] = curvature
        tilt += a
        bend += curvature
        rough += abs(a * z)
    return total, tilt, bend, rough


@compiled("problem[m,_,_] p[m] move[m] lo:hi[m]", fastmath=FAST)
def along(problem, p, move, length, lo, hi):
    """Return the first two derivatives of Σ s_i ℓ along `move`, at this length."""
    loss, _, y, s = problem
    first = 0.0
    second = 0.0
    for i in range(lo, hi):
        z = p[i] + length * move[i]
        first += s[i] * loss.slope(z, y[i]) * move[i]
        second += s[i] * loss.curvature(z, y[i]) * move[i] * move[i]
    return first, second
