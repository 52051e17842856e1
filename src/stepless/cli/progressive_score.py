"""Progressive validation of a stream, and the lines that show it while the stream goes on."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from stepless.compile_time import COMPILED
from stepless.data import Skipped
from stepless.report.text import counted

_HEAD = f"{'examples':>12} {'loss since':>10} {'loss so far':>11} {'error':>8} {'per second':>10}"


@dataclass
class ProgressiveScore:
    """Progressive validation so far: each example is scored before it is learned."""

    examples: int = 0
    mistakes: int | None = None  # of a classifier
    loss: float = 0.0  # the mean of all
    skipped: Skipped = field(default_factory=Skipped)
    began: float = field(default_factory=lambda: perf_counter() - COMPILED.seconds)
    seconds: float = 0.0  # without those of compiling

    @property
    def elapsed(self) -> float:
        """Seconds so far, without those of compiling, which later streams are spared."""
        return perf_counter() - self.began - COMPILED.seconds

    @property
    def error(self) -> float | None:
        """The share of mistakes."""
        return None if self.mistakes is None else self.mistakes / max(self.examples, 1)

    @property
    def rate(self) -> float:
        """Examples per second."""
        return self.examples / max(self.seconds, 1e-9)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, for JSON."""
        return {
            "examples": self.examples,
            "seconds": self.seconds,
            "examples_per_second": self.rate,
            "progressive_loss": self.loss,
            "progressive_error": self.error,
            "skipped": self.skipped.count,
            "skipped_because": self.skipped.messages,
        }

    def in_words(self) -> dict[str, str]:
        """Return the rows that a stream adds to a fit's description."""
        error = "" if self.error is None else f", {100 * self.error:.2f} % wrong"
        rows = {
            "stream": f"{counted(self.examples, 'example')} in {self.seconds:.3g} s, "
            f"{self.rate:,.0f} per second",
            "progressive": f"mean loss {self.loss:.6g}{error}, each scored before it was learned",
        }
        if self.skipped.count:
            first = self.skipped.messages[0]
            rows["skipped"] = f"{counted(self.skipped.count, 'line')}; first: {first}"
        return rows


class ProgressTable:
    """Lines on standard error, one each time that the examples have doubled."""

    def __init__(self) -> None:
        self._due = 1  # examples after which the next line is due
        self._last = (0, 0.0)  # examples and total loss of the last line

    def update(self, score: ProgressiveScore) -> None:
        """Write a line if one is due."""
        if score.examples < self._due:
            return
        before, cost = self._last
        if before == 0:
            print(_HEAD, file=sys.stderr)
        total = score.loss * score.examples
        since = (total - cost) / (score.examples - before)
        error = "" if score.error is None else f"{100 * score.error:.2f} %"
        rate = score.examples / max(score.elapsed, 1e-9)
        print(
            f"{score.examples:>12,} {since:>10.4f} {score.loss:>11.4f} {error:>8} {rate:>10,.0f}",
            file=sys.stderr,
            flush=True,
        )
        self._last, self._due = (score.examples, total), 2 * score.examples
