"""Write a store in constant memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray, Array, Matrix
from stepless.compiled import entries, products
from stepless.data.bad_entries import LARGEST, first_bad_entry
from stepless.data.block import Block
from stepless.data.cuts import TreeSum, sum_blocks
from stepless.data.digest import rows_digest
from stepless.data.errors import DataError
from stepless.data.source import design_of
from stepless.data.span_rows import entry_bytes, joined, row_ends, span_checksum
from stepless.data.store_folder import StoreFolder
from stepless.data.store_header import NAME, PIECE, SPANS, Header
from stepless.design import Dense, Sparse
from stepless.design.checksum import checksum

_LEAST, _MOST = 1 << 17, 6 << 20  # bytes of a span
_SHARE = 128  # of all spans before, that a span may have in bytes


class StoreWriter:
    """Writes the rows of a store, chunk by chunk, to a folder.

    Rows are cut into spans of up to 6 MiB, eight of which are a block: small at first, so that a
    small store has blocks for several threads. The cuts depend on the rows alone, not on the
    chunks.

    Parameters
    ----------
    folder
        Where its files go.
    values
        ``"float32"`` or ``"float64"``; None for the type of the first chunk.
    width
        Number of features; None for that of the first chunk, 0 for the largest index that occurs.
    names
        Of the features.
    """

    def __init__(
        self,
        folder: StoreFolder,
        values: str | None = None,
        width: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._folder, self._values, self._names = folder, values, names
        self._width, self._grows = width, width == 0
        self._sparse: bool | None = None
        self._rows, self._bytes = 0, 0
        self._cuts, self._starts, self._checksums = [0], [0], list[int]()
        self._waiting: list[tuple[Dense | Sparse, Array]] = []  # rows of the next span
        self._wait = 0  # their bytes
        self._limit = _LEAST
        self._digest = 0
        self._first: float | None = None  # weight, while all are equal
        self._unit: float | None = None  # the first weight above 0
        self._weighted = False
        self._sums = TreeSum((), _sum_grown)
        self._leaf = np.zeros((2, 0))

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return self._rows

    def add(self, X: Matrix, y: Array, s: Array | None = None) -> None:
        """Add rows, with their targets and weights; refuse and name an entry that is not finite."""
        rows = self._accepted(X)
        self._write("targets", y)
        relative = self._weigh(np.ones(len(y)) if s is None else s)
        if isinstance(rows, Sparse) and self._rows == 0:
            self._write("indptr", np.zeros(1, np.uint64))
        self._rows += len(y)
        ends, lo = row_ends(rows), 0
        while lo < len(y):
            # a span ends with the row that makes it long enough
            hi = int(np.searchsorted(ends[1:], ends[lo] + self._limit - self._wait)) + 1
            hi = min(hi, len(y))
            self._waiting.append((rows.part(lo, hi), relative[lo:hi]))
            self._wait += int(ends[hi] - ends[lo])
            if self._wait >= self._limit:
                self._write_span()
            lo = hi

    def finish(self, classes: AnyArray | None = None, places: AnyArray | None = None) -> None:
        """Write the header and give the store its name.

        With `classes`, targets are replaced by their `places` among these.
        """
        if self._waiting:
            self._write_span()
        if len(self._checksums) % SPANS:
            self._sums.add(len(self._checksums) // SPANS, self._leaf)
        if not self._rows:
            raise DataError("there are no examples to pack")
        if not self._features:
            raise DataError("no example has a feature: there is nothing to learn from")
        if self._unit is None:
            raise DataError("sample weights are zero for every example: nothing is left to learn")
        numbers = {"targets": self._finished("targets", places)}
        if self._weighted:
            numbers["weights"] = self._finished("weights")
        self._write("sums", _grown(self._sums.whole, self._features))
        numbers["sums"] = self._finished("sums")
        header = Header(
            self._rows,
            self._features,
            self._starts[-1],
            bool(self._sparse),
            str(self._values),
            self._cuts,
            self._starts,
            self._checksums,
            rows_digest(self._rows, self._digest),
            numbers,
            self._unit or 1.0,
            None if classes is None else (classes.dtype.str, classes.tolist()),
            None if self._names is None else list(map(str, self._names)),
        )
        with self._folder.named():
            self._folder.file(NAME).write(header.text())
        self._folder.finish()

    @property
    def _features(self) -> int:
        return int(self._width or 0)

    def _accepted(self, X: Matrix) -> Dense | Sparse:
        """Return a chunk as rows of the store's kind and type; refuse another one."""
        compressed = sparse.issparse(X)
        if self._sparse is None:
            self._sparse = compressed
            self._values = self._values or ("float32" if X.dtype == np.float32 else "float64")
            self._width = X.shape[1] if self._width is None else self._width
            if self._names is not None and len(self._names) != X.shape[1]:
                raise DataError(f"there are {X.shape[1]} features, but {len(self._names)} names")
        if compressed != self._sparse:
            kinds = ("sparse", "dense") if compressed else ("dense", "sparse")
            raise DataError(
                f"the chunk after row {self._rows - 1} is {kinds[0]}, but those before are "
                f"{kinds[1]}; make them alike"
            )
        if self._grows and not isinstance(X, np.ndarray):
            self._width = max(self._features, int(X.indices.max(initial=-1)) + 1)
            X = sparse.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], self._features))
        elif X.shape[1] != self._width:
            raise DataError(
                f"the chunk after row {self._rows - 1} has {X.shape[1]} features, but those before "
                f"have {self._width}"
            )
        self._refuse_holes(X)
        return self._cast(X)

    def _refuse_holes(self, X: Matrix) -> None:
        hole = first_bad_entry(X)
        if hole is None:
            return
        i, j, value = hole
        feature = f"feature {j}" if self._names is None else f"feature {self._names[j]!r}"
        what = "NaN" if np.isnan(value) else f"{value:g}"
        raise DataError(
            f"X holds {what} in row {self._rows + i}, {feature}: every entry must be finite, and "
            f"at most {LARGEST:g} so that its square does not overflow"
        )

    def _cast(self, X: Matrix) -> Dense | Sparse:
        """Return rows of the store's type; refuse what it cannot hold."""
        if self._values == "float64":
            if X.dtype == np.float32:
                X = X.astype(np.float64)
            rows = design_of(X)
        else:
            with np.errstate(over="ignore"):  # infinity is found below
                rows = design_of(X.astype(np.float32, copy=False))
            values = rows.data if isinstance(rows, Sparse) else rows.array
            if not np.isfinite(values).all():
                raise DataError(
                    f"an entry of rows {self._rows} to {self._rows + X.shape[0] - 1} is beyond "
                    "what float32 holds; pack as float64, or rescale that feature"
                )
        assert isinstance(rows, Dense | Sparse)
        return rows

    def _weigh(self, s: Array) -> Array:
        """Keep weights unless all are equal; return them in units of the first above 0."""
        if self._first is None:
            self._first = float(s[0])
        before = self._rows
        if not self._weighted and (s != self._first).any():
            self._weighted = True
            for lo in range(0, before, PIECE):
                self._write("weights", np.full(min(PIECE, before - lo), self._first))
        if self._weighted:
            self._write("weights", s)
        if self._unit is None:
            positive = s[s > 0.0]
            self._unit = float(positive[0]) if positive.size else None
        return np.zeros(s.size) if self._unit is None else s / self._unit

    def _write_span(self) -> None:
        """Write the rows that wait, with what is known of them from now on."""
        rows = joined([rows for rows, _ in self._waiting], self._features)
        s = np.concatenate([part for _, part in self._waiting])
        self._waiting, self._wait = [], 0
        block = Block(rows, s, s)
        self._leaf = _grown(self._leaf, self._features)
        products.combination(block, self._leaf[0], s)
        products.squares(block, self._leaf[1], s)
        self._digest += int(entries.digest(block, self._cuts[-1]))
        self._checksums.append(span_checksum(rows))
        if len(self._checksums) % SPANS == 0:
            self._sums.add(len(self._checksums) // SPANS - 1, self._leaf)
            self._leaf = np.zeros((2, self._features))
        self._cuts.append(self._cuts[-1] + s.size)
        if isinstance(rows, Sparse):
            self._write("data", rows.data)
            self._write("indices", rows.indices)
            self._write("indptr", rows.indptr[1:] + np.uint64(self._starts[-1]))
        else:
            self._write("data", rows.array)
        self._starts.append(self._starts[-1] + rows.nnz)
        self._limit = min(max(self._starts[-1] * entry_bytes(rows) // _SHARE, _LEAST), _MOST)

    def _write(self, name: str, numbers: AnyArray) -> None:
        kind = numbers.dtype.newbyteorder("<")
        with self._folder.named():
            self._folder.file(f"{name}.bin").write(np.ascontiguousarray(numbers, kind).data)

    def _finished(self, name: str, places: AnyArray | None = None) -> int:
        """Return the checksum of a file of numbers, which are first replaced by their places."""
        sums, at = [], 0
        with self._folder.named():
            file = self._folder.file(f"{name}.bin")
            file.seek(0)
            while (numbers := np.frombuffer(file.read(8 * PIECE))).size:
                if places is not None:
                    numbers = places[numbers.astype(np.intp)]
                    file.seek(at)
                    file.write(numbers.data)
                at += numbers.nbytes
                file.seek(at)
                sums.append(checksum(numbers))
        return checksum(np.array(sums, np.uint64))


def _grown(sums: Array, width: int) -> Array:
    """Return sums with zeros for features that came later."""
    missing = width - sums.shape[1]
    return sums if missing <= 0 else np.pad(sums, ((0, 0), (0, missing)))


def _sum_grown(parts: list[Array]) -> Array:
    width = max(part.shape[1] for part in parts)
    found: Array = sum_blocks([_grown(part, width) for part in parts])
    return found
