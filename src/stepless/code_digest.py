"""The source of compiled code as text, to be digested without compiling."""

from __future__ import annotations

from types import CodeType, ModuleType
from typing import Any

import numpy as np


def code_of(function: Any, seen: set[Any] | None = None) -> str:
    """Return the byte code of a function and of what it names: helpers, numbers and arrays.

    Examples
    --------
    >>> code_of(lambda x: x + 1.0) == code_of(lambda x: x + 1.0)
    True
    >>> code_of(lambda x: x + 1.0) == code_of(lambda x: x + 2.0)
    False
    """
    seen = set() if seen is None else seen
    if function in seen:
        return ""
    seen.add(function)
    enclosed = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    scope = function.__globals__ | {name: cell.cell_contents for name, cell in enclosed}
    names = sorted(_names(function.__code__))  # a set's order differs between processes
    out = _instructions(function.__code__) + repr(function.__defaults__)
    for name in names:
        out += _meaning(name, scope.get(name), names, seen)
    return out


def _meaning(name: str, named: Any, names: list[str], seen: set[Any]) -> str:
    if isinstance(named, ModuleType):
        parts = {n: vars(named)[n] for n in names if n in vars(named)}
        return "".join(_meaning(f"{name}.{n}", part, [], seen) for n, part in parts.items())
    for source in ("py_func", "_defn"):  # of a compiled function, and of an intrinsic
        if hasattr(named, source):
            return code_of(getattr(named, source), seen)
    if isinstance(named, np.ndarray):
        return f"{name}={named.dtype}{named.shape}{named.tobytes().hex()}"
    if isinstance(named, (int, float, complex, str, tuple, np.generic)):
        return f"{name}={named!r}"
    return ""


def _instructions(code: CodeType) -> str:
    # A nested code object prints its address, so it is opened, not printed.
    constants = [_instructions(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames))


def _names(code: CodeType) -> set[str]:
    nested = (c for c in code.co_consts if isinstance(c, CodeType))
    own = {*code.co_names, *code.co_freevars}
    return own.union(*(_names(c) for c in nested))
