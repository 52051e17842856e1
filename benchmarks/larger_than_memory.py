"""Certified fits to stores beyond memory: `python -m benchmarks.larger_than_memory FOLDER`.

    python -m benchmarks.larger_than_memory FOLDER --rows 1e6,1e7,1e8 --mass 10

The strength is --mass over the number of rows. Rows like rcv1's (about 50 entries of 8 bytes each)
are generated and packed once; each fit runs in a process of its own, after one to a small store
that compiles what it needs. The table has the bytes read, in units of the rows'; the time, in units
of what reading these bytes takes at the disk's speed, which is measured just before and after by
reading all rows with next to nothing to compute; and the largest resident memory.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import stepless
from benchmarks.rcv1_like import chunks
from benchmarks.tables import table
from stepless.compiled.rows import fullest
from stepless.data import Block

WORDS = 50.0  # of a row, on average
SMALL = 200_000  # rows to compile on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--mass", type=float, default=10.0)
    parser.add_argument("--losses", default="logistic,hinge")
    parser.add_argument("--one", nargs=2, metavar=("ROWS", "LOSS"), help="a fit in this process")
    given = parser.parse_args()
    if given.one:
        print(*fitted(given.folder, int(given.one[0]), given.one[1], given.mass))
        return
    packed(given.folder, SMALL)
    rows = []
    for count in (int(float(text)) for text in given.rows.split(",")):
        packed(given.folder, count)
        for loss in given.losses.split(","):
            command = [sys.executable, "-m", "benchmarks.larger_than_memory", str(given.folder)]
            command += ["--mass", str(given.mass), "--one", str(count), loss]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append([count, loss, *done.stdout.split()])
            print(*rows[-1], flush=True)
    table(HEAD, rows)


HEAD = ("rows", "loss", "gap", "passes", "s", "÷ reading", "GB/s", "GiB", "solver")


def packed(folder: Path, rows: int) -> Path:
    """Return a store of so many rows, made if it is not there."""
    path = folder / f"rcv1-like-{rows}.store"
    if not path.exists():
        began = perf_counter()
        stepless.pack(path, chunks(rows, words=WORDS, threads=2))
        print(f"{rows} rows packed in {perf_counter() - began:.0f} s, {memory():.2f} GiB")
    return path


def fitted(folder: Path, rows: int, loss: str, mass: float) -> list[Any]:
    """Return the figures of one fit."""
    settings: dict[str, Any] = {"loss": loss, "alpha": mass / rows, "gap": 1e-3}
    stepless.LinearClassifier(**settings).fit(stepless.open(packed(folder, SMALL)))
    store = stepless.open(packed(folder, rows))
    before = speed(store)
    source = store.source()
    read, began = source.home.bytes_read, perf_counter()
    clf = stepless.LinearClassifier(**settings).fit(store)
    seconds, read = perf_counter() - began, source.home.bytes_read - read
    disk = 0.5 * (before + speed(store))
    size = source.nnz * 8
    share = seconds * disk / read
    figures = f"{clf.rel_gap_:.1e}", f"{read / size:.1f}", f"{seconds:.1f}", f"{share:.2f}"
    return [*figures, f"{disk / 1e9:.2f}", f"{memory():.1f}", clf.solver_.replace(" ", "")]


def speed(store: stepless.Store) -> float:
    """Return the bytes per second at which the rows of a store are read, and hardly used."""
    source = store.source()
    read, began = source.home.bytes_read, perf_counter()
    source.map(_glance)
    return (source.home.bytes_read - read) / (perf_counter() - began)


def _glance(block: Block) -> int:
    return int(fullest(block.X.part(0, 1)))


def memory() -> float:
    """Return the largest resident memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
