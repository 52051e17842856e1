"""The contract of structured models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from stepless.arrays import Array, Indices

Features = Array | tuple[Indices, Array]  # one value per weight, or indices and values


class StructuredModel(ABC):
    """Joint features φ(x, y) of an input and an output, and the search for the best output.

    A subclass has the four methods below and the number `d` of weights. Inputs and outputs may be
    of any type that the methods understand.

    The search must be exact, since the risk is known only by what `most_violated` finds. If
    `features` and `cost` are right, planes, and with them `lower_bound_`, are true for any output,
    but an objective computed from an output that is not the worst is too low. An inexact search is
    refused where it can be detected: if its output is less violated than the truth, than the one
    found the last time or, the first time, than that of `predict`, by more than rounding explains.
    A search that misses the maximum every time cannot be detected.

    Attributes
    ----------
    d
        Number of weights.
    releases_gil
        Whether the methods may run on several threads at a time: true for compiled ones (numba's
        ``nogil=True``) that do not write to shared memory.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless import StructuredClassifier
    >>> class Signs(StructuredModel):  # a sign for every number, alone
    ...     d = 1
    ...     def features(self, x, y):
    ...         return np.array([x @ y])
    ...     def cost(self, y, other):
    ...         return float((y != other).sum())
    ...     def most_violated(self, w, x, y):
    ...         return np.where(w[0] * x - y > 0, 1, -1)  # a wrong sign is worth 1
    ...     def predict(self, w, x):
    ...         return np.where(w[0] * x > 0, 1, -1)
    >>> X = [np.array([1.0, -2.0]), np.array([0.5, 3.0, -1.0])]
    >>> clf = StructuredClassifier(Signs(), alpha=1e-2).fit(X, [np.sign(x) for x in X])
    >>> clf.predict([np.array([-4.0, 2.0])])
    [array([-1,  1])]
    """

    d: int
    releases_gil: ClassVar[bool] = False

    @abstractmethod
    def features(self, x: Any, y: Any) -> Features:
        """Return φ(x, y): an array of d numbers, or indices and values; repeated indices add up."""

    @abstractmethod
    def cost(self, y: Any, other: Any) -> float:
        """Return Δ(y, y') ≥ 0, the cost of predicting y' where y is true; Δ(y, y) = 0."""

    @abstractmethod
    def most_violated(self, w: Array, x: Any, y: Any) -> Any:
        """Return an output y' of the largest ⟨φ(x, y'), w⟩ + Δ(y, y'); y itself is a candidate."""

    @abstractmethod
    def predict(self, w: Array, x: Any) -> Any:
        """Return an output y' of the largest ⟨φ(x, y'), w⟩."""
