"""The empirical risk of a joint loss: several predictions an example."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.data.source import Source
from stepless.kernels import joint
from stepless.objective import JointLoss, Objective
from stepless.risk import Plane, Risk, Tangent

_FIRST_SHARPNESS = 4.0
_SHARPER = 8.0  # from one smoothing to the next
_SHARPEST = 1e5  # for few examples; beyond, a tenth of their number
_NEWTON = 30  # steps at one sharpness
_LEVEL = 1e-11  # tilt at which Newton's method is done


class JointRisk(Risk):
    """R(W, b) = Σ s_i ℓ(Wᵀx_i + b, y_i) / Σ s_i, with W given as one array, its rows in turn.

    A plane bounds the risk whatever the intercepts are only if it is level in all of them: if the
    slopes p_i − e_y sum to 0. Intercepts are minimised out by Newton's method on the loss smoothed
    by degrees, for its p_i sum to the classes' shares at the minimum; what is left of the sum is
    taken up by mixing into all p_i a little of one distribution, so that level is level.
    """

    def __init__(self, objective: Objective, source: Source) -> None:
        super().__init__(objective, source)
        assert isinstance(objective.loss, JointLoss)
        self.loss, self.K = objective.loss, objective.loss.outputs()
        self.features = self.d
        self.d *= self.K
        self._z = np.empty((self.m, self.K))
        self._g = np.empty((len(source.blocks()), self.features, self.K))

    @cached_property
    def sizes(self) -> NDArray:
        """Root mean square of the feature of each weight."""
        return np.repeat(self.source.sizes, self.K)

    def value(self, w: NDArray, b: Any) -> float:
        """R(W, b)."""
        self._predict(w)
        return self._value(np.asarray(b, dtype=float))

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
            return Tangent(total, np.zeros(self.K), self._joint_plane(offset, total, rough))
        start = np.array(np.broadcast_to(b, self.K), dtype=float)
        b, sharpness, tilt = self._balance(start)
        rest, share = self._rest(tilt)
        parts = self.source.map(
            lambda k, lo, hi: joint.blend(
                self.problem, self._z, b, sharpness, rest, share, self._g[k], lo, hi
            )
        )
        offset, rough = (np.sum(parts, axis=0) / self.m).tolist()
        value = self._value(b)
        # Level but for rounding: so much more of the rest, which has no less than the rarest
        # class's share, would take it up.
        unlevel = self.rounding / float(self._classes[self._classes > 0.0].min())
        slack = self.rounding * rough + unlevel * (1.0 + math.log(self.K))
        return Tangent(value, b, self._joint_plane(offset - slack, value, rough, unlevel))

    def _joint_plane(
        self, offset: float, value: float, rough: float, unlevel: float = 0.0
    ) -> Plane:
        a = self._g.sum(axis=0).ravel() / self.m
        return Plane(a, offset, haze=self.haze(value, rough) + unlevel, sizes=self.sizes)

    @cached_property
    def _classes(self) -> NDArray:
        """The classes' shares."""
        return np.bincount(self.source.y.astype(int), self.source.s, self.K) / self.m

    def _balance(self, b: NDArray) -> tuple[NDArray, float, NDArray]:
        """Return the intercepts that make the (smoothed) risk least, its sharpness and tilt."""
        own = self.loss.sharpness()
        sharpness = min(own, _FIRST_SHARPNESS)
        last = min(own, max(_SHARPEST, self.m / 10.0))
        while True:
            b, tilt = self._newton(b, sharpness)
            if sharpness >= last:
                return b, sharpness, tilt
            sharpness = min(sharpness * _SHARPER, last)

    def _newton(self, b: NDArray, sharpness: float) -> tuple[NDArray, NDArray]:
        value, tilt, spread = self._shares(b, sharpness)
        for _ in range(_NEWTON):
            if float(np.abs(tilt).sum()) <= _LEVEL:
                break
            # One intercept too many: all of them may rise together.
            ridge = 1e-10 * np.trace(spread) + 1e-300
            hessian = sharpness * (spread + ridge * np.eye(self.K) + ridge)
            move = np.linalg.solve(hessian, tilt)
            # No farther than where the smoothed loss may have another shape.
            move *= min(1.0, (1.0 + 20.0 / sharpness) / max(float(np.abs(move).max()), 1e-300))
            step, falls = 1.0, float(tilt @ move)
            while step > 1e-6:
                trial = self._shares(b - step * move, sharpness)
                if trial[0] <= value - 1e-4 * step * falls:
                    break
                step *= 0.5
            else:
                break
            b, (value, tilt, spread) = b - step * move, trial
            b -= b.mean()
        return b, tilt

    def _shares(self, b: NDArray, sharpness: float) -> tuple[float, NDArray, NDArray]:
        blocks = len(self.source.blocks())
        tilts, spreads = np.empty((blocks, self.K)), np.empty((blocks, self.K, self.K))
        parts = self.source.map(
            lambda k, lo, hi: joint.shares(
                self.problem, self._z, b, sharpness, tilts[k], spreads[k], lo, hi
            )
        )
        return sum(parts) / self.m, tilts.sum(axis=0) / self.m, spreads.sum(axis=0) / self.m

    def _rest(self, tilt: NDArray) -> tuple[NDArray, float]:
        """Return the distribution that levels the slopes, and the least share of it that does.

        (1 − θ)P + θQ = Y, for the classes' shares Y and the mean P = Y + tilt of the p_i.
        """
        classes, over = self._classes, tilt > 0.0
        if not over.any():
            return classes, 0.0
        room = float(np.min(classes[over] / tilt[over]))
        share = 1.0 / (1.0 + room)
        if not share < 1.0:
            return classes, 1.0
        rest = classes - tilt * ((1.0 - share) / share)
        return np.maximum(rest, 0.0), share


def risk_of(objective: Objective, source: Source) -> Risk:
    """Return the risk of these examples: joint if the loss is."""
    return (JointRisk if objective.loss.outputs() > 1 else Risk)(objective, source)
