"""Coordinate descent by rows of a matrix of weights, on a quadratic model of a risk."""

from __future__ import annotations

import numpy as np

from stepless.jit import FAST, compiled


@compiled(
    "columns.0[_,m] columns.1[k] columns.2[m] given.0[k,K] given.1[k] given.2[k] point.0[k,K] "
    "point.1[K,m] point.2[K]",
    fastmath=FAST,
)
def sweep_rows(regularizer, columns, given, point, sweeps):
    """Minimise ⟨g, V⟩ + ½⟨V − W, H(V − W)⟩ + Ω(V) in each row in turn, so many times.

    H = A diag(c) Aᵀ − (Σc) p pᵀ for every column, with p = Ac/Σc. `columns` are a matrix, its rows
    that A is made of, and c; `given` are g, the diagonal of H, and p; `point` is V,
    (V − W)ᵀ(A − p1ᵀ) diag(c) and zeros, all three written.
    """
    A, rows, c = columns
    g, h, p = given
    V, t, shift = point
    K = shift.size
    bend = c.sum()
    u, steps = np.empty(K), np.empty(K)
    for _ in range(sweeps):
        for j in range(h.size):
            begin, end = A.span(rows[j])
            for e in range(K):
                slope, te = g[j, e] - bend * p[j] * shift[e], t[e]
                for k in range(begin, end):
                    i, x = A.entry(rows[j], k)
                    slope += x * te[i]
                steps[e] = 1.0 / h[j]
                u[e] = V[j, e] - slope * steps[e]
            regularizer.shrink_row(u, steps)
            for e in range(K):
                step, te = u[e] - V[j, e], t[e]
                if step != 0.0:
                    V[j, e] = u[e]
                    shift[e] += p[j] * step
                    for k in range(begin, end):
                        i, x = A.entry(rows[j], k)
                        te[i] += step * x * c[i]
