"""The entropy as a mirror map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stepless.mirrors.elastic import elastic_shares
from stepless.objective import Domain, Regularizer, Simplex


@dataclass
class Entropy:
    """Φ(w) = M Σ_j (w_j log(w_j/s) − w_j), for w ≥ 0 with Σ_j w_j ≤ M: steps multiply weights.

    It is 1-strongly convex in ‖·‖₁, whose dual is ‖·‖_∞. s, where Φ has its minimum, is R/d in a simplex.

    Examples
    --------
    >>> mirror = Entropy(Simplex(1.0), 2)
    >>> mirror.nearest(np.log([3.0, 1.0])), round(mirror.spread, 4)
    (array([0.75, 0.25]), 0.6931)
    """

    domain: Domain
    d: int
    spread: float = field(init=False)
    mass: float = field(init=False)
    scale: float = field(init=False)
    _first: NDArray = field(init=False, repr=False)

    name: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Simplex):
            raise ValueError(
                f"the entropy needs weights that are not negative, and {type(self.domain).__name__} "
                "lets them be; use mirror='euclidean'"
            )
        self.mass = self.domain.bound
        self.scale = self.mass / self.d
        self.spread = self.mass**2 * math.log(self.d)
        self._first = np.full(self.d, self.scale)

    def first(self) -> NDArray:
        return self._first.copy()

    def dual(self, w: NDArray) -> NDArray:
        with np.errstate(divide="ignore"):
            return self.mass * np.log(w / self.scale)

    def primal(self, theta: NDArray) -> NDArray:
        return self.scale * np.exp(theta / self.mass)

    def nearest(
        self, theta: NDArray, penalty: Regularizer | None = None, weight: float = 0.0
    ) -> NDArray:
        w = np.exp((theta - theta.max()) / self.mass)
        return w * (self.mass / float(w.sum()))

    def value(self, w: NDArray) -> float:
        logs = np.log(w / self.scale, where=w > 0.0, out=np.zeros_like(w))
        return self.mass * float(w @ logs - w.sum())

    def divergence(self, w: NDArray, z: NDArray) -> float:
        logs = np.log(w / z, where=w > 0.0, out=np.zeros_like(w))
        return self.mass * max(float(w @ logs - w.sum() + z.sum()), 0.0)

    def square(self, v: NDArray) -> float:
        return float(np.abs(v).sum()) ** 2

    def dual_square(self, g: NDArray) -> float:
        return float(np.abs(g).max(initial=0.0)) ** 2
