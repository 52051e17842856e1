"""Standard input, output and error as the program may find them: closed, full, or unread."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _ForgivingStderr(io.FileIO):
    def write(self, data: Any) -> int:
        """Write if possible: a message about a run must not end it."""
        try:
            return super().write(data) or len(data)
        except OSError:
            return len(data)


def prepare_standard_files() -> None:
    """Open standard files that are closed, so that no other file gets their numbers.

    Errors of writing to standard error are ignored from then on.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    encoding = getattr(sys.stderr, "encoding", "utf-8")
    # without a buffer, whose content an interrupt might write twice
    raw: Any = _ForgivingStderr(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", write_through=True)
