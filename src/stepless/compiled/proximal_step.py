"""One step of proximal gradient descent, all weights at once."""

from __future__ import annotations

import numpy as np

from stepless.jit import compiled


@compiled("w[d,K] g[d,K] heights[d,K] v[d,K]")
def descend(regularizer, w, g, heights, v):
    """Write v = argmin_x ⟨g, x⟩ + Ω(x) + ½⟨x − w, H(x − w)⟩, H = diag `heights`; all d × K."""
    steps = np.empty_like(w)
    for j in range(w.shape[0]):
        for c in range(w.shape[1]):
            steps[j, c] = 1.0 / heights[j, c]
            v[j, c] = w[j, c] - steps[j, c] * g[j, c]
    regularizer.shrink(v, steps)


@compiled("v[n] heights[n]")
def enter(domain, v, heights):
    """Move v to the domain's nearest point in the metric diag `heights`."""
    domain.project_in(v, heights)
