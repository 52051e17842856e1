"""JSON that every reader accepts: no NaN, no Infinity; and every terminal: nothing hidden."""

from __future__ import annotations

import json
import math
from typing import Any

from stepless.visible import CONTROL


def strict_json(value: Any, indent: int | None = None) -> str:
    """Write JSON in which a number that is not finite has become null.

    Examples
    --------
    >>> strict_json({"gap": math.inf, "classes": [0, 1]})
    '{"gap": null, "classes": [0, 1]}'
    """
    text = json.dumps(_finite(value), indent=indent, allow_nan=False, ensure_ascii=False)
    # of JSON itself only line breaks are control characters
    lines = (CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", s) for s in text.split("\n"))
    return "\n".join(lines)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
