"""The margin-rescaled hinge of structured outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from stepless.arrays import Array, Indices
from stepless.data.bad_entries import LARGEST
from stepless.intercept import Intercept
from stepless.objective import Domain, Regularizer
from stepless.plane import Plane, Tangent
from stepless.risks.oracle_risk import OracleRisk
from stepless.rounding import UNIT
from stepless.structured.model import StructuredModel
from stepless.structured.model_calls import call_model, for_each_example

T = TypeVar("T")

_FORGIVEN = 4.0  # rounding errors of the scores that an exact search may miss


class _Violation(NamedTuple):
    """An output of an example: its cost, its features and its margin over the truth."""

    cost: float
    indices: Indices
    values: Array
    margin: float


class StructuredRisk(OracleRisk):
    """R(w) = Σ s_i max_y' [⟨φ(x_i, y') − φ(x_i, y_i), w⟩ + Δ(y_i, y')] / Σ s_i.

    The searches of the examples run on all threads if the model releases the GIL; sums are taken in
    the order of the examples. A search that misses a worse output that is known, the truth or the
    one found the last time, raises ValueError with the number of the example.

    Planes do not depend on the penalty: `minimize(risk.under(weaker), …, start=result)` continues
    from a result on this risk.

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
        s: Array | None = None,
        threads: int | None = None,
    ) -> None:
        if not (isinstance(d := getattr(model, "d", None), int | np.integer) and d > 0):
            raise ValueError(f"{type(model).__name__} must have the number of weights in d")
        self.model = model
        s = np.ones(len(X)) if s is None else s
        self.d, self.m = model.d, int(np.count_nonzero(s))
        kept = np.flatnonzero(s).tolist()
        self._numbers = kept  # of the examples, as the user counts them
        self._X, self._Y = [X[i] for i in kept], [Y[i] for i in kept]
        self._s = s[kept] / s.sum()
        self._truths = self._true_features()
        self._true_mean = self._s @ self._truths
        self._true_sizes = self._s @ abs(self._truths)
        self._threads = threads
        super().__init__(self.d, regularizer, domain, m=self.m)

    def begin(self) -> None:
        self._last: list[_Violation] | None = None  # results of the last search
        self._found_sizes = np.zeros(self.d)
        self.rounding = 0.0
        self._note_entries(max(self.m, self._truths.nnz))
        super().begin()

    @property
    def sizes(self) -> Array:
        """Means of |φ_j|, of the truths and of the outputs found: they cancel in a slope."""
        sizes: Array = self._true_sizes + self._found_sizes
        return sizes

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """Bound the rounding error of the mean cost."""
        return self.rounding * tangent.plane.offset

    def value_and_gradient(self, w: Array) -> tuple[float, Array]:
        tangent = self.oracle_tangent(w, 0.0)
        return tangent.value, tangent.plane.a

    def oracle_value(self, w: Array, b: Intercept) -> float:
        """Return R(w)."""
        return self._mean_margin(self._violations(w))

    def oracle_tangent(self, w: Array, b: Intercept) -> Tangent:
        """Return R(w) and the plane of the worst outputs; its offset is exactly their mean cost."""
        found = self._violations(w)
        mean = np.bincount(*self._entries(found), self.d)
        offset = float(self._s @ [violation.cost for violation in found])
        return Tangent(self._mean_margin(found), 0.0, Plane(mean - self._true_mean, offset))

    def _mean_margin(self, found: list[_Violation]) -> float:
        # the truth is among the outputs: a negative margin is due to rounding
        return float(self._s @ [max(violation.margin, 0.0) for violation in found])

    def _entries(self, found: list[_Violation]) -> tuple[Indices, Array]:
        """Return all indices, and the values times the weights of their examples."""
        values = np.concatenate([violation.values for violation in found])
        values *= np.repeat(self._s, [violation.indices.size for violation in found])
        return np.concatenate([violation.indices for violation in found]), values

    def _violations(self, w: Array) -> list[_Violation]:
        """Return the worst output of each example, and update the sizes of the features."""
        scores = (self._truths @ w).tolist()
        forgiven = _FORGIVEN * self.rounding
        slacks = (forgiven * (abs(self._truths) @ np.abs(w))).tolist()
        copy = w.copy()
        found = for_each_example(
            self.model,
            self.m,
            lambda i: self._violation(w, copy, i, scores[i], slacks[i]),
            self._threads,
        )
        if not np.array_equal(copy, w):
            raise ValueError("most_violated changed the weights: it must leave them as they are")
        self._last = found
        indices, values = self._entries(found)
        self._note_entries(indices.size)
        sizes = np.bincount(indices, np.abs(values), self.d)
        self._found_sizes = np.maximum(self._found_sizes, sizes)
        return found

    def _note_entries(self, entries: int) -> None:
        # an index may be repeated: no sum has more terms than there are entries
        self.rounding = max(self.rounding, (entries + self.d + 16) * UNIT)

    def _violation(self, w: Array, copy: Array, i: int, score: float, slack: float) -> _Violation:
        worst = self._call(i, self.model.most_violated, copy, self._X[i], self._Y[i])
        found, slack = self._output(w, i, worst, score, slack)
        if found.margin < -slack:
            raise ValueError(
                f"most_violated returned for example {self._numbers[i]} an output whose score with "
                f"its cost is {-found.margin:.3g} below the truth's own score: it must find the "
                "largest"
            )
        if self._last is None:  # no other output is known yet
            said = self._call(i, self.model.predict, copy, self._X[i])
            known, slack = self._output(w, i, said, score, slack)
        else:
            known, slack = self._with_margin(w, self._last[i], score, slack)
        missed = known.margin - found.margin
        if missed > slack:
            raise ValueError(
                f"most_violated returned for example {self._numbers[i]} an output whose score with "
                f"its cost is {missed:.3g} below that of another, which "
                f"{'predict' if self._last is None else 'it'} returned before: it must find the "
                "largest"
            )
        return known if missed > 0.0 else found  # R is the maximum

    def _output(
        self, w: Array, i: int, output: Any, score: float, slack: float
    ) -> tuple[_Violation, float]:
        """Return an output with its margin over the truth, and the slack for rounding errors."""
        cost, (indices, values) = self._cost(i, output), self._features(i, output)
        return self._with_margin(w, _Violation(cost, indices, values, 0.0), score, slack)

    def _with_margin(
        self, w: Array, output: _Violation, score: float, slack: float
    ) -> tuple[_Violation, float]:
        terms = output.values * w[output.indices]
        slack += _FORGIVEN * self.rounding * (float(np.abs(terms).sum()) + output.cost)
        return output._replace(margin=float(terms.sum()) - score + output.cost), slack

    def _call(self, i: int, method: Callable[..., T], *arguments: object) -> T:
        return call_model(self._numbers[i], method, *arguments)

    def _cost(self, i: int, other: Any) -> float:
        cost = np.asarray(self._call(i, self.model.cost, self._Y[i], other))
        if not (cost.ndim == 0 and cost.dtype.kind in "biuf" and 0.0 <= cost < np.inf):
            raise ValueError(
                f"the cost of an output of example {self._numbers[i]} is {cost}: it must be a "
                "number ≥ 0"
            )
        return float(cost)

    def _true_features(self) -> sparse.csr_array:
        rows = []
        for i, y in enumerate(self._Y):
            own = self._cost(i, y)
            if own != 0.0:
                raise ValueError(
                    f"the cost of the truth of example {self._numbers[i]} is {own:g}: it must be 0"
                )
            rows.append(self._features(i, y))
        indices = np.concatenate([row[0] for row in rows])
        values = np.concatenate([row[1] for row in rows])
        ends = np.cumsum([0, *(row[0].size for row in rows)])
        return sparse.csr_array((values, indices, ends), shape=(self.m, self.d))

    def _features(self, i: int, y: Any) -> tuple[Indices, Array]:
        """Return φ(x_i, y) as indices and values; ValueError if the model's are invalid."""
        features = self._call(i, self.model.features, self._X[i], y)
        if isinstance(features, tuple):
            # copies: a model may reuse its arrays
            indices, values = np.array(features[0]), self._numbers_of(i, features[1])
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
            dense = self._numbers_of(i, features)
            if dense.shape != (self.d,):
                raise ValueError(
                    f"the features of example {self._numbers[i]} have shape {dense.shape}: it must "
                    f"be ({self.d},), the model's d"
                )
            indices = np.flatnonzero(dense)
            values = dense[indices]
        small = np.abs(values) <= LARGEST
        if not small.all():
            bad = int(np.flatnonzero(~small)[0])
            raise ValueError(
                f"the features of example {self._numbers[i]} hold {values[bad]:g} at index "
                f"{indices[bad]}: every feature must be finite and below {LARGEST:g}"
            )
        return indices, values

    def _numbers_of(self, i: int, features: Array) -> Array:
        values = np.asarray(features)
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"the features of example {self._numbers[i]} are of type {values.dtype}: they must "
                "be numbers"
            )
        return values.astype(np.float64)
