"""Models in files: many numbers as safetensors, all else as JSON in the header.

A file holds the arrays of its kind of estimator (`coef` and `intercept` of a linear one), and under
the metadata key ``stepless`` the JSON of everything else. Reading it runs no code of the file's. A
checksum tells a damaged file from a whole one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from sklearn.utils.validation import check_is_fitted

import stepless
from stepless.data import DataError
from stepless.report.atomic import Path, write_atomically
from stepless.report.kinds import KINDS
from stepless.report.plain import (
    plain,
    plain_parameters,
    plain_trace,
    restored_certificate,
    restored_parameters,
    restored_trace,
)

FORMAT = 2  # 1 knew classifiers and regressors, and had them as 2 has
_CERTIFICATE = (
    "alpha",
    "objective",
    "lower_bound",
    "gap",
    "rel_gap",
    "stopped_by",
    "solver",
    "n_passes",
    "n_queries",
    "n_queries_left_out",
)


def save_model(estimator: Any, path: Path, about: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Not kept are a `random_state` that is a generator (it becomes None), the state of a stream
    (`partial_fit` goes on from the weights), what `warm_start` remembers but the weights, and, of
    more than 100 000 events, all but so many.

    Parameters
    ----------
    estimator
        A fitted LinearClassifier, LinearRegressor, MetricClassifier, LinearRanker, NuClassifier,
        OneClass, KernelClassifier, ChainClassifier, or StructuredClassifier of a model of
        `stepless.structured`.
    path
        The file to write. One of that name is replaced.
    about
        What else to remember, as JSON: `read_header` gives it back.

    Raises
    ------
    ValueError
        If there is something in it that a file cannot hold, such as a loss of the user's own.
    OSError
        If the file cannot be written.
    """
    name = type(estimator).__name__
    if type(estimator) not in [kind.make for kind in KINDS.values()]:
        raise TypeError(
            f"a model file holds one of {', '.join(KINDS)}, but this is a {name}: pickle it"
        )
    check_is_fitted(estimator)
    kind = KINDS[name]
    parameters = estimator.get_params(deep=False)
    header = {
        "format": FORMAT,
        "stepless": stepless.__version__,
        "kind": name,
        "parameters": plain_parameters(
            {key: value for key, value in parameters.items() if key not in kind.apart}
        ),
        "certificate": {
            key: plain(getattr(estimator, f"{key}_"), key)
            for key in _CERTIFICATE
            if hasattr(estimator, f"{key}_")
        },
        "about": about or {},
    }
    header |= kind.facts(estimator)
    if hasattr(estimator, "trace_"):
        header["trace"] = plain_trace(estimator.trace_)
    text = json.dumps(header, allow_nan=False)
    arrays = {key: _array(values) for key, values in kind.arrays(estimator).items()}
    for key, array in arrays.items():
        _refuse_numbers(key, array)
    try:
        data = save(arrays, metadata={"stepless": text, "sha256": _digest(text, arrays)})
    except SafetensorError as error:
        raise ValueError(
            f"{os.fspath(path)}: the names of {header['n_features']} features are too long for a "
            f"model file ({error}); fit without feature names"
        ) from None
    write_atomically(path, data)


def load_model(path: Path) -> Any:
    """Read an estimator that `save_model` wrote; it predicts as before, to the last bit.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is no model.

    Examples
    --------
    >>> import tempfile
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(clf, f"{folder}/letters.model")
    ...     again = load_model(f"{folder}/letters.model")
    >>> again.predict([[1.9]]).tolist(), again.gap_ == clf.gap_
    (['b'], True)
    """
    return read_model(path)[0]


def read_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Read an estimator, and what its file says of it, as `load_model` and `read_header` do."""
    header, arrays = _read(path)
    with damage_told(path):
        for name, array in arrays.items():
            _refuse_numbers(name, array)
        kind = KINDS[header["kind"]]
        parameters = restored_parameters(kind.make, header["parameters"])
        estimator = kind.make(**parameters, **kind.parameters(header, arrays))
        kind.settle(estimator, header, arrays)
        for name, value in restored_certificate(header["certificate"]).items():
            setattr(estimator, f"{name}_", value)
        if "n_passes" in header["certificate"]:
            estimator.n_iter_ = estimator.n_passes_
        if "trace" in header:
            estimator.trace_ = restored_trace(header["trace"])
    return estimator, header


def read_header(path: Path) -> dict[str, Any]:
    """Return what a model file says of its model, as the JSON that it is.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is no model.
    """
    return _read(path)[0]


# -- the file -----------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray]]:
    name = os.fspath(path)
    if os.path.isdir(name):
        raise DataError(f"{name}: is a directory, not a model file")
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            raise DataError(f"{name}: is no regular file, as a model must be; write it to one")
        with open(name, "rb"):
            pass
        if os.path.getsize(name) == 0:
            raise DataError(f"{name}: is empty, so it is no model file")
        with safe_open(name, framework="np") as file:
            metadata = file.metadata() or {}
            if "stepless" not in metadata:
                raise DataError(f"{name}: is a safetensors file, but holds no stepless model")
            text = metadata["stepless"]
            header = _header(name, text)
            with damage_told(path):  # a type that numpy does not have
                arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise DataError(f"{name}: no such file") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise DataError(f"{name}: is no model file, or was cut short ({error})") from None
    if metadata.get("sha256") != _digest(text, arrays):
        raise DataError(f"{name}: is damaged, its checksum is not that of its content")
    return header, arrays


def _header(name: str, text: str) -> dict[str, Any]:
    """Say which version is needed, before anything else is expected of the file."""
    with damage_told(name):
        header = json.loads(text, parse_constant=_refuse_constant)
        number, author = int(header["format"]), str(header["stepless"])
    if not 1 <= number <= FORMAT:
        raise DataError(
            f"{name}: was written by stepless {author} in format {number}, but stepless "
            f"{stepless.__version__} reads formats up to {FORMAT}; use that version"
        )
    with damage_told(name):
        for part in ("parameters", "certificate", "about"):
            if not isinstance(header[part], dict):
                raise TypeError(f"{part} is no object")
    return header


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _refuse_numbers(name: str, array: NDArray) -> None:
    """Weights must be such as fits leave: kernels and predictions trust them."""
    if array.dtype.kind == "f":
        if array.dtype not in (np.float32, np.float64):
            raise ValueError(f"{name} of type {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds a number that is not finite")


def _digest(text: str, arrays: dict[str, NDArray]) -> str:
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _array(values: Any) -> NDArray:
    # safetensors takes the bytes as they lie, so they must lie in order
    array = np.asarray(values)
    return np.require(array, array.dtype.newbyteorder("<"), "C")


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Turn what goes wrong because a model file makes no sense into one sentence that says so."""
    try:
        yield
    except DataError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise DataError(
            f"{os.fspath(path)}: is damaged, its header makes no sense "
            f"({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        ) from None
