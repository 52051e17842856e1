"""The empirical risk of a linear model."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Self

import numpy as np

from stepless.arguments import refuse_unless
from stepless.arrays import AnyArray, Array
from stepless.cached import cached_property
from stepless.compiled import oracle
from stepless.compiled.light import light, rowless
from stepless.data import Block, Column, Source, apply_numpy, sum_blocks
from stepless.design.checksum import checksum
from stepless.intercept import Bottom, Cut, Intercept, bottom
from stepless.objective import Loss, Objective
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, optimum_distance, sums
from stepless.proof.shortfall import shortfall
from stepless.proof.witness import Slopes, Witness
from stepless.risks.risk import HELD, RowRisk

_FLAT = 1e-10  # share of a feature's square below which a variance is rounding
_FITTED = 1e-14  # of the risk at 0: below, a risk is 0 but for rounding
_CURVATURE = 0.25  # guess of a loss's
_WORTH_THREADS = 20_000  # predictions; ten times as many without exponentials


@dataclass(frozen=True)
class Anchor:
    """A tangent with its predictions z_i, its slopes a_i, and g = Σ a_i x_i/m.

    The slopes contain the examples' weights. With an intercept they add up to 0.
    """

    tangent: Tangent
    z: Column
    a: Column
    g: Array


class LinearRisk(RowRisk):
    """R(w, b) = Σ s_i ℓ(⟨w, x_i⟩ + b, y_i) / Σ s_i, on all threads of its source."""

    def __init__(self, objective: Objective, source: Source) -> None:
        refuse_unless(isinstance(objective, Objective), "objective", "Objective", objective)
        refuse_unless(isinstance(source, Source), "source", "Source", source)
        self.objective, self.source, loss = objective, source, objective.loss
        refuse_other_columns(loss, source)
        self.m, self.d = source.shape
        objective.domain.admit(self.d * objective.outputs)
        objective.regularizer.admit(self.d)
        self._smooth = not math.isinf(loss.smoothness()) or math.isinf(loss.lipschitz())

    @property
    def identity(self) -> tuple[Hashable, ...]:
        objective, source = self.objective, self.source
        how = objective.loss, objective.intercept, objective.euclidean, *source.shape
        return *how, *source.map(_digest), *source.digests()

    def value(self, w: Array, b: Intercept) -> float:
        return float(sum_blocks(self.source.map(oracle.value, self.objective.loss, w, b))) / self.m

    def value_at(self, p: Array | Column) -> float:
        """Return R from predictions: Σ s_i ℓ(p_i, y_i) / Σ s_i."""
        p = self.source.split(p)
        return float(sum_blocks(self.source.map(oracle.value_at, self.objective.loss, p))) / self.m

    def value_at_zero(self) -> float:
        """Return R(0, b) with the best intercept, from one example per class if it can."""
        return self.alike_at_zero()._at_zero()

    def alike_at_zero(self) -> Self:
        """Return a risk of the same values and slopes at w = 0: of one example per class if it can.

        The weight of each is that of its class.
        """
        classes = self.objective.loss.targets in ("signs", "classes")
        return type(self)(self.objective, _one_per_class(self.source)) if classes else self

    def _at_zero(self) -> float:
        return self.cut_at_zero(0.0).value

    def cut_at_zero(self, b: float) -> Cut:
        return self._bottom(self.source.column(zero_predictions, 1), b).best

    def tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return the tangent plane at w; a free intercept is minimised out exactly, from b on.

        Without an intercept the plane touches R at w. With one, R(w) = min_b R(w, b), and the
        plane is level in b (tilt 0), so that it bounds R for all intercepts.
        """
        if self.objective.intercept:
            return self._level(self._predictions(w), float(b))[0]
        slopes, given = self.source.empty(), (self.objective.loss, w)
        parts, g = self.source.survey((slopes,), oracle.tangent, (self.d,), *given)
        total, offset = (part / self.m for part in sum_blocks(parts))
        return Tangent(total, 0.0, Plane(g / self.m, offset, witness=Slopes(slopes)))

    def anchor(self, w: Array, b: float) -> Anchor:
        z = self._predictions(w)
        tangent, a, g = self._level(z, b)
        return Anchor(tangent, self.source.column(apply_numpy, np.add, z, tangent.b), a, g)

    def _predictions(self, w: Array) -> Column:
        return self.source.column(oracle.predictions, w, 0.0)

    def _level(self, z: Column, b: float) -> tuple[Tangent, Column, Array]:
        """Return the tangent at predictions z, the slopes times the weights, and Σ a_i x_i/m."""
        low, loss = self._bottom(z, b), self.objective.loss
        # tangents at two intercepts, blended until level in b: valid however coarse the search
        (left, right), shares = low.cuts, low.shares
        slopes, a = self.source.empty(), self.source.empty()
        given = loss, z, ((left.b, right.b), shares)
        g = self.source.survey((slopes, a), oracle.blend, (self.d,), *given)[1] / self.m
        plane = Plane(np.zeros(self.d), 0.0)
        if low.level:
            offset = shares[0] * left.offset + shares[1] * right.offset
            plane = Plane(g, offset, witness=Slopes(slopes))
        return Tangent(low.best.value, low.best.b, plane), a, g

    def verify(
        self, w: Array, b: Intercept, witness: Witness | None, enough: float = 0.0
    ) -> Interval:
        column = None if witness is None else witness.slopes
        return sums.verify(self.objective, self.source, w, float(b), column, enough)

    @property
    def unproven(self) -> str | None:
        return None if self.objective.outputs == 1 else super().unproven

    def shortfall(self, w: Array, b: Intercept) -> str | None:
        bare = self.objective.unpenalized(np.zeros(self.d)).size
        if not (bare or optimum_distance.unbounded(self.objective)):
            return None
        fitted = self.value(w, b) <= _FITTED * self.value(np.zeros(self.d), 0.0)
        loss, free = self.objective.loss, self.objective.intercept
        if bare:
            return (
                None
                if fitted
                else (
                    f"a gap beside {bare} features with the factor 0 is certified by "
                    f"solver='proximal-newton', for losses with a curvature; {HELD}"
                )
            )
        return shortfall(loss, self.source, free, w, float(b), fitted)

    @property
    def sizes(self) -> Array:
        """Root mean square of each feature."""
        return self.source.sizes

    @cached_property
    def means(self) -> Array:
        """Mean of each feature; 0 without an intercept."""
        if not self.objective.intercept:
            return np.zeros(self.source.shape[1])
        return self.source.means

    def curvatures(self) -> Array:
        """Return a share of the features' variances; of their mean squares without an intercept."""
        squares = self.source.sizes**2
        variances = np.maximum(squares - self.means**2, _FLAT * squares)
        return _CURVATURE * np.repeat(variances, self.objective.outputs)

    def _bottom(self, z: Column, b: float) -> Bottom:
        """Minimise b ↦ R at predictions z + b, from b on."""
        few = self.m < (_WORTH_THREADS if self._smooth else 10 * _WORTH_THREADS)

        def cuts(points: list[float]) -> list[Cut]:
            given = _cuts, self.objective.loss, z, points
            sums = sum_blocks(self.source.map(*given, threads=1 if few else None)) / self.m
            return [Cut(b, *row) for b, row in zip(points, sums.tolist(), strict=True)]

        free, probes = self.objective.intercept, self.source.home.probes
        return bottom(cuts, b, smooth=self._smooth, free=free, probes=probes)


