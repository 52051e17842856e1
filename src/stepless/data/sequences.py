"""Sequences of positions with features, stacked into one matrix and cut into blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple, SupportsFloat, TypeVar

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray, Indices, Matrix, MatrixLike
from stepless.cached import cached_property
from stepless.data.bad_entries import LARGEST, first_bad_entry
from stepless.data.column import Column, block_arguments
from stepless.data.cuts import block_count
from stepless.data.source import design_of
from stepless.data.threads import available_cores, map_blocks
from stepless.design import Design, Sparse

T = TypeVar("T")

_WORTH_A_BLOCK = 50_000  # entries; each position also has its part of a dynamic programme


class Sequences:
    """The positions of all sequences, one row each, and the ends of the sequences.

    Parameters
    ----------
    X
        A matrix, dense or sparse, or a design, with one row per position.
    ends
        0, then the end of each sequence.
    threads
        Number of threads; None for all cores.

    Examples
    --------
    >>> words = Sequences(np.ones((5, 2)), np.array([0, 2, 5]))
    >>> len(words), words.longest, [block.ends for block in words.blocks()]
    (2, 3, [array([0, 2, 5])])
    """

    def __init__(self, X: MatrixLike | Design, ends: Indices, threads: int | None = None) -> None:
        self.X = design_of(X)
        self.ends = np.ascontiguousarray(ends, dtype=np.int64)
        rises = self.ends.ndim == 1 and self.ends.size > 1 and (np.diff(self.ends) >= 0).all()
        if not rises or (self.ends[0], self.ends[-1]) != (0, self.X.shape[0]):
            raise ValueError(f"ends must rise from 0 to {self.X.shape[0]}, the number of positions")
        self.threads = threads or available_cores()

    def __len__(self) -> int:
        return self.ends.size - 1

    @property
    def lengths(self) -> list[int]:
        """Number of positions of each sequence."""
        return [int(length) for length in np.diff(self.ends)]

    @property
    def longest(self) -> int:
        """Length of the longest sequence."""
        return max(self.lengths)

    def positions(self, which: Indices) -> Indices:
        """Return the positions of some sequences, one after another."""
        return np.concatenate([np.arange(self.ends[i], self.ends[i + 1]) for i in which])

    def take(self, which: Indices) -> Sequences:
        """Return a copy of some sequences."""
        ends = np.concatenate([[0], np.cumsum(np.diff(self.ends)[which])])
        return Sequences(self.X.take(self.positions(which)), ends, self.threads)

    def join(self, other: Sequences) -> Sequences:
        """Return a copy of these sequences and the other's, which may have more features."""
        ends = np.concatenate([self.ends, self.ends[-1] + other.ends[1:]])
        X, Y = self.X, other.X
        if type(X) is not type(Y):
            X, Y = _sparse(X), _sparse(Y)
        return Sequences(X.join(Y), ends, self.threads)  # type: ignore[arg-type]

    @cached_property
    def cuts(self) -> list[tuple[int, int]]:
        """Ranges of sequences of the blocks, the same for any number of threads."""
        count = min(block_count(self.X.nnz, self.X.shape[1], _WORTH_A_BLOCK), len(self))
        shares = np.linspace(0, self.ends[-1], count + 1)
        cuts = np.searchsorted(self.ends, shares)  # about the same number of positions each
        return list(pairwise(cuts.tolist()))

    def blocks(self) -> list[SequenceBlock]:
        """Return the sequences in blocks, which are views."""
        return self._blocks

    @cached_property
    def _blocks(self) -> list[SequenceBlock]:
        both = ((lo, hi, *self.ends[[lo, hi]].tolist()) for lo, hi in self.cuts)
        return [
            SequenceBlock(self.X.part(first, last), self.ends[lo : hi + 1] - first)
            for lo, hi, first, last in both
        ]

    def split(self, values: AnyArray, *, positions: bool = False) -> Column:
        """Return an array, one entry per sequence or position, as a column of the same memory."""
        cuts = self.ends[np.array(self.cuts)].tolist() if positions else self.cuts
        return Column([values[lo:hi] for lo, hi in cuts])

    def map(self, loop: Callable[..., T], *shared: object) -> list[T]:
        """Call loop(block, *shared) for each block, on all threads; return results in order."""
        blocks = self._blocks
        return map_blocks(
            lambda k: loop(blocks[k], *block_arguments(k, shared)), len(blocks), self.threads
        )


