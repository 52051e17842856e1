"""A piecewise-linear risk, taken apart at its corners."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepless.risk import Risk


@dataclass
class Piecewise:
    """R(w, b) = ⟨base, w⟩ + tilt·b + Σ σ_i max(0, p_i − k_i) + a constant; p = Xw + b.

    Arrays are (corners, examples); σ holds sample weights, rises and the 1/m of the mean.
    """

    k: NDArray
    sigma: NDArray
    centre: NDArray  # of the smoothed slopes' range 0 … 1
    base: NDArray
    tilt: float
    steepness: float  # sum of all slopes' sizes

    @classmethod
    def of(cls, risk: Risk) -> Piecewise:
        """Take a risk apart; its loss offers `corners`."""
        low, k, rise = risk.objective.loss.corners(risk.source.y)
        share = risk.source.s / risk.m
        sigma = np.ascontiguousarray(share * rise)
        return cls(
            np.ascontiguousarray(k),
            sigma,
            np.full(k.shape, 0.5),
            risk.source.combination(share * low),
            float(share @ low),
            float(share @ np.abs(low)) + float(sigma.sum()),
        )

    def slack(self, risk: Risk, p: NDArray, tilt: float, sizes: float, r: NDArray) -> float:
        """What rounding may add to a gap that is a sum of terms of such sizes and ‖r‖²/(2λ).

        A slope in b that is not quite 0 could be taken off any slopes inside their range: that
        changes the bound by no more than its size times theirs.
        """
        reach = float(np.abs(p).max())
        blur = 4.0 * risk.rounding * self.steepness * risk.source.row_length
        rough = risk.rounding * (sizes + self.steepness * reach)
        return (
            rough
            + blur * (2.0 * math.sqrt(r @ r) + blur) / (2.0 * risk.objective.strength)
            + abs(tilt) * (1.0 + reach)
        )
