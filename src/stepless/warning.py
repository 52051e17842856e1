"""Warnings that point at the caller's line."""

from __future__ import annotations

import os
import sys
import warnings

_HERE = os.path.dirname(__file__) + os.sep


class NothingLearned(UserWarning):
    """The constant model is as good as any, within the gap that was asked for."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into this package, however deep the caller lies within it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
