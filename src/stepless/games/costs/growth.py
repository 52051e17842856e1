"""What a portfolio loses in a day, on the scale of logarithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepless.games.costs.cost import Cost, Total


class Growth(Cost):
    """f(w) = −log⟨r, w⟩: r_j is what a unit held in asset j is worth a day later.

    exp(−f) is linear in w, so f is 1-exp-concave. Where weights are not negative and sum to 1,
    Σ f_t is minus the logarithm of the wealth that a unit has grown to.

    Examples
    --------
    >>> f = Growth([1.1, 0.9])
    >>> round(f.value(np.array([0.5, 0.5])), 12), f.gradient(np.array([1.0, 0.0]))
    (0.0, array([-1.        , -0.81818182]))
    """

    exp_concavity = 1.0

    def __init__(self, relatives: ArrayLike) -> None:
        self.r = np.asarray(relatives, dtype=np.float64)
        self.d = self.r.size
        if not 0.0 < self.r.min() <= self.r.max() < np.inf:
            j = int(np.argmin(np.where(np.isfinite(self.r), self.r, -np.inf)))
            raise ValueError(
                f"a price relative must be a positive number, but asset {j} has {self.r[j]:g}"
            )

    def value(self, w: NDArray) -> float:
        return -float(np.log(self.r @ w))

    def gradient(self, w: NDArray) -> NDArray:
        return self.r / -(self.r @ w)

    @classmethod
    def total(cls, costs: Sequence[Cost]) -> Total:
        return GrowthTotal(np.array([f.r for f in costs]))  # type: ignore[attr-defined]


class GrowthTotal:
    """−Σ log⟨r_t, w⟩, a row of R a day."""

    def __init__(self, R: NDArray) -> None:
        self.R = R

    def value(self, w: NDArray) -> float:
        return float(self.losses(w).sum())

    def gradient(self, w: NDArray) -> NDArray:
        return -(1.0 / (self.R @ w)) @ self.R

    def hessian(self, w: NDArray) -> NDArray:
        scaled = self.R / (self.R @ w)[:, None]
        return scaled.T @ scaled

    def losses(self, w: NDArray) -> NDArray:
        return -np.log(self.R @ w)
