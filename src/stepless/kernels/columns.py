"""What is to be known of the features, over a range of rows."""

from __future__ import annotations

from numba import njit

from stepless.kernels.flags import FAST


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def squares(X, s, out, lo, hi):
    """Write out: out_j = Σ_i s_i x_ij²."""
    out[:] = 0.0
    for i in range(lo, hi):
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            out[j] += s[i] * v * v