class SequenceBlock(NamedTuple):
    """Consecutive sequences: their positions, and the end of each among them."""

    X: Design
    ends: Indices

    @property
    def longest(self) -> int:
        """Length of the longest sequence."""
        return int(np.diff(self.ends).max(initial=0))


class Vocabulary:
    """Map from named features to the columns of a matrix, one for each feature seen.

    A sequence is a matrix, dense or sparse, with one row per position, or a list that has, for each
    position, the names of its features (each of value 1) or a dict from names to values: a number,
    or a string, which is a category of the name, ``"name=value"``.

    Attributes
    ----------
    columns
        Column of each feature, by name; None if sequences are matrices.
    width
        Number of columns.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> words = vocabulary.learn([[{"word": "a", "cap": 1}, {"word": "b"}], [["cap"]]])
    >>> vocabulary.columns
    {'word=a': 0, 'cap': 1, 'word=b': 2}
    >>> words.X.shape, words.ends
    ((3, 3), array([0, 2, 3]))
    """

    def __init__(self) -> None:
        self.columns: dict[str, int] | None = None
        self.width = 0

    def copy(self) -> Vocabulary:
        """Return a copy that can grow while this one does not."""
        other = Vocabulary()
        other.columns = None if self.columns is None else dict(self.columns)
        other.width = self.width
        return other

    def learn(self, X: Iterable[Any], threads: int | None = None) -> Sequences:
        """Return the stacked sequences; new features get new columns."""
        return self._stack(X, threads, grow=True)

    def read(self, X: Iterable[Any], threads: int | None = None) -> Sequences:
        """Return the stacked sequences; unknown features are left out."""
        return self._stack(X, threads, grow=False)

    def _stack(self, X: Iterable[Any], threads: int | None, *, grow: bool) -> Sequences:
        if not isinstance(X, Iterable):
            raise ValueError(f"X must be a list of sequences, not {X!r}")
        sequences = list(X)
        if not sequences:
            raise ValueError("there are no sequences: X is empty")
        lengths = [_length(sequence, i) for i, sequence in enumerate(sequences)]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        kinds = {_is_matrix(sequence) for sequence in sequences}
        if len(kinds) > 1 or (self.width and kinds != {self.columns is None}):
            raise ValueError("sequences must be all matrices, or all lists of named features")
        stacked = self._matrices(sequences, grow) if True in kinds else self._names(sequences, grow)
        self._refuse_bad_entries(stacked, ends)
        return Sequences(stacked, ends, threads)

    def _matrices(self, sequences: list[Any], grow: bool) -> Matrix:
        for i, sequence in enumerate(sequences):
            if sequence.dtype.kind not in "biuf":
                raise ValueError(f"sequence {i} is a matrix of {sequence.dtype}, not of numbers")
        widths = [sequence.shape[1] for sequence in sequences]
        first = self.width or widths[0]
        strange = next((i for i, width in enumerate(widths) if width != first), None)
        if strange is not None:
            raise ValueError(f"sequence {strange} has {widths[strange]} features, not {first}")
        if grow:
            self.width = first
        if any(sparse.issparse(sequence) for sequence in sequences):
            return sparse.vstack([sparse.csr_matrix(s) for s in sequences], format="csr")
        return np.vstack(sequences)

    def _names(self, sequences: list[Any], grow: bool) -> sparse.csr_matrix:
        positions = list(chain.from_iterable(sequences))
        plain = not any(isinstance(features, Mapping | str) for features in positions)
        if plain:  # the usual case: no Python loop over names
            names: list[str] = list(chain.from_iterable(positions))
            values: Iterable[float] = repeat(1.0, len(names))
            counts = list(map(len, positions))
        else:
            pairs = [_named(features) for features in positions]
            names = [name for pair in pairs for name, _ in pair]
            values = [value for pair in pairs for _, value in pair]
            counts = list(map(len, pairs))
        if not all(issubclass(kind, str | int | np.integer) for kind in set(map(type, names))):
            strange = next(name for name in names if not isinstance(name, str | int | np.integer))
            raise ValueError(
                f"names of features are strings, not {strange!r}: give numbers as a matrix with "
                "one row per position, or in dicts"
            )
        columns = {} if self.columns is None else self.columns
        if grow:
            new = dict.fromkeys(names)
            if columns:
                new = {name: None for name in new if name not in columns}
            columns |= dict(zip(new, range(len(columns), len(columns) + len(new)), strict=True))
            self.columns, self.width = columns, len(columns)
        indices = np.fromiter(map(columns.get, names, repeat(-1)), np.int64, len(names))
        data = np.fromiter(values, np.float64, len(names))
        rows = np.repeat(np.arange(len(positions)), counts)
        known = indices >= 0
        if not known.all():
            indices, data, rows = indices[known], data[known], rows[known]
        indptr = np.zeros(len(positions) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=len(positions)), out=indptr[1:])
        shape = (len(positions), self.width)
        X = sparse.csr_matrix((data, indices.astype(np.int32), indptr), shape=shape)
        X.sum_duplicates()
        return X

    def _refuse_bad_entries(self, X: Matrix, ends: Indices) -> None:
        if (bad := first_bad_entry(X)) is None:
            return
        row, column, value = bad
        i = int(np.searchsorted(ends, row, side="right")) - 1
        names = {} if self.columns is None else {c: name for name, c in self.columns.items()}
        raise ValueError(
            f"X holds {value:g} in sequence {i}, position {row - ends[i]}, feature "
            f"{names.get(column, column)!r}: every value must be finite and below {LARGEST:g}"
        )


