"""Examples in a folder, larger than memory or not."""

from __future__ import annotations

import os
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import AnyArray, Array, Mask
from stepless.cached import cached_property
from stepless.data.column import Column
from stepless.data.errors import DataError
from stepless.data.source import Source
from stepless.data.store_files import StoreFiles
from stepless.data.stored_rows import StoredRows


class Store:
    """Examples that `pack` wrote to a folder, to be given to `fit` in place of X and y.

    Rows stay on the disk and are read block by block in each pass; targets and weights, a number
    each per example, are in memory. Files that were cut short or are of another format are refused
    when a store is opened; blocks are compared with their checksums when they are first read.

    Attributes
    ----------
    path, shape, nnz
        Its folder; numbers of examples and features, and of entries. `len` leaves out the examples
        that `where` does.
    labels
        Those of a classifier's examples, sorted; None if targets are numbers.
    names
        Those of the features, or None.
    home
        The rows, as a `Source` reads them.
    y, weights
        The label or number of each example; weights, or None if all are equal.

    Examples
    --------
    >>> import tempfile
    >>> from stepless import LinearClassifier, open, pack
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pack(f"{folder}/some.store", [[0.0], [1.0], [3.0]], ["a", "b", "b"])
    ...     store = open(f"{folder}/some.store")
    ...     model = LinearClassifier(alpha=0.1).fit(store)
    ...     store.shape, store.classes.tolist(), model.predict(store).tolist()
    ((3, 1), ['a', 'b'], ['a', 'b', 'b'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._files = StoreFiles(path)
        header = self._files.header
        self.path, self.nnz, self.names = self._files.path, header.entries, header.names
        self.shape, self.labels = (header.rows, header.features), header.labels
        self.home = StoredRows(self._files)
        self._mask: Mask | None = None

    @cached_property
    def targets(self) -> Column:
        """Numbers to predict, or the places of labels among those of the whole store."""
        return self.home.column(self._files.numbers("targets"))

    @property
    def y(self) -> AnyArray:
        """The label or number of each example."""
        if self.labels is None:
            return self.targets.whole
        found: AnyArray = self.labels[self.targets.whole.astype(np.intp)]
        return found

    @property
    def weights(self) -> Array | None:
        """Sample weights, 0 for examples left out; None if all are equal."""
        if "weights" not in self._files.header.numbers:
            return None if self._mask is None else self._mask.astype(np.float64)
        s = self._files.numbers("weights")
        return s if self._mask is None else s * self._mask

    @cached_property
    def classes(self) -> AnyArray | None:
        """Labels of examples that are not left out, sorted; None if targets are numbers."""
        if self.labels is None or self._mask is None:
            return self.labels
        places = self.targets.whole[self._mask].astype(np.intp)
        found: AnyArray = self.labels[np.bincount(places, minlength=len(self.labels)) > 0]
        return found

    @property
    def mask(self) -> Mask | None:
        """Which examples are not left out; None if all."""
        return self._mask

    def __len__(self) -> int:
        return self.shape[0] if self._mask is None else int(np.count_nonzero(self._mask))

    def __repr__(self) -> str:
        return f"Store({self.path!r}: {', '.join(self.facts().values())})"

    def facts(self) -> dict[str, str]:
        """Return what it holds, in words."""
        (m, d), header = self.shape, self._files.header
        some = "" if self._mask is None else f"{len(self)} of "
        kind = f"sparse, {self.nnz} entries" if header.sparse else "dense"
        targets = "numbers" if self.labels is None else f"{len(self.labels)} classes"
        bytes_ = sum(map(header.size, header.files()))
        blocks = len(self.home.cuts)
        return {
            "examples": f"{some}{m} × {d}",
            "values": f"{header.values}, {kind}",
            "targets": targets,
            "weights": "weighted" if "weights" in header.numbers else "equal weights",
            "on disk": f"{bytes_ / 1e6:.3g} MB in {blocks} block{'s' * (blocks != 1)}",
        }

    def source(
        self,
        y: Column | None = None,
        s: Array | None = None,
        threads: int | None = None,
    ) -> Source:
        """Return the examples as solvers take them, with other targets or weights if given.

        Under the store's own weights, means and sizes of features cost no pass: they were summed up
        when it was packed.
        """
        own = self.weights if s is None else None
        source = Source(
            self.home, self.targets if y is None else y, own if s is None else s, threads
        )
        if s is None and self._mask is None:
            sums = self._files.numbers("sums").reshape(2, -1)
            total = self.shape[0] if own is None else own.sum() / self._files.header.unit
            source.means, source.sizes = sums[0] / total, np.sqrt(sums[1] / total)
        return source

    def where(self, mask: ArrayLike) -> Store:
        """Return the same examples, of which those outside the mask have weight 0.

        Nothing is copied, and nothing is left out of a pass: for cross-validation, fit to
        ``store.where(train)`` and score on ``store.where(~train)``.
        """
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != self.shape[:1]:
            raise ValueError(
                f"a mask has a True or False for each of {self.shape[0]} examples, but this one is "
                f"{chosen.dtype} of shape {chosen.shape}"
            )
        if self._mask is not None:
            chosen = chosen & self._mask
        if not chosen.any():
            raise ValueError("the mask leaves no examples")
        other = copy(self)
        vars(other).pop("classes", None)
        other._mask = chosen
        return other

    def __copy__(self) -> Store:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __reduce__(self) -> Any:
        return _reopened, (self.path, self._files.header.text(), self._mask)


def _reopened(path: str, header: bytes, mask: Mask | None) -> Store:
    """Return a pickled store; refuse another one of the same name."""
    store = Store(path)
    if store._files.header.text() != header:
        raise DataError(f"{path}: is not the store that was pickled, but another one", file=path)
    return store if mask is None else store.where(mask)


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder, as stores are, whole or not."""
    return os.path.isdir(path)
