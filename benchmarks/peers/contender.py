"""Who solves a problem, and with which settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.peers.problem import Problem


@dataclass(frozen=True)
class Answer:
    """The weights that a contender returns, and the lower bound that it proves, if it does."""

    w: NDArray | None
    lower_bound: float = -math.inf
    objective: float | None = None  # its own word, where it returns no weights


def as_given(X: Any, y: NDArray) -> tuple[Any, NDArray]:
    """Prepare nothing."""
    return X, y


def by_columns(X: Any, y: NDArray) -> tuple[Any, NDArray]:
    """Store a feature's values side by side, as coordinate descent reads them."""
    return X.tocsc() if sparse.issparse(X) else np.asfortranarray(X), np.asfortranarray(y)


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
    penalties: tuple[str, ...] = ("l2",)
    default: dict[str, Any] = field(default_factory=dict)  # how tight it is unless told otherwise

    @property
    def installed(self) -> bool:
        """Whether the module that it needs is there."""
        return find_spec(self.needs) is not None

    def comes_with(self, setting: dict[str, Any]) -> bool:
        """Whether this is its default tolerance."""
        return self.default.items() <= setting.items()


def sweep_of(name: str, *values: Any, **fixed: Any) -> tuple[dict[str, Any], ...]:
    """Settings that differ in one parameter.

    >>> sweep_of("tol", 0.1, 0.01, max_iter=9)
    ({'tol': 0.1, 'max_iter': 9}, {'tol': 0.01, 'max_iter': 9})
    """
    return tuple({name: value, **fixed} for value in values)
