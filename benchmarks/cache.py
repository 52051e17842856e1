"""Arrays that take long to make, kept between runs.

They are in the folder STEPLESS_CACHE, by default ~/.cache/stepless-benchmarks.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(os.environ.get("STEPLESS_CACHE", Path.home() / ".cache" / "stepless-benchmarks"))


def kept(
    name: str, made_of: tuple[Path, ...], make: Callable[[], dict[str, NDArray]]
) -> dict[str, NDArray]:
    """What `make` returns, from the cache if it was made of the same files (code included)."""
    digest = 0
    for source in made_of:
        digest = zlib.crc32(source.read_bytes(), digest)
    path = FOLDER / f"{name}-{digest:08x}.npz"
    if not path.exists():
        arrays = make()
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.stem}.{os.getpid()}.npz")
        np.savez(part, **arrays)
        part.replace(path)  # a run that is ended leaves no half of a file under this name
    with np.load(path) as arrays:
        return dict(arrays)
