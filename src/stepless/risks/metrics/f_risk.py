"""The convex bound of the F-measure."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.data import Source
from stepless.intercept import Cut, Intercept, bottom
from stepless.jit import FAST, compiled
from stepless.objective import Regularizer
from stepless.risks.metrics.metric_risk import MetricRisk, Violation


class FRisk(MetricRisk):
    """R(w, b) = max_ȳ 1 − F_β(y, ȳ) + (1/P) Σ_i (ȳ_i − y_i)/2 · (⟨w, x_i⟩ + b).

    Joachims (ICML 2005), with a mean over the P positives instead of a sum: then margins of about
    1/2 suffice, however rare the positives are. ȳ = sign(z + b) is among the labelings and
    its second term is not negative, so R ≥ 1 − F_β.

    Only the numbers u of positives missed and c of negatives called positive matter, those with the
    lowest and the highest scores:

        1 − (1 + β²)(P − u)/(β²P + P − u + c)
          + (sum of c highest z − sum of u lowest z + (c − u)b)/P

    For a fixed u it is concave in c, so that a local search finds the best c. The gain in F of one
    more c rises with a = P − u up to a² = s(s + 1), s = β²P + c, and falls after. If the best c
    falls from a to a + 1, that threshold was passed at the lower one, and c never rises again: the
    best c rises and then falls, and all searches together take P + 2N steps. So an oracle call
    costs one sort, and O(m) for every intercept that is tried. `square` is β².
    """

    def __init__(
        self, source: Source, regularizer: Regularizer, square: float, intercept: bool
    ) -> None:
        self._square = square
        steepness = source.shape[0] / np.count_nonzero(source.y > 0.0)
        super().__init__(source, regularizer, steepness, intercept)

    def worst(self, z: Array, b: float) -> Violation:
        ranks = _SortedScores(z, self._positive, self._negative, self._square)
        low = bottom(ranks.cuts, b, smooth=False, free=self.objective.intercept)
        cost, a = 0.0, np.zeros(z.size)
        for cut, share in low.parts:
            ranks.blend(a, cut.b, share)
            cost += share * cut.offset
        return Violation(low.best.value, low.best.b, cost, a)

    def rounding_error(self, w: Array, b: Intercept, value: float) -> float:
        # (c − u)b/P is a term too, and c − u at most m
        shift = 2.0 * self.rounding * self.m / self._positive.size * abs(float(b))
        return super().rounding_error(w, b, value) + shift

    def oracle_value(self, w: Array, b: Intercept) -> float:
        z = self.source.predictions(w)
        ranks = _SortedScores(z, self._positive, self._negative, self._square)
        return ranks.cut(float(b)).value


class _SortedScores:
    """Scores in order: positives from the lowest, negatives from the highest."""

    def __init__(self, z: Array, positive: Indices, negative: Indices, square: float) -> None:
        self._low = positive[np.argsort(z[positive])]
        self._high = negative[np.argsort(-z[negative])]
        self._missed = np.concatenate([[0.0], np.cumsum(z[self._low])])
        self._called = np.concatenate([[0.0], np.cumsum(z[self._high])])
        self._highest = z[self._high]
        self._square = square

    def cut(self, b: float) -> Cut:
        value, u, c, cost = self._search(b)
        return Cut(b, value, (c - u) / self._low.size, cost)

    def cuts(self, points: list[float]) -> list[Cut]:
        return [self.cut(b) for b in points]

    def blend(self, a: Array, b: float, share: float) -> None:
        """Add to a the slopes of the worst labeling at b, times a share."""
        _, u, c, _ = self._search(b)
        a[self._low[:u]] -= share / self._low.size
        a[self._high[:c]] += share / self._low.size

    def _search(self, b: float) -> tuple[float, int, int, float]:
        return _worst_counts(self._missed, self._called, self._highest, self._square, b)


@compiled("highest[N] called[N+1] missed[≥2]", fastmath=FAST)
def _worst_counts(
    missed: Array, called: Array, highest: Array, square: float, b: float
) -> tuple[float, int, int, float]:
    """Return the value, the counts (u, c), and 1 − F of the worst labeling at an intercept."""
    P, N = missed.size - 1, highest.size
    top = 1.0 + square
    best, best_u, best_c = -np.inf, 0, 0
    c = 0
    for u in range(P + 1):
        a = P - u
        base = square * P + a
        gain = top * a * P  # in F, times P and both denominators: compared with −(z + b)
        while c < N and gain + (highest[c] + b) * (base + c) * (base + c + 1.0) > 0.0:
            c += 1
        while c > 0 and gain + (highest[c - 1] + b) * (base + c - 1.0) * (base + c) <= 0.0:
            c -= 1
        value = 1.0 - top * a / (base + c) + (called[c] - missed[u] + (c - u) * b) / P
        if value > best:
            best, best_u, best_c = value, u, c
    a = P - best_u
    return best, best_u, best_c, 1.0 - top * a / (square * P + a + best_c)
