"""The entropy as a mirror map where weights have no bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.entropy import PRIOR, relative_entropy
from stepless.mirrors.mirror import Mirror
from stepless.objective import Regularizer


@dataclass
class UnboundedEntropy(Mirror):
    """Φ(w) = Σ_j (w_j log w_j − w_j) over all w ≥ 0: steps multiply weights, and none becomes 0.

    It is 1/Σ_j w_j-strongly convex in ‖·‖₁ near w, so that its norm depends on w.

    Examples
    --------
    >>> from stepless.objective import Nonnegative
    >>> mirror = UnboundedEntropy(Nonnegative(), 2)
    >>> mirror.move(np.array([1.0, 2.0]), np.log([2.0, 0.5]), 1.0)
    array([0.5, 4. ])
    """

    unit: float = 1.0  # a weight where nothing better is known

    name: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        if not (self.domain.separable and self.domain.interval() == (0.0, math.inf)):
            raise ValueError(f"the entropy without a bound does not know {self.domain!r}")
        self._first = np.ones(self.d)
        self.value_range = math.inf

    def inside(self, w: Array) -> Array:
        w = np.maximum(w, 0.0)
        return w + (PRIOR * w.mean() if w.any() else self.unit)

    def dual(self, w: Array) -> Array:
        with np.errstate(divide="ignore"):  # a weight may have become 0 by rounding
            return np.log(w)

    def primal(self, theta: Array) -> Array:
        return np.exp(theta)

    def nearest(self, theta: Array, penalty: Regularizer | None = None, weight: float = 0) -> Array:
        return self.primal(theta - _lasso(penalty, weight))

    def move(self, w: Array, g: Array, step: float, penalty: Regularizer | None = None) -> Array:
        powers = -step * (g + _lasso(penalty, 1.0))
        return w * np.exp(np.minimum(powers, 1.0))  # none grows by more than e at once

    def value(self, w: Array) -> float:
        return relative_entropy(w, np.ones_like(w)) - w.size

    def divergence(self, w: Array, z: Array) -> float:
        return relative_entropy(w, z)

    def square(self, v: Array) -> float:
        return float(np.abs(v).sum()) ** 2

    def dual_square(self, g: Array, w: Array | None = None) -> float:
        mass = 1.0 if w is None else float(w.sum())
        return mass * float(np.abs(g).max(initial=0.0)) ** 2


def _lasso(penalty: Regularizer | None, weight: float) -> float:
    shares = elastic_shares(penalty, weight)
    if shares is None or shares[1] > 0.0:
        raise ValueError(
            "beside the entropy without a bound the penalties l1 and none are known, not "
            f"{type(penalty).__name__}; use mirror='euclidean'"
        )
    return shares[0]
