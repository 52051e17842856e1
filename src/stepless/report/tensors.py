"""Files of arrays with a header: safetensors, with JSON and a checksum in its metadata.

Reading one runs no code from the file. The checksum reveals damage.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

import stepless
from stepless.arrays import AnyArray
from stepless.data import DataError
from stepless.report.atomic import Path

_SENSELESS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class TensorFile:
    """A kind of file: its name in messages, its key in the metadata, its latest format."""

    name: str
    key: str
    format: int
    objects: tuple[str, ...]  # parts of the header that are objects
    finite: bool = True  # False if arrays may hold anything

    def packed(self, header: dict[str, Any], arrays: Mapping[str, ArrayLike]) -> bytes:
        """Return the bytes of a file; SafetensorError if the header is too long."""
        known = {"format": self.format, "stepless": stepless.__version__}
        text = json.dumps(known | header, allow_nan=False)
        found = {key: _array(values) for key, values in arrays.items()}
        if self.finite:
            refuse_numbers(found)
        return save(found, metadata={self.key: text, "sha256": digest_of(text, found)})

    def read(self, path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return header and arrays of a file; DataError if it is of another kind or damaged."""
        name = os.fspath(path)
        if os.path.isdir(name):
            raise DataError(f"{name}: is a directory, not a {self.name} file")
        try:
            if os.path.exists(name) and not os.path.isfile(name):
                raise DataError(
                    f"{name}: is not a regular file, as a {self.name} must be; write it to one"
                )
            open(name, "rb").close()
            if os.path.getsize(name) == 0:
                raise DataError(f"{name}: is empty, so it is not a {self.name} file")
            with safe_open(name, framework="np") as file:
                metadata = file.metadata() or {}
                if self.key not in metadata:
                    raise DataError(
                        f"{name}: is a safetensors file, but holds no stepless {self.name}"
                    )
                text = metadata[self.key]
                header = self._header(name, text)
                with damage_reported(path):  # a type that numpy lacks
                    arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            raise DataError(f"{name}: no such file") from None
        except OSError as error:
            raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None
        except SafetensorError as error:
            raise DataError(
                f"{name}: is not a {self.name} file, or was cut short ({error})"
            ) from None
        if metadata.get("sha256") != digest_of(text, arrays):
            raise DataError(f"{name}: is damaged, as its checksum does not match its content")
        with damage_reported(path):
            if self.finite:
                refuse_numbers(arrays)
        return header, arrays

    def _header(self, name: str, text: str) -> dict[str, Any]:
        """Return the header; say which version of stepless is needed before anything else."""
        with damage_reported(name):
            header: dict[str, Any] = json.loads(text, parse_constant=_refuse_constant)
            number, author = int(header["format"]), str(header["stepless"])
        if not 1 <= number <= self.format:
            raise DataError(
                f"{name}: was written by stepless {author} in format {number}, but stepless "
                f"{stepless.__version__} reads formats up to {self.format}; use that version"
            )
        with damage_reported(name):
            for part in self.objects:
                if not isinstance(header[part], dict):
                    raise TypeError(f"{part} is not an object")
        return header


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def refuse_unless(sensible: bool, name: str, array: AnyArray) -> None:
    """Refuse an array that does not fit its place, by its name."""
    if not sensible:
        raise ValueError(f"{name} of type {array.dtype} and shape {array.shape}")


def refuse_numbers(arrays: Mapping[str, AnyArray]) -> None:
    """Refuse numbers that no fit leaves: compiled loops and predictions trust them."""
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            if array.dtype not in (np.float32, np.float64):
                raise ValueError(f"{name} of type {array.dtype}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds a number that is not finite")


def digest_of(text: str, arrays: dict[str, AnyArray]) -> str:
    """Return the checksum of a header and its arrays."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _array(values: ArrayLike) -> AnyArray:
    # safetensors writes the bytes as they lie in memory
    array = np.asarray(values)
    return np.require(array, array.dtype.newbyteorder("<"), "C")


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Turn errors that a senseless file causes into a DataError that says so."""
    try:
        yield
    except DataError:
        raise
    except _SENSELESS as error:
        raise DataError(
            f"{os.fspath(path)}: is damaged, as what it says makes no sense "
            f"({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        ) from None
