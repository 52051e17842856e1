"""Data: readers, and the source that solvers walk over."""

from stepless.data.source import Source

__all__ = ["Source"]
