"""How a file of examples is written, and how its features become columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from stepless.arrays import AnyArray
from stepless.cli.source import called, source
from stepless.data import Chunks, DataError, Hashing, csv_chunks, svmlight_chunks

BITS = 18  # of hashed features, where the user names no number
ROWS = 1000  # examples in a chunk
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
class Form:
    """LIBSVM text or CSV; features as they are counted, or hashed; which column is what."""

    csv: bool = False
    zero_based: bool = False
    bits: int | None = None  # None: the file's own indices
    features: int | None = None
    target: str | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None  # of features; None: not known, as in old model files

    @classmethod
    def of(cls, path: Path, kind: str, *, bits: int | None, **options: Any) -> Form:
        """Tell the format by the file's name, unless it is said; refuse what makes no sense."""
        csv = kind == "csv" or (kind == "auto" and is_table(path))
        if csv and options.get("target") is None:
            raise ValueError("a table needs --target, the column of labels")
        if csv and options.get("features") is not None:
            raise ValueError("--features is for LIBSVM text; a table's features are hashed, --hash")
        if not csv and any(options.get(name) for name in ("target", "categorical", "ignore")):
            raise ValueError(
                "--target, --categorical and --ignore are for tables: say --format csv"
            )
        if bits is not None and options.get("features") is not None:
            raise ValueError("choose one of --hash and --features")
        if options.get("features") is None:
            bits = BITS if bits is None else bits
        return cls(csv, bits=bits, **options)

    def as_dict(self) -> dict[str, Any]:
        """For a model file."""
        return asdict(self)

    @classmethod
    def restored(cls, facts: dict[str, Any]) -> Form:
        """Undo `as_dict`; raise where a file does not say what that says."""
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
        """How many columns there are."""
        return 1 << self.bits if self.bits is not None else int(self.features or 0)

    def chunks(
        self,
        path: Path,
        on_error: Literal["stop", "skip"] = "stop",
        hashing: Hashing | None = None,
        **roles: Any,
    ) -> Chunks:
        """Examples, a thousand at a time; of standard input for the path "-".

        `roles` say what a table's columns are for, if not those of a table to learn from.
        """
        data, bits = source(path), hashing or self.bits
        cut: dict[str, Any] = {"rows": ROWS, "on_error": on_error}
        if self.csv:
            roles = roles or {"target": self.target, "ignore": self.ignore}
            return csv_chunks(
                data, hash_bits=bits or BITS, categorical=self.categorical, **cut, **roles
            )
        where = {"n_features": self.features} if bits is None else {"hash_bits": bits}
        return svmlight_chunks(data, zero_based=self.zero_based, **cut, **where)

    def read(self, path: Path, labelled: bool = True) -> tuple[sparse.csr_matrix, AnyArray]:
        """All examples of a file like the one that was learned from; it may lack what is left out.

        Unless `labelled`, that is the target, too.
        """
        spare = self.ignore if labelled else (*self.ignore, str(self.target))
        target = self.target if labelled else None
        parts = list(self.chunks(path, target=target, optional=spare, columns=self.columns))
        if not parts:
            raise DataError(f"{called(path)}: holds no examples")
        X = sparse.vstack([part.X for part in parts], format="csr")
        return X, np.concatenate([part.y for part in parts])


def is_table(path: Path) -> bool:
    """Whether a file's name says that it is CSV."""
    return path.name.lower().endswith(_TABLES)


def names_of(listed: str | None) -> tuple[str, ...]:
    """Names that are separated by commas."""
    return tuple(part.strip() for part in (listed or "").split(",") if part.strip())
