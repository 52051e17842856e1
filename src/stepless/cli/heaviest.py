"""The names that weigh most in a model of hashed features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stepless.report import load_model, read_header

_MOST = 10


def heaviest(model: Path) -> dict[str, str]:
    """A line for the largest weights of either sign, where names were remembered."""
    names = read_header(model)["about"].get("names")
    if not names:
        return {}
    coef = np.atleast_2d(load_model(model).coef_)
    if len(coef) > 1:
        return {}
    order = sorted(names, key=lambda j: -abs(coef[0, int(j)]))[:_MOST]
    parts = [f"{'|'.join(names[j])} {coef[0, int(j)]:+.3g}" for j in order]
    return {"heaviest": ", ".join(parts)}
