"""Curvature of an exp-concave cost along its gradient."""

from __future__ import annotations

import math

_SERIES = 1e-3  # below it, the series is more exact


def exp_concave_curvature(alpha: float, drop: float) -> float:
    """Return the largest β with f(u) ≥ f(w) + z + ½βz² for z = ⟨∇f(w), u − w⟩ ≥ −drop.

    For an α-exp-concave f. exp(−αf) lies below its tangent: f(u) − f(w) ≥ −log(1 − αz)/α, which
    z + ½βz² touches at the lowest z: β = 2α (a − log(1 + a))/a², a = α·drop.

    Examples
    --------
    >>> exp_concave_curvature(2.0, 0.0), round(exp_concave_curvature(1.0, 1.0), 4)
    (2.0, 0.6137)
    """
    a = alpha * drop
    if a < _SERIES:
        return alpha * (1.0 - a * (2.0 / 3.0 - a * (0.5 - 0.4 * a)))
    return 2.0 * alpha * (a - math.log1p(a)) / (a * a)
