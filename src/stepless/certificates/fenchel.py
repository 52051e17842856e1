"""The lower bound that a point's own slopes prove."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from stepless.risks.risk import RowRisk


@dataclass(frozen=True)
class Point:
    """Weights, intercept, their objective, and how good the predictions behind it are."""

    w: NDArray
    b: float
    objective: float
    drift: float  # how far predictions may be from ⟨w, x_i⟩ + b, beside that sum's own rounding
    reach: float  # the largest of them


@dataclass(frozen=True)
class Slopes:
    """Slopes a_i, one an example, each a slope of its loss somewhere."""

    spread: float  # Σ s_i (ℓ(p_i) + ℓ*(a_i) − a_i p_i)/m
    residual: NDArray  # λw + g, g = Σ s_i a_i x_i/m
    steepness: float  # root mean square of what is added up to a_i
    sizes: float  # Σ s_i |a_i p_i|/m, or what else cancels in the spread
    tilt: float = 0.0  # Σ s_i a_i/m, which a free intercept wants to be 0


def fenchel(risk: RowRisk, point: Point, slopes: Slopes) -> float:
    """Return a lower bound on J*, rounding counted against it relative to what cancels.

    J − J* ≤ Σ s_i (ℓ(p_i) + ℓ*(a_i) − a_i p_i)/m + ‖λw + g‖²/(2λ): Fenchel's gap. With a free
    intercept it holds if Σ s_i a_i = 0. What is left of that sum, and what its rounding may hide,
    could be taken off slopes inside their range, at the cost of its size times theirs.
    """
    rounding, steepness, residual = risk.rounding, slopes.steepness, slopes.residual
    tilt = abs(slopes.tilt) + rounding * steepness if risk.objective.intercept else 0.0
    blur = (rounding * steepness + tilt) * risk.sizes  # of g
    lift = float(blur @ (2.0 * np.abs(residual) + blur)) + float(residual @ residual)
    slack = rounding * (point.objective + slopes.sizes) + tilt * (1.0 + point.reach)
    slack += (point.drift + risk.prediction_rounding(point.w, point.b)) * steepness
    bound = point.objective - slopes.spread - lift / (2.0 * risk.objective.strength) - slack
    return bound if math.isfinite(bound) else -math.inf
