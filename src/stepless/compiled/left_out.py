"""Predictions of examples as if they had been left out of the fit, over a block of rows."""

from __future__ import annotations

from stepless.jit import FAST, compiled

_MOST = 0.5  # few leverages are larger, but estimates are where features go together


@compiled("block[m,d] fresh[m] slopes[m] z[m] a[m] c[m] fit.1[d]", fastmath=FAST)
def left_out(block, fresh, slopes, fit, z, a, c):
    """Write fresh, slopes: z_i + a_i q_i/(1 − c_i q_i) with q_i = Σ_j x_ij²/h_j, and s_i ℓ' there.

    At slopes a_i and curvatures c_i of the examples. `fit` is the loss, and the curvatures h_j of
    the sum along each feature, the penalty's included. This is one step of Newton's method, with a
    diagonal Hessian, from the minimiser towards that of all examples but i.
    """
    X, y, s = block
    loss, h = fit
    for i in range(s.size):
        first, last = X.span(i)
        q = 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            q += v * v / h[j]
        leverage = min(c[i] * q, _MOST)
        if c[i] > 0.0:
            q = leverage / c[i]
        fresh[i] = z[i] + a[i] * q / (1.0 - leverage)
        slopes[i] = s[i] * loss.slope(fresh[i], y[i])
