"""Kernels that do little."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def light(kernel: F) -> F:
    """Mark a kernel that does so little for a row that few rows are not worth a thread."""
    kernel.light = True  # type: ignore[attr-defined]
    return kernel
