"""Chunks that tags spell, and how many of them were found, as conlleval counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_CHUNK = re.compile(r"[BI](-.*)?")


class ChunkScores(NamedTuple):
    """Shares of whole chunks, of the right kind: of those said, of those there; and both as F1."""

    precision: float
    recall: float
    f1: float


def chunk_scores(truth: Iterable[Iterable[Any]], found: Iterable[Iterable[Any]]) -> ChunkScores:
    """Compare the chunks that tags B-X (begins), I-X (goes on) and O spell, sequence by sequence.

    Examples
    --------
    >>> truth = [["B-NP", "I-NP", "O", "B-NP"]]
    >>> chunk_scores(truth, [["B-NP", "I-NP", "O", "B-VP"]])
    ChunkScores(precision=0.5, recall=0.5, f1=0.5)
    """
    right = there = said = 0
    for true, tags in zip(truth, found, strict=True):
        own, ours = set(_chunks(true)), set(_chunks(tags))
        right, there, said = right + len(own & ours), there + len(own), said + len(ours)
    precision, recall = right / max(said, 1), right / max(there, 1)
    return ChunkScores(precision, recall, 2.0 * right / max(there + said, 1))


def are_chunks(tags: Iterable[Any]) -> bool:
    """Whether tags are all of the kind B-X, I-X and O, and not O alone."""
    kinds = {str(tag) for tag in tags} - {"O"}
    return bool(kinds) and all(_CHUNK.fullmatch(kind) for kind in kinds)


def _chunks(tags: Iterable[Any]) -> Iterator[tuple[str, int, int]]:
    """Each chunk's kind, and where it begins and ends; an I that goes on nothing begins one."""
    begin: int | None = None
    kind = ""
    for t, tag in enumerate([*tags, "O"]):
        mark, _, name = str(tag).partition("-")
        if begin is not None and (mark != "I" or name != kind):
            yield kind, begin, t
            begin = None
        if mark != "O" and begin is None:
            begin, kind = t, name
