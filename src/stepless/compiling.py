"""What numba could not compile, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core.errors import NumbaError, UnsupportedBytecodeError

UNCOMPILABLE = (NumbaError, UnsupportedBytecodeError)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn numba's errors into a TypeError with the reason alone.

    Examples
    --------
    >>> from numba import njit
    >>> with in_one_sentence():
    ...     njit(lambda x: x.slop)(1.0)
    Traceback (most recent call last):
    TypeError: numba cannot compile this problem: Unknown attribute 'slop' of type float64; of a \
loss, regularizer or domain of one's own, check_loss, check_regularizer or check_domain names the \
method to blame
    """
    try:
        yield
    except UNCOMPILABLE as error:
        raise TypeError(
            f"numba cannot compile this problem: {reason(error)}; of a loss, regularizer or domain "
            "of one's own, check_loss, check_regularizer or check_domain names the method to blame"
        ) from error


def reason(error: Exception) -> str:
    """Return the line of numba's message that says something, without digests."""
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
    telling = [line for line in lines if line and not line.startswith(("Failed in", "During:"))]
    return re.sub(r"@[0-9a-f]{16}\([^)]*\)", "", telling[0]) if telling else type(error).__name__
