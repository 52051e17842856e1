"""Outputs of commands: never over an input, and never two to one place."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stepless.cli.options import STDOUT
from stepless.data import DataError
from stepless.interrupts import uninterrupted
from stepless.report.atomic import Output, descriptor_of, is_direct, refuse_output
from stepless.visible import visible

_STDIN = Path("/dev/stdin")


def is_stdout(path: Path | None) -> bool:
    """Return whether an output is standard output."""
    return path is not None and descriptor_of(path) == 1


def refuse_outputs(outputs: dict[str, Path | None], inputs: dict[str, Path | None]) -> None:
    """Raise if an output is also an input or another output, or cannot be written.

    Both are given by the names of their options. No file is opened for writing before all of them
    are checked.
    """
    read = {name: path for name, path in inputs.items() if path is not None}
    written = {name: path for name, path in outputs.items() if path is not None}
    for path in read.values():
        if descriptor_of(path) in (1, 2):  # a terminal would be waited for, for ever
            raise DataError(f"{path}: is for output, so there is nothing to read")
    standard = [name for name, path in read.items() if str(path) == "-"]
    if len(standard) > 1:
        raise ValueError(f"{' and '.join(standard)} cannot both be read from standard input")
    for k, (name, path) in enumerate(written.items()):
        for source in read.values():
            if _same_file(
                path, _STDIN if str(source) == "-" else source, (stat.S_ISCHR, stat.S_ISSOCK)
            ):
                raise DataError(f"{path}: the output would overwrite an input; choose another name")
        for other in list(written)[:k]:
            if _same_file(path, written[other], ()):
                raise ValueError(f"{path}: {other} and {name} cannot both go there; choose another")
    for path in written.values():
        refuse_output(path)


class WritingState:
    """A flag: True if a signal came while files were written."""

    interrupted = False


@contextmanager
def uninterrupted_writing(*paths: Path | None) -> Iterator[WritingState]:
    """Write all of the files or none: a signal meanwhile is only noted.

    If one of them is a pipe, which may keep us waiting for ever, signals interrupt as always.
    """
    state, written = WritingState(), False
    if any(path is not None and is_direct(path) for path in paths):
        yield state
        return
    try:
        with uninterrupted():
            yield state
            written = True
    except KeyboardInterrupt:
        if not written:
            raise
        state.interrupted = True


def write_text(text: str, to_stderr: bool = False, done: str = "") -> None:
    """Write lines to standard output, or standard error: all of them, or raise OSError.

    The error also says what is `done` by then.
    """
    text = "\n".join(map(visible, text.split("\n"))) + "\n"
    if to_stderr:
        print(text, end="", file=sys.stderr, flush=True)
        return
    try:
        with Output(STDOUT) as output:
            encoding = sys.stdout.encoding or "utf-8"
            output.write(text.encode(encoding, "backslashreplace"))
    except OSError as error:
        why = f"{error.strerror}; {done}" if done else error.strerror
        raise OSError(error.errno, why, error.filename) from None


def prediction_lines(rows: list[Any], last: list[str] | None = None) -> bytes:
    """Return predictions, one per line, with a `last` column if given; blanks separate columns."""
    if isinstance(rows[0], list):
        rows = [" ".join(map(str, row)) for row in rows]
    elif isinstance(rows[0], str):
        rows = list(map(visible, rows))
    if last is not None:
        rows = [f"{row} {word}" for row, word in zip(rows, last, strict=True)]
    return "".join(f"{row}\n" for row in rows).encode()


def _same_file(one: Path, other: Path, harmless: tuple[Callable[[int], bool], ...]) -> bool:
    """Return whether two paths are one file that is neither /dev/null nor of a `harmless` kind."""
    try:
        first, second = _status(one), _status(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
    if not os.path.samestat(first, second):
        return False
    nothing = os.path.samestat(first, os.stat(os.devnull))
    return not nothing and not any(kind(first.st_mode) for kind in harmless)


def _status(path: Path) -> os.stat_result:
    descriptor = descriptor_of(path)
    return os.stat(path) if descriptor is None else os.fstat(descriptor)
