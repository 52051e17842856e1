"""Errors of the readers."""

from __future__ import annotations

from typing import Self


class DataError(ValueError):
    """The input cannot be used; the message is one sentence that says where and why.

    Attributes
    ----------
    file, line, column
        Place of the error, None where it is not known. Lines count from 1; a column is a number
        from 1 on in svmlight text, and a name in a table.

    Examples
    --------
    >>> raise DataError.at("expected index:value, found 'abc'", "train.svm", 17, 23)
    Traceback (most recent call last):
        ...
    stepless.data.errors.DataError: train.svm, line 17, column 23: expected index:value, found 'abc'
    """

    column: int | str | None = None

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.file, self.line = file, line

    @classmethod
    def at(cls, reason: str, file: str, line: int, column: int | str | None = None) -> Self:
        """Return the error of a line, or of a column of it."""
        place = f"{file}, line {line}" + ("" if column is None else f", column {column!r}")
        error = cls(f"{place}: {reason}", file=file, line=line)
        error.column = column
        return error


class ZeroIndex(DataError):
    """An index 0 in a file whose indices start at 1."""
