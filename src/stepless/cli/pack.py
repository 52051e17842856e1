"""`stepless pack`: from text to a store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepless.cli.errors import errors_as_messages
from stepless.cli.options import argument, grouped, option

if TYPE_CHECKING:
    from stepless.arrays import AnyArray
    from stepless.data import Chunk

_ROWS = 1 << 14  # examples of a chunk
_MOST_FEATURES = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class PackOptions:
    """The options of `stepless pack`."""

    data: list[Path] = argument(
        "DATA...",
        "LIBSVM (svmlight) text, plain or in gz, bz2 or xz; several files are packed one after "
        "the other; - for standard input.",
    )
    output: Path = option(
        MISSING,
        "The store, a folder: by custom its name ends in .store.",
        "STORE",
        "--output",
        "-o",
    )
    task: str = option(
        "classify", "classify, for labels that are classes, or regress, for numbers.", "NAME"
    )
    weights: Path | None = option(None, "Weights of the examples, one number per line.", "FILE")
    features: int | None = option(
        None, "Number of features; by default the largest index decides.", "N"
    )
    zero_based: bool = option(False, "DATA counts features from 0.", None, "--zero-based")
    float32: bool = option(
        False, "Keep values in single precision, in half of the space.", None, "--float32"
    )


@grouped
def pack(options: PackOptions) -> None:
    """Pack DATA into a store, which `stepless fit` takes as DATA.

    A store may be larger than memory, and so may DATA: it is read once,
    chunk by chunk. The store appears whole or not at all; until then an old
    one of that name stays as it was.
    """
    with errors_as_messages():
        from stepless.cli.outputs import refuse_outputs, write_text
        from stepless.data import Store
        from stepless.data.store_folder import refuse_store
        from stepless.estimators.packing import pack_chunks

        if str(options.output) == "-":
            raise ValueError("a store is a folder: name one in place of -, standard output")
        inputs = {f"DATA {k}": path for k, path in enumerate(options.data, 1)}
        refuse_outputs({}, {**inputs, "--weights": options.weights})
        refuse_store(str(options.output))
        dtype = "float32" if options.float32 else "float64"
        chunks, width = _chunks(options), options.features or 0
        pack_chunks(options.output, chunks, options.task, dtype=dtype, width=width)
        write_text(f"{options.output}: {', '.join(Store(options.output).facts().values())}")


def _chunks(options: PackOptions) -> Iterator[tuple[Any, Any, Any]]:
    from contextlib import nullcontext

    from stepless.cli.reading import WeightLines

    with nullcontext() if options.weights is None else WeightLines(options.weights) as weights:
        for path in options.data:
            for X, y, lines in _read(path, options):
                labels = y if options.task == "regress" else _whole(path, y, lines)
                yield X, labels, None if weights is None else weights.take(len(y))
        if weights is not None:
            weights.refuse_more()


def _read(path: Path, options: PackOptions) -> Iterator[Chunk]:
    from stepless.cli.inputs import input_name, input_of
    from stepless.data import DataError, ZeroIndex, svmlight_chunks
    from stepless.data.store import is_store

    if is_store(path):
        raise DataError(f"{path}: is a store already, which fit takes as DATA")
    empty = True
    try:
        with svmlight_chunks(
            input_of(path),
            n_features=_MOST_FEATURES if options.features is None else options.features,
            zero_based=options.zero_based,
            rows=_ROWS,
        ) as chunks:
            for chunk in chunks:
                empty = False
                yield chunk
    except ZeroIndex as error:
        raise DataError(f"{error}; for features counted from 0 say --zero-based") from None
    if empty:
        raise DataError(f"{input_name(path)}: holds no examples")


def _whole(path: Path, y: AnyArray, lines: AnyArray) -> AnyArray:
    """Return labels as whole numbers."""
    import numpy as np

    from stepless.cli.inputs import input_name
    from stepless.data import DataError

    odd = np.flatnonzero((y != np.floor(y)) | (np.abs(y) >= 2.0**53))
    if odd.size:
        k = int(odd[0])
        raise DataError.at(
            f"the label {y[k]:g} is not a whole number, as classes are; to pack numbers say "
            "--task regress",
            input_name(path),
            int(lines[k]),
        )
    return y.astype(np.int64)
