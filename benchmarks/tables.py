"""Tables in markdown, their cells, and a stopwatch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

NEVER, UNTRIED = "–", "…"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a markdown table."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(_cell(value) for value in row) + " |", flush=True)
    print()


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def time_cell(seconds: float, cut: bool = False) -> str:
    """Seconds to a target: never reached, or not before the patience was cut."""
    if math.isfinite(seconds):
        return f"{seconds:.3g}"
    return UNTRIED if cut else NEVER


def ratio_cell(theirs: float, ours: float) -> str:
    return f"{theirs / ours:.2f}" if math.isfinite(theirs) and math.isfinite(ours) else NEVER


def seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median of several runs, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return median(times)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one run, and what it returns."""
    began = perf_counter()
    result = work()
    return perf_counter() - began, result
