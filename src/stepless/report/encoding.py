"""Encoding of values as strict JSON, and decoding, which builds known classes only.

Numbers that JSON lacks are written as the strings "NaN", "Infinity" and "-Infinity".
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from stepless.arguments import brief
from stepless.arrays import AnyArray
from stepless.cross_validation import CHOICES, CrossValidation
from stepless.report.names import METRICS, TERMS, name_of
from stepless.solvers import SOLVERS
from stepless.term import Term
from stepless.trace import Event, Trace

_MOST_EVENTS = 100_000  # safetensors takes headers up to 100 MB
Scalar = str | int | float | bool | None
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# Parameters that may be objects, and the classes of each.
_OBJECTS: dict[str, Mapping[str, Callable[..., Any]]] = {
    **TERMS,
    "metric": METRICS,
    "solver": SOLVERS,
    "alpha": {"cv": CrossValidation},
}


def encode(value: object, what: str) -> Scalar:
    """Return a number, string, bool or None as strict JSON has it; `what` is for the error."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError(f"{what} {brief(value)} cannot be kept in a model file")
    return value


def decode(value: Any) -> Any:
    """Undo `encode`."""
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def encode_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Encode the parameters of an estimator; a random generator is not kept."""
    kept = dict(parameters)
    if not isinstance(kept["random_state"], int | np.integer | None):
        kept["random_state"] = None
    return {name: _parameter(name, value) for name, value in kept.items()}


def decode_parameters(make: type, parameters: dict[str, Any]) -> dict[str, Any]:
    """Undo `encode_parameters`; refuse values of types that `make` does not take."""
    found = {}
    defaults = inspect.signature(make).parameters
    for name, value in parameters.items():
        if not _is_like(defaults[name].default, value, name):
            raise TypeError(f"the parameter {name} is {value!r:.80}")
        if isinstance(value, dict):
            found[name] = decode_object(name, value)
        elif name == "class_weight" and isinstance(value, list):
            found[name] = {label: decode(weight) for label, weight in value}
        else:
            found[name] = decode(value)
    return found


def _is_like(default: object, value: object, name: str) -> bool:
    """Return whether a value of JSON may stand for a parameter with such a default."""
    if isinstance(value, dict):
        return name in _OBJECTS
    if isinstance(value, list):
        return name == "class_weight"
    if isinstance(default, bool):
        return isinstance(value, bool | int)
    if name == "alpha" or isinstance(default, int | float):
        return isinstance(value, int | float | None) or value in (*_NOT_FINITE, *CHOICES)
    if isinstance(default, str):
        return isinstance(value, str | None)
    return isinstance(value, str | int | float | None)


def decode_certificate(certificate: dict[str, Any]) -> dict[str, Any]:
    """Decode a certificate: numbers, and the names of its solver and of what ended the run."""
    found = {name: decode(value) for name, value in certificate.items()}
    for name, value in found.items():
        kind = str if name in ("stopped_by", "solver") else int | float | None
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"{name} is {value!r:.80}")
    return found


def _parameter(name: str, value: object) -> object:
    if name == "class_weight" and isinstance(value, dict):
        return [[encode(label, name), encode(weight, name)] for label, weight in value.items()]
    simple = isinstance(value, str | int | float | np.generic | None)
    simple |= name == "alpha" and not isinstance(value, CrossValidation)
    return encode(value, name) if name not in _OBJECTS or simple else encode_object(name, value)


def encode_object(name: str, value: object) -> dict[str, Any]:
    """Encode a loss, penalty, solver or the like by its name and its parameters."""
    known = name_of(_OBJECTS[name], value)
    if known is None:
        raise ValueError(_why_not(name, value))
    options = (
        value._fields if isinstance(value, Term) else inspect.signature(type(value)).parameters
    )
    return {"name": known} | {key: _encode_option(getattr(value, key), key) for key in options}


def _encode_option(value: object, what: str) -> object:
    several = isinstance(value, tuple | np.ndarray)
    return [encode(part, what) for part in value] if several else encode(value, what)  # type: ignore[attr-defined]


def decode_object(name: str, facts: dict[str, Any]) -> Any:
    """Undo `encode_object`."""
    options = {key: decode(item) for key, item in facts.items() if key != "name"}
    return _OBJECTS[name][facts["name"]](**options)


def _why_not(name: str, value: object) -> str:
    kind = type(value)
    if name == "solver":
        return (
            f"{kind.__name__} is a user-defined solver, and a model file holds no code: "
            "name a solver of stepless with set_params(solver=) before you save"
        )
    why = f"{kind.__name__} is a user-defined {name}, and a model file holds no code"
    if kind.__module__.startswith("stepless."):
        why = f"a model file does not hold a {kind.__name__}"
    return f"{why}: pickle the estimator, or keep its coef_ and intercept_"


def encode_classes(classes: AnyArray) -> dict[str, Any]:
    """Encode labels and their type; "str" stands for strings of any length."""
    if classes.dtype.kind not in "biufUO":
        raise ValueError(f"classes of type {classes.dtype} cannot be kept in a model file")
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": dtype, "values": [encode(label, "classes") for label in classes.tolist()]}


def decode_classes(classes: dict[str, Any]) -> AnyArray:
    """Undo `encode_classes`."""
    dtype = np.dtype(classes["dtype"])
    if dtype.kind not in "biufUO":
        raise ValueError(f"classes of type {dtype}")
    values = [decode(label) if dtype.kind == "f" else label for label in classes["values"]]
    if not all(isinstance(label, str | int | float) for label in values):
        raise TypeError("a class that is neither a string nor a number")
    found = np.array(values, dtype=dtype)
    if found.size < 2 or len(set(found.tolist())) < found.size:
        raise ValueError(f"{found.size} classes, of which some may be the same")
    return found


def encode_trace(trace: Trace | list[Trace]) -> list[list[dict[str, Any]]]:
    """Encode one list of events per run, thinned out from the end if there are too many."""
    runs = [trace] if isinstance(trace, Trace) else trace
    stride = max(1, math.ceil(sum(map(len, runs)) / _MOST_EVENTS))
    return [
        [
            {name: encode(value, name) for name, value in asdict(event).items()}
            for event in run.events[::-1][::stride][::-1]
        ]
        for run in runs
    ]


def decode_trace(runs: list[list[dict[str, Any]]]) -> Trace | list[Trace]:
    """Undo `encode_trace`."""
    traces = [Trace([_event(event) for event in run]) for run in runs]
    return traces[0] if len(traces) == 1 else traces


def _event(event: dict[str, Any]) -> Event:
    # old files lack fields that events did not have yet
    names = [field.name for field in fields(Event) if field.name in event]
    values = {name: decode(event[name]) for name in names}
    for name, value in values.items():
        if not isinstance(value, str if name == "solver" else int | float):
            raise TypeError(f"an event's {name} is {value!r:.80}")
    return Event(**values)
