"""Numba's errors in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from numba.core.errors import NumbaError, UnsupportedBytecodeError

UNCOMPILABLE = (NumbaError, UnsupportedBytecodeError)

_COLOURS = re.compile(r"\x1b\[\d*m")
_DIGEST = re.compile(r"@[0-9a-f]{16}\([^)]*\)")
_METHOD = re.compile(r"TermType'>, '(\w+)'\) for (?:[\w<>]+\.)*(\w+)@")  # and its class


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn numba's errors into a TypeError that names the method, if it is known, and the reason.

    Examples
    --------
    >>> from numba import njit
    >>> with in_one_sentence():
    ...     njit(lambda x: x.slop)(1.0)
    Traceback (most recent call last):
    TypeError: numba cannot compile this problem: Unknown attribute 'slop' of type float64; \
check_loss, check_regularizer or check_domain says more about a user-defined one
    """
    try:
        yield
    except UNCOMPILABLE as error:
        method = _METHOD.search(str(error))
        what = "this problem" if method is None else f"{method[2]}.{method[1]}"
        raise TypeError(
            f"numba cannot compile {what}: {reason(error)}; check_loss, check_regularizer or "
            "check_domain says more about a user-defined one"
        ) from error


def reason(error: Exception) -> str:
    """Return the informative line of numba's message, without digests."""
    text = _DIGEST.sub("", _COLOURS.sub("", str(error)))
    # The error of a method is nested in that of the loop that calls it.
    for before in ("raised a specific error:", "Resolution failure for literal arguments:"):
        text = text.rpartition(before)[2]
    lines = [line.strip().removeprefix("TypingError: ") for line in text.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("Failed in", "During:"))]
    if not telling:
        return type(error).__name__
    if telling[0].startswith("No implementation") and len(telling) > 1:
        code = next((before for before, line in pairwise(lines) if line == "^"), "")
        return f"there is no {telling[1].removeprefix('>>> ')}" + (f" in `{code}`" if code else "")
    return telling[0]
