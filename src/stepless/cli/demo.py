"""`stepless demo`: a few small fits and what their certificates mean."""

from __future__ import annotations

from stepless.cli.sentences import sentences


def demo() -> None:
    """Fit scikit-learn's bundled data sets in a few seconds and explain the numbers."""
    with sentences("that was the demo"):
        from stepless.cli.showing import show

        show()
