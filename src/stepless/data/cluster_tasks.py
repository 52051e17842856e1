"""The tasks that workers of a cluster run: short, pure, and known by their names."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.data.block import Block
from stepless.design import Dense
from stepless.term import Term


class Held(NamedTuple):
    """An argument that a task was given: a result of another one, or an item of that."""

    number: int
    item: int | None


class Shared(NamedTuple):
    """An argument that all blocks get."""

    number: int


class Hollow(NamedTuple):
    """An array yet to be written; it takes no place before that."""

    shape: tuple[int, ...]


class Filled(NamedTuple):
    """An array of one number."""

    size: int
    value: float


Argument = Held | Shared | Hollow | Filled


class Call(NamedTuple):
    """What all tasks of a round have in common."""

    loop: Callable[..., Any]
    shared: tuple[Any, ...]
    writes: int  # columns
    shape: tuple[int, ...] | None


def perform(call: Call | bytes, arguments: tuple[Argument, ...], *held: Any) -> Any:
    """Call a loop on one block; the arguments are rows, targets, weights, columns, and the rest.

    Return its result; with the array it added to, if there is one; and then the columns written.
    """
    loop, shared, writes, shape = pickle.loads(call) if isinstance(call, bytes) else call
    X, y, s, *others = (_found(at, shared, held) for at in arguments)
    block = Block(Dense(X) if isinstance(X, np.ndarray) else X, y, s)
    written = [_copy(column) for column in others[:writes]]
    added = () if shape is None else (np.zeros(shape),)
    found = loop(block, *added, *written, *others[writes:])
    if written:
        return found, *(added or (None,)), *written
    return ([found], *added) if added else found


def _found(at: Argument, shared: tuple[Any, ...], held: tuple[Any, ...]) -> Any:
    if isinstance(at, Hollow):
        return np.empty(at.shape)
    if isinstance(at, Filled):
        return np.full(at.size, at.value)
    if isinstance(at, Shared):
        return ready(shared[at.number])
    given = held[at.number]
    return ready(given if at.item is None else given[at.item])


def ready(given: Any) -> Any:
    """Return arrays, also those within tuples and terms, that may be written and are aligned.

    Those that came from another process or from a disk need not be: to numba that is another type,
    and every loop would be compiled anew. They are copied.
    """
    if isinstance(given, np.ndarray):
        return given if given.flags.behaved else given.copy(order="K")
    if isinstance(given, Term) or type(given) is tuple:
        parts = tuple(map(ready, given))
        if all(new is old for new, old in zip(parts, given, strict=True)):
            return given
        return parts if type(given) is tuple else type(given)(*parts)
    return given


def _copy(part: Any) -> Any:
    return tuple(map(_copy, part)) if isinstance(part, tuple) else part.copy()


def merge(join: Callable[[list[Array]], Array], *those: tuple[list[Any], Array]) -> Any:
    """Return the results of neighbouring blocks in one list, and the sum of their arrays."""
    found = [one for part in those for one in part[0]]
    total = those[0][1].copy()
    for _, added in those[1:]:
        total = join([total, ready(added)])
    return found, total


def result_and_sum(outcome: tuple[Any, ...]) -> tuple[list[Any], Array]:
    """Leave out the columns that a task wrote: they stay where they are."""
    return [outcome[0]], outcome[1]


def item(outcome: Any, number: int) -> Any:
    """Return one item of a result."""
    return outcome[number]


def unpickled(*pieces: bytes) -> Any:
    """Return a value that came in pieces."""
    return pickle.loads(b"".join(pieces))


def kept(piece: bytes) -> bytes:
    """Return a piece of a value; its task holds it, so that it is not lost with a worker."""
    return piece
