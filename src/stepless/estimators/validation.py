"""Validation of the examples that a user gives."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from stepless.arrays import AnyArray, Array, Matrix, MatrixLike, Weights
from stepless.data import Store
from stepless.data.bad_entries import LARGEST, first_bad_entry
from stepless.estimators.dask_input import is_dask
from stepless.estimators.targets import refuse_non_classes, validate_labels, validate_numbers
from stepless.objective import Loss
from stepless.problem import ClassWeight

_ACCEPTED: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": False,  # our own check names the entry
}


class LabelledExamples(NamedTuple):
    """Validated examples of a classifier."""

    X: Matrix
    y: AnyArray
    s: Array  # sample weights times class weights
    classes: AnyArray  # those of any weight, sorted


def validate_classification(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike | None,
    sample_weight: Weights = None,
    class_weight: ClassWeight = None,
    *,
    reset: bool = True,
    **checks: Any,
) -> LabelledExamples:
    """Validate the examples of a classifier: at least two classes of positive weight."""
    X, y = validate_X_y(estimator, X, y, reset=reset, **checks)
    refuse_non_classes(y)
    s = sample_weights(sample_weight, len(y))
    if class_weight is not None:
        s = s * compute_sample_weight(class_weight, y)
    classes = np.unique(y if (s > 0).all() else y[s > 0])
    refuse_few_classes(classes, all_count=bool((s > 0).all()))
    return LabelledExamples(X, y, s, classes)


def refuse_few_classes(classes: AnyArray, all_count: bool) -> None:
    """Refuse examples of less than two classes; unless all of them count, some have no weight."""
    if not len(classes):
        raise ValueError("class_weight is zero for every example: nothing is left to learn")
    if len(classes) < 2:
        weighted = "" if all_count else "of any weight "
        raise ValueError(
            f"y holds one class only {weighted}({classes[0]}): a classifier needs two to tell apart"
        )


def validate_regression(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike | None,
    sample_weight: Weights,
    loss: Loss,
    *,
    reset: bool = True,
    outputs: bool = False,
) -> tuple[Matrix, Array, Array]:
    """Validate X, targets y that the loss is defined for, and sample weights.

    A row of targets per example is known where several `outputs` are.
    """
    X, y = validate_X_y(estimator, X, y, numeric=True, reset=reset, multi_output=outputs)
    s = sample_weights(sample_weight, len(y))
    refuse_targets(loss, y, s)
    return X, y, s


def validate_X_y(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike | None,
    *,
    reset: bool = True,
    numeric: bool = False,
    **checks: Any,
) -> tuple[Matrix, AnyArray]:
    """Validate X, and y as numbers or as labels."""
    if y is not None:  # scikit-learn refuses None
        y = validate_numbers("y", y) if numeric else validate_labels("y", y)
        if numeric and y.ndim == 2 and not y.shape[1]:
            raise ValueError("y has no columns: every example needs a target")
        if numeric and y.ndim == 2 and y.shape[1] > 1 and not checks.get("multi_output"):
            raise ValueError(
                f"y has {y.shape[1]} columns, which only fit and alpha_path learn at once, of "
                "arrays in memory: give one of them"
            )
    found: tuple[Matrix, AnyArray] = _validate(estimator, X, y, reset=reset, **checks)
    return found


def validate_X(
    estimator: BaseEstimator, X: MatrixLike, *, reset: bool = False, **checks: Any
) -> Matrix:
    """Validate X."""
    return _validate(estimator, X, reset=reset, **checks)


def _validate(estimator: BaseEstimator, *data: Any, reset: bool, **checks: Any) -> Any:
    refuse_store(estimator, data[0])
    refuse_non_numeric(data[0])
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # when scikit-learn sums all entries
            found = validate_data(estimator, *data, reset=reset, **_ACCEPTED | checks)
    except OverflowError as error:
        raise ValueError("X holds a number that is more than a double can hold") from error
    if (hole := first_bad_entry(found[0] if len(data) > 1 else found)) is not None:
        refuse_hole(hole, estimator)
    return found


def refuse_store(estimator: BaseEstimator, X: Any) -> None:
    """Refuse a store, or a collection of Dask, where examples must be in memory."""
    if isinstance(X, Store):
        raise TypeError(
            f"{type(estimator).__name__} cannot work from the store {X.path!r} here: stores are "
            "for fit, predict and score of LinearClassifier and LinearRegressor; give arrays"
        )
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} cannot work from a collection of Dask here: those are for "
            "fit and predict of LinearClassifier and LinearRegressor; give arrays, such as "
            "X.compute(), if they fit into memory"
        )


def refuse_hole(hole: tuple[int, int, float], estimator: BaseEstimator) -> NoReturn:
    """Refuse an entry, given its row and feature, that is no finite number of reasonable size."""
    i, j, value = hole
    names = getattr(estimator, "feature_names_in_", None)
    feature = f"feature {j}" if names is None else f"feature {names[j]!r}"
    if np.isfinite(value):
        raise ValueError(
            f"X holds {value:g} in row {i}, {feature}: squares of entries beyond {LARGEST:g} "
            "overflow; rescale that feature"
        )
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    raise ValueError(f"X holds {what} in row {i}, {feature}: every entry must be finite")


def sample_weights(sample_weight: Weights, m: int) -> Array:
    """Validate the weights of m examples; None is 1 each."""
    if sample_weight is None:
        return np.ones(m)
    s = validate_numbers("sample_weight", sample_weight)
    if s.ndim == 0:
        s = np.full(m, float(s))
    if s.shape != (m,):
        raise ValueError(
            f"sample_weight has shape {s.shape}, but there are {m} examples: "
            f"sample_weight.shape must be ({m},)"
        )
    if (s < 0).any():
        bad = int(np.flatnonzero(s < 0)[0])
        raise ValueError(
            f"sample_weight is negative ({s[bad]:g}) at example {bad}: weights must be ≥ 0"
        )
    if not s.any():
        raise ValueError("sample_weight is zero for every example: nothing is left to learn")
    top = float(s.max())  # only ratios count, and sums of huge weights overflow
    return s if 1e-100 < top < 1e100 else s / top


def refuse_non_numeric(X: MatrixLike | None) -> None:
    """Refuse what numpy would convert to numbers, but is none: dates, records, masks, None."""
    if X is None:
        raise ValueError("X must be a matrix, one row per example, not None")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        place = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise ValueError(f"X is masked at {place}: fill masked entries, or leave their rows out")
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "kind", "f") in "MmV":
        raise ValueError(f"X holds {dtype}: every entry must be a finite number")


def refuse_targets(loss: Loss, y: Array, s: Array) -> None:
    """Refuse targets that the loss is not defined for."""
    if y.ndim == 2:
        for column in y.T:
            refuse_targets(loss, column, s)
        return
    if np.abs(y).max() > LARGEST:
        bad = int(np.abs(y).argmax())
        raise ValueError(
            f"y is {y[bad]:g} at example {bad}: squares of targets beyond {LARGEST:g} "
            "overflow; rescale y"
        )
    if loss.targets == "counts":
        if (y < 0).any():
            bad = int(np.flatnonzero(y < 0)[0])
            raise ValueError(
                f"{type(loss).__name__} needs targets ≥ 0, but y is {y[bad]:g} at example {bad}"
            )
        if not (y[s > 0] > 0).any():
            raise ValueError(f"{type(loss).__name__} needs at least one target above 0")