def refuse_other_columns(loss: Loss, source: Source) -> None:
    """Refuse targets of other columns than those of the loss: loops do not check."""
    columns = loss.outputs() if loss.targets == "rows" else None
    if source.outputs != columns:
        needed = "numbers" if columns is None else f"rows of {columns} numbers"
        raise ValueError(f"{loss} needs targets that are {needed}, one per example")


@rowless
def _cuts(block: Block, loss: Loss, z: Array, points: list[float]) -> Array:
    """Return a row of sums, as `oracle.shifted` does, at each of several intercepts."""
    return np.array([oracle.shifted(block, loss, z, b) for b in points])


@light
def zero_predictions(block: Block, K: int) -> Array:
    """Return the predictions of weights 0."""
    return np.zeros((block.y.size, K) if K > 1 else block.y.size)


def _one_per_class(source: Source) -> Source:
    """Return the first example of each class, with the weight of all."""
    first: dict[float, int] = {}
    shares: dict[float, float] = {}
    for (lo, _), found in zip(source.cuts, source.map(_classes), strict=True):
        for y, row, share in found:
            first.setdefault(y, lo + row)
            shares[y] = shares.get(y, 0.0) + share
    rows = np.array([first[y] for y in sorted(first)])
    some = source.take(rows)
    return Source(some.X, some.y, [shares[y] for y in some.y.tolist()], threads=1)


@light
def _classes(block: Block) -> list[tuple[float, int, float]]:
    """Return each class of a block, its first row and its weight."""
    y, first, of = np.unique(block.y, return_index=True, return_inverse=True)
    shares: AnyArray = np.bincount(of, block.s)
    return list(zip(y.tolist(), first.tolist(), shares.tolist(), strict=True))


@rowless
def _digest(block: Block) -> int:
    return checksum(block.y, block.s)
