"""Sensitivity and positive predictive value of predicted pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stepless.structured.rna.dot_bracket import mates


@dataclass(frozen=True)
class Accuracy:
    """Numbers of pairs of several structures: true ones, predicted ones, and both."""

    true: int
    said: int
    both: int

    @property
    def sensitivity(self) -> float:
        """Share of the true pairs that was predicted."""
        return self.both / self.true if self.true else 1.0

    @property
    def ppv(self) -> float:
        """Share of the predicted pairs that is true (positive predictive value)."""
        return self.both / self.said if self.said else 1.0

    @property
    def f(self) -> float:
        """Harmonic mean of the two."""
        return 2.0 * self.both / (self.true + self.said) if self.true + self.said else 1.0


def accuracy(truths: Iterable[str], predictions: Iterable[str]) -> Accuracy:
    """Count the pairs of all structures together.

    Examples
    --------
    >>> found = accuracy(["((...))", "(...)"], [".(...).", "....."])
    >>> found.sensitivity, found.ppv, found.f
    (0.3333333333333333, 1.0, 0.5)
    """
    true = said = both = 0
    for truth, prediction in zip(truths, predictions, strict=True):
        own, found = mates(truth), mates(prediction, len(truth))
        true += int((own > 0).sum()) // 2
        said += int((found > 0).sum()) // 2
        both += int(((own > 0) & (own == found)).sum()) // 2
    return Accuracy(true, said, both)
