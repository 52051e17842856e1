"""The empirical risk of a joint loss: several predictions per example."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stepless.arrays import AnyArray, Array
from stepless.cached import cached_property
from stepless.compiled import joint
from stepless.compiled.light import rowless
from stepless.data import Block, Column, Source, sum_blocks
from stepless.intercept import Intercept
from stepless.objective import JointLoss, Objective, SumOverOutputs
from stepless.plane import Plane, Tangent
from stepless.proof import Interval, joint as proof
from stepless.proof.witness import Slopes, Witness
from stepless.risks.linear_risk import LinearRisk, refuse_other_columns, zero_predictions
from stepless.risks.outputs_risk import OutputsRisk
from stepless.risks.risk import RowRisk

_SMOOTHEST = 40.0  # in units of the range of predictions: an easy start for Newton's method
_FIRST_SHARPNESS = 4.0
_SHARPER = 8.0  # factor from one smoothing to the next
_SHARPEST = 1e13  # in units of the range: beyond, rounding decides
_TIGHT = 1e-8  # relative height between the risk and its plane at which it is sharp enough
_NEWTON_STEPS = 30  # at one sharpness
_LEAST_SHARPNESS = 1e-100  # below, a run diverges and there is no Hessian
_LEVEL = 1e-11  # relative tilt at which Newton's method is done


class JointRisk(LinearRisk):
    """R(W, b) = Σ s_i ℓ(Wᵀx_i + b, y_i) / Σ s_i, with W flattened row by row.

    A plane bounds the risk for all intercepts only if it is level in all of them, that is, if the
    slopes p_i − e_y sum to 0. Intercepts are minimised out by Newton's method on the loss with
    decreasing smoothing; at the minimum its p_i sum to the classes' shares. What is left of the sum
    is removed by mixing a little of one distribution into all p_i: the plane is exactly level.
    """

    def __init__(self, objective: Objective, source: Source) -> None:
        assert isinstance(objective.loss, JointLoss)
        self.loss, self.K = objective.loss, objective.outputs
        super().__init__(objective, self._with_classes(source))
        self.features = self.d
        self.d *= self.K

    def _with_classes(self, source: Source) -> Source:
        """Refuse targets that are no class, unless of weight 0: loops do not check."""
        refuse_other_columns(self.loss, source)
        if all(source.map(_are_classes, self.loss)):
            return source
        return source.relabelled(source.column(_known_classes, self.loss))

    @cached_property
    def sizes(self) -> Array:
        """Root mean square of the feature of each weight."""
        return np.repeat(self.source.sizes, self.K)

    def value(self, w: Array, b: Intercept) -> float:
        self._predict(w)
        return self._value(self._z, self._intercepts(b))

    def _intercepts(self, b: Intercept) -> Array:
        return np.array(np.broadcast_to(b, self.K), dtype=float)

    def value_at(self, p: Array | Column) -> float:
        """Return R from predictions (m × K)."""
        return self._value(self.source.split(p), np.zeros(self.K))

    def _predict(self, w: Array) -> None:
        self._z = self.source.column(joint.predictions, w.reshape(self.features, self.K))

    def _value(self, z: Column, b: Array) -> float:
        return float(sum_blocks(self.source.map(joint.value, self.loss, z, b))) / self.m

    def verify(
        self, w: Array, b: Intercept, witness: Witness | None, enough: float = 0.0
    ) -> Interval:
        slopes = None if witness is None else witness.slopes
        return proof.verify(self.objective, self.source, w, self._intercepts(b), slopes)

    def shortfall(self, w: Array, b: Intercept) -> str | None:
        return RowRisk.shortfall(self, w, b)  # not what is known for one output

    def _at_zero(self) -> float:
        self._z, b = self.source.column(zero_predictions, self.K), np.zeros(self.K)
        return self._value(self._z, self._balance(b)[0] if self.objective.intercept else b)

    def tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return the tangent plane at W; free intercepts are minimised out, starting from b."""
        self._predict(w)
        if not self.objective.intercept:
            slopes, shape = self.source.empty(after=(self.K,)), (self.features, self.K)
            parts, g = self.source.survey((slopes,), joint.tangent, shape, self.loss, self._z)
            value, offset = (part / self.m for part in sum_blocks(parts))
            plane = Plane(g.ravel() / self.m, offset, witness=Slopes(slopes))
            return Tangent(value, np.zeros(self.K), plane)
        b, sharpness = self._balance(self._intercepts(b))
        slopes, given = self.source.empty(after=(self.K,)), (self.loss, self._z, b, sharpness)
        parts, g = self.source.survey((slopes,), joint.blend, (self.features, self.K), *given)
        offset, tilt = (part / self.m for part in sum_blocks(parts))
        plane = self._levelled(g / self.m, offset, tilt, Slopes(slopes))
        return Tangent(self._value(self._z, b), b, plane)

    def _levelled(self, a: Array, offset: float, tilt: Array, witness: Slopes) -> Plane:
        """Return the plane of these slopes, made level.

        By the tilt of these slopes, not by that of Newton's method: the slopes of a sharp loss
        change with the rounding of predictions.
        """
        rest, share = self._levelling(tilt)
        if share > 0.0:
            a = (1.0 - share) * a + share * (np.outer(self._means.sum(axis=1), rest) - self._means)
            bases = [self.loss.base(rest, float(c)) for c in range(self.K)]
            offset = (1.0 - share) * offset + share * float(self._classes @ bases)
        return Plane(a.ravel(), offset, witness=witness)

    @cached_property
    def _means(self) -> Array:
        """Σ s_i x_i ⊗ e_y / m."""
        of = (self.source.column(_of_class, c) for c in range(self.K))
        return np.column_stack([self.source.combination(s) for s in of]) / self.m

    @cached_property
    def _classes(self) -> Array:
        counts: Array = sum_blocks(self.source.map(_count, self.K))
        return counts / self.m

    def _balance(self, b: Array) -> tuple[Array, float]:
        """Return the intercepts that make the (smoothed) risk least, and its sharpness."""
        tops, bottoms = zip(*self.source.map(_extremes, self._z, b), strict=True)
        own, width = self.loss.sharpness(), float(max(max(tops) - min(bottoms), 1.0))
        sharpness = min(own, _FIRST_SHARPNESS, _SMOOTHEST / width)
        last = min(own, _SHARPEST / width)
        best, least = (b, sharpness), math.inf
        before = b
        while True:
            b, cut = self._newton(b, sharpness)
            # the distance of the planes below the risk, and about what levelling them will cost
            loss = cut.value - cut.height + self._levelling(cut.tilt)[1] * width
            if sharpness < own < math.inf:  # not yet the loss itself, which is smooth
                loss = math.inf
            if not loss >= least:
                best, least = (b, sharpness), loss
            if sharpness >= last or least <= _TIGHT * cut.value or loss > 10.0 * least:
                return best
            sharper = min(sharpness * _SHARPER, last)
            # the minimum moves in proportion to 1/sharpness
            b, before = b + (b - before) * (sharpness / sharper), b
            sharpness = sharper

    def _newton(self, b: Array, sharpness: float) -> tuple[Array, SmoothedRisk]:
        here = self._smoothed(b, sharpness)
        for _ in range(_NEWTON_STEPS):
            tilt = float(np.abs(here.tilt).sum())
            if tilt <= _LEVEL * here.error or sharpness < _LEAST_SHARPNESS:
                break
            # one intercept is redundant: all of them may rise together
            ridge = 1e-10 * np.trace(here.covariance) + 1e-300
            hessian = sharpness * (here.covariance + ridge * np.eye(self.K) + ridge)
            move = np.linalg.solve(hessian, here.tilt)
            # no farther than the smoothed loss keeps its shape
            move *= min(1.0, (1.0 + 20.0 / sharpness) / max(float(np.abs(move).max()), 1e-300))
            step, falls = 1.0, float(here.tilt @ move)
            while step > 1e-6:
                trial = self._smoothed(b - step * move, sharpness)
                if trial.value <= here.value - 1e-4 * step * falls:
                    break
                # the last steps gain less than rounding: they must reduce the tilt
                same = trial.value <= here.value * (1.0 + _LEVEL)
                if same and float(np.abs(trial.tilt).sum()) <= 0.5 * tilt:
                    break
                step *= 0.5
            else:
                break
            b, here = b - step * move, trial
            b -= b.mean()
        return b, here

    def _smoothed(self, b: Array, sharpness: float) -> SmoothedRisk:
        sums = sum_blocks(self.source.map(joint.shares, self.loss, self._z, b, sharpness))
        return SmoothedRisk(*(part / self.m for part in sums))

    def _levelling(self, tilt: Array) -> tuple[Array, float]:
        """Return the distribution that levels the slopes, and the least share of it that does.

        (1 − θ)P + θQ = Y, for the classes' shares Y and the mean P = Y + tilt of the p_i.
        """
        classes, over = self._classes, tilt > 0.0
        if not over.any():
            return classes, 0.0
        ratio = float(np.min(classes[over] / np.maximum(tilt[over], 1e-300)))
        share = 1.0 / (1.0 + ratio)
        if not share < 1.0:
            return classes, 1.0
        rest = classes - tilt * ((1.0 - share) / share)
        return np.maximum(rest, 0.0), share


