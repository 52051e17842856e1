"""The empirical risk of a joint loss: several predictions an example."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.cached import cached_property
from stepless.data.source import Source
from stepless.kernels import joint
from stepless.objective import JointLoss, Objective
from stepless.plane import Plane, Tangent
from stepless.risks.linear_risk import LinearRisk

_BLURRED = 40.0  # in units of the spread of predictions: where Newton's method has an easy start
_FIRST_SHARPNESS = 4.0
_SHARPER = 8.0  # from one smoothing to the next
_SHARPEST = 1e13  # in units of the spread: beyond, rounding decides
_TIGHT = 1e-8  # relative height between the risk and its plane at which it is sharp enough
_NEWTON = 30  # steps at one sharpness
_LEVEL = 1e-11  # relative tilt at which Newton's method is done


class JointRisk(LinearRisk):
    """R(W, b) = Σ s_i ℓ(Wᵀx_i + b, y_i) / Σ s_i, with W given as one array, its rows in turn.

    A plane bounds the risk whatever the intercepts are only if it is level in all of them: if the
    slopes p_i − e_y sum to 0. Intercepts are minimised out by Newton's method on the loss smoothed
    by degrees, for its p_i sum to the classes' shares at the minimum; what is left of the sum is
    taken up by mixing into all p_i a little of one distribution, so that level is level.
    """

    def __init__(self, objective: Objective, source: Source) -> None:
        assert isinstance(objective.loss, JointLoss)
        self.loss, self.K = objective.loss, objective.outputs
        super().__init__(objective, self._numbered(source))
        self.features = self.d
        self.d *= self.K
        self._z = np.empty((self.m, self.K))
        self._g = np.empty((len(self.source.blocks()), self.features, self.K))

    def _numbered(self, source: Source) -> Source:
        """Refuse targets that are no class: kernels do not look. Those of weight 0 may be any."""
        y = source.y
        known = (y >= 0) & (y < self.K) & (y == np.floor(y))
        if known.all():
            return source
        strange = y[~known & (source.s > 0.0)]
        if strange.size:
            raise ValueError(f"{self.loss} is of classes 0 to {self.K - 1}, not {strange[0]:g}")
        return source.relabelled(np.where(known, y, 0.0))

    @cached_property
    def sizes(self) -> NDArray:
        """Root mean square of the feature of each weight."""
        return np.repeat(self.source.sizes, self.K)

    def value(self, w: NDArray, b: Any) -> float:
        """R(W, b)."""
        self._predict(w)
        return self._value(self._intercepts(b))

    def _intercepts(self, b: Any) -> NDArray:
        return np.array(np.broadcast_to(b, self.K), dtype=float)

    def value_at(self, p: NDArray) -> float:
        """R from predictions (m × K)."""
        none = np.zeros(self.K)
        parts = self.source.map(lambda k, lo, hi: joint.value(self.problem, p, none, lo, hi))
        return sum(parts) / self.m

    def _predict(self, w: NDArray) -> None:
        W = w.reshape(self.features, self.K)
        self.source.map(lambda k, lo, hi: joint.predictions(self.source.X, W, self._z, lo, hi))

    def _value(self, b: NDArray) -> float:
        parts = self.source.map(lambda k, lo, hi: joint.value(self.problem, self._z, b, lo, hi))
        return sum(parts) / self.m

    def tangent(self, w: NDArray, b: Any) -> Tangent:
        """Tangent plane at W; free intercepts are minimised out, starting from b."""
        self._predict(w)
        if not self.objective.intercept:
            parts = self.source.map(
                lambda k, lo, hi: joint.tangent(self.problem, self._z, self._g[k], lo, hi)
            )
            total, offset, rough = (np.sum(parts, axis=0) / self.m).tolist()
            offset -= self.rounding * rough
            plane = self._joint_plane(self._g.sum(axis=0) / self.m, offset, self.haze(total, rough))
            return Tangent(total, np.zeros(self.K), plane)
        b, sharpness = self._balance(self._intercepts(b))
        tilts = np.empty((len(self._g), self.K))
        parts = self.source.map(
            lambda k, lo, hi: joint.blend(
                self.problem, self._z, b, sharpness, self._g[k], tilts[k], lo, hi
            )
        )
        offset, rough = (np.sum(parts, axis=0) / self.m).tolist()
        value = self._value(b)
        return Tangent(value, b, self._levelled(offset, tilts.sum(axis=0) / self.m, value, rough))

    def _joint_plane(self, a: NDArray, offset: float, haze: float) -> Plane:
        return Plane(a.ravel(), offset, haze=haze, sizes=self.sizes)

    def _levelled(self, offset: float, tilt: NDArray, value: float, rough: float) -> Plane:
        """The plane of the slopes just written, made level.

        By their own tilt, not by what Newton's method says of it: a sharp loss's slopes change with
        the rounding of predictions.
        """
        rest, share = self._rest(tilt)
        a = self._g.sum(axis=0) / self.m
        if share > 0.0:
            a = (1.0 - share) * a + share * (np.outer(self._means.sum(axis=1), rest) - self._means)
            bases = [self.loss.base(rest, float(c)) for c in range(self.K)]
            offset = (1.0 - share) * offset + share * float(self._classes @ bases)
        # Level but for rounding: so much more of the rest, which has no less than the rarest
        # class's share, would take it up.
        unlevel = self.rounding / float(self._classes[self._classes > 0.0].min())
        offset -= self.rounding * rough + unlevel * (1.0 + math.log(self.K))
        return self._joint_plane(a, offset, self.haze(value, rough) + 2.0 * unlevel)

    @cached_property
    def _means(self) -> NDArray:
        """Σ s_i x_i ⊗ e_y / m."""
        y, s = self.source.y, self.source.s
        sums = [self.source.combination(np.where(y == c, s, 0.0)) for c in range(self.K)]
        return np.column_stack(sums) / self.m

    @cached_property
    def _classes(self) -> NDArray:
        """The classes' shares."""
        return np.bincount(self.source.y.astype(int), self.source.s, self.K) / self.m

    def _balance(self, b: NDArray) -> tuple[NDArray, float]:
        """Return the intercepts that make the (smoothed) risk least, and its sharpness."""
        own, spread = self.loss.sharpness(), self._spread(b)
        sharpness = min(own, _FIRST_SHARPNESS, _BLURRED / spread)
        last = min(own, _SHARPEST / spread)
        best, least = (b, sharpness), math.inf
        before = b
        while True:
            b, cut = self._newton(b, sharpness)
            # The planes lie so far below the risk, and levelling them will cost about so much.
            loss = cut.value - cut.height + self._rest(cut.tilt)[1] * spread
            if sharpness < own < math.inf:  # on the way to a loss that is smooth itself
                loss = math.inf
            if not loss >= least:
                best, least = (b, sharpness), loss
            if sharpness >= last or least <= _TIGHT * cut.value or loss > 10.0 * least:
                return best
            sharper = min(sharpness * _SHARPER, last)
            # b moves by what is proportional to 1/sharpness
            b, before = b + (b - before) * (sharpness / sharper), b
            sharpness = sharper

    def _spread(self, b: NDArray) -> float:
        """How far predictions lie apart, at most; no less than 1."""
        return max(float((self._z.max(axis=0) + b).max() - (self._z.min(axis=0) + b).min()), 1.0)

    def _newton(self, b: NDArray, sharpness: float) -> tuple[NDArray, Shares]:
        here = self._shares(b, sharpness)
        for _ in range(_NEWTON):
            uneven = float(np.abs(here.tilt).sum())
            if uneven <= max(_LEVEL, self.rounding) * here.moved:
                break
            # One intercept too many: all of them may rise together.
            ridge = 1e-10 * np.trace(here.spread) + 1e-300
            hessian = sharpness * (here.spread + ridge * np.eye(self.K) + ridge)
            move = np.linalg.solve(hessian, here.tilt)
            # No farther than where the smoothed loss may have another shape.
            move *= min(1.0, (1.0 + 20.0 / sharpness) / max(float(np.abs(move).max()), 1e-300))
            step, falls = 1.0, float(here.tilt @ move)
            while step > 1e-6:
                trial = self._shares(b - step * move, sharpness)
                if trial.value <= here.value - 1e-4 * step * falls:
                    break
                # The last steps gain less than rounding: they must level.
                same = trial.value <= here.value * (1.0 + self.rounding)
                if same and float(np.abs(trial.tilt).sum()) <= 0.5 * uneven:
                    break
                step *= 0.5
            else:
                break
            b, here = b - step * move, trial
            b -= b.mean()
        return b, here

    def _shares(self, b: NDArray, sharpness: float) -> Shares:
        blocks = len(self.source.blocks())
        tilts, spreads = np.empty((blocks, self.K)), np.empty((blocks, self.K, self.K))
        parts = self.source.map(
            lambda k, lo, hi: joint.shares(
                self.problem, self._z, b, sharpness, tilts[k], spreads[k], lo, hi
            )
        )
        value, height, moved = (np.sum(parts, axis=0) / self.m).tolist()
        tilt, spread = tilts.sum(axis=0) / self.m, spreads.sum(axis=0) / self.m
        return Shares(value, height, moved, tilt, spread)

    def _rest(self, tilt: NDArray) -> tuple[NDArray, float]:
        """Return the distribution that levels the slopes, and the least share of it that does.

        (1 − θ)P + θQ = Y, for the classes' shares Y and the mean P = Y + tilt of the p_i.
        """
        classes, over = self._classes, tilt > 0.0
        if not over.any():
            return classes, 0.0
        room = float(np.min(classes[over] / np.maximum(tilt[over], 1e-300)))
        share = 1.0 / (1.0 + room)
        if not share < 1.0:
            return classes, 1.0
        rest = classes - tilt * ((1.0 - share) / share)
        return np.maximum(rest, 0.0), share


@dataclass(frozen=True)
class Shares:
    """The smoothed risk at some intercepts, and its derivatives in them."""

    value: float
    height: float  # of the planes that the p_i give
    moved: float  # mean 1 − p_iy
    tilt: NDArray
    spread: NDArray  # the Hessian, but for the factor of sharpness


def risk_of(objective: Objective, source: Source) -> LinearRisk:
    """Return the risk of these examples: joint if the loss is."""
    return (JointRisk if objective.outputs > 1 else LinearRisk)(objective, source)
