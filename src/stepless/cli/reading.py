"""Examples, labels and weights as the commands need them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from stepless.arrays import AnyArray, Array, Indices
from stepless.cli.file_format import FileFormat, is_table
from stepless.cli.inputs import input_name, input_of
from stepless.cli.tagging import check_template, inputs_of, read_for_tagger, tags_of
from stepless.data import Columns, DataError, Store, SvmlightData, read_svmlight
from stepless.data.byte_stream import ByteStream
from stepless.data.csv_rows import number
from stepless.data.errors import ZeroIndex
from stepless.data.store import is_store
from stepless.estimators import (
    ChainClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    StructuredClassifier,
)
from stepless.report.model_file import read_model
from stepless.report.tensors import damage_reported


class FractionalLabel(DataError):
    """A label of a class that is no whole number."""


class Examples(NamedTuple):
    """Inputs and their labels, targets, grades or tags; or a store, which has its own."""

    X: Any
    y: Any
    qid: Indices | None = None  # the queries of a ranker's documents

    @property
    def known(self) -> Any:
        """The labels or numbers, also those of a store."""
        return self.X.y if isinstance(self.X, Store) else self.y

    @property
    def classes(self) -> int:
        """The number of different labels."""
        labels = self.X.labels if isinstance(self.X, Store) else np.unique(self.y)
        return 0 if labels is None else len(labels)


def open_model(path: Path) -> tuple[BaseEstimator, dict[str, Any]]:
    """Read a model, and what its file says of the format of its own data."""
    model, header = read_model(path)
    about = header["about"]
    with damage_reported(path):
        if "template" in about:
            check_template(about)
        if "form" in about:
            width = FileFormat.restored(about["form"]).width
            if width != model.n_features_in_:
                raise ValueError(f"a form of {width} features")
    return model, about


def read_examples(path: Path, zero_based: bool) -> SvmlightData:
    """Read a file in svmlight format; errors name the option that helps."""
    try:
        return read_svmlight(input_of(path), zero_based=zero_based)
    except ZeroIndex as error:
        raise DataError(f"{error}; for features counted from 0 say --zero-based") from None
    except DataError as error:
        if not is_table(path):
            raise
        raise DataError(
            f"{error}; LIBSVM text is expected here: only streams read tables, so fit with "
            "--stream and --target COLUMN"
        ) from None


def read_for_model(
    path: Path, model: BaseEstimator, about: dict[str, Any], zero_based: bool, labelled: bool = True
) -> Examples:
    """Read examples as the model's own data were read, which its file tells in `about`.

    Features that the file lacks are 0; unless features are hashed, it may have no others.
    """
    if is_store(path):
        return open_store(path, model)
    if isinstance(model, ChainClassifier | StructuredClassifier):
        words = read_words(path, model, about, labelled)
        return Examples(inputs_of(words, about), tags_of(words))
    if "form" in about:
        X, y = FileFormat.restored(about["form"]).read(path, labelled)
        return Examples(X, targets(path, model, y) if labelled else y)
    data = read_examples(path, zero_based or bool(about.get("zero_based")))
    own, known = data.X.shape[1], model.n_features_in_
    if own > known:
        raise DataError(
            f"{input_name(path)}: has {own} features, but the model knows {known}; "
            "is it a file of another data set?"
        )
    data.X.resize(data.X.shape[0], known)
    if not labelled:
        return Examples(data.X, data.y)
    return Examples(data.X, targets(path, model, data.y), queries(path, model, data.qid))


def open_store(path: Path, model: BaseEstimator) -> Examples:
    """Open a store for a model that can work from one."""
    if not isinstance(model, LinearClassifier | LinearRegressor):
        raise DataError(
            f"{path}: is a store, from which a {type(model).__name__} cannot work: give it text"
        )
    return Examples(Store(path), None)


def read_words(path: Path, model: BaseEstimator, about: dict[str, Any], labelled: bool) -> Columns:
    """Read sentences for a tagger."""
    if isinstance(model, ChainClassifier) and "template" in about:
        return read_for_tagger(path, about, labelled)
    raise DataError(
        f"{input_name(path)}: the commands cannot read the inputs of this {type(model).__name__} "
        "from a file; in Python, stepless.report.load_model reads the model"
    )


def targets(path: Path, model: BaseEstimator, y: AnyArray) -> AnyArray:
    """Return numbers to predict, or labels of classes."""
    return y if isinstance(model, LinearRegressor | LinearRanker) else _class_labels(path, y)


def queries(path: Path, model: BaseEstimator, qid: Indices | None) -> Indices | None:
    """Return the query of each line for a ranker, None for other models."""
    if not isinstance(model, LinearRanker):
        return None
    if qid is None:
        raise DataError(
            f"{input_name(path)}: has no query ids, which say what is ranked together: a line is "
            "'grade qid:N index:value ...'"
        )
    return qid


def _class_labels(path: Path, y: AnyArray) -> AnyArray:
    """Return labels of classes, which are whole numbers or, in a table, words."""
    if y.dtype.kind not in "fiu":
        return y
    whole = y == np.floor(y)
    if not whole.all():
        odd = int(np.flatnonzero(~whole)[0])
        raise FractionalLabel(
            f"{input_name(path)}: the label {y[odd]:g} of example {odd + 1} is not a whole number, "
            "as classes are"
        )
    return y.astype(np.int64) if np.abs(y).max() < 2**53 else y


def read_weights(path: Path, examples: int) -> Array:
    """Read sample weights, one number per line, and no further than there are examples."""
    with WeightLines(path) as lines:
        weights = lines.take(examples)
        lines.refuse_more()
    return weights


class WeightLines:
    """Sample weights, one number per line, read as they are needed."""

    def __init__(self, path: Path) -> None:
        self._name, self._stream = input_name(path), ByteStream(input_of(path))
        self._lines, self._taken = self._stream.lines(), 0

    def take(self, count: int) -> Array:
        """Read the weights of the next examples."""
        weights = np.fromiter(self._weights(count), np.float64)
        self._taken += weights.size
        if weights.size < count:
            if self._stream.failure:
                raise DataError(f"{self._name}, after line {self._taken}: {self._stream.failure}")
            raise DataError(
                f"{self._name}: holds {self._taken} weights, but there are "
                f"{self._taken - weights.size + count} examples"
            )
        return weights

    def _weights(self, count: int) -> Iterator[float]:
        for line, text in enumerate(islice(self._lines, count), self._taken + 1):
            word = text.decode(errors="backslashreplace").strip()
            weight = number(word)
            if weight is None or not 0.0 <= weight < math.inf:
                raise DataError(
                    f"{self._name}, line {line}, column 1: expected a weight of at least 0, "
                    f"found {word[:40]!r}"
                )
            yield weight

    def refuse_more(self) -> None:
        """Refuse weights for which there are no examples; one empty line may follow."""
        for k, text in enumerate(islice(self._lines, 2)):
            if k or text.strip():
                raise DataError(f"{self._name}: holds more weights than the {self._taken} examples")
        if self._stream.failure:
            raise DataError(f"{self._name}, after line {self._taken}: {self._stream.failure}")

    def __enter__(self) -> WeightLines:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()
