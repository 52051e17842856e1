"""Declared array lengths of compiled functions, checked at every call from Python.

Compiled code does not check indices: an array that is too short would be read or written beyond its
end. So every entry declares its arrays. ``"X[m,d] w[d] z[m] lo:hi[m]"`` says: X has a shape of two
numbers, called m and d; w has d entries and z has m; and 0 ≤ lo ≤ hi ≤ m. A length is

    a name      any number at first, and the same number from there on
    a number    or an expression of names, parameters and constants of the module:
                ``2*d+1``, ``rule.batch``, ``ENTRIES``
    n|k         one or the other
    ≥n, ≤n      at least n, at most n
    _           any

Lengths belong to a parameter that has a shape, or to a part of one: ``block.labels[r]``,
``terms.0[n,m]``, or ``point.*[n,m]`` for all members of a tuple; ``cost?[K,K]`` may be None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_ITEM = re.compile(r"([\w.*]+?)(\??)(?::(\w+))?\[(.*)\]")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_FUNCTIONS = {"len", "min", "max"}


def checked(
    function: Callable[..., Any], lengths: str | None, then: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function with these parameters that checks its arguments and calls `then`.

    It raises ValueError if arrays do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> product = checked(lambda X, w: None, "X[m,d] w[d]", np.matmul)
    >>> product(np.ones((3, 2)), np.ones(2))
    array([2., 2., 2.])
    """
    if lengths is None:
        return _refusal(function.__name__)
    code = function.__code__
    parameters = code.co_varnames[: code.co_argcount]
    whole = {name: value for name, value in function.__globals__.items() if type(value) is int}
    names = ", ".join(parameters)
    lines = [*_lines(function.__name__, lengths, {*parameters, *whole}), f"return then({names})"]
    source = f"def look({names}):\n" + "".join(f"    {line}\n" for line in lines)
    scope: dict[str, Any] = whole | {"misfit": _misfit(function.__name__, lengths), "then": then}
    exec(compile(source, f"<lengths of {function.__qualname__}>", "exec"), scope)
    look: Callable[..., Any] = scope["look"]
    return look


def declared(lengths: str | None) -> set[str]:
    """Return the parameters, and parts of parameters, whose lengths are declared.

    Examples
    --------
    >>> sorted(declared("X[m,d] pair.0[m] cost?[K,K] lo:hi[len(text)]"))
    ['X', 'cost', 'lo', 'pair.0', 'text']
    """
    items = (item.partition("[")[0].partition(":")[0] for item in (lengths or "").split())
    return {*(item.rstrip("?") for item in items), *re.findall(r"\[len\((\w+)\)\]", lengths or "")}


def _lines(name: str, lengths: str, given: set[str]) -> Iterator[str]:
    """Generate Python code that takes names from shapes, and compares lengths that have one."""
    known: set[str] = set()

    def value(expression: str) -> str:
        for found in _NAME.findall(expression):
            if found not in {*known, *given, *_FUNCTIONS}:
                raise ValueError(f"{name}: {found!r} is not known yet in {lengths!r}")
        return _NAME.sub(lambda m: f"{m[0]}_" if m[0] in known else m[0], expression)

    def new(length: str) -> bool:
        return length.isidentifier() and length not in {*known, *given, "_"}

    for item in lengths.split():
        match = _ITEM.fullmatch(item)
        if match is None or match[1].partition(".")[0] not in given:
            raise ValueError(f"{name}: cannot read {item!r} in {lengths!r}")
        owner, absent, stop, inside = match.groups()
        if stop:
            yield f"if not 0 <= {owner} <= {stop} <= {value(inside)}: misfit(locals())"
            continue
        loops, path = _path(owner)
        if absent:
            loops.append(f"if {owner} is not None:")
        yield from loops
        indent = "    " * len(loops)
        wanted = [part.strip() for part in re.split(r",(?![^(]*\))", inside)]  # not in brackets
        if all(length[0] not in "≥≤_" and "|" not in length for length in wanted) and not any(
            new(length) for length in wanted
        ):
            there = ", ".join(value(length) for length in wanted)
            yield f"{indent}if {path}.shape != ({there},): misfit(locals())"
            continue
        yield f"{indent}shape = {path}.shape"
        yield f"{indent}if len(shape) != {len(wanted)}: misfit(locals())"
        for k, length in enumerate(wanted):
            if new(length) and not loops:
                known.add(length)
                yield f"{length}_ = shape[{k}]"
            elif length[0] in "≥≤":
                wrong = "<" if length[0] == "≥" else ">"
                yield f"{indent}if shape[{k}] {wrong} {value(length[1:])}: misfit(locals())"
            elif length != "_":
                others = ", ".join(value(part) for part in length.split("|"))
                yield f"{indent}if shape[{k}] not in ({others},): misfit(locals())"


def _path(owner: str) -> tuple[list[str], str]:
    """Return loops over the members that a * stands for, and the expression that has the shape."""
    loops: list[str] = []
    head, *rest = owner.split(".")
    path = head
    for part in rest:
        if part == "*":
            loops.append(f"{'    ' * len(loops)}for part{len(loops)} in {path}:")
            path = f"part{len(loops) - 1}"
        else:
            path += f"[{part}]" if part.isdigit() else f".{part}"
    return loops, path


def _refusal(name: str) -> Callable[..., None]:
    def refuse(*args: Any) -> None:
        raise TypeError(f"{name} is for compiled code: without `lengths` Python cannot call it")

    return refuse


def _misfit(name: str, lengths: str) -> Callable[[dict[str, Any]], None]:
    def misfit(args: dict[str, Any]) -> None:
        shapes = {key: value.shape for key, value in args.items() if hasattr(value, "shape")}
        found = ", ".join(
            f"{key} {'has shape ' if k == 0 else ''}{shape}"
            for k, (key, shape) in enumerate(shapes.items())
        )
        raise ValueError(f"{name}: arrays do not fit together: {lengths}, but {found}")

    return misfit
