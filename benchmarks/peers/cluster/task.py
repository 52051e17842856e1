"""What a contender on a cluster is given, and what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

WORKERS = 2  # processes or threads of one core each


@dataclass(frozen=True)
class Task:
    """Minimise J(w, b) = λ/2 ‖w‖² + mean ℓ(y_i (⟨w, x_i⟩ + b)), b free, over rows in files."""

    folder: Path
    kind: str  # "dense" (float64) or "sparse" (CSR of float32)
    loss: str  # "hinge" or "logistic"
    strength: float  # λ
    rows: int
    features: int
    parts: int

    def save(self, part: int, X: Any, y: NDArray) -> None:
        """Write a part of the rows, each array to a file."""
        arrays = {"y": y}
        if self.kind == "dense":
            arrays["X"] = X
        else:
            arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        for name, array in arrays.items():
            np.save(self.folder / f"{name}.{part}.npy", array)

    def X(self, part: int) -> Any:
        """The rows of a part."""
        if self.kind == "dense":
            return self._array("X", part)
        arrays = tuple(self._array(name, part) for name in ("data", "indices", "indptr"))
        return sparse.csr_matrix(arrays, shape=(len(arrays[2]) - 1, self.features))

    def y(self, part: int) -> NDArray[np.float64]:
        """The labels of a part, ±1."""
        return self._array("y", part)

    def _array(self, name: str, part: int) -> NDArray:
        return np.load(self.folder / f"{name}.{part}.npy")

    def objectives(self, W: NDArray, b: NDArray) -> NDArray[np.float64]:
        """J at each column of W, in float64 by numpy: the judge of every contender."""
        total = np.zeros(W.shape[1])
        for part in range(self.parts):
            margin = self.y(part)[:, None] * (self.X(part) @ W + b)
            if self.loss == "hinge":
                total += np.maximum(0.0, 1.0 - margin).sum(axis=0)
            else:
                total += np.logaddexp(0.0, -margin).sum(axis=0)
        return self.strength / 2 * (W**2).sum(axis=0) + total / self.rows


class Spent(NamedTuple):
    """Seconds on the clock, and of all cores in this process and those that it started."""

    seconds: float
    cpu: float


def spent(work: Callable[[], Any]) -> tuple[Any, Spent]:
    """Return what `work` returns, and what it took."""
    began, cpu = perf_counter(), _cpu()
    result = work()
    return result, Spent(perf_counter() - began, _cpu() - cpu)


def _cpu() -> float:
    from psutil import Process

    this = Process()
    return sum(sum(p.cpu_times()[:2]) for p in (this, *this.children(recursive=True)))


class Fit(NamedTuple):
    """A setting, what it took to load the rows into memory and to fit, and the weights."""

    setting: str
    loading: Spent
    fit: Spent
    w: NDArray
    b: float
    lower_bound: float = -math.inf


@dataclass(frozen=True)
class Contender:
    """Who fits what, and the modules that it imports."""

    losses: tuple[str, ...]
    kinds: tuple[str, ...]
    needs: tuple[str, ...]
    fits: Callable[[Task], Iterator[Fit]]

    @property
    def absent(self) -> list[str]:
        """The modules that are not installed."""
        return [module for module in self.needs if find_spec(module) is None]
