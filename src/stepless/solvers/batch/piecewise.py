"""A piecewise-linear risk as a sum over its corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.compiled import products
from stepless.compiled.light import light, rowless
from stepless.data import Block, Column, sum_blocks
from stepless.objective import Loss, Objective
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.newton_step import unweighted
from stepless.solvers.solver import needs_euclidean_sum, needs_free, needs_ridge


@dataclass
class Piecewise:
    """R(w, b) = ⟨base, w⟩ + tilt·b + Σ σ_i max(0, p_i − k_i) + a constant; p = Xw + b.

    The column holds k and σ, arrays of (corners, examples); σ has sample weights, rises and the 1/m
    of the mean in it.
    """

    corners: Column
    first: Column  # slopes below all corners, with weights and 1/m
    base: Array
    tilt: float
    mass: float  # Σσ

    @classmethod
    def of(cls, risk: RowRisk) -> Piecewise:
        """Decompose a risk whose loss offers `corners`."""
        source, given = risk.source, (risk.objective.loss, risk.m)
        corners, first = source.column(_corners, *given), source.column(_first_slopes, *given)
        parts, base = source.survey((), _extent, (risk.d,), corners, first)
        return cls(corners, first, base, *sum_blocks(parts))

    def claim(self, risk: RowRisk, slopes: Column) -> Slopes:
        """Return the witness of a bound that was computed from each example's Σσβ."""
        return Slopes(risk.source.column(_claimed, self.first, slopes, risk.m))


@rowless
def _corners(block: Block, loss: Loss, m: int) -> tuple[Array, Array]:
    _, k, rise = loss.corners(block.y)
    return np.ascontiguousarray(k), np.ascontiguousarray(block.s / m * rise)


@rowless
def _first_slopes(block: Block, loss: Loss, m: int) -> Array:
    return block.s / m * loss.corners(block.y)[0]


@light
def _claimed(block: Block, first: Array, slopes: Array, m: int) -> Array:
    return unweighted(block, first + slopes, m)


def _extent(
    block: Block, base: Array, corners: tuple[Array, Array], first: Array
) -> tuple[float, float]:
    """Add slopes below all corners, times rows, to `base`; return the sums of these and of σ."""
    products.combination(block, base, first)
    return float(first.sum()), float(corners[1].sum())


def needs_corners(objective: Objective, ridge: bool = True) -> str | None:
    """Return what is lacking if the loss has no corners, the domain is not free, or no `ridge`."""
    if lack := needs_euclidean_sum(objective) or (needs_ridge if ridge else needs_free)(objective):
        return lack
    if not objective.loss.offers("corners"):
        return (
            f"needs the corners of {type(objective.loss).__name__}; use solver='newton' for a "
            "smooth loss, or 'proximal-bundle'"
        )
    return None
