"""The features that a proximal Newton step moves, and the examples with these features only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import coordinate_descent as loops
from stepless.data import Source
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.quadratic_model import FEW

_FEWEST = 400  # features in a working set, if there are as many that gain
_NEXT = 0.8  # of the strength, down to which a set is to serve along a path
_LEAST = 1e-300


@dataclass(frozen=True)
class WorkingSet:
    """Features that are moved together.

    `stiffest` is the largest curvature of the loss, `largest` those of the risk in each for it.
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
        objective, gains, squares = risk.objective, np.empty(risk.d), risk.sizes**2
        smoothness = float(objective.loss.smoothness())
        stiffest = smoothness if math.isfinite(smoothness) else curvature
        h = np.maximum((curvature or stiffest) * squares, _LEAST)
        g = g / _NEXT if onward else g
        loops.gains(objective.regularizer, objective.domain, w, g, h, gains)
        kept = w != 0.0
        n = max(_FEWEST, 2 * int(kept.sum()))
        gains[kept] = math.inf
        features = np.flatnonzero(gains > 0.0)
        if (onward or risk.source.home.large) and risk.d <= FEW:
            features = np.arange(risk.d)
        elif features.size > n:
            features = np.sort(features[np.argpartition(-gains[features], n)[:n]])
        return cls(risk.source, features, stiffest, stiffest * squares[features])

    @cached_property
    def source(self) -> Source:
        """The examples, with these features only."""
        everything = self.features.size == self.whole.shape[1]
        return self.whole if everything else self.whole.narrowed(self.features)

    def holds(self, other: WorkingSet) -> bool:
        """Return whether it has all features of another one."""
        return bool(np.isin(other.features, self.features, assume_unique=True).all())
