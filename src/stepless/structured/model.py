"""What a user writes to learn outputs with structure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from stepless.arrays import Array, Indices

Features = Array | tuple[Indices, Array]  # of all weights, or indices and their values


class StructuredModel(ABC):
    """Joint features φ(x, y) of an input and an output, and the search for the best output.

    A subclass has the four methods below and `d`, how many weights there are. Nothing is asked of
    inputs and outputs: they are whatever the methods understand.

    The search must be exact: what `most_violated` finds is all that is known of the risk. If
    `features` and `cost` are right, planes, and with them `lower_bound_`, are true whatever it
    returns, but an objective computed from an output that is not the worst is too low. What can be
    seen is refused: an output that is worse than the truth, than the one found the last time, or,
    the first time, than what `predict` says, by more than double precision explains; of what is
    known the worst counts. A search that is short of the largest every time cannot be seen.

    Attributes
    ----------
    d
        How many weights there are.
    releases_gil
        Whether the methods run on several threads at a time: true of compiled ones (numba's
        ``nogil=True``) that share no memory to which they write.

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
        """φ(x, y): an array of d numbers, or indices and values; repeated indices add up."""

    @abstractmethod
    def cost(self, y: Any, other: Any) -> float:
        """Δ(y, y') ≥ 0, what it costs to say y' where y is true; Δ(y, y) = 0."""

    @abstractmethod
    def most_violated(self, w: Array, x: Any, y: Any) -> Any:
        """An output y' of the largest ⟨φ(x, y'), w⟩ + Δ(y, y'); y itself is among them."""

    @abstractmethod
    def predict(self, w: Array, x: Any) -> Any:
        """An output y' of the largest ⟨φ(x, y'), w⟩."""
