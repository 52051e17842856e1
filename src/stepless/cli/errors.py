"""Errors of commands as one line on standard error and an exit code, in place of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from threading import Thread
from traceback import walk_tb

import typer

from stepless.cli.memory import refuse_small_memory
from stepless.visible import visible


class ExitCode(IntEnum):
    """Exit codes of the program; 2, wrong usage, is typer's."""

    BAD_INPUT = 1
    GAP_NOT_MET = 3
    INTERRUPTED = 130


@contextmanager
def errors_as_messages(interrupted: str = "nothing was written") -> Iterator[None]:
    """Turn the errors of a command's body into one line on standard error and an exit code."""
    try:
        refuse_small_memory()
        yield
    except KeyboardInterrupt:
        print_message(f"interrupted: {interrupted}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except (OSError, MemoryError, ValueError, TypeError) as error:
        if isinstance(error, BrokenPipeError):  # the reader has had enough; typer ends quietly
            raise
        print_message(message_of(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except RuntimeError as error:
        # starting a thread raised it? Python gives that error no class of its own
        frames = (frame for frame, _ in walk_tb(error.__traceback__))
        if all(frame.f_code is not Thread.start.__code__ for frame in frames):
            raise
        print_message(
            "the system allows no more threads: memory or processes are limited (ulimit -v, -u)"
        )
        raise typer.Exit(ExitCode.BAD_INPUT) from None


def message_of(error: BaseException) -> str:
    """Return what went wrong, on one line."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"the data do not fit into memory ({words or 'none is left'})"
    return words


def print_message(message: str) -> None:
    """Write a line to standard error."""
    print(f"stepless: {visible(message)}", file=sys.stderr, flush=True)