@rowless
def _are_classes(block: Block, loss: JointLoss) -> bool:
    """Return whether all targets are classes; refuse others, unless of weight 0."""
    y, K = block.y, loss.outputs()
    known = (y >= 0) & (y < K) & (y == np.floor(y))
    strange = y[~known & (block.s > 0.0)]
    if strange.size:
        raise ValueError(f"{loss} is of classes 0 to {K - 1}, not {strange[0]:g}")
    return bool(known.all())


@rowless
def _known_classes(block: Block, loss: JointLoss) -> Array:
    """Return the targets, with 0 for those that are no class."""
    y = block.y
    return np.where((y >= 0) & (y < loss.outputs()) & (y == np.floor(y)), y, 0.0)


@rowless
def _of_class(block: Block, c: int) -> Array:
    return np.where(block.y == c, block.s, 0.0)


@rowless
def _count(block: Block, K: int) -> Array:
    sums: AnyArray = np.bincount(block.y.astype(int), block.s, K)
    return sums


@rowless
def _extremes(block: Block, z: Array, b: Array) -> tuple[float, float]:
    """Return the largest and the least of all z_i + b."""
    most = z.max(axis=0, initial=-math.inf) + b
    return float(most.max()), float((z.min(axis=0, initial=math.inf) + b).min())


class SmoothedRisk(NamedTuple):
    """The smoothed risk at some intercepts, and its derivatives in them."""

    value: float
    height: float  # of the planes of the p_i
    error: float  # mean 1 − p_iy
    tilt: Array
    covariance: Array  # the Hessian divided by the sharpness


def risk_of(objective: Objective, source: Source) -> LinearRisk:
    """Return the risk of these examples: joint if the loss is, or a sum over outputs."""
    if isinstance(objective.loss, SumOverOutputs):
        return OutputsRisk(objective, source)
    return (JointRisk if objective.outputs > 1 else LinearRisk)(objective, source)
