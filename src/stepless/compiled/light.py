"""Marks for loops that need less than others: no rows, or few of their thread's time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def rowless(loop: F) -> F:
    """Mark a loop that reads targets, weights and columns of a block, but not its rows."""
    loop.rowless = True  # type: ignore[attr-defined]
    return loop


def light(loop: F) -> F:
    """Mark a rowless loop that does so little per row that few rows are not worth a thread."""
    loop.light = True  # type: ignore[attr-defined]
    return rowless(loop)
