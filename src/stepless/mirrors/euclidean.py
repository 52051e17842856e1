"""The Euclidean mirror map, perhaps in a diagonal metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import proximal_step
from stepless.mirrors.distant import project_distant
from stepless.mirrors.elastic import elastic_shares
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.signs import nonnegative
from stepless.objective import Regularizer


@dataclass
class Euclidean(Mirror):
    """Φ(w) = ½Σ_j h_j w_j², 1-strongly convex in its own norm, whose dual has 1/h: for all domains.

    Without a metric h all h_j are 1. Where a domain has no `project_in` they must be equal.

    Examples
    --------
    >>> from stepless.objective import L2Ball
    >>> mirror = Euclidean(L2Ball(1.0), 2)
    >>> mirror.nearest(np.array([3.0, 4.0])), mirror.value_range
    (array([0.6, 0.8]), 0.5)
    """

    h: Array | None = field(default=None, repr=False)
    outputs: int = 1  # columns of w, where it is a matrix with one row per feature
    size: float = field(init=False, repr=False)

    name: ClassVar[str] = "euclidean"

    def __post_init__(self) -> None:
        self.domain.admit(self.d)
        self.size = self.domain.reach()
        self._first = self.nearest(np.zeros(self.d))
        longest = min(self.domain.radius(), math.sqrt(self.d) * self.size)
        highest = 1.0 if self.h is None else float(self.h.max())
        self.value_range = max(0.5 * highest * longest**2 - self.value(self._first), 0.0)

    def dual(self, w: Array) -> Array:
        return w.copy() if self.h is None else self.h * w

    def primal(self, theta: Array) -> Array:
        return theta.copy() if self.h is None else theta / self.h

    def nearest(self, theta: Array, penalty: Regularizer | None = None, weight: float = 0) -> Array:
        if penalty is None or weight == 0.0:
            w, ridge = self.primal(theta), 0.0
        else:
            w, ridge = self._shrunk(theta, penalty, weight), weight * penalty.strong_convexity()
        if self.h is not None and self.domain.offers("project_in"):
            proximal_step.enter(self.domain, w, self.h + ridge)
        else:
            project_distant(self.domain, w, self.size)
        return w

    def value(self, w: Array) -> float:
        return 0.5 * self.square(w)

    def divergence(self, w: Array, z: Array) -> float:
        return self.value(w - z)

    def square(self, v: Array) -> float:
        return float(v @ self.dual(v))

    def dual_square(self, g: Array, w: Array | None = None) -> float:
        return float(g @ self.primal(g))

    @cached_property
    def _nonnegative(self) -> bool:
        return nonnegative(self.domain, self.d)

    def _shrunk(self, theta: Array, penalty: Regularizer, weight: float) -> Array:
        """Return a point that has the same nearest point without the penalty.

        The ridge only scales θ. Where no weight is negative the lasso is linear. Elsewhere it must
        be a domain in which the penalty's prox may come first.
        """
        shares = elastic_shares(penalty, weight)
        if shares is not None and (shares[0] == 0.0 or self._nonnegative):
            return (theta - shares[0]) / ((1.0 if self.h is None else self.h) + shares[1])
        if not (
            self.domain.free
            or (penalty.by_weights and self.domain.separable)
            or (shares is not None and self.domain.lasso_first)
        ):
            raise ValueError(
                f"the nearest point of {type(self.domain).__name__} with the penalty "
                f"{type(penalty).__name__} is not known exactly; use the penalty 'l2' or 'none'"
            )
        w = np.empty((theta.size // self.outputs, self.outputs))
        start = self.primal(theta).reshape(w.shape)
        heights = self.dual(np.full(theta.size, 1.0 / weight)).reshape(w.shape)
        proximal_step.descend(penalty, start, np.zeros_like(w), heights, w)
        return w.ravel()
