"""Text of files, made safe to print."""

from __future__ import annotations

import re

# What moves a terminal's cursor or turns the direction of writing, and halves of characters.
CONTROL = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)


def visible(text: str) -> str:
    r"""Escape control characters, so that a file's text cannot control a terminal.

    Examples
    --------
    >>> print(visible("red \x1b[31m, \n"))
    red \x1b[31m, \n
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
