"""One sentence and an exit code in place of a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer


class ExitCode(IntEnum):
    """What the program's exit says (2, wrong usage, is typer's)."""

    BAD_INPUT = 1
    GAP_NOT_MET = 3
    INTERRUPTED = 130


@contextmanager
def sentences(interrupted: str = "nothing was written") -> Iterator[None]:
    """Turn the errors of a command's body into one line on standard error and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted: {interrupted}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader has had enough; typer ends quietly
            raise
        say(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except MemoryError as error:
        say(f"the data do not fit into memory ({' '.join(str(error).split()) or 'none is left'})")
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except (ValueError, TypeError) as error:
        say(" ".join(str(error).split()))
        raise typer.Exit(ExitCode.BAD_INPUT) from None


def say(sentence: str) -> None:
    """Write a line to standard error."""
    print(f"stepless: {sentence}", file=sys.stderr, flush=True)
