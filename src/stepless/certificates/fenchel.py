"""The lower bound that a point's own slopes prove."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepless.risk import Risk


def fenchel(
    risk: Risk,
    at: tuple[NDArray, float],
    objective: float,
    spread: float,
    residual: NDArray,
    *,
    steepness: float,
    sizes: float,
    drift: float,
    tilt: float = 0.0,
    reach: float = 0.0,
) -> float:
    """Return a lower bound on J* from slopes a_i, each a slope of its example's loss somewhere.

    J − J* ≤ Σ s_i (ℓ(p_i) + ℓ*(a_i) − a_i p_i)/m + ‖λw + g‖²/(2λ), g = Σ s_i a_i x_i/m: Fenchel's
    gap. Rounding is counted against the bound, relative to what cancels.

    Parameters
    ----------
    risk, at
        R, with its λ; w and b.
    objective, spread, residual
        J(w, b), the first sum, and λw + g.
    steepness
        Root mean square of the slopes.
    sizes
        Σ s_i |a_i p_i|/m, or what else cancels in the first sum.
    drift
        How far predictions may be from ⟨w, x_i⟩ + b, beside the rounding of that sum itself.
    tilt, reach
        Σ s_i a_i/m, which a free intercept wants to be 0, and the largest |p_i|. A tilt that is not
        quite 0 could be taken off slopes inside their range, at the cost of its size times theirs.
    """
    w, b = at
    blur = (risk.rounding * steepness + abs(tilt)) * risk.sizes  # of g
    lift = float(blur @ (2.0 * np.abs(residual) + blur)) + float(residual @ residual)
    slack = risk.rounding * (objective + sizes) + abs(tilt) * (1.0 + reach)
    slack += (drift + risk.prediction_rounding(w, b)) * steepness
    bound = objective - spread - lift / (2.0 * risk.objective.strength) - slack
    return bound if math.isfinite(bound) else -math.inf
