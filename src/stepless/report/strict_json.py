"""JSON without NaN, Infinity and control characters, for every reader and every terminal."""

from __future__ import annotations

import json
import math

from stepless.visible import CONTROL


def strict_json(value: object, indent: int | None = None) -> str:
    """Return JSON in which numbers that are not finite have become null.

    Examples
    --------
    >>> strict_json({"gap": math.inf, "classes": [0, 1]})
    '{"gap": null, "classes": [0, 1]}'
    """
    text = json.dumps(_finite(value), indent=indent, allow_nan=False, ensure_ascii=False)
    # JSON itself has no control characters but line breaks
    lines = (CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", s) for s in text.split("\n"))
    return "\n".join(lines)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
