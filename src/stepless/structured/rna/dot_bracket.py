"""Structures in dot-bracket notation: a bracket for each paired base, a dot for each other one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BASES = "ACGUN"
_CODES = np.full(256, 255, dtype=np.uint8)
for _code, _letters in enumerate(("Aa", "Cc", "Gg", "UuTt", "RYSWKMBDHVNryswkmbdhvn")):
    _CODES[np.frombuffer(_letters.encode(), dtype=np.uint8)] = _code


class RNARecord(NamedTuple):
    """A record of a dot-bracket file: a sequence with its name and structure."""

    name: str
    sequence: str
    structure: str


def read_dot_brackets(path: str | Path) -> list[RNARecord]:
    r"""Read a file of records: a line ``>name``, one with the bases, one with the brackets.

    Text after the brackets on their line, such as an energy, is ignored, and so are blank lines.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".dbn") as file:
    ...     print(">short", "GGGAAACCC", "(((...))) (-1.2)", sep="\n", file=file, flush=True)
    ...     read_dot_brackets(file.name)
    [RNARecord(name='short', sequence='GGGAAACCC', structure='(((...)))')]
    """
    lines = [
        (number, line.strip())
        for number, line in enumerate(Path(path).read_text().splitlines(), start=1)
        if line.strip()
    ]
    records = []
    for k in range(0, len(lines), 3):
        at = f"{path}, line {lines[k][0]}"
        if not lines[k][1].startswith(">"):
            raise ValueError(f"{at}: a record begins with '>' and its name, not {lines[k][1]!r}")
        if k + 2 >= len(lines):
            raise ValueError(f"{at}: the last record lacks its bases or its brackets")
        name, sequence = lines[k][1][1:].strip(), lines[k + 1][1]
        structure = lines[k + 2][1].split()[0]
        try:
            encoded(sequence)
            mates(structure, len(sequence))
        except ValueError as error:
            raise ValueError(f"{at}: {error}") from None
        records.append(RNARecord(name, sequence, structure))
    return records


def encoded(sequence: str) -> NDArray[np.uint8]:
    """Return the codes of the bases, from index 1 on, between two N, which never pair."""
    if not isinstance(sequence, str):
        raise ValueError(f"a sequence of bases is text, not {sequence!r}")
    text = np.frombuffer(sequence.encode("latin-1", "replace"), dtype=np.uint8)
    codes = np.full(text.size + 2, len(BASES) - 1, dtype=np.uint8)
    codes[1:-1] = _CODES[text]
    if codes.max() == 255:
        bad = int(np.flatnonzero(codes == 255)[0])
        raise ValueError(
            f"base {bad} of the sequence is {sequence[bad - 1]!r}: it must be A, C, G, U, or a "
            "letter for several of them, such as N"
        )
    return codes


def mates(structure: str, length: int | None = None) -> NDArray[np.int64]:
    """Return for each base, from index 1 on, the base with which it pairs, or 0.

    Examples
    --------
    >>> mates("(.)")
    array([0, 3, 0, 1, 0])
    """
    if not isinstance(structure, str):
        raise ValueError(f"a structure is text of dots and brackets, not {structure!r}")
    if length is not None and len(structure) != length:
        raise ValueError(f"the structure has {len(structure)} signs, but there are {length} bases")
    mate = np.zeros(len(structure) + 2, dtype=np.int64)
    waiting: list[int] = []
    for j, sign in enumerate(structure, start=1):
        if sign == "(":
            waiting.append(j)
        elif sign == ")":
            if not waiting:
                raise ValueError(f"the structure closes a bracket at base {j} that is not open")
            i = waiting.pop()
            mate[i], mate[j] = j, i
        elif sign != ".":
            raise ValueError(
                f"the structure has {sign!r} at base {j}: it must be '(', ')' or '.'; "
                "pairs that cross others cannot be folded"
            )
    if waiting:
        raise ValueError(f"the structure opens a bracket at base {waiting[-1]} and never closes it")
    return mate


def dot_bracket(mate: NDArray[np.int64]) -> str:
    """Return the text of a structure.

    Examples
    --------
    >>> dot_bracket(np.array([0, 3, 0, 1, 0]))
    '(.)'
    """
    places = np.arange(mate.size)
    signs = np.where(mate == 0, ord("."), np.where(mate > places, ord("("), ord(")")))
    return bytes(signs[1:-1].astype(np.uint8)).decode()
