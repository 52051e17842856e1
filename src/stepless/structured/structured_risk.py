"""The margin-rescaled hinge of outputs with structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepless.objective import Domain, Regularizer
from stepless.risk import Plane, Tangent
from stepless.structured.model import StructuredModel
from stepless.structured.threads import for_each
from stepless.whole_risk import WholeRisk

_FORGIVEN = 1e-6  # of the scores: what a search in single precision may miss


class _Violation(NamedTuple):
    """The worst output of an example: its cost, its features and how far it is ahead."""

    cost: float
    indices: NDArray
    values: NDArray
    margin: float


class StructuredRisk(WholeRisk):
    """R(w) = Σ s_i max_y' [⟨φ(x_i, y') − φ(x_i, y_i), w⟩ + Δ(y_i, y')] / Σ s_i.

    Each example's search is its own; they run on all threads if the model says that it releases the
    GIL. Sums are in the order of the examples, whatever the threads. A search that misses what is
    known to be worse, the truth or what it found the last time, is refused by the example's number.

    Planes outlive the penalty: from a result on this risk, `minimize(risk.under(weaker), …, start=
    result)` goes on.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> from stepless.structured import Multiclass
    >>> X, y = np.eye(3), [0, 1, 1]
    >>> risk = StructuredRisk(Multiclass.of(X, y), X, y, SquaredL2(0.1))
    >>> risk.value(np.zeros(6), 0.0)
    1.0
    """

    def __init__(
        self,
        model: StructuredModel,
        X: Sequence[Any],
        Y: Sequence[Any],
        regularizer: Regularizer,
        domain: Domain | None = None,
        *,
        s: NDArray | None = None,
        threads: int | None = None,
    ) -> None:
        self.model = model
        s = np.ones(len(X)) if s is None else s
        super().__init__(model.d, regularizer, domain, m=int(np.count_nonzero(s)))
        kept = np.flatnonzero(s).tolist()
        self._numbers = kept  # of the examples, as the user counts them
        self._X, self._Y = [X[i] for i in kept], [Y[i] for i in kept]
        self._s = s[kept] / s.sum()
        self._truths = self._true_features()
        self._true_mean = self._s @ self._truths
        self._true_sizes = self._s @ abs(self._truths)
        self._sizes = self._true_sizes
        self._threads = threads
        self._before: list[_Violation] | None = None  # what the last search found

    @property
    def sizes(self) -> NDArray:
        """Means of |φ_j|, of truths and of what was found at worst: they cancel in a slope."""
        return self._sizes

    def value_and_gradient(self, w: NDArray) -> tuple[float, NDArray]:
        tangent = self.tangent(w, 0.0)
        return tangent.value, tangent.plane.a

    def value(self, w: NDArray, b: Any) -> float:
        """R(w)."""
        return self._mean_margin(self._violations(w)) + self.blur(w)

    def tangent(self, w: NDArray, b: Any) -> Tangent:
        """R(w), and the plane of the worst outputs: its offset is their mean cost, exactly."""
        found = self._violations(w)
        indices = np.concatenate([violation.indices for violation in found])
        values = np.concatenate([violation.values for violation in found])
        values *= np.repeat(self._s, [violation.indices.size for violation in found])
        mean = np.bincount(indices, values, self.d)
        sizes = np.bincount(indices, np.abs(values), self.d) + self._true_sizes
        self._sizes = np.maximum(self._sizes, sizes)
        offset = float(self._s @ [violation.cost for violation in found])
        offset -= self.rounding * offset
        plane = Plane(mean - self._true_mean, offset, haze=self.rounding, sizes=self._sizes)
        return Tangent(self._mean_margin(found) + self.blur(w), 0.0, plane)

    def _mean_margin(self, found: list[_Violation]) -> float:
        # the truth is among the outputs: a margin below 0 is rounding
        return float(self._s @ [max(violation.margin, 0.0) for violation in found])

    def _violations(self, w: NDArray) -> list[_Violation]:
        scores = (self._truths @ w).tolist()
        slacks = (_FORGIVEN * (abs(self._truths) @ np.abs(w))).tolist()
        found = for_each(
            self.model,
            self.m,
            lambda i: self._violation(w, i, scores[i], slacks[i]),
            self._threads,
        )
        self._before = found
        return found

    def _violation(self, w: NDArray, i: int, score: float, slack: float) -> _Violation:
        worst = self.model.most_violated(w, self._X[i], self._Y[i])
        cost = self._cost(i, worst)
        indices, values = self._features(i, worst)
        terms = values * w[indices]
        margin = float(terms.sum()) - score + cost
        slack += _FORGIVEN * (float(np.abs(terms).sum()) + cost)
        if margin < -slack:
            raise ValueError(
                f"most_violated returned for example {self._numbers[i]} an output whose score with "
                f"its cost is {-margin:.3g} below the truth's own score: it must find the largest"
            )
        if self._before is not None:
            known = self._before[i]
            missed = float(known.values @ w[known.indices]) - score + known.cost - margin
            if missed > slack:
                raise ValueError(
                    f"most_violated returned for example {self._numbers[i]} an output whose score "
                    f"with its cost is {missed:.3g} below that of one that it returned before: "
                    "it must find the largest"
                )
            margin += max(missed, 0.0)  # the larger of the two, of which R has the largest
        return _Violation(cost, indices, values, margin)

    def _asked(self, i: int, method: Callable[..., Any], *of: Any) -> Any:
        """Ask the model; what it refuses, an unknown label perhaps, is of an example."""
        try:
            return method(*of)
        except ValueError as error:
            raise ValueError(f"example {self._numbers[i]}: {error}") from error

    def _cost(self, i: int, other: Any) -> float:
        cost = float(self._asked(i, self.model.cost, self._Y[i], other))
        if not 0.0 <= cost < np.inf:
            raise ValueError(
                f"the cost of an output of example {self._numbers[i]} is {cost:g}: it must be ≥ 0"
            )
        return cost

    def _true_features(self) -> sparse.csr_array:
        rows = []
        for i, y in enumerate(self._Y):
            own = self._cost(i, y)
            if own != 0.0:
                raise ValueError(
                    f"the cost of the truth of example {self._numbers[i]} is {own:g}: "
                    "what is true costs nothing"
                )
            rows.append(self._features(i, y))
        indices = np.concatenate([row[0] for row in rows])
        values = np.concatenate([row[1] for row in rows])
        ends = np.cumsum([0, *(row[0].size for row in rows)])
        return sparse.csr_array((values, indices, ends), shape=(self.m, self.d))

    def _features(self, i: int, y: Any) -> tuple[NDArray, NDArray]:
        """φ(x_i, y) as indices and values; what a user's method may have made wrong is named."""
        features = self._asked(i, self.model.features, self._X[i], y)
        if isinstance(features, tuple):
            # copies: a model may use its arrays again
            indices, values = np.array(features[0]), np.array(features[1], dtype=np.float64)
            if indices.shape != values.shape or indices.ndim != 1:
                raise ValueError(
                    f"the features of example {self._numbers[i]} are indices of shape "
                    f"{indices.shape} and values of shape {values.shape}: give as many of each"
                )
            if indices.size and indices.dtype.kind not in "iu":
                raise ValueError(
                    f"the features of example {self._numbers[i]} have indices of type "
                    f"{indices.dtype}: they must be whole numbers"
                )
            indices = indices.astype(np.intp)
            if indices.size and not 0 <= indices.min() <= indices.max() < self.d:
                raise ValueError(
                    f"the features of example {self._numbers[i]} have indices from {indices.min()} "
                    f"to {indices.max()}: they must be from 0 to {self.d - 1}, the model's d − 1"
                )
        else:
            dense = np.asarray(features, dtype=np.float64)
            if dense.shape != (self.d,):
                raise ValueError(
                    f"the features of example {self._numbers[i]} have shape {dense.shape}: it must "
                    f"be ({self.d},), the model's d"
                )
            indices = np.flatnonzero(dense)
            values = dense[indices]
        if not np.isfinite(values).all():
            bad = int(indices[np.flatnonzero(~np.isfinite(values))[0]])
            raise ValueError(
                f"the features of example {self._numbers[i]} hold NaN or infinity (inf) at "
                f"index {bad}: every feature must be finite"
            )
        return indices, values
