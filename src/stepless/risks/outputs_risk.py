"""The empirical risk of several outputs, each with targets of its own."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.cached import cached_property
from stepless.compiled import joint, smooth
from stepless.compiled.light import light
from stepless.data import Block, Column, Source, sum_blocks
from stepless.intercept import Intercept
from stepless.objective import Objective, SumOverOutputs, Zero
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, outputs as proof
from stepless.proof.witness import Slopes, Witness
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import RowRisk


class OutputsRisk(LinearRisk):
    """R(W, b) = Σ_c R_c(W_c, b_c): one risk for each column of targets, with W flattened by rows.

    Of each output the intercept is minimised out by itself.
    """

    def __init__(self, objective: Objective, source: Source) -> None:
        assert isinstance(objective.loss, SumOverOutputs)
        super().__init__(objective, source)
        self.K, self.one = objective.outputs, objective.loss.loss
        self.features = self.d
        self.d *= self.K

    @cached_property
    def sizes(self) -> Array:
        """Root mean square of the feature of each weight."""
        return np.repeat(self.source.sizes, self.K)

    @cached_property
    def of_outputs(self) -> list[LinearRisk]:
        """The risk of each output as a function of its predictions: without features."""
        objective = Objective(self.one, Zero(), intercept=self.objective.intercept)
        bare = self.source.narrowed(np.zeros(0, dtype=np.intp))
        each = (bare.relabelled(bare.column(targets_of, c)) for c in range(self.K))
        return [LinearRisk(objective, source) for source in each]

    def value(self, w: Array, b: Intercept) -> float:
        return self._value(self.scores(w), self._intercepts(b))

    def value_at(self, p: Array | Column) -> float:
        """Return R from predictions (m × K)."""
        return self._value(self.source.split(p), np.zeros(self.K))

    def scores(self, w: Array) -> Column:
        """Return Wᵀx_i for each example (m × K)."""
        return self.source.scores(w.reshape(self.features, self.K))

    def _value(self, z: Column, b: Array) -> float:
        each = enumerate(self.of_outputs)
        return sum(one.value_at(self.source.column(output_of, z, c, b[c])) for c, one in each)

    def _intercepts(self, b: Intercept) -> Array:
        return np.array(np.broadcast_to(b, self.K), dtype=float)

    def _at_zero(self) -> float:
        return float(self.tangent(np.zeros(self.d), 0.0).value)

    def tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return the tangent plane at W; free intercepts are minimised out, starting from b."""
        z, start = self.scores(w), self._intercepts(b)
        if not self.objective.intercept:
            a, sa = (self.source.empty(after=(self.K,)) for _ in range(2))
            sums = self.source.update((a, sa), joint.slopes, self.objective.loss, z)
            value, offset = (part / self.m for part in sum_blocks(sums))
            return Tangent(value, np.zeros(self.K), self._plane(a, sa, offset))
        slopes, weighted = list[Column](), list[Column]()
        value = offset = 0.0
        for c, one in enumerate(self.of_outputs):
            tangent, a, _ = one._level(self.source.column(output_of, z, c, 0.0), start[c])
            value, start[c] = value + tangent.value, tangent.b
            offset += tangent.plane.offset
            witness = tangent.plane.witness
            known = witness.slopes if witness else None
            none = self.source.home.constant(0.0)  # where only R ≥ 0 is known
            slopes.append(known or none)
            weighted.append(a if known else none)
        a, sa = (self.source.column(_side_by_side, *each) for each in (slopes, weighted))
        return Tangent(value, start, self._plane(a, sa, offset))

    def _plane(self, slopes: Column, weighted: Column, offset: float) -> Plane:
        g = self.source.combinations(weighted).ravel() / self.m
        return Plane(g, offset, witness=Slopes(slopes))

    def conjugates(self, slopes: Column) -> float:
        """Return Σ_c Σ_i s_i ℓ*(a_ic, y_ic)/m."""
        total = 0.0
        for c, one in enumerate(self.of_outputs):
            a = one.source.column(_weighted, slopes, c)
            total += float(sum_blocks(one.source.map(smooth.conjugates, self.one, a, 1.0)))
        return total / self.m

    def verify(
        self, w: Array, b: Intercept, witness: Witness | None, enough: float = 0.0
    ) -> Interval:
        slopes = None if witness is None else witness.slopes
        return proof.verify(self.objective, self.source, w, self._intercepts(b), slopes, enough)

    def shortfall(self, w: Array, b: Intercept) -> str | None:
        return RowRisk.shortfall(self, w, b)  # not what is known for one output


@light
def targets_of(block: Block, c: int) -> Array:
    """Return the targets of one output."""
    return np.ascontiguousarray(block.y[:, c])


@light
def output_of(block: Block, z: Array, c: int, b: float) -> Array:
    """Return one output's column of predictions, moved by b."""
    column: Array = z[:, c] + b
    return column


@light
def _weighted(block: Block, slopes: Array, c: int) -> Array:
    column: Array = block.s * slopes[:, c]
    return column


@light
def _side_by_side(block: Block, *columns: Array) -> Array:
    return np.column_stack(columns)
