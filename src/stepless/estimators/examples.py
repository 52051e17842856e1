"""The examples that a user gives, as a source: arrays, a store, or collections of Dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight

from stepless.arrays import AnyArray, Array, Indices, MatrixLike, Weights
from stepless.compiled.light import light
from stepless.data import Block, Source, Store
from stepless.estimators.dask_input import dask_examples, is_dask
from stepless.estimators.proof import Data, class_data
from stepless.estimators.validation import (
    refuse_few_classes,
    refuse_targets,
    sample_weights,
    validate_classification,
    validate_regression,
    validate_X,
)
from stepless.objective import Loss
from stepless.problem import ClassWeight, Problem


class Labelled(NamedTuple):
    """Validated examples of a classifier.

    The source's targets are the places of the labels in `classes`, or −1 for a label whose examples
    all have weight 0. `labels` returns the labels themselves, which of Dask's collections nobody
    has in one place.
    """

    source: Source
    classes: AnyArray
    labels: Callable[[], AnyArray] | None = None

    def data(self) -> Data | None:
        """Return what a proof digests, if it is at hand."""
        if self.labels is None:
            return None
        return class_data(self.source, self.labels(), self.classes, self.source.s)


def labelled_examples(
    estimator: BaseEstimator,
    X: MatrixLike | Store,
    y: ArrayLike | None,
    sample_weight: Weights,
    class_weight: ClassWeight,
    *,
    threads: int | None,
    reset: bool = True,
) -> Labelled:
    """Return the validated examples of a classifier: at least two classes of positive weight.

    Unless `reset`, they must have the features that the estimator was fitted to.
    """
    if isinstance(X, Store):
        _accept(estimator, X, y, reset)
        return _labelled_store(X, sample_weight, class_weight, threads)
    if is_dask(X):
        given = estimator, X, y, sample_weight, class_weight, threads
        return Labelled(*dask_examples().classification(*given))
    X, y, s, classes = validate_classification(
        estimator, X, y, sample_weight, class_weight, reset=reset
    )
    labels: AnyArray = y
    source = Source(X, _places(labels, classes), s, threads)
    return Labelled(source, classes, lambda: labels)


def numbered_examples(
    estimator: BaseEstimator,
    X: MatrixLike | Store,
    y: ArrayLike | None,
    sample_weight: Weights,
    loss: Loss,
    *,
    threads: int | None,
    reset: bool = True,
) -> Source:
    """Return the validated examples of a regression, with targets that the loss is defined for."""
    if is_dask(X):
        source: Source = dask_examples().regression(estimator, X, y, sample_weight, loss, threads)
        return source
    if not isinstance(X, Store):
        given = estimator, X, y, sample_weight, loss
        return Source(*validate_regression(*given, reset=reset, outputs=True), threads)
    _accept(estimator, X, y, reset)
    targets = X.targets
    if X.labels is not None:
        if X.labels.dtype.kind not in "biuf":
            raise ValueError(
                f"the store's targets are labels such as {X.labels.tolist()[0]!r}, and a "
                "regression needs numbers; pack it with task='regress'"
            )
        targets = X.source().column(_numbers, X.labels.astype(np.float64))
    s: Array | None = _stored_weights(X, sample_weight)
    refuse_targets(loss, targets.whole, np.ones(X.shape[0]) if s is None else s)
    return X.source(targets, None if sample_weight is None else s, threads)


def per_output(problem: Problem, source: Source) -> tuple[Problem, Source]:
    """Return the problem of all columns of targets, and the examples: numbers of a single one."""
    if source.outputs == 1:
        source = source.relabelled(source.y.ravel())
    return problem.of_outputs(source.outputs or 1), source


def unlabelled_examples(
    estimator: BaseEstimator, X: MatrixLike | Store, threads: int | None
) -> Source:
    """Return the validated examples that a fitted model is applied to."""
    if isinstance(X, Store):
        _accept(estimator, X, None, reset=False)
        return X.source(threads=threads)
    X = validate_X(estimator, X)
    return Source(X, np.zeros(X.shape[0]), threads=threads)


def targets_of(
    estimator: BaseEstimator, store: Store, y: ArrayLike | None, sample_weight: Weights
) -> tuple[AnyArray, Array | None]:
    """Return a store's labels or numbers, and its weights times those given."""
    _accept(estimator, store, y, reset=False)
    return store.y, _stored_weights(store, sample_weight)


def _labelled_store(
    store: Store, sample_weight: Weights, class_weight: ClassWeight, threads: int | None
) -> Labelled:
    labels = store.labels
    if labels is None:
        raise ValueError(
            "the store's targets are numbers, and a classifier needs labels; pack it with "
            "task='classify'"
        )
    places, s = store.targets.whole.astype(np.intp), _stored_weights(store, sample_weight)
    own = sample_weight is None
    if class_weight is not None:
        each = _class_weights(class_weight, labels, places, store)
        s, own = each[places] if s is None else s * each[places], False
    known = labels
    if s is not None:
        known = labels[np.bincount(places, s > 0.0, minlength=len(labels)) > 0.0]
    refuse_few_classes(known, all_count=s is None or bool((s > 0.0).all()))
    y = store.targets
    if len(known) < len(labels):
        y = store.source().column(_numbers, _places(labels, known))
    source = store.source(y, None if own else s, threads)

    return Labelled(source, known, lambda: store.y)


def _class_weights(
    class_weight: ClassWeight, labels: AnyArray, places: Indices, store: Store
) -> Array:
    """Return the weight of each class of a store; "balanced" counts examples not left out."""
    chosen = places if store.mask is None else places[store.mask]
    there = np.bincount(chosen, minlength=len(labels))
    if class_weight == "balanced":
        share = chosen.size / np.count_nonzero(there)
        return np.divide(share, there, out=np.zeros(len(labels)), where=there > 0)
    found: Array = compute_class_weight(class_weight, classes=labels, y=labels)
    return found


def _stored_weights(store: Store, sample_weight: Weights) -> Array | None:
    """Return a store's weights times those given; None if all are equal."""
    s = store.weights
    if sample_weight is None:
        return s
    given = sample_weights(sample_weight, store.shape[0])
    return given if s is None else sample_weights(given * s, store.shape[0])


def _accept(estimator: BaseEstimator, store: Store, y: ArrayLike | None, reset: bool) -> None:
    """Refuse targets beside a store's, and other features than those of the fit."""
    if y is not None:
        raise ValueError("a store holds its own targets: leave y out, or None")
    names = None if store.names is None else np.array(store.names, dtype=object)
    if reset:
        estimator.n_features_in_ = store.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
        return
    if store.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"the store has {store.shape[1]} features, but {type(estimator).__name__} was "
            f"fitted to {estimator.n_features_in_}"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and names is not None and not np.array_equal(known, names):
        odd = int(np.flatnonzero(known != names)[0])
        raise ValueError(
            f"feature {odd} of the store is {names[odd]!r}, but {type(estimator).__name__} "
            f"was fitted with {known[odd]!r} there"
        )


def _places(y: AnyArray, classes: AnyArray) -> Array:
    """Return the places of labels in `classes`; −1 for others."""
    places = np.searchsorted(classes, y)
    known = classes[np.minimum(places, len(classes) - 1)] == y
    found: Array = np.where(known, places, -1).astype(np.float64)
    return found


@light
def _numbers(block: Block, of_places: Array) -> Array:
    """Return the number that stands for each example's place."""
    found: Array = of_places[block.y.astype(np.intp)]
    return found
