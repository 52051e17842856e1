"""The names that weigh most in a model of hashed features."""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST = 10


def heaviest(model: Any, about: dict[str, Any]) -> dict[str, str]:
    """A line for the largest weights of either sign, where names were remembered."""
    names = about.get("names")
    if not names:
        return {}
    coef = np.atleast_2d(model.coef_)
    if len(coef) > 1:
        return {}
    order = sorted(names, key=lambda j: -abs(coef[0, int(j)]))[:_MOST]
    parts = [f"{'|'.join(names[j])} {coef[0, int(j)]:+.3g}" for j in order]
    return {"heaviest": ", ".join(parts)}
