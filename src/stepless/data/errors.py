"""What a reader says when it cannot use its input."""

from __future__ import annotations


class DataError(ValueError):
    """The input cannot be used; the message is one sentence that says where and why.

    Examples
    --------
    >>> raise DataError("train.svm, line 17, column 23: expected index:value, found 'abc'")
    Traceback (most recent call last):
        ...
    stepless.data.errors.DataError: train.svm, line 17, column 23: expected index:value, found 'abc'
    """


class ZeroIndex(DataError):
    """An index 0 in a file whose indices start at 1."""
