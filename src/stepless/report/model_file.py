"""Models in files: weights as safetensors, all else as JSON in the header.

A file holds the arrays `coef` and `intercept`, and under the metadata key ``stepless`` the JSON of
everything else. Reading it runs no code of the file's. Numbers that JSON does not know are written
as the strings "NaN", "Infinity" and "-Infinity". A checksum tells a damaged file from a whole one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from sklearn.utils.validation import check_is_fitted

import stepless
from stepless.data import DataError
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.report.atomic import Path, write_atomically
from stepless.report.names import TERMS, name_of
from stepless.solvers import SOLVERS
from stepless.term import Term
from stepless.trace import Event, Trace

FORMAT = 1
_KINDS = {kind.__name__: kind for kind in (LinearClassifier, LinearRegressor)}
_CERTIFICATE = (
    "alpha",
    "objective",
    "lower_bound",
    "gap",
    "rel_gap",
    "stopped_by",
    "solver",
    "n_passes",
)
_MOST_EVENTS = 100_000  # safetensors takes headers up to 100 MB
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_Model = LinearClassifier | LinearRegressor


def save_model(estimator: _Model, path: Path, about: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Not kept are a `random_state` that is a generator (it becomes None), the state of a stream
    (`partial_fit` goes on from the weights), and, of more than 100 000 events, all but so many.

    Parameters
    ----------
    estimator
        A fitted LinearClassifier or LinearRegressor.
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
    kind = type(estimator)
    if kind not in _KINDS.values():
        raise TypeError(
            f"a model file holds a {' or a '.join(_KINDS)}, but this is a {kind.__name__}"
        )
    check_is_fitted(estimator)
    header = {
        "format": FORMAT,
        "stepless": stepless.__version__,
        "kind": kind.__name__,
        "n_features": int(estimator.n_features_in_),
        "parameters": _parameters(estimator),
        "certificate": {
            name: _plain(getattr(estimator, f"{name}_"), name)
            for name in _CERTIFICATE
            if hasattr(estimator, f"{name}_")
        },
        "about": about or {},
    }
    if isinstance(estimator, LinearClassifier):
        header["classes"] = _classes(estimator.classes_)
    if hasattr(estimator, "feature_names_in_"):
        header["feature_names"] = [str(name) for name in estimator.feature_names_in_]
    if hasattr(estimator, "trace_"):
        header["trace"] = _events(estimator.trace_)
    text = json.dumps(header, allow_nan=False)
    arrays = {"coef": _array(estimator.coef_), "intercept": _array(estimator.intercept_)}
    try:
        data = save(arrays, metadata={"stepless": text, "sha256": _digest(text, arrays)})
    except SafetensorError as error:
        raise ValueError(
            f"{os.fspath(path)}: the names of {header['n_features']} features are too long for a "
            f"model file ({error}); fit without feature names"
        ) from None
    write_atomically(path, data)


def load_model(path: Path) -> _Model:
    """Read an estimator that `save_model` wrote; it predicts as before, to the last bit.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is no model.

    Examples
    --------
    >>> import tempfile
    >>> clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(clf, f"{folder}/letters.model")
    ...     again = load_model(f"{folder}/letters.model")
    >>> again.predict([[1.9]]).tolist(), again.gap_ == clf.gap_
    (['b'], True)
    """
    header, coef, intercept = _read(path)
    with _damage_told(path):
        kind = _KINDS[header["kind"]]
        estimator = kind(**_restored_parameters(header["parameters"]))
        estimator.n_features_in_ = int(header["n_features"])
        if "feature_names" in header:
            estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        rows: tuple[int, ...] = ()
        if isinstance(estimator, LinearClassifier):
            estimator.classes_ = _restored_classes(header["classes"])
            rows = (len(estimator.classes_) if len(estimator.classes_) > 2 else 1,)
        if coef.shape != (*rows, estimator.n_features_in_) or intercept.shape != rows:
            raise ValueError(f"weights of shape {coef.shape}")
        estimator.coef_ = coef
        estimator.intercept_ = intercept if rows else intercept.item()
        for name, value in header["certificate"].items():
            setattr(estimator, f"{name}_", _restored(value))
        if "n_passes" in header["certificate"]:
            estimator.n_iter_ = estimator.n_passes_
        if "trace" in header:
            traces = [Trace([_event(event) for event in run]) for run in header["trace"]]
            estimator.trace_ = traces[0] if len(traces) == 1 else traces
    return estimator


def read_header(path: Path) -> dict[str, Any]:
    """Return what a model file says of its model, as the JSON that it is.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is no model.
    """
    return _read(path)[0]


# -- the file -----------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, Any], NDArray, NDArray]:
    name = os.fspath(path)
    if os.path.isdir(name):
        raise DataError(f"{name}: is a directory, not a model file")
    try:
        with open(name, "rb"):
            pass
        if os.path.getsize(name) == 0:
            raise DataError(f"{name}: is empty, so it is no model file")
        with safe_open(name, framework="np") as file:
            metadata = file.metadata() or {}
            if "stepless" not in metadata:
                raise DataError(f"{name}: is a safetensors file, but holds no stepless model")
            text = metadata["stepless"]
            _refuse_format(name, text)
            arrays = {key: file.get_tensor(key) for key in ("coef", "intercept")}
    except FileNotFoundError:
        raise DataError(f"{name}: no such file") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise DataError(f"{name}: is no model file, or was cut short ({error})") from None
    if metadata.get("sha256") != _digest(text, arrays):
        raise DataError(f"{name}: is damaged, its checksum is not that of its content")
    with _damage_told(path):
        return json.loads(text), arrays["coef"], arrays["intercept"]


def _refuse_format(name: str, text: str) -> None:
    """Say which version is needed, before anything is expected of the file."""
    with _damage_told(name):
        header = json.loads(text)
        number, author = int(header["format"]), str(header["stepless"])
    if number != FORMAT:
        raise DataError(
            f"{name}: was written by stepless {author} in format {number}, but stepless "
            f"{stepless.__version__} reads format {FORMAT}; use that version"
        )


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
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(
            f"{os.fspath(path)}: is damaged, its header makes no sense "
            f"({type(error).__name__}: {error})"
        ) from None


# -- parameters, classes, events ------------------------------------------------------------------


def _parameters(estimator: _Model) -> dict[str, Any]:
    parameters = estimator.get_params(deep=False)
    if not isinstance(parameters["random_state"], int | np.integer | None):
        parameters["random_state"] = None
    return {name: _parameter(name, value) for name, value in parameters.items()}


def _parameter(name: str, value: Any) -> Any:
    if name in TERMS and isinstance(value, Term):
        known = name_of(name, value)
        if known is None:
            kind = type(value)
            ours = kind.__module__.startswith("stepless.")
            why = (
                f"a model file does not hold a {kind.__name__}"
                if ours
                else f"{kind.__name__} is a {name} of your own, and a model file holds no code"
            )
            raise ValueError(f"{why}: pickle the estimator, or keep its coef_ and intercept_")
        pairs = zip(value._fields, value, strict=True)
        return {"name": known} | {field: _plain(number, field) for field, number in pairs}
    if name == "solver" and not isinstance(value, str):
        known = next((key for key, make in SOLVERS.items() if make is type(value)), None)
        if known is None:
            raise ValueError(
                f"{type(value).__name__} is a solver of your own, and a model file holds no code: "
                "name a solver of stepless with set_params(solver=) before you save"
            )
        options = inspect.signature(type(value)).parameters
        return {"name": known} | {key: _plain(getattr(value, key), key) for key in options}
    if name == "class_weight" and isinstance(value, dict):
        return [[_plain(label, name), _plain(weight, name)] for label, weight in value.items()]
    return _plain(value, name)


def _restored_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    restored = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            registry: Any = SOLVERS if name == "solver" else TERMS[name]
            options = {key: _restored(item) for key, item in value.items() if key != "name"}
            restored[name] = registry[value["name"]](**options)
        elif name == "class_weight" and isinstance(value, list):
            restored[name] = {label: _restored(weight) for label, weight in value}
        else:
            restored[name] = _restored(value)
    return restored


def _classes(classes: NDArray) -> dict[str, Any]:
    """Labels and their type; "str" for strings of any length."""
    if classes.dtype.kind not in "biufUO":
        raise ValueError(f"classes of type {classes.dtype} cannot be kept in a model file")
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": dtype, "values": [_plain(label, "classes") for label in classes.tolist()]}


def _restored_classes(classes: dict[str, Any]) -> NDArray:
    dtype = np.dtype(classes["dtype"])
    if dtype.kind not in "biufUO":
        raise ValueError(f"classes of type {dtype}")
    return np.array(classes["values"], dtype=dtype)


def _events(trace: Trace | list[Trace]) -> list[list[dict[str, Any]]]:
    """One list of events a run, thinned from the end on where there are too many."""
    runs = [trace] if isinstance(trace, Trace) else trace
    stride = max(1, math.ceil(sum(map(len, runs)) / _MOST_EVENTS))
    return [
        [
            {name: _plain(value, name) for name, value in asdict(event).items()}
            for event in run.events[::-1][::stride][::-1]
        ]
        for run in runs
    ]


def _event(event: dict[str, Any]) -> Event:
    return Event(**{field.name: _restored(event[field.name]) for field in fields(Event)})


def _plain(value: Any, what: str) -> Any:
    """A value as strict JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError(f"{what} {value!r} cannot be kept in a model file")
    return value


def _restored(value: Any) -> Any:
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value
