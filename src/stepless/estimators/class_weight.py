"""Class weights, validated."""

from __future__ import annotations

import math
from typing import Any

from stepless.given import real, shown


def sensible(class_weight: Any) -> Any:
    """Return what was given: None, "balanced", or a dict with a number ≥ 0 for each class.

    Examples
    --------
    >>> sensible({"spam": 2.0, "ham": 1})
    {'spam': 2.0, 'ham': 1}
    """
    if isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            if not 0.0 <= real(f"class_weight of {label!r}", weight) < math.inf:
                raise ValueError(
                    f"class_weight has {weight!r} for class {label!r}: weights must be numbers ≥ 0"
                )
    elif not (class_weight is None or class_weight == "balanced"):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dict, not {shown(class_weight)}"
        )
    return class_weight
