"""What numba could not compile, in one sentence."""

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
check_loss, check_regularizer or check_domain says more of one of your own
    """
    try:
        yield
    except UNCOMPILABLE as error:
        method = _METHOD.search(str(error))
        what = "this problem" if method is None else f"{method[2]}.{method[1]}"
        raise TypeError(
            f"numba cannot compile {what}: {reason(error)}; check_loss, check_regularizer or "
            "check_domain says more of one of your own"
        ) from error


def reason(error: Exception) -> str:
    """Return the line of numba's message that says something, without digests."""
    text = _DIGEST.sub("", _COLOURS.sub("", str(error)))
    # Of a method that a kernel calls, what is wrong stands inside of what is wrong with the kernel.
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
