"""Examples, labels and weights as the commands need them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from stepless.arrays import AnyArray, Array, Indices
from stepless.cli.file_format import FileFormat, is_table
from stepless.cli.inputs import input_name, input_of
from stepless.cli.tagging import check_template, inputs_of, read_for_tagger, tags_of
from stepless.data import Columns, DataError, SvmlightData, read_svmlight
from stepless.data.byte_stream import ByteStream
from stepless.data.csv_rows import number
from stepless.data.errors import ZeroIndex
from stepless.estimators import ChainClassifier, LinearRanker, LinearRegressor, StructuredClassifier
from stepless.report.model_file import read_model
from stepless.report.tensors import damage_reported


class FractionalLabel(DataError):
    """A label of a class that is no whole number."""


class Examples(NamedTuple):
    """Inputs and their labels, targets, grades or tags."""

    X: Any
    y: Any
    qid: Indices | None = None  # the queries of a ranker's documents


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
    weights: list[float] = []
    name = input_name(path)
    with ByteStream(input_of(path)) as stream:
        for count, line in enumerate(stream.lines(), 1):
            text = line.decode(errors="backslashreplace").strip()
            if count > examples:
                if text or count > examples + 1:
                    raise DataError(f"{name}: holds more weights than the {examples} examples")
                continue
            weight = number(text)
            if weight is None or not 0.0 <= weight < math.inf:
                raise DataError(
                    f"{name}, line {count}, column 1: expected a weight of at least 0, "
                    f"found {text[:40]!r}"
                )
            weights.append(weight)
        if stream.failure:
            raise DataError(f"{name}, after line {len(weights)}: {stream.failure}")
    if len(weights) < examples:
        raise DataError(f"{name}: holds {len(weights)} weights, but there are {examples} examples")
    return np.array(weights)
