"""Chunks beside conlleval's own rules."""

from __future__ import annotations

import numpy as np
import pytest

from stepless.report.chunk_scores import are_chunks, chunk_scores


def spans(tags):
    """Chunks by startOfChunk and endOfChunk of conlleval.pl, for tags B, I and O."""
    found, begin = set(), None
    before, kind = "O", ""
    for t, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        ends = before in "BI" and mark in "BO"
        starts = mark == "B" or (before == "O" and mark == "I")
        if before != "O" and name != kind:
            ends = True
        if mark != "O" and name != kind:
            starts = True
        if ends:
            found.add((kind, begin, t))
        if starts:
            begin = t
        before, kind = mark, name
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_tags(seed):
    rng = np.random.default_rng(seed)
    known = ["O", "B-NP", "I-NP", "B-VP", "I-VP", "B", "I"]
    truth, found = ([rng.choice(known, n).tolist() for n in (1, 7, 30)] for _ in range(2))
    there, said = ([spans(tags) for tags in side] for side in (truth, found))
    right = sum(len(a & b) for a, b in zip(there, said, strict=True))
    scores = chunk_scores(truth, found)
    assert scores.precision == pytest.approx(right / max(sum(map(len, said)), 1))
    assert scores.recall == pytest.approx(right / max(sum(map(len, there)), 1))
    harmonic = 2 * scores.precision * scores.recall / (scores.precision + scores.recall or 1)
    assert scores.f1 == pytest.approx(harmonic)


def test_no_chunk_at_all():
    assert chunk_scores([["O"]], [["O"]]) == (0.0, 0.0, 0.0)
    assert chunk_scores([["O"]], [["B-X"]]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        (["B-NP", "O", "I-NP"], True),
        (["B", "I"], True),
        (["O"], False),
        (["N", "V"], False),
        (["B-NP", "NN"], False),
        ([1, 2], False),
    ],
)
def test_which_tags_are_of_chunks(tags, said):
    assert are_chunks(tags) is said
