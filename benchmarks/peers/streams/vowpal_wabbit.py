"""Vowpal Wabbit's defaults, one pass in this process from its own binary cache.

Its default loss is the squared one of the labels ±1; "logistic" and "hinge" are its other ones for
two classes. The error is that of a second run with `--binary`, which reports wrong signs and learns
the same.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from benchmarks.peers.streams.progress import Progress
from benchmarks.tables import seconds

NEEDS = "vowpalwabbit"
BITS = 18  # VW's default


def one_pass(
    X: Any, y: NDArray, loss: str = "squared", settings: str = "", repeats: int = 3
) -> Progress:
    """Median seconds of a pass over the cache; `settings` is added to VW's command line."""
    with _cached(X, y) as data:
        command = f"{data} --loss_function {loss} {settings}"
        time = seconds(lambda: _mean_loss(command), repeats)
        error = _mean_loss(f"{command} --binary")
        return Progress(time, error, _mean_loss(command) if loss == "logistic" else math.nan)


def _mean_loss(command: str) -> float:
    """What VW reports as average loss: of each example before it is learned."""
    from vowpalwabbit import Workspace

    model = Workspace(command)  # it learns here, since the command names a file
    mean = model.get_sum_loss() / model.get_weighted_examples()
    model.finish()
    return mean


@contextmanager
def _cached(X: Any, y: NDArray) -> Iterator[str]:
    """The arguments that make VW read these examples from its cache, written beforehand."""
    X = sparse.csr_matrix(X)
    with tempfile.TemporaryDirectory(prefix="stepless-vw-") as folder:
        text = Path(folder) / "data.vw"
        with text.open("w") as file:
            for i, label in enumerate(y):
                row = slice(X.indptr[i], X.indptr[i + 1])
                entries = zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)
                file.write(f"{label:g} | " + " ".join(f"{j}:{x:.9g}" for j, x in entries) + "\n")
        bits = max(BITS, math.ceil(math.log2(X.shape[1])))
        data = f"-d {text} --cache_file {text}.cache -b {bits} --quiet"
        _mean_loss(data)
        yield data
