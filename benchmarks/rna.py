"""RNA folding learned on some families and tried on others, beside Nussinov's most pairs."""

from __future__ import annotations

import sys
from functools import partial
from itertools import pairwise

import numpy as np
from numba import njit

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import StructuredClassifier
from stepless.structured.rna import (
    Folding,
    RNARecord,
    accuracy,
    dot_bracket,
    read_dot_brackets,
)
from stepless.structured.rna.dot_bracket import encoded
from stepless.structured.rna.loops import KIND, PAIRS, SHORTEST

FOLDS = 5
LONGEST_LEARNED = 200  # bases: a search costs n³
ALPHAS = (1e-1, 3e-2, 1e-2, 3e-3)
GAP, PASSES = 2e-2, 150
LENGTHS = (0, 80, 150, 300, 1000)


def families() -> tuple[list[RNARecord], np.ndarray]:
    """The 151 families, one sequence each, and which of the five folds each is in."""
    records = read_dot_brackets(datasets.path("rna-s151rfam"))
    return records, np.random.default_rng(0).permutation(len(records)) % FOLDS


@njit(cache=True, nogil=True)
def most_pairs(mate, x, worth):
    """Nussinov: write the structure of the most pairs, each of its kind's worth."""
    n = x.size - 2
    best = np.zeros((n + 2, n + 2))
    for i in range(n, 0, -1):
        for j in range(i + SHORTEST + 1, n + 1):
            top = best[i + 1, j]
            for k in range(i + SHORTEST + 1, j + 1):
                pair = worth[KIND[x[i], x[k]]]
                if pair > 0.0:
                    top = max(top, pair + best[i + 1, k - 1] + best[k + 1, j])
            best[i, j] = top
    left = [(1, n)]
    while left:
        i, j = left.pop()
        if j - i <= SHORTEST:
            continue
        if best[i, j] == best[i + 1, j]:
            left.append((i + 1, j))
            continue
        for k in range(i + SHORTEST + 1, j + 1):
            pair = worth[KIND[x[i], x[k]]]
            if pair > 0.0 and best[i, j] == pair + best[i + 1, k - 1] + best[k + 1, j]:
                mate[i], mate[k] = k, i
                left.append((i + 1, k - 1))
                left.append((k + 1, j))
                break


def nussinov(sequence: str, worths: dict[str, float]) -> str:
    bases = encoded(sequence)
    mate = np.zeros(bases.size, dtype=np.int64)
    worth = np.array([*(worths[min(pair, pair[::-1])] for pair in PAIRS), 0.0])
    most_pairs(mate, bases, worth)
    return dot_bracket(mate)


def by_length(truths: list[str], said: list[str]) -> list[float]:
    """F of all pairs of the sequences in each range of lengths."""
    found = []
    for least, most in pairwise(LENGTHS):
        at = [i for i, truth in enumerate(truths) if least < len(truth) <= most]
        found.append(accuracy([truths[i] for i in at], [said[i] for i in at]).f)
    return found


def fitted(records: list[RNARecord], alpha: float) -> StructuredClassifier:
    clf = StructuredClassifier(Folding(), alpha=alpha, gap=GAP, passes=PASSES)
    return clf.fit([r.sequence for r in records], [r.structure for r in records])


def strength(records: list[RNARecord]) -> float:
    """Return the α that folds every fourth family best when it is learned from the others."""
    held, rest = records[::4], [r for i, r in enumerate(records) if i % 4]
    truths = [r.structure for r in held]
    found = {}
    for alpha in ALPHAS:
        said = fitted(rest, alpha).predict([r.sequence for r in held])
        found[alpha] = accuracy(truths, said).f
    return max(found, key=lambda alpha: found[alpha])


def main(folds: int = FOLDS) -> None:
    if not datasets.present("rna-s151rfam"):
        return
    records, fold = families()
    tried = [i for i in range(len(records)) if fold[i] < folds]
    truths = [records[i].structure for i in tried]
    said: dict[str, list[str]] = {}
    plain = {"AU": 1.0, "CG": 1.0, "GU": 1.0}
    for name, worths in {
        "Nussinov, most pairs": plain,
        "Nussinov, GC 3 AU 2 GU 1": {"AU": 2.0, "CG": 3.0, "GU": 1.0},
    }.items():
        said[name] = [nussinov(records[i].sequence, worths) for i in tried]
    learned, runs = {}, []
    for number in range(folds):
        train = [
            record
            for record, of in zip(records, fold, strict=True)
            if of != number and len(record.sequence) <= LONGEST_LEARNED
        ]
        alpha = strength(train)
        taken, clf = timed(partial(fitted, train, alpha))
        certificate = clf.objective_, clf.rel_gap_, clf.n_passes_
        runs.append((number, len(train), alpha, *certificate, round(taken, 1)))
        print(runs[-1], file=sys.stderr, flush=True)
        for i in np.flatnonzero(fold == number):
            learned[i] = clf.predict([records[i].sequence])[0]
    said[f"learned, {Folding.d} weights"] = [learned[i] for i in tried]

    print(f"## RNA folding, S-151Rfam, families held out ({folds} of {FOLDS} folds)\n")
    print(
        f"α by families held out of the training part; learned from sequences of up to "
        f"{LONGEST_LEARNED} bases, tried on all (up to {max(len(truth) for truth in truths)}); "
        "F by length on the right\n"
    )
    rows = []
    for name, structures in said.items():
        found = accuracy(truths, structures)
        each = [accuracy([a], [b]).f for a, b in zip(truths, structures, strict=True)]
        figures = found.sensitivity, found.ppv, found.f, float(np.mean(each))
        rows.append((name, *figures, *by_length(truths, structures)))
    bands = [f"{a + 1}–{b}" for a, b in pairwise(LENGTHS)]
    table(["method", "sensitivity", "PPV", "F", "mean F a sequence", *bands], rows)
    table(["fold", "sequences", "α", "objective", "certified gap", "passes", "seconds"], runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FOLDS)
