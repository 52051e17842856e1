"""Predictions of examples as if they had been left out of the fit, over a block of rows."""

from __future__ import annotations

from stepless.compiled.light import rowless
from stepless.jit import FAST, compiled

_MOST = 1.0 - 1e-12  # of a leverage; one of 1 would come from rounding


@compiled("block[m,d] u[m] c[m] P[d|d+1,d|d+1]", fastmath=FAST)
def pulls(block, u, c, P, d):
    """Write u_i = q_i/(1 − c_i q_i), q_i = x_iᵀPx_i; of a larger P, each x_i ends in a 1."""
    X, _, _ = block
    free = P.shape[0] > d
    for i in range(c.size):
        first, last = X.span(i)
        q = P[d, d] if free else 0.0
        for k in range(first, last):
            j, v = X.entry(i, k)
            row = P[j]
            inner = 0.0
            for other in range(first, k):
                h, w = X.entry(i, other)
                inner += w * row[h]
            if free:
                inner += P[d, j]
            q += v * (2.0 * inner + v * row[j])
        u[i] = q / (1.0 - min(c[i] * q, _MOST))


@rowless
@compiled("block[m,_] z[m] a[m] u[m]")
def left_out(block, z, a, u):
    """Return z_i + a_i u_i."""
    return z + a * u
