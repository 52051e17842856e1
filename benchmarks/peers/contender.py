"""What is raced: a problem, and who solves it with which settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise J(w) = λ/2 ‖w‖² + mean ℓ(y_i ⟨w, x_i⟩): no intercept."""

    name: str
    X: Any
    y: NDArray
    loss: str  # "hinge" or "logistic"
    strength: float  # λ

    def objective(self, w: NDArray) -> float:
        """J(w), by numpy in float64: the judge of every contender, independent of all of them."""
        w = np.asarray(w, dtype=np.float64)
        margin = self.y * (self.X @ w)
        if self.loss == "hinge":
            losses = np.maximum(0.0, 1.0 - margin)
        else:
            losses = np.logaddexp(0.0, -margin)
        return float(self.strength / 2 * (w @ w) + losses.mean())

    @property
    def C(self) -> float:
        """1/(λm), for those who minimise ‖w‖²/2 + C Σ ℓ."""
        return 1.0 / self.strength_of_sum

    @property
    def strength_of_sum(self) -> float:
        """λm, for those who minimise λm/2 ‖w‖² + Σ ℓ."""
        return self.strength * len(self.y)


@dataclass(frozen=True)
class Answer:
    """The weights that a contender returns, and the lower bound that it proves, if it does."""

    w: NDArray | None
    lower_bound: float = -math.inf
    objective: float | None = None  # its own word, where it returns no weights


def as_given(X: Any, y: NDArray) -> tuple[Any, NDArray]:
    """Prepare nothing."""
    return X, y


@dataclass(frozen=True, eq=False)
class Contender:
    """A solver and its sweep. Only `fit` is timed.

    `prepare` brings examples and labels into the contender's own format, once for each set; `fit`
    gets that, the problem and one of the settings, loosest first; `answer` reads the model.
    """

    name: str
    family: str  # whose it is: rows of one family count as one in the summary
    losses: tuple[str, ...]
    settings: tuple[dict[str, Any], ...]
    fit: Callable[[Any, Problem, dict[str, Any]], Any]
    answer: Callable[[Any], Answer]
    prepare: Callable[[Any, NDArray], Any] = as_given
    needs: str = "stepless"  # the module to import
    widest: float = math.inf  # more features than this are not for it
    compiles: bool = False  # in the first run

    @property
    def installed(self) -> bool:
        """Whether the module that it needs is there."""
        return find_spec(self.needs) is not None


def sweep_of(name: str, *values: Any, **fixed: Any) -> tuple[dict[str, Any], ...]:
    """Settings that differ in one parameter.

    >>> sweep_of("tol", 0.1, 0.01, max_iter=9)
    ({'tol': 0.1, 'max_iter': 9}, {'tol': 0.01, 'max_iter': 9})
    """
    return tuple({name: value, **fixed} for value in values)
