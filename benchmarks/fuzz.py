"""Damaged files, forged models, random command lines and call sequences: does anything give way?

    python -m benchmarks.fuzz [--seconds 300] [--seed 0] [--cases N]
                              [--only readers|models|commands|calls|signals]

A case is made from its kind and its seed alone: --only KIND --seed N --cases 1 repeats one. It is
right if the input is accepted and what comes of it is right (numbers as plain Python reads them,
models that predict, files that are whole), or refused in one sentence with the right exit code.
All else is a fault: a wrong number, a lost file, a traceback; and a crash or a hang, which the
processes that run the cases may die of without ending the run. Exit code 1 if there is any.
Needs the extra `test`. With NUMBA_BOUNDSCHECK=1, compiled code checks every index as well.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from benchmarks.fuzzing.worker import Ended, Worker
from benchmarks.tables import table

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # whose walks are cases here
KINDS = ("readers", "models", "commands", "calls", "signals")


class Maker:
    """Makes a kind of cases in a worker: what it needs is imported there."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, folder: Path) -> object:
        """Make it in a folder of its own."""
        module = __import__(f"benchmarks.fuzzing.{self.kind}", fromlist=["_"])
        return getattr(module, self.kind.capitalize())(folder)


def run(kind: str, first: int, cases: int | None, seconds: float) -> Counter[str]:
    """Run cases of a kind from a seed on, until there were so many or time is up."""
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        worker = stack.enter_context(Worker(Maker(kind)))
        began = perf_counter()
        seed, again = first, False
        while cases > seed - first if cases is not None else perf_counter() - began < seconds:
            try:
                accepted, fault = worker.run(seed)
            except Ended as end:
                stack.close()
                worker = stack.enter_context(Worker(Maker(kind)))
                if not again and "hang" in str(end):  # it may have compiled all that time
                    again = True
                    continue
                accepted, fault = False, str(end)
            counts["faults" if fault else "accepted" if accepted else "refused"] += 1
            if fault:
                print(f"{kind} {seed}: {fault}", flush=True)
            seed, again = seed + 1, False
    return counts


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Does anything give way?")
    parser.add_argument("--seconds", type=float, default=300.0, help="over all kinds")
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--cases", type=int, help="of each kind, in place of seconds")
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args(arguments)
    kinds = [given.only] if given.only else KINDS
    rows, faults = [], 0
    for kind in kinds:
        counts = run(kind, given.seed, given.cases, given.seconds / len(kinds))
        faults += counts["faults"]
        rows.append((kind, counts.total(), counts["accepted"], counts["refused"], counts["faults"]))
    table(("kind", "cases", "accepted", "refused", "faults"), rows)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
