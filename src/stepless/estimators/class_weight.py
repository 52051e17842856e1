"""What a class counts, as the user says it."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any


def sensible(class_weight: Any) -> Any:
    """Return what was given, unless a class has a weight that is no number ≥ 0.

    Examples
    --------
    >>> sensible({"spam": 2.0, "ham": 1})
    {'spam': 2.0, 'ham': 1}
    """
    if isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            if not isinstance(weight, Real) or not 0.0 <= float(weight) < math.inf:
                raise ValueError(
                    f"class_weight has {weight!r} for class {label!r}: weights must be numbers ≥ 0"
                )
    return class_weight
