"""What is raced: a problem, and numpy's word on its objective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATIO = 0.5  # ρ of the elastic net
GROUP = 10  # features side by side that make a group
L1_RATIO = {"l2": 0.0, "l1": 1.0, "elasticnet": RATIO}


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise J(w) = λΩ(w) + mean ℓ(⟨w, x_i⟩, y_i): no intercept.

    Ω(w) is ‖w‖²/2 ("l2"), ‖w‖₁ ("l1"), ρ‖w‖₁ + (1 − ρ)‖w‖²/2 ("elasticnet"), Σ_g ‖w_g‖ over
    groups of neighbours ("groups"), or Σ_j ‖W_j‖ over features with a weight for each target
    ("l1/l2"). "squared" is half the square; of several targets, the sum.
    """

    name: str
    X: Any
    y: NDArray
    loss: str  # "hinge", "logistic", "squared_hinge" or "squared"
    strength: float  # λ
    penalty: str = "l2"

    @property
    def strengths(self) -> NDArray:
        """All of them, falling."""
        return np.array([self.strength])

    @property
    def kind(self) -> str:
        """What a contender must be for, beside the loss."""
        return self.penalty

    def objective(self, w: NDArray) -> float:
        """J(w), by numpy in float64: the judge of every contender, independent of all of them."""
        w = np.asarray(w, dtype=np.float64)
        return float(self.strength * self._size(w) + self._losses(self.X @ w).mean())

    def _losses(self, z: NDArray) -> NDArray:
        if self.loss == "squared":
            return 0.5 * ((z - self.y) ** 2).reshape(len(z), -1).sum(axis=1)
        margin = self.y * z
        if self.loss == "logistic":
            return np.logaddexp(0.0, -margin)
        short = np.maximum(0.0, 1.0 - margin)
        return short if self.loss == "hinge" else short**2

    def _size(self, w: NDArray) -> float:
        """Return Ω(w)."""
        if self.penalty == "groups":
            return np.linalg.norm(w.reshape(-1, GROUP), axis=1).sum()
        if self.penalty == "l1/l2":
            return np.linalg.norm(w, axis=1).sum()
        return self.l1_ratio * np.abs(w).sum() + (1.0 - self.l1_ratio) / 2 * (w @ w)

    @property
    def strongest(self) -> float:
        """The least strength at which w = 0 is optimal: Ω's dual norm of the slope there."""
        at_zero = {"logistic": -0.5, "squared_hinge": -2.0, "squared": -1.0}[self.loss]
        slope = self.X.T @ (at_zero * self.y) / len(self.y)
        if self.penalty == "groups":
            return np.linalg.norm(slope.reshape(-1, GROUP), axis=1).max()
        if self.penalty == "l1/l2":
            return np.linalg.norm(slope, axis=1).max()
        return np.abs(slope).max() / self.l1_ratio

    @property
    def l1_ratio(self) -> float:
        """The share of ‖w‖₁ in Ω; the other is that of ‖w‖²/2."""
        return L1_RATIO[self.penalty]

    @property
    def C(self) -> float:
        """1/(λm), for those who minimise Ω + C Σ ℓ."""
        return 1.0 / self.strength_of_sum

    @property
    def strength_of_sum(self) -> float:
        """λm, for those who minimise λmΩ + Σ ℓ."""
        return self.strength * len(self.y)


class Path(Problem):
    """The problem at a hundred strengths, from the strongest to λ: minimise the mean of all J."""

    @property
    def kind(self) -> str:
        return f"{self.penalty} path"

    @cached_property
    def strengths(self) -> NDArray:
        return np.geomspace(self.strongest, self.strength, 100)

    def objective(self, w: NDArray) -> float:
        """Return the mean of the objectives: a row of weights for each strength."""
        rows = zip(self.strengths, w, strict=True)
        return float(np.mean([Problem.objective(replace(self, strength=k), wk) for k, wk in rows]))
