"""Score tables of the loops of a folding, and the features that their entries are sums of.

A folding is a set of loops, each closed by a pair, and the exterior loop. A loop's score is a sum
of entries of these tables, each of which is a sum of weights: a length has the weights of all
lengths below it (hairpin ≥ 3, ≥ 4, …), and entries that are equal by symmetry share their weights.
A pair is read from inside its loop: (i, j) from within, (l, k) if the loop lies outside k < l.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from stepless.structured.rna.dot_bracket import BASES

PAIRS = ("AU", "CG", "GC", "GU", "UA", "UG")
NO_PAIR = len(PAIRS)  # kind of a pair that a true structure may have and no folding has
LONGEST = 30  # unpaired bases of a bulge or interior loop; hairpins may be longer
SHORTEST = 3  # hairpin
SMALL = 4  # interior loops of at most 4 bases on either side have a weight of their own

_N = len(BASES)
_T = len(PAIRS) + 1
_L = LONGEST + 1

KIND = np.full((_N, _N), NO_PAIR, dtype=np.int64)  # of a pair, by its two bases
for _kind, _pair in enumerate(PAIRS):
    KIND[BASES.index(_pair[0]), BASES.index(_pair[1])] = _kind

# The first index of each table in the array of all.
PAIR = 0  # kind
STACK = PAIR + _T  # kind, kind of the next pair inwards
CLOSING = STACK + _T * _T  # kind
MISMATCH = CLOSING + _T  # kind, base after its first, base before its second
HAIRPIN = MISMATCH + _T * _N * _N  # length
BULGE = HAIRPIN + _L  # length
BULGED = BULGE + _L  # base
INTERIOR = BULGED + _N  # length of both sides
ASYMMETRY = INTERIOR + _L  # difference of the sides
BOTH_SMALL = ASYMMETRY + _L  # length of either side
ONE_BY_ONE = BOTH_SMALL + (SMALL + 1) ** 2  # the two bases
MULTI_LOOP = ONE_BY_ONE + _N * _N
MULTI_BRANCH = MULTI_LOOP + 1
MULTI_UNPAIRED = MULTI_BRANCH + 1
OUTER_BRANCH = MULTI_UNPAIRED + 1
OUTER_UNPAIRED = OUTER_BRANCH + 1
AFTER = OUTER_UNPAIRED + 1  # kind, base after its first: of branches, whether it is paired or not
BEFORE = AFTER + _T * _N  # kind, base before its second
ENTRIES = BEFORE + _T * _N


def _named_entries() -> Iterator[tuple[int, str]]:
    """Yield each entry of the tables with each of its features; those of N have none."""
    for p, pair in enumerate(PAIRS):
        yield PAIR + p, f"pair {min(pair, pair[::-1])}"
        yield CLOSING + p, f"closing {pair}"
        for q, inner in enumerate(PAIRS):
            either = min(f"{pair}/{inner}", f"{inner[::-1]}/{pair[::-1]}")
            yield STACK + p * _T + q, f"stack {either}"
        for a, after in enumerate(BASES[:-1]):
            yield AFTER + p * _N + a, f"after {pair} {after}"
            yield BEFORE + p * _N + a, f"before {pair} {after}"
            for b, before in enumerate(BASES[:-1]):
                yield MISMATCH + (p * _N + a) * _N + b, f"mismatch {pair} {after}{before}"
    for table, name, least, most in (
        (HAIRPIN, "hairpin", SHORTEST, LONGEST),
        (BULGE, "bulge", 1, LONGEST),
        (INTERIOR, "interior", 2, LONGEST),
        (ASYMMETRY, "asymmetry", 1, LONGEST - 2),
    ):
        for length in range(least, LONGEST + 1):
            for k in range(least, min(length, most) + 1):
                yield table + length, f"{name} ≥ {k}"
    for u in range(1, SMALL + 1):
        for v in range(1, SMALL + 1):
            yield BOTH_SMALL + u * (SMALL + 1) + v, f"interior {min(u, v)}×{max(u, v)}"
    for a, base in enumerate(BASES[:-1]):
        yield BULGED + a, f"bulge of {base}"
        for b, other in enumerate(BASES[:-1]):
            yield ONE_BY_ONE + a * _N + b, f"interior {min(base, other)}·{max(base, other)}"
    yield MULTI_LOOP, "multiloop"
    yield MULTI_BRANCH, "multiloop branch"
    yield MULTI_UNPAIRED, "multiloop unpaired"
    yield OUTER_BRANCH, "exterior branch"
    yield OUTER_UNPAIRED, "exterior unpaired"


def _features() -> tuple[tuple[str, ...], sparse.csr_array]:
    entries, names = zip(*_named_entries(), strict=True)
    number = {name: j for j, name in enumerate(dict.fromkeys(names))}
    columns = [number[name] for name in names]
    ones = np.ones(len(columns)), (np.array(entries), np.array(columns))
    return tuple(number), sparse.csr_array(ones, shape=(ENTRIES, len(number)))


NAMES, MADE_OF = _features()  # of the weights; which of them each entry of the tables is a sum of
