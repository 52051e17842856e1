"""Examples that a user gives, read and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from stepless.arrays import AnyArray, Array
from stepless.data import Source
from stepless.data.bad_entries import LARGEST, first_bad_entry
from stepless.estimators.columns import labels, numbers, refuse_no_classes, refuse_table
from stepless.objective import Loss
from stepless.problem import Problem
from stepless.run import Run

_ACCEPTED: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": False,  # our own check says where the hole is
}


def examples(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, numeric: bool = False, **checks: Any
) -> tuple[Any, AnyArray]:
    """Validate examples with targets, or with labels."""
    if y is not None:  # which is refused below
        y = numbers("y", y) if numeric else labels("y", y)
    return validated(estimator, X, y, reset=reset, **checks)


def validated(estimator: Any, *data: Any, reset: bool, **checks: Any) -> Any:
    """Validate X, or X and y."""
    refuse_table(data[0])
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # in a sum of all entries
            found = validate_data(estimator, *data, reset=reset, **_ACCEPTED | checks)
    except OverflowError as error:
        raise ValueError("X holds a number that is more than a double can hold") from error
    _refuse_holes(found[0] if len(data) > 1 else found, estimator)
    return found


def _refuse_holes(X: Any, estimator: Any) -> None:
    """Name the first entry that is not a finite number of reasonable size."""
    hole = first_bad_entry(X)
    if hole is None:
        return
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


def sample_weights(sample_weight: Any, m: int) -> Array:
    """Validate weights of m examples; None is 1 each."""
    if sample_weight is None:
        return np.ones(m)
    s = numbers("sample_weight", sample_weight)
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
    top = float(s.max())  # only ratios count, and sums of the largest numbers overflow
    return s if 1e-100 < top < 1e100 else s / top


def weighted_classes(
    y: AnyArray, sample_weight: Any = None, class_weight: Any = None
) -> tuple[Array, AnyArray]:
    """The examples' weights, times their classes', and the classes that have any, in order."""
    refuse_no_classes(y)
    s = sample_weights(sample_weight, len(y))
    if class_weight is not None:
        s = s * compute_sample_weight(class_weight, y)
    classes = np.unique(y if (s > 0).all() else y[s > 0])
    if not len(classes):
        raise ValueError("class_weight is zero for every example: nothing is left to learn")
    if len(classes) < 2:
        weighted = "" if (s > 0).all() else "of any weight "
        raise ValueError(
            f"y holds one class only {weighted}({classes[0]}): a classifier needs two to tell apart"
        )
    return s, classes


def labelled(
    estimator: Any, X: Any, y: Any, s: Any, problem: Problem, run: Run, *, reset: bool = True
) -> tuple[Source, AnyArray, AnyArray]:
    """Examples, whose targets are not yet signs, labels, and classes that have any weight."""
    X, y = examples(estimator, X, y, reset=reset)
    s, classes = weighted_classes(y, s, problem.class_weight)
    return Source(X, np.ones(len(y)), s, run.threads), y, classes


def measured(
    estimator: Any,
    X: Any,
    y: Any,
    s: Any,
    problem: Problem,
    run: Run,
    *,
    reset: bool = True,
    stream: bool = False,
) -> Source:
    """Examples with targets that are numbers, such as the loss is for, and weights s."""
    X, y = examples(estimator, X, y, numeric=True, reset=reset)
    s = sample_weights(s, len(y))
    _refuse_targets(problem.loss, y, s)
    return Source(X, y, s, run.threads, scaled=not stream)


def _refuse_targets(loss: Loss, y: Array, s: Array) -> None:
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
