"""A mark for loops that do little per row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def light(loop: F) -> F:
    """Mark a loop that does so little per row that few rows are not worth a thread."""
    loop.light = True  # type: ignore[attr-defined]
    return loop
