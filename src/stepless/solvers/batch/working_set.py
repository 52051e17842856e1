"""The features that a proximal Newton step moves, and the examples with these features only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import coordinate_descent as loops
from stepless.compiled.blocks import SingleWeights, unturned
from stepless.data import Source
from stepless.objective import Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.quadratic_model import FEW

_FEWEST = 400  # features in a working set, if there are as many that gain
_NEXT = 0.8  # of the strength, down to which a set is to serve along a path
_LEAST = 1e-300


@dataclass(frozen=True)
class WorkingSet:
    """Features that are moved together: whole groups, of a group lasso.

    `stiffest` is the largest curvature of the loss, `largest` those of the risk in each for it; in
    each of a group, that of its steepest.
    """

    whole: Source
    features: Indices
    stiffest: float
    largest: Array

    @classmethod
    def of(
        cls, risk: RowRisk, w: Array, g: Array, curvature: float, onward: bool = False
    ) -> WorkingSet:
        """Choose features whose weight is not 0, and others that gain most, as many more; or all.

        `curvature` is the mean one of the loss, g the gradient of the risk at w. To go `onward`
        along a path, features that would gain at lower strengths are added.
        """
        objective, squares = risk.objective, risk.sizes**2
        smoothness = float(objective.loss.smoothness())
        stiffest = smoothness if math.isfinite(smoothness) else curvature
        h = np.maximum((curvature or stiffest) * squares, _LEAST)
        g = g / _NEXT if onward else g
        kept = w != 0.0
        if lasso := objective.regularizer.group_lasso:
            alpha, order, starts = lasso
            gains = np.empty(starts.size - 1)
            loops.gains(unturned(alpha, starts), w[order], g[order], h[order], gains)
            kept = np.logical_or.reduceat(kept[order], starts[:-1])
            tops = np.maximum.reduceat(squares[order], starts[:-1])
            squares[order] = np.repeat(tops, np.diff(starts))
        else:
            gains = np.empty(risk.d)
            loops.gains(SingleWeights(objective.regularizer, objective.domain), w, g, h, gains)
        n = max(_FEWEST * gains.size // risk.d, 2 * int(kept.sum()), 1)
        gains[kept] = math.inf
        chosen = np.flatnonzero(gains > 0.0)
        if (onward or risk.source.home.large) and risk.d <= FEW:
            chosen = np.arange(gains.size)
        elif chosen.size > n:
            chosen = np.sort(chosen[np.argpartition(-gains[chosen], n)[:n]])
        if lasso:
            member = np.repeat(np.isin(np.arange(gains.size), chosen), np.diff(starts))
            chosen = np.sort(order[member])
        return cls(risk.source, chosen, stiffest, stiffest * squares[chosen])

    def objective(self, whole: Objective) -> Objective:
        """Return an objective of these features alone."""
        return replace(whole, regularizer=whole.regularizer.narrowed(self.features))

    @cached_property
    def source(self) -> Source:
        """The examples, with these features only."""
        everything = self.features.size == self.whole.shape[1]
        return self.whole if everything else self.whole.narrowed(self.features)

    def joined(self, other: WorkingSet) -> WorkingSet:
        """Return the features of both."""
        features, first = np.unique(np.append(self.features, other.features), return_index=True)
        largest = np.append(self.largest, other.largest)[first]
        return replace(self, features=features, largest=largest)

    def holds(self, other: WorkingSet) -> bool:
        """Return whether it has all features of another one."""
        return bool(np.isin(other.features, self.features, assume_unique=True).all())
