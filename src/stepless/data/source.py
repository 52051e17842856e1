"""Examples in memory, walked over by blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stepless.cached import cached_property
from stepless.data.cuts import block_count, merged
from stepless.data.threads import available_cores, map_blocks
from stepless.design import Dense, Design, Sparse
from stepless.given import shown
from stepless.kernels import oracle, products

T = TypeVar("T")

_LINE = 16  # numbers: two cache lines
_WORTH_A_BLOCK = 100_000  # entries; below, handing work over costs more than doing it


class Source:
    """Design, targets and sample weights, mapped over by blocks of rows.

    Weights are scaled to mean 1 unless `scaled` is false: a stream's mean is not known.

    Examples
    --------
    >>> source = Source(np.ones((4, 2)), np.array([1.0, -1.0, 1.0, 1.0]), threads=1)
    >>> source.shape, source.map(lambda block, lo, hi: hi - lo)
    ((4, 2), [4])
    """

    def __init__(
        self,
        X: Any,
        y: NDArray,
        s: NDArray | None = None,
        threads: int | None = None,
        *,
        scaled: bool = True,
    ) -> None:
        self.X = design_of(X)
        self.y = self._column("targets", y)
        s = self._column("sample weights", np.ones(self.shape[0]) if s is None else s)
        if not (np.isfinite(s).all() and (s >= 0.0).all() and s.any()):
            raise ValueError("sample weights must be finite and ≥ 0, and not all of them 0")
        self.s = s * (s.size / s.sum()) if scaled else s
        if not (threads is None or (isinstance(threads, Integral) and threads >= 1)):
            raise ValueError(f"threads must be a positive whole number, not {shown(threads)}")
        self.threads = available_cores() if threads is None else int(threads)
        self._settle()

    def _settle(self) -> None:
        """What follows from the rows; copies that share them share it."""
        self._blocks = self._cut()
        self._digests: list[int] = []
        vars(self).pop("sizes", None)

    def relabelled(self, y: NDArray) -> Source:
        """Return the same examples and weights with other targets; nothing large is copied."""
        other = copy(self)
        other.y = self._column("targets", y)
        return other

    def take(self, rows: NDArray) -> Source:
        """Return a copy of some examples; they keep the weights that they have here."""
        other = copy(self)
        other.X, other.y, other.s = self.X.take(rows), self.y[rows], self.s[rows]
        other._settle()
        return other

    def join(self, other: Source) -> Source:
        """Return a copy of these examples and then the other's."""
        both = copy(self)
        both.X = self.X.join(other.X)  # type: ignore[arg-type]
        both.y, both.s = np.concatenate([self.y, other.y]), np.concatenate([self.s, other.s])
        both._settle()
        return both

    def predictions(self, w: NDArray, b: float = 0.0) -> NDArray:
        """⟨w, x_i⟩ + b for each example."""
        z = np.empty(self.shape[0])
        self.map(lambda k, lo, hi: oracle.predictions(self.X, w, b, z, lo, hi))
        return z

    def combination(self, a: NDArray) -> NDArray:
        """Σ a_i x_i; examples of weight 0 cost nothing."""
        return self._sum((self.shape[1],), products.combination, a)

    def squares(self, c: NDArray) -> NDArray:
        """Σ c_i x_ij² for each feature j."""
        return self._sum((self.shape[1],), products.squares, c)

    def curved(self, c: NDArray, v: NDArray) -> NDArray:
        """Σ c_i ⟨x_i, v⟩ x_i."""
        return self._sum((self.shape[1],), products.curved, c, v)

    def gram(self, c: NDArray, ones: bool) -> NDArray:
        """Lower triangle of Σ c_i x_i x_iᵀ; with `ones`, each x_i has a last entry of 1."""
        size = self.shape[1] + ones
        return self._sum((size, size), products.gram, c, self.shape[1])

    def _sum(self, shape: tuple[int, ...], kernel: Any, *factors: Any) -> NDArray:
        # A gap between the parts: threads that write to one cache line wait for each other.
        size = math.prod(shape)
        blocks = merged(self.blocks(), size)
        parts = [np.empty(size + _LINE)[:size].reshape(shape) for _ in blocks]
        map_blocks(
            lambda k, lo, hi: kernel(self.X, *factors, parts[k], lo, hi), blocks, self.threads
        )
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)

    def _column(self, name: str, values: Any) -> NDArray:
        """One number for each row: kernels do not look whether there is one."""
        try:
            column = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{name} must be numbers, not {shown(values)}") from error
        if column.shape != self.shape[:1]:
            raise ValueError(
                f"there are {self.shape[0]} examples, but {name} of shape {column.shape}"
            )
        return column

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @cached_property
    def sizes(self) -> NDArray:
        """Root mean square of each feature."""
        return np.sqrt(self.squares(self.s) / self.shape[0])

    def digests(self) -> tuple[int, ...]:
        """A number for each block, of all that its rows hold; those of equal examples are equal."""
        if not self._digests:
            self._digests[:] = self.map(lambda k, lo, hi: self.X.digest(lo, hi))
        return tuple(self._digests)

    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of rows, the same for any number of threads."""
        return self._blocks

    def _cut(self) -> list[tuple[int, int]]:
        count = block_count(self.X.nnz, self.shape[1], _WORTH_A_BLOCK)
        cuts = np.linspace(0, self.shape[0], count + 1).astype(int).tolist()
        return list(pairwise(cuts))

    def map(self, function: Callable[[int, int, int], T]) -> list[T]:
        """Call function(block, lo, hi) for each block, on all threads; results in order."""
        return map_blocks(function, self.blocks(), self.threads)


def design_of(X: Any) -> Design:
    """Take a matrix of any kind, or a design that somebody has made already."""
    if isinstance(X, Design):
        return X
    return Sparse.of(X) if sparse.issparse(X) else Dense.of(np.asarray(X))
