"""Segments of a stream: sizes are taken anew at their boundaries, from the examples before."""

from __future__ import annotations

from collections.abc import Iterator

from stepless.arrays import Array
from stepless.objective import Objective


def doubling_segments(clock: int, count: int) -> Iterator[tuple[slice, bool, bool]]:
    """Cut a chunk of `count` examples, after `clock` others, where 1, 2, 4, 8, … are learned.

    Yield the rows that lie in one segment; whether they begin it, and end it. Sizes, radii and sums
    change only there, and depend on all examples before: so the cuts into
    chunks make no difference, and no example counts before it was predicted.

    Examples
    --------
    >>> [(rows.start, rows.stop, *ends) for rows, *ends in doubling_segments(3, 7)]
    [(0, 1, False, True), (1, 5, True, True), (5, 7, True, False)]
    """
    done = 0
    while done < count:
        now = clock + done
        end = 1 << now.bit_length()
        stop = min(count, done + end - now)
        yield slice(done, stop), now & (now - 1) == 0, clock + stop == end
        done = stop


def first_intercept(objective: Objective, w: Array, b: float, y: float) -> tuple[float, bool]:
    """Return the intercept with which a stream's first example is learned; whether it is new.

    Where targets are numbers it is the first target, which may be far from 0, unless the stream
    starts from given weights. That example has been predicted by then, with an intercept of 0.
    """
    new = objective.intercept and objective.loss.targets == "reals" and not (b or w.any())
    return (float(y), True) if new else (float(b), False)