def _sparse(X: Design) -> Sparse:
    return X if isinstance(X, Sparse) else Sparse.of(sparse.csr_matrix(X.array))


def _is_matrix(sequence: object) -> bool:
    return sparse.issparse(sequence) or (isinstance(sequence, np.ndarray) and sequence.ndim == 2)


def _length(sequence: Any, i: int) -> int:
    if _is_matrix(sequence):
        n = int(sequence.shape[0])
    elif isinstance(sequence, Collection) and not isinstance(sequence, str):
        n = len(sequence)
        strange = [at for at in sequence if not isinstance(at, Iterable)]
        if strange:
            raise ValueError(
                f"sequence {i} has {strange[0]!r} for a position: give the names of its features, "
                "or a matrix with one row per position"
            )
    else:
        raise ValueError(f"sequence {i} is {sequence!r}: it must be a matrix or a list")
    if n == 0:
        raise ValueError(f"sequence {i} is empty: leave it out")
    return n


def _named(features: Iterable[Any]) -> list[tuple[str, float]]:
    if isinstance(features, Mapping):
        return [
            (f"{name}={value}", 1.0) if isinstance(value, str) else (str(name), _value(name, value))
            for name, value in features.items()
        ]
    if isinstance(features, str):
        raise ValueError(
            f"the features of a position are a list of names or a dict, not the string {features!r}"
        )
    return [(name, 1.0) for name in features]


def _value(name: object, value: object) -> float:
    if not isinstance(value, SupportsFloat):
        raise ValueError(
            f"the value of feature {name!r} is {value!r}: it must be a number or a string"
        )
    return float(value)
