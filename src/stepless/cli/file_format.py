"""The format of a file of examples, and the columns that its features become."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray
from stepless.cli.fit_options import Format, StreamOptions
from stepless.cli.inputs import input_name, input_of
from stepless.cli.names import CHUNK_ROWS, HASH_BITS
from stepless.data import Chunks, DataError, Hashing, csv_chunks, svmlight_chunks

_LISTS = ("categorical", "ignore", "columns")
_TYPES: dict[str, Any] = {
    "csv": bool,
    "zero_based": bool,
    "bits": int | None,
    "features": int | None,
    "target": str | None,
}
_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.xz", ".tsv.xz", ".csv.bz2", ".tsv.bz2")


@dataclass(frozen=True)
class FileFormat:
    """LIBSVM text or CSV, with features as numbered or hashed, and the roles of columns."""

    csv: bool = False
    zero_based: bool = False
    bits: int | None = None  # None: the file's own indices
    features: int | None = None
    target: str | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None  # of features; None: not known, as in old model files

    @classmethod
    def of(cls, path: Path, options: StreamOptions, zero_based: bool) -> FileFormat:
        """Return the format that options name, or else the file's name; refuse contradictions."""
        csv = options.format == Format.csv or (options.format == Format.auto and is_table(path))
        target, features = options.target, options.features
        categorical, ignore = map(comma_separated, (options.categorical, options.ignore))
        if csv and target is None:
            raise ValueError("a table needs --target, the column of labels")
        if csv and features is not None:
            raise ValueError("--features is for LIBSVM text; a table's features are hashed, --hash")
        if not csv and (target or categorical or ignore):
            raise ValueError(
                "--target, --categorical and --ignore are for tables: say --format csv"
            )
        if options.bits is not None and features is not None:
            raise ValueError("choose one of --hash and --features")
        bits = options.bits or HASH_BITS if features is None else None
        return cls(csv, zero_based, bits, features, target, categorical, ignore)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for a model file."""
        return asdict(self)

    @classmethod
    def restored(cls, facts: dict[str, Any]) -> FileFormat:
        """Undo `as_dict`; TypeError if a file holds something else."""
        lists = {name: facts[name] for name in _LISTS if facts.get(name) is not None}
        form = cls(**(facts | {name: tuple(names) for name, names in lists.items()}))
        for name, kind in _TYPES.items():
            if not isinstance(getattr(form, name), kind):
                raise TypeError(f"{name} is {getattr(form, name)!r:.80}")
        for name, names in lists.items():
            if not (isinstance(names, list) and all(isinstance(part, str) for part in names)):
                raise TypeError(f"{name} is {names!r:.80}")
        if form.bits is not None:
            Hashing(form.bits)  # refuses too many
        return form

    @property
    def width(self) -> int:
        """The number of columns."""
        return 1 << self.bits if self.bits is not None else int(self.features or 0)

    def chunks(
        self,
        path: Path,
        on_error: Literal["stop", "skip"] = "stop",
        hashing: Hashing | None = None,
        **roles: Any,
    ) -> Chunks:
        """Return the examples in chunks; of standard input for the path "-".

        `roles` say what a table's columns are for, if it is not a table to learn from.
        """
        data, bits = input_of(path), hashing or self.bits
        cut: dict[str, Any] = {"rows": CHUNK_ROWS, "on_error": on_error}
        if self.csv:
            roles = roles or {"target": self.target, "ignore": self.ignore}
            return csv_chunks(
                data, hash_bits=bits or HASH_BITS, categorical=self.categorical, **cut, **roles
            )
        where = {"n_features": self.features} if bits is None else {"hash_bits": bits}
        return svmlight_chunks(data, zero_based=self.zero_based, **cut, **where)

    def read(self, path: Path, labelled: bool = True) -> tuple[sparse.csr_matrix, AnyArray]:
        """Read all examples of a file like the one that was learned from.

        It may lack the columns that are left out and, unless `labelled`, the target.
        """
        spare = self.ignore if labelled else (*self.ignore, str(self.target))
        target = self.target if labelled else None
        parts = list(self.chunks(path, target=target, optional=spare, columns=self.columns))
        if not parts:
            raise DataError(f"{input_name(path)}: holds no examples")
        X = sparse.vstack([part.X for part in parts], format="csr")
        return X, np.concatenate([part.y for part in parts])


def is_table(path: Path) -> bool:
    """Return whether a file's name says that it is CSV."""
    return path.name.lower().endswith(_TABLES)


def comma_separated(listed: str | None) -> tuple[str, ...]:
    """Return the names in a list that is separated by commas."""
    return tuple(part.strip() for part in (listed or "").split(",") if part.strip())
