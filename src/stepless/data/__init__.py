"""Data: readers, and the source that solvers walk over."""

from stepless.data.errors import DataError
from stepless.data.source import Source
from stepless.data.svmlight import SvmlightData, read_svmlight

__all__ = ["DataError", "Source", "SvmlightData", "read_svmlight"]
