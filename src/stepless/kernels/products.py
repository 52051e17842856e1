"""Products with the rows of a design, over a range of them."""

from __future__ import annotations

from stepless.jit import FAST, compiled


@compiled("X[m,d] a[m] g[d] lo:hi[m]", fastmath=FAST)
def combination(X, a, g, lo, hi):
    """Write g = Σ a_i x_i; rows of weight 0 are not read."""
    g[:] = 0.0
    for i in range(lo, hi):
        if a[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                g[j] += a[i] * v


@compiled("X[m,d] c[m] g[d] lo:hi[m]", fastmath=FAST)
def squares(X, c, g, lo, hi):
    """Write g_j = Σ c_i x_ij²."""
    g[:] = 0.0
    for i in range(lo, hi):
        if c[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                g[j] += c[i] * v * v


@compiled("X[m,d] c[m] v[d] g[d] lo:hi[m]", fastmath=FAST)
def curved(X, c, v, g, lo, hi):
    """Write g = Σ c_i ⟨x_i, v⟩ x_i."""
    g[:] = 0.0
    for i in range(lo, hi):
        if c[i] != 0.0:
            first, last = X.span(i)
            p = 0.0
            for k in range(first, last):
                j, x = X.entry(i, k)
                p += v[j] * x
            p *= c[i]
            for k in range(first, last):
                j, x = X.entry(i, k)
                g[j] += p * x


@compiled("X[m,d] c[m] H[d|d+1,d|d+1] lo:hi[m]", fastmath=FAST)
def gram(X, c, d, H, lo, hi):
    """Write the lower triangle of H = Σ c_i x_i x_iᵀ, of d features; one more is 1 in each row."""
    H[:] = 0.0
    free = H.shape[0] > d
    for i in range(lo, hi):
        if c[i] != 0.0:
            first, last = X.span(i)
            for k in range(first, last):
                j, v = X.entry(i, k)
                v *= c[i]
                row = H[j]
                for other in range(first, k + 1):
                    h, u = X.entry(i, other)
                    row[h] += v * u
                if free:
                    H[d, j] += v
            if free:
                H[d, d] += c[i]
