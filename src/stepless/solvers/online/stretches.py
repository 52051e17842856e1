"""A stream in stretches: what must be known of its examples is known of those before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from stepless.arrays import Array
from stepless.objective import Objective


class Part(NamedTuple):
    """Examples of a chunk that lie in one stretch; whether they are its first, or its last ones."""

    rows: slice
    begins: bool
    ends: bool


def stretches(clock: int, count: int) -> Iterator[Part]:
    """Cut a chunk of `count` examples, `clock` of them before it, where 1, 2, 4, 8, … are learned.

    Sizes, radii and sums are taken anew at these places alone, from all examples before: so the
    stream's chunks make no difference, and no example counts before it was predicted.

    Examples
    --------
    >>> [(part.rows.start, part.rows.stop, part.begins, part.ends) for part in stretches(3, 7)]
    [(0, 1, False, True), (1, 5, True, True), (5, 7, True, False)]
    """
    done = 0
    while done < count:
        now = clock + done
        end = 1 << now.bit_length()
        stop = min(count, done + end - now)
        yield Part(slice(done, stop), now & (now - 1) == 0, clock + stop == end)
        done = stop


def first_intercept(objective: Objective, w: Array, b: Any, y: float) -> tuple[float, bool]:
    """Return the intercept with which a stream's first example is learned; whether it is new.

    Where targets are numbers it is the first one, which may be far from 0, unless weights are given
    to begin with. That example has been predicted by then, with an intercept of 0.
    """
    new = objective.intercept and objective.loss.targets == "reals" and not (b or w.any())
    return (float(y), True) if new else (float(b), False)
