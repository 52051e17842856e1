"""What a command reads from: a file, or standard input for the name "-"."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from stepless.data import DataError


def source(path: Path) -> Path | BinaryIO:
    """The path, or standard input's bytes."""
    if str(path) != "-":
        return path
    if sys.stdin is None:
        raise DataError("<stdin>: standard input is closed, so that there is nothing to read")
    return sys.stdin.buffer


def called(path: Path) -> str:
    """How messages name it."""
    return "<stdin>" if str(path) == "-" else str(path)
