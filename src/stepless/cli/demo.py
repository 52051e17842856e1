"""`stepless demo`: a few small fits and what their certificates mean."""

from __future__ import annotations

from stepless.cli.errors import errors_as_messages


def demo() -> None:
    """Fit scikit-learn's bundled data sets in a few seconds and explain the numbers."""
    with errors_as_messages("that was the demo"):
        from stepless.cli.demo_tables import show

        show()
