"""One sentence and an exit code in place of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from stepless.cli.memory import refuse_small_memory
from stepless.visible import visible


class ExitCode(IntEnum):
    """What the program's exit says (2, wrong usage, is typer's)."""

    BAD_INPUT = 1
    GAP_NOT_MET = 3
    INTERRUPTED = 130


@contextmanager
def sentences(interrupted: str = "nothing was written") -> Iterator[None]:
    """Turn the errors of a command's body into one line on standard error and an exit code."""
    try:
        refuse_small_memory()
        yield
    except KeyboardInterrupt:
        say(f"interrupted: {interrupted}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except (OSError, MemoryError, ValueError, TypeError) as error:
        if isinstance(error, BrokenPipeError):  # the reader has had enough; typer ends quietly
            raise
        say(sentence_of(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except RuntimeError as error:
        if "new thread" not in str(error):
            raise
        say("the system allows no more threads: memory or processes are limited (ulimit -v, -u)")
        raise typer.Exit(ExitCode.BAD_INPUT) from None


def sentence_of(error: BaseException) -> str:
    """What went wrong, on one line."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"the data do not fit into memory ({words or 'none is left'})"
    return words


def say(sentence: str) -> None:
    """Write a line to standard error."""
    print(f"stepless: {visible(sentence)}", file=sys.stderr, flush=True)
