"""Damaged files, forged models, random command lines and call sequences: look for what gives way.

    python -m benchmarks.fuzz [--seconds 300] [--seed 0] [--cases N]
                              [--only readers|models|commands|calls|signals]

A case is made from its kind and its seed alone: --only KIND --seed N --cases 1 repeats one. It is
right if the input is accepted and what comes of it is right (numbers as plain Python reads them,
models that predict, files that are whole), or refused in one sentence with the right exit code.
All else is a fault: a wrong number, a lost file, a traceback; and a crash or a hang, which ends the
process that runs the cases, not the run. Exit code 1 if there is any. Needs the extra `test`. With
NUMBA_BOUNDSCHECK=1, compiled code checks every index as well.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.tables import table
from stepless.visible import visible

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # whose walks are cases here
KINDS = ("readers", "models", "commands", "calls", "signals")
MOST_SECONDS = 60.0  # of a case
MOST_TO_BEGIN = 1800.0  # models are fitted, and code compiled
MOST_MEMORY = 8 << 30  # bytes of a process; whoever asks for more shall not end others
_here: Any = None  # the kind of cases that this process runs


class Worker(ProcessPoolExecutor):
    """A process for one kind of cases, begun anew, not forked: no thread or handler comes along."""

    def __init__(self, kind: str, folder: str) -> None:
        super().__init__(1, get_context("spawn"), initializer=_begin, initargs=(kind, folder))
        self._id = self.submit(os.getpid).result(MOST_TO_BEGIN)

    def run(self, seed: int) -> tuple[bool, str]:
        """Return whether a case was accepted, and its fault if it has one."""
        try:
            return self.submit(_case, seed).result(MOST_SECONDS)
        except TimeoutError:
            os.kill(self._id, signal.SIGABRT)  # it writes where it stands
            return False, "hang"
        except BrokenProcessPool:
            return False, "crash"


def _begin(kind: str, folder: str) -> None:
    global _here  # noqa: PLW0603
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    warnings.simplefilter("ignore")
    module = import_module(f"benchmarks.fuzzing.{kind}")
    os.chdir(folder)
    _here = getattr(module, kind.capitalize())()


def _case(seed: int) -> tuple[bool, str]:
    try:
        return _here.case(seed), ""
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        places = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
        return False, f"{type(error).__name__}: {visible(str(error))[:500]} ({places})"


def run(kind: str, first: int, cases: int | None, seconds: float) -> Counter[str]:
    """Run cases of a kind from a seed on, until there were so many or time is up."""
    counts: Counter[str] = Counter()
    seed, slow = first, -1
    began: float | None = None
    while True:
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            Worker(kind, folder) as worker,
        ):
            began = perf_counter() if began is None else began
            fault = ""
            while fault not in ("hang", "crash"):
                past = perf_counter() - began >= seconds
                if past if cases is None else seed - first >= cases:
                    return counts
                accepted, fault = worker.run(seed)
                if fault == "hang" and slow != seed:  # it may have compiled all that time
                    slow = seed
                    break
                counts["faults" if fault else "accepted" if accepted else "refused"] += 1
                if fault:
                    print(f"{kind} {seed}: {fault}", flush=True)
                seed += 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Does anything give way?")
    parser.add_argument("--seconds", type=float, default=300.0, help="over all kinds")
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--cases", type=int, help="of each kind, in place of seconds")
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args(arguments)
    kinds = [given.only] if given.only else KINDS
    counts = {k: run(k, given.seed, given.cases, given.seconds / len(kinds)) for k in kinds}
    ends = ("accepted", "refused", "faults")
    rows = [(kind, c.total(), *(c[end] for end in ends)) for kind, c in counts.items()]
    table(("kind", "cases", *ends), rows)
    return int(any(c["faults"] for c in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
