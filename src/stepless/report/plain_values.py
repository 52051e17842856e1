"""Plain values as JSON and named arrays: what states are made of, and nothing that runs code.

A value is a number, a string, an array, a tuple, list or dict of such, or an object that holds such
and whose class is one of Stepless's own, already loaded. Objects are made without calling their
class. What two places share they share again; parts of the risk at hand are named, not stored.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from stepless.arrays import AnyArray
from stepless.objective import Domain, Loss, Regularizer

Json: TypeAlias = Any
Arrays: TypeAlias = dict[str, AnyArray]

_HOMES = (
    *("stepless.certificates", "stepless.compiled", "stepless.data", "stepless.design"),
    *("stepless.kernels", "stepless.mirrors", "stepless.objective", "stepless.plane"),
    *("stepless.proof", "stepless.risks", "stepless.solvers"),
)
_FEW = 8  # numbers in a list: more become an array


class NotPlain(TypeError):
    """The name of a class of which no plain value is made."""


def encode(value: Any, known: Mapping[str, Any]) -> tuple[Json, Arrays]:
    """Return a value as JSON and arrays; what is `known` under a name is not stored.

    Examples
    --------
    >>> encode((1, [np.arange(2)], math.inf), {})
    ({'tuple': [1, {'list': [{'array': '1'}], 'id': '0'}, {'float': 'inf'}]}, {'1': array([0, 1])})
    """
    encoder = _Encoder(known)
    return encoder.encode(value), encoder.arrays


def decode(text: Json, arrays: Arrays, known: Mapping[str, Any]) -> Any:
    """Return the value that `encode` took apart.

    Examples
    --------
    >>> decode(*encode({"w": [np.ones(2)], "b": 0.5}, {}), {})
    {'w': [array([1., 1.])], 'b': 0.5}
    """
    return _Decoder(arrays, known).decode(text)


def _classes() -> dict[str, type]:
    """Return the classes that values may be of, by their names."""
    return {
        f"{name}.{kind.__qualname__}": kind
        for name, module in list(sys.modules.items())
        if name.startswith(_HOMES)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == name
    }


class _Encoder:
    def __init__(self, known: Mapping[str, Any]) -> None:
        self.arrays: Arrays = {}
        self._known, self._classes = known, _classes()
        self._seen: dict[int, tuple[str, Any]] = {}  # with the value, so that its id stays its own

    def encode(self, value: Any) -> Json:
        kind = type(value)
        if kind is float and not math.isfinite(value):
            return {"float": repr(value)}
        if value is None or kind in (bool, int, float, str):
            return value
        if kind is tuple:
            return {"tuple": [self.encode(part) for part in value]}
        if (name := self._name(value)) is not None:
            return {"known": name}
        if id(value) in self._seen:
            return {"same": self._seen[id(value)][0]}
        number = str(len(self._seen))
        self._seen[id(value)] = number, value
        return self._array(value, number) or self._container(value, number)

    def _name(self, value: Any) -> str | None:
        """Return the name of a known value; terms are known if they are equal."""
        for name, one in self._known.items():
            equal = type(one) is type(value) and isinstance(one, Loss | Regularizer | Domain)
            if one is value or (equal and one == value):
                return name
        return None

    def _array(self, value: Any, number: str) -> Json:
        """Return the JSON of what is kept as an array; None for anything else."""
        kind, array = "array", value
        if type(value) is list and len(value) > _FEW and set(map(type, value)) in ({float}, {int}):
            kind, array = "numbers", np.array(value)
        elif isinstance(value, np.generic):
            kind, array = "scalar", np.array(value)
        elif type(value) is not np.ndarray:
            return None
        if array.dtype.kind not in "biuf":  # such as whole numbers of more than 64 bits
            return None
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            kind, array = "across", array.T
        self.arrays[number] = array
        return {kind: number}

    def _container(self, value: Any, number: str) -> Json:
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if type(value) is list:
            return {"list": [self.encode(part) for part in value], "id": number}
        if type(value) is dict:
            pairs = [[self.encode(key), self.encode(part)] for key, part in value.items()]
            return {"dict": pairs, "id": number}
        if isinstance(value, type) and value in self._classes.values():
            return {"type": f"{value.__module__}.{value.__qualname__}", "id": number}
        if self._classes.get(name) is not type(value):
            raise NotPlain(name)
        if isinstance(value, tuple):
            return {"items": [self.encode(part) for part in value], "class": name, "id": number}
        return {"state": self.encode(value.__getstate__()), "class": name, "id": number}


class _Decoder:
    def __init__(self, arrays: Arrays, known: Mapping[str, Any]) -> None:
        self._arrays, self._known, self._classes = arrays, known, _classes()
        self._made: dict[str, Any] = {}

    def decode(self, text: Json) -> Any:
        if not isinstance(text, dict):
            return text
        kind, given = next(iter(text.items()))
        if kind in ("scalar", "array", "across", "numbers"):
            self._made[given] = self._of_array(kind, self._arrays[given])
            return self._made[given]
        if "id" in text:
            return self._container(kind, given, text)
        of: dict[str, Callable[[Any], Any]] = {
            "float": float,
            "tuple": lambda parts: tuple(map(self.decode, parts)),
            "known": self._known.__getitem__,
            "same": self._made.__getitem__,
        }
        return of[kind](given)

    @staticmethod
    def _of_array(kind: str, stored: AnyArray) -> Any:
        if kind == "numbers":
            return stored.tolist()
        array = np.array(stored, order="C")  # loops write into it
        if kind == "scalar":
            return array[()]
        return array.T if kind == "across" else array

    def _container(self, kind: str, given: Json, text: Json) -> Any:
        """Make an empty object first: what it holds may hold it."""
        number, made = text["id"], self._made
        if kind == "list":
            made[number] = []
            made[number] += map(self.decode, given)
        elif kind == "dict":
            made[number] = {}
            made[number] |= {self.decode(key): self.decode(part) for key, part in given}
        elif kind == "type":
            made[number] = self._classes[given]
        elif kind == "items":
            made[number] = self._classes[text["class"]](*map(self.decode, given))
        else:
            made[number] = object.__new__(self._classes[text["class"]])
            _set_state(made[number], self.decode(given))
        return made[number]


def _set_state(made: Any, state: Any) -> None:
    """Give an object the attributes that `__getstate__` returned."""
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    plain, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in ((plain or {}) | (slots or {})).items():
        object.__setattr__(made, name, value)
    if is_dataclass(made) and (lost := [f.name for f in fields(made) if not hasattr(made, f.name)]):
        raise ValueError(f"{type(made).__name__} has no {lost[0]}")
