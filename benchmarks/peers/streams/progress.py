"""What one pass over a stream came to."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Seconds of the pass, and means over its rows, each predicted before it was learned."""

    seconds: float
    error: float  # share of wrong signs
    loss: float = math.nan  # logarithmic, base e; nan for those who do not claim probabilities
