"""Folding of RNA, as a structured model."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.structured.model import StructuredModel
from stepless.structured.rna import loops, programme
from stepless.structured.rna.dot_bracket import dot_bracket, encoded, mates


class Folding(StructuredModel):
    """Secondary structures of RNA: inputs are sequences, outputs dot-brackets.

    Features are those of the nearest-neighbour energy model: stacked pairs, closing pairs, terminal
    mismatches, lengths of hairpins, bulges and interior loops, the asymmetry of these, small loops
    by their bases, branches and unpaired bases of multiloops and of the exterior loop, and bases
    next to them. `names` has the names of the weights.

    Foldings have pairs AU, CG and GU only, three bases or more in a hairpin, and up to 30 unpaired
    ones in a bulge or interior loop. A true structure may break these rules: it still counts among
    the outputs of its own example, so that the risk is never negative. Its irregular pairs have no
    features of pairs, and its irregular lengths those of the nearest regular length. Crossing pairs
    (pseudoknots) cannot be written in dots and brackets.

    One search takes O(n³) time and O(n²) memory for n bases.

    Parameters
    ----------
    missed, wrong
        Costs of a true pair that is not predicted, and of a predicted pair that is not true.

    Examples
    --------
    >>> from stepless import StructuredClassifier
    >>> X = ["GGGAAACCC", "GCGAAAACGC", "AAAAAAAAA"]
    >>> Y = ["(((...)))", "(((....)))", "........."]
    >>> clf = StructuredClassifier(Folding(), alpha=1e-2).fit(X, Y)
    >>> clf.predict(["AAGGCAAAGCCAA"])
    ['..(((...)))..']
    """

    releases_gil: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = loops.NAMES
    d = len(loops.NAMES)

    def __init__(self, missed: float = 1.0, wrong: float = 1.0) -> None:
        if not (0.0 <= missed < np.inf and 0.0 <= wrong < np.inf):
            raise ValueError(f"costs of pairs must be ≥ 0, not missed={missed}, wrong={wrong}")
        self.missed, self.wrong = missed, wrong

    def features(self, x: str, y: str) -> Array:
        counts = np.empty(loops.ENTRIES)
        programme.count(counts, encoded(x), mates(y, len(x)))
        features: Array = counts @ loops.MADE_OF
        return features

    def cost(self, y: str, other: str) -> float:
        true, said = mates(y), mates(other, len(y))
        missed = int(((true > 0) & (true != said)).sum()) // 2
        wrong = int(((said > 0) & (true != said)).sum()) // 2
        return self.missed * missed + self.wrong * wrong

    def most_violated(self, w: Array, x: str, y: str) -> str:
        truth = mates(y, len(x))
        worst, score = self._best(w, x, truth)
        # a true structure that breaks the rules may have the largest score of all
        own = float(self.features(x, y) @ w)
        return y if own >= score + self.missed * (np.count_nonzero(truth) // 2) else worst

    def predict(self, w: Array, x: str) -> str:
        return self._best(w, x, None)[0]

    def _best(self, w: Array, x: str, truth: Indices | None) -> tuple[str, float]:
        bases = encoded(x)
        mate = np.zeros(bases.size, dtype=np.int64)
        missed, wrong = (0.0, 0.0) if truth is None else (self.missed, self.wrong)
        truth = mate.copy() if truth is None else truth
        score = programme.fold(mate, loops.MADE_OF @ w, bases, truth, missed, wrong)
        return dot_bracket(mate), score
