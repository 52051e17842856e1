"""Standard input, output and error as the program may find them: closed, full, or unread."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _Unheard(io.FileIO):
    """Standard error, which takes what it is told and does not mind if nobody listens."""

    def write(self, data: Any) -> int:
        """Write, if it can be: what is said of a run must not end it."""
        try:
            return super().write(data) or len(data)
        except OSError:
            return len(data)


def prepare() -> None:
    """Let no file that is opened later get the number of one that is closed, and stderr fail."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    encoding = getattr(sys.stderr, "encoding", "utf-8")
    # without a buffer, whose content an interrupt might have written twice
    raw: Any = _Unheard(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", write_through=True)
