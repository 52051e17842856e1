"""A sweep in a process of its own, which is ended when a setting outlasts the patience."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.peers import Contender, Problem
from benchmarks.sweep import LONG, Sweep, sweep
from benchmarks.tables import timed

START = 300.0  # seconds to import, compile and convert
MORE = 3 * LONG  # seconds of a point beyond those of its first run, which may be repeated
SMALL = 1000  # rows of the problem that warms up


@dataclass(frozen=True)
class Apart:
    """What came of it."""

    sweep: Sweep
    first: float | None  # seconds of the process's first fit, to a small problem of the same kind,
    again: float | None  # and of the second
    failed: bool  # by an exception, which is on stderr

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self.sweep.as_dict(), "first": self.first, "again": self.again}


def sweep_apart(
    contender: Contender, problem: Problem, *, repeats: int, patience: float, floor: float
) -> Apart:
    """Sweep as `sweep` does; a setting that does not return ends the process, and is cut."""
    context = get_context("spawn")  # a fork would inherit locks of threads
    here, there = context.Pipe(duplex=False)
    task = there, contender, problem, {"repeats": repeats, "patience": patience, "floor": floor}
    process = context.Process(target=_work, args=task, daemon=True)
    process.start()
    there.close()
    told, limit, late = [], START, False
    try:
        while here.poll(limit):
            told.append(here.recv())
            limit = patience + MORE
        late = True
        process.kill()
    except EOFError:  # it has ended
        pass
    process.join()
    first, again = told.pop(0) if told else (None, None)
    found = Sweep.of(contender, told, -1.0 if late else patience)
    return Apart(found, first, again, not late and process.exitcode != 0)


def _work(out: Connection, contender: Contender, problem: Problem, limits: dict[str, Any]) -> None:
    """Send the seconds of the first two fits, and then each point."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # LIBLINEAR warns there
    warnings.simplefilter("ignore")
    import_module(contender.needs)
    every = -(-len(problem.y) // SMALL)
    small = replace(problem, X=problem.X[::every], y=problem.y[::every])
    ready = contender.prepare(small.X, small.y)
    fit = partial(contender.fit, ready, small, contender.settings[0])
    spent = [timed(fit)[0] for _ in range(2)]
    ready = contender.prepare(problem.X, problem.y)
    out.send(spent)
    for point in sweep(contender, ready, problem, None, **limits):
        out.send(point)
