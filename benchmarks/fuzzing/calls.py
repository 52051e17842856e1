"""Random sequences of calls over every estimator, as the tests walk them."""

from __future__ import annotations

from pathlib import Path

from contracts.estimators import ESTIMATORS  # of tests/
from contracts.states import walk


class Calls:
    """Cases of calls: each estimator in turn."""

    def __init__(self, folder: Path) -> None:
        self._names = list(ESTIMATORS)

    def case(self, seed: int) -> bool:
        """Take a walk; return whether most calls were accepted."""
        counts = walk(self._names[seed % len(self._names)], seed)
        return counts["done"] >= counts["refused"]
