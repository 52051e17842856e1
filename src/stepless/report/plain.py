"""Values as strict JSON has them, and back: what is read back is made of known classes only.

Numbers that JSON does not know are written as the strings "NaN", "Infinity" and "-Infinity".
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from stepless.arrays import AnyArray
from stepless.report.names import METRICS, TERMS, name_of
from stepless.solvers import SOLVERS
from stepless.term import Term
from stepless.trace import Event, Trace

_MOST_EVENTS = 100_000  # safetensors takes headers up to 100 MB
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# Parameters that may be objects, and what the objects of each may be.
_OBJECTS: dict[str, Mapping[str, Callable[..., Any]]] = {
    **TERMS,
    "metric": METRICS,
    "solver": SOLVERS,
}


def plain(value: Any, what: str) -> Any:
    """A number, a string, a truth or nothing as strict JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not isinstance(value, str | int | float | bool | None):
        raise ValueError(f"{what} {value!r} cannot be kept in a model file")
    return value


def restored(value: Any) -> Any:
    """Undo `plain`."""
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an estimator; a generator of chance is not kept."""
    kept = dict(parameters)
    if not isinstance(kept["random_state"], int | np.integer | None):
        kept["random_state"] = None
    return {name: _parameter(name, value) for name, value in kept.items()}


def restored_parameters(make: type, parameters: dict[str, Any]) -> dict[str, Any]:
    """Undo `plain_parameters`; what is of no type that `make` takes is refused."""
    found = {}
    defaults = inspect.signature(make).parameters
    for name, value in parameters.items():
        if not _is_like(defaults[name].default, value, name):
            raise TypeError(f"the parameter {name} is {value!r:.80}")
        if isinstance(value, dict):
            found[name] = restored_object(name, value)
        elif name == "class_weight" and isinstance(value, list):
            found[name] = {label: restored(weight) for label, weight in value}
        else:
            found[name] = restored(value)
    return found


def _is_like(default: Any, value: Any, name: str) -> bool:
    """Whether JSON's value may stand where a default of such a type does."""
    if isinstance(value, dict):
        return name in _OBJECTS
    if isinstance(value, list):
        return name == "class_weight"
    if isinstance(default, bool):
        return isinstance(value, bool | int)
    if isinstance(default, int | float):
        return isinstance(value, int | float | None) or value in (*_NOT_FINITE, "auto")
    if isinstance(default, str):
        return isinstance(value, str | None)
    return isinstance(value, str | int | float | None)


def restored_certificate(certificate: dict[str, Any]) -> dict[str, Any]:
    """Numbers, and the words for what ended the run and who found the answer."""
    found = {name: restored(value) for name, value in certificate.items()}
    for name, value in found.items():
        kind = str if name in ("stopped_by", "solver") else int | float | None
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"{name} is {value!r:.80}")
    return found


def _parameter(name: str, value: Any) -> Any:
    if name == "class_weight" and isinstance(value, dict):
        return [[plain(label, name), plain(weight, name)] for label, weight in value.items()]
    simple = isinstance(value, str | int | float | np.generic | None)
    return plain(value, name) if name not in _OBJECTS or simple else plain_object(name, value)


def plain_object(name: str, value: Any) -> dict[str, Any]:
    """A loss, penalty, domain, kernel, metric or solver: its name and its parameters."""
    known = name_of(_OBJECTS[name], value)
    if known is None:
        raise ValueError(_stranger(name, value))
    options = (
        value._fields if isinstance(value, Term) else inspect.signature(type(value)).parameters
    )
    return {"name": known} | {key: plain(getattr(value, key), key) for key in options}


def restored_object(name: str, facts: dict[str, Any]) -> Any:
    """Undo `plain_object`."""
    options = {key: restored(item) for key, item in facts.items() if key != "name"}
    return _OBJECTS[name][facts["name"]](**options)


def _stranger(name: str, value: Any) -> str:
    kind = type(value)
    if name == "solver":
        return (
            f"{kind.__name__} is a solver of your own, and a model file holds no code: "
            "name a solver of stepless with set_params(solver=) before you save"
        )
    ours = kind.__module__.startswith("stepless.")
    why = (
        f"a model file does not hold a {kind.__name__}"
        if ours
        else f"{kind.__name__} is a {name} of your own, and a model file holds no code"
    )
    return f"{why}: pickle the estimator, or keep its coef_ and intercept_"


def plain_classes(classes: AnyArray) -> dict[str, Any]:
    """Labels and their type; "str" for strings of any length."""
    if classes.dtype.kind not in "biufUO":
        raise ValueError(f"classes of type {classes.dtype} cannot be kept in a model file")
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": dtype, "values": [plain(label, "classes") for label in classes.tolist()]}


def restored_classes(classes: dict[str, Any]) -> AnyArray:
    """Undo `plain_classes`."""
    dtype = np.dtype(classes["dtype"])
    if dtype.kind not in "biufUO":
        raise ValueError(f"classes of type {dtype}")
    values = [restored(label) if dtype.kind == "f" else label for label in classes["values"]]
    if not all(isinstance(label, str | int | float) for label in values):
        raise TypeError("a class that is neither a string nor a number")
    found = np.array(values, dtype=dtype)
    if found.size < 2 or len(set(found.tolist())) < found.size:
        raise ValueError(f"{found.size} classes, of which some may be the same")
    return found


def plain_trace(trace: Trace | list[Trace]) -> list[list[dict[str, Any]]]:
    """One list of events a run, thinned from the end on where there are too many."""
    runs = [trace] if isinstance(trace, Trace) else trace
    stride = max(1, math.ceil(sum(map(len, runs)) / _MOST_EVENTS))
    return [
        [
            {name: plain(value, name) for name, value in asdict(event).items()}
            for event in run.events[::-1][::stride][::-1]
        ]
        for run in runs
    ]


def restored_trace(runs: list[list[dict[str, Any]]]) -> Trace | list[Trace]:
    """Undo `plain_trace`."""
    traces = [Trace([_event(event) for event in run]) for run in runs]
    return traces[0] if len(traces) == 1 else traces


def _event(event: dict[str, Any]) -> Event:
    # old files lack what events did not have yet
    names = [field.name for field in fields(Event) if field.name in event]
    values = {name: restored(event[name]) for name in names}
    for name, value in values.items():
        if not isinstance(value, str if name == "solver" else int | float):
            raise TypeError(f"an event's {name} is {value!r:.80}")
    return Event(**values)
