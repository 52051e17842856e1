"""Random sequences of calls over every estimator, as the tests walk them."""

from __future__ import annotations

from contracts.estimators import ESTIMATORS  # of tests/
from contracts.states import walk


class Calls:
    """Cases of calls, to each estimator in turn."""

    def case(self, seed: int) -> bool:
        """Take a walk; return whether more calls did something than were refused."""
        counts = walk(list(ESTIMATORS)[seed % len(ESTIMATORS)], seed)
        return counts["done"] > counts["refused"]
