"""The Euclidean mirror map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import proximal_step
from stepless.compiled.vertices import enter
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.far import enter_from_afar
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.signs import nonnegative, shrinks_first
from stepless.objective import Regularizer


@dataclass
class Euclidean(Mirror):
    """Φ(w) = ½‖w‖², 1-strongly convex in ‖·‖₂, which is dual to itself: for every domain.

    Examples
    --------
    >>> from stepless.objective import L2Ball
    >>> mirror = Euclidean(L2Ball(1.0), 2)
    >>> mirror.nearest(np.array([3.0, 4.0])), mirror.spread
    (array([0.6, 0.8]), 0.5)
    """

    size: float = field(init=False, repr=False)

    name: ClassVar[str] = "euclidean"

    def __post_init__(self) -> None:
        self.domain.admit(self.d)
        self._first = np.zeros(self.d)
        enter(self.domain, self._first)
        self.size = self.domain.reach()
        longest = min(self.domain.radius(), math.sqrt(self.d) * self.size)
        self.spread = max(0.5 * longest**2 - self.value(self._first), 0.0)

    def dual(self, w: Array) -> Array:
        return w.copy()

    def primal(self, theta: Array) -> Array:
        return theta.copy()

    def nearest(
        self, theta: Array, penalty: Regularizer | None = None, weight: float = 0.0
    ) -> Array:
        w = (
            theta.copy()
            if penalty is None or weight == 0.0
            else self._shrunk(theta, penalty, weight)
        )
        enter_from_afar(self.domain, w, self.size)
        return w

    def value(self, w: Array) -> float:
        return 0.5 * float(w @ w)

    def divergence(self, w: Array, z: Array) -> float:
        return self.value(w - z)

    def square(self, v: Array) -> float:
        return float(v @ v)

    def dual_square(self, g: Array) -> float:
        return float(g @ g)

    def _shrunk(self, theta: Array, penalty: Regularizer, weight: float) -> Array:
        """Return what has the same nearest point without the penalty.

        The ridge only scales θ. Where no weight is negative the lasso is linear. Elsewhere it must
        be a domain in which the penalty's prox may come first.
        """
        shares = elastic_shares(penalty, weight)
        if shares is not None and (shares[0] == 0.0 or nonnegative(self.domain)):
            return (theta - shares[0]) / (1.0 + shares[1])
        if not (
            (penalty.separable and self.domain.separable)
            or (shares is not None and shrinks_first(self.domain))
        ):
            raise ValueError(
                f"the nearest point of {type(self.domain).__name__} with the penalty "
                f"{type(penalty).__name__} is not known exactly; use the penalty 'l2' or 'none'"
            )
        w = np.empty((theta.size, 1))
        column = theta.reshape(-1, 1)
        heights = np.full_like(column, 1.0 / weight)
        proximal_step.descend(penalty, column, np.zeros_like(column), heights, w)
        return w.ravel()
