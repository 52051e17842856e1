"""A piecewise-linear risk, taken apart at its corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.solver import needs_euclidean, needs_ridge


@dataclass
class Piecewise:
    """R(w, b) = ⟨base, w⟩ + tilt·b + Σ σ_i max(0, p_i − k_i) + a constant; p = Xw + b.

    Arrays are (corners, examples); σ holds sample weights, rises and the 1/m of the mean.
    """

    k: NDArray
    sigma: NDArray
    base: NDArray
    tilt: float
    steepness: float  # of the steepest slope anywhere

    @classmethod
    def of(cls, risk: RowRisk) -> Piecewise:
        """Take a risk apart; its loss offers `corners`."""
        low, k, rise = risk.objective.loss.corners(risk.source.y)
        share = risk.source.s / risk.m
        return cls(
            np.ascontiguousarray(k),
            np.ascontiguousarray(share * rise),
            risk.source.combination(share * low),
            float(share @ low),
            float(np.maximum(np.abs(low), np.abs(low + rise.sum(axis=0))).max()),
        )

    def sizes(self, risk: RowRisk, p: NDArray) -> float:
        """What cancels in Σ s_i a_i p_i/m, at most."""
        return 2.0 * self.steepness * float(risk.source.s @ np.abs(p)) / risk.m


def lacks(objective: Objective) -> str | None:
    """What an objective lacks for a solver of piecewise-linear risks."""
    lack = needs_euclidean(objective) or needs_ridge(objective)
    if lack is not None:
        return lack
    if not objective.loss.offers("corners"):
        return (
            f"needs the corners of {type(objective.loss).__name__}; use solver='newton' for a "
            "smooth loss, or 'proximal-bundle'"
        )
    return None
