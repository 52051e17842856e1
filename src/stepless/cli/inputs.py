"""Files that commands read; standard input for the name "-"."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from stepless.data import DataError


def input_of(path: Path) -> Path | BinaryIO:
    """Return the path, or standard input's bytes for "-"."""
    if str(path) != "-":
        return path
    if sys.stdin is None:
        raise DataError("<stdin>: standard input is closed, so there is nothing to read")
    return sys.stdin.buffer


def input_name(path: Path) -> str:
    """Return the name that messages give to an input."""
    return "<stdin>" if str(path) == "-" else str(path)
