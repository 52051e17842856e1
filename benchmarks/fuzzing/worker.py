"""A process that runs cases one by one, and may crash or hang over one."""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

MOST_SECONDS = 60.0  # of a case
MOST_TO_BEGIN = 1200.0  # models are fitted, and code compiled


class Ended(Exception):
    """The process crashed, or was ended because it took too long."""


class Worker:
    """A process of its own for one kind of cases, and its folder; in `with`, both end."""

    def __init__(self, make: Callable[[Path], Any]) -> None:
        self._folder = tempfile.mkdtemp(prefix="stepless-fuzz-")
        # not forked: neither threads nor signal handlers come along
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(make, Path(self._folder), theirs))
        self._process.start()
        theirs.close()
        self._answer(MOST_TO_BEGIN)

    def run(self, seed: int, seconds: float = MOST_SECONDS) -> tuple[bool, str]:
        """Return whether a case was accepted, and its fault if it has one.

        Raises
        ------
        Ended
            If it crashed or took longer; there must be a new worker then.
        """
        self._pipe.send(seed)
        return self._answer(seconds)

    def _answer(self, seconds: float) -> Any:
        try:
            if self._pipe.poll(seconds):
                return self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            raise Ended(f"crash: exit code {self._process.exitcode}") from None
        raise Ended(f"hang: no answer after {seconds:g} s")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.is_alive():
            os.kill(self._process.pid, signal.SIGABRT)  # it writes where it stands, if it is busy
            self._process.join(5)
            self._process.kill()
            self._process.join()
        shutil.rmtree(self._folder, ignore_errors=True)


def _serve(make: Callable[[Path], Any], folder: Path, pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    kind = make(folder)
    pipe.send(None)
    while True:
        seed = pipe.recv()
        faulthandler.enable()
        try:
            answer = kind.case(seed), ""
        except Exception as error:
            answer = False, _told(error)
        faulthandler.disable()  # who is ended between two cases does not complain
        pipe.send(answer)


def _told(error: Exception) -> str:
    """What went wrong, and where, on one line."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]} ({places})"
