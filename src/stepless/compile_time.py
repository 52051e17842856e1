"""The number of functions compiled by this process, and the time that took."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from numba.core import event

NOTEWORTHY = 0.1  # seconds; fewer are not reported


class CompileTime(event.Listener):
    """A listener to numba's compiling; code that was found on disk does not count."""

    def __init__(self) -> None:
        self.functions = 0
        self.seconds = 0.0
        self._began = 0.0
        self._depth = 0  # compiling one function may need another one

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.functions += 1
            self.seconds += perf_counter() - self._began


COMPILED = CompileTime()
event.register("numba:compile", COMPILED)
