"""Reading svmlight text, beside scikit-learn: `python benchmarks/read_svmlight.py [RUNS]`.

Both readers run in turn, and give the same arrays, or this stops. Seconds are medians by the clock;
`ratio, CPU` compares processor time over all threads, which other programs disturb less.
`memory` is the peak over what the result itself takes; `first call` includes the start of numba.
"""

from __future__ import annotations

import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from stepless.data import SvmlightData, read_svmlight

DATA = Path(os.environ.get("STEPLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))


def with_scikit_learn(path: Path) -> Any:
    if path.suffix != ".xz":
        return load_svmlight_file(str(path))
    with lzma.open(path) as file:
        return load_svmlight_file(file)


def seconds(function: Any, path: Path) -> tuple[float, float]:
    """By the clock, and of processor time over all threads."""
    clock, processor = perf_counter(), process_time()
    function(path)
    return perf_counter() - clock, process_time() - processor


def check_same(ours: SvmlightData, theirs: Any) -> None:
    X, y = theirs
    np.testing.assert_array_equal(ours.y, y)
    for name in ("data", "indices", "indptr", "shape"):
        np.testing.assert_array_equal(getattr(ours.X, name), getattr(X, name))


def compare(name: str, path: Path, megabytes: float, runs: int) -> str:
    check_same(read_svmlight(path), with_scikit_learn(path))
    times = np.array(
        [[seconds(f, path) for f in (read_svmlight, with_scikit_learn)] for _ in range(runs)]
    )
    ours, theirs = np.median(times[:, :, 0], axis=0)
    clock, processor = np.median(times[:, 1] / times[:, 0], axis=0)
    speed = f"{megabytes / ours:.0f} | {megabytes / theirs:.0f}"
    ratios = f"{clock:.1f} | {processor:.1f}"
    return f"| {name} | {megabytes:.1f} | {ours:.3f} | {theirs:.3f} | {speed} | {ratios} |"


def in_a_new_process(script: str, **environment: str) -> float:
    command = [sys.executable, "-c", script]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return float(run.stdout)


FIRST_CALL = """
from io import BytesIO
from time import perf_counter
from stepless.data import read_svmlight
start = perf_counter()
read_svmlight(BytesIO(b"1 1:1"))
print(perf_counter() - start)
"""

MEMORY = """
import re
from io import BytesIO
from pathlib import Path
from stepless.data import read_svmlight
def status(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
read_svmlight(BytesIO(b"1 1:1"))
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
X, y, _ = read_svmlight({path!r})
result = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
print((status("VmHWM") - before) * 1024 / result)
"""


def main(runs: int = 5) -> None:
    """Print the tables."""
    print("| file | MB of text | s | s, sklearn | MB/s | MB/s, sklearn | ratio | ratio, CPU |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        plain = {}
        for name in ("imdb", "connect-4"):
            packed = DATA / f"{name}.svm.xz"
            plain[name] = Path(folder) / f"{name}.svm"
            plain[name].write_bytes(lzma.decompress(packed.read_bytes()))
            megabytes = plain[name].stat().st_size / 1e6
            print(compare(name, plain[name], megabytes, runs), flush=True)
            print(compare(f"{name}, xz", packed, megabytes, runs), flush=True)
        print()
        for name, path in plain.items():
            print(f"memory, {name}: {in_a_new_process(MEMORY.format(path=str(path))):.2f}")
        cache = str(Path(folder) / "cache")
        for what in ("nothing compiled", "compiled before"):
            print(
                f"first call, {what}: {in_a_new_process(FIRST_CALL, NUMBA_CACHE_DIR=cache):.2f} s"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
