"""A piecewise-linear risk, taken apart at its corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepless.data import Block, Column, added
from stepless.kernels.light import light
from stepless.objective import Loss, Objective
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.solver import needs_euclidean, needs_free, needs_ridge


@dataclass
class Piecewise:
    """R(w, b) = ⟨base, w⟩ + tilt·b + Σ σ_i max(0, p_i − k_i) + a constant; p = Xw + b.

    The column holds k and σ, arrays of (corners, examples); σ has sample weights, rises and the 1/m
    of the mean in it.
    """

    corners: Column
    base: NDArray
    tilt: float
    mass: float  # Σσ
    steepness: float  # of the steepest slope anywhere

    @classmethod
    def of(cls, risk: RowRisk) -> Piecewise:
        """Take a risk apart; its loss offers `corners`."""
        source, given = risk.source, (risk.objective.loss, risk.m)
        parts, corners = source.map(_extent, *given), source.column(_corners, *given)
        base = source.combination(source.column(_first_slopes, *given))
        tilt, mass = added([part[:2] for part in parts])
        return cls(corners, base, tilt, mass, max(part[2] for part in parts))

    def claim(self, risk: RowRisk, slopes: Column) -> Slopes:
        """What proves a bound that was found by Σσβ of each example."""
        first = risk.source.column(_first_slopes, risk.objective.loss, risk.m)
        return Slopes(risk.source.column(_whole_slopes, first, slopes, risk.m))

    def sizes(self, risk: RowRisk, p: Column) -> float:
        """What cancels in Σ s_i a_i p_i/m, at most."""
        return 2.0 * self.steepness * added(risk.source.map(_reach, p)) / risk.m


def _corners(block: Block, loss: Loss, m: int) -> tuple[NDArray, NDArray]:
    _, k, rise = loss.corners(block.y)
    return np.ascontiguousarray(k), np.ascontiguousarray(block.s / m * rise)


def _first_slopes(block: Block, loss: Loss, m: int) -> NDArray:
    """Slopes below all corners, with weights and 1/m."""
    return block.s / m * loss.corners(block.y)[0]


@light
def _whole_slopes(block: Block, first: NDArray, slopes: NDArray, m: int) -> NDArray:
    """The a_i of s_i a_i/m, in two parts; 0 where s_i is."""
    total = m * (first + slopes)
    return np.divide(total, block.s, out=np.zeros(total.size), where=block.s > 0.0)


def _extent(block: Block, loss: Loss, m: int) -> tuple[float, float, float]:
    """The sum of `_first_slopes`, that of σ, and the steepest slope of all, without weights."""
    low, _, rise = loss.corners(block.y)
    share = block.s / m
    steep = np.maximum(np.abs(low), np.abs(low + rise.sum(axis=0))).max(initial=0.0)
    return float(share @ low), float((share * rise).sum()), float(steep)


@light
def _reach(block: Block, p: NDArray) -> float:
    return float(block.s @ np.abs(p))


def lacks(objective: Objective, ridge: bool = True) -> str | None:
    """What an objective lacks for a solver of piecewise-linear risks, which may need a `ridge`."""
    lack = needs_euclidean(objective) or (needs_ridge if ridge else needs_free)(objective)
    if lack is not None:
        return lack
    if not objective.loss.offers("corners"):
        return (
            f"needs the corners of {type(objective.loss).__name__}; use solver='newton' for a "
            "smooth loss, or 'proximal-bundle'"
        )
    return None
