"""Precision and recall of the chunks that tags spell, as conlleval counts them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_CHUNK = re.compile(r"[BI](-.*)?")


class ChunkScores(NamedTuple):
    """Precision, recall and F1 of whole chunks of the right kind."""

    precision: float
    recall: float
    f1: float


def chunk_scores(
    truth: Iterable[Iterable[object]], found: Iterable[Iterable[object]]
) -> ChunkScores:
    """Compare the chunks that tags B-X (begin), I-X (inside) and O spell, sequence by sequence.

    Examples
    --------
    >>> truth = [["B-NP", "I-NP", "O", "B-NP"]]
    >>> chunk_scores(truth, [["B-NP", "I-NP", "O", "B-VP"]])
    ChunkScores(precision=0.5, recall=0.5, f1=0.5)
    """
    right = actual = predicted = 0
    for true, tags in zip(truth, found, strict=True):
        one, other = set(_chunks(true)), set(_chunks(tags))
        right += len(one & other)
        actual += len(one)
        predicted += len(other)
    precision, recall = right / max(predicted, 1), right / max(actual, 1)
    return ChunkScores(precision, recall, 2.0 * right / max(actual + predicted, 1))


def are_chunks(tags: Iterable[object]) -> bool:
    """Return whether all tags are of the kind B-X, I-X and O, and not all are O."""
    kinds = {str(tag) for tag in tags} - {"O"}
    return bool(kinds) and all(_CHUNK.fullmatch(kind) for kind in kinds)


def _chunks(tags: Iterable[object]) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, begin and end of each chunk; an I outside of a chunk begins one."""
    begin, kind = None, ""
    for t, tag in enumerate([*tags, "O"]):
        mark, _, name = str(tag).partition("-")
        if begin is not None and (mark != "I" or name != kind):
            yield kind, begin, t
            begin = None
        if mark != "O" and begin is None:
            begin, kind = t, name
