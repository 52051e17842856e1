"""A loss of several numbers per example."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.arrays import Array
from stepless.objective.losses.loss import Loss, Targets


class SumOverOutputs(Loss):
    """ℓ(z, y) = Σ_c ℓ(z_c, y_c): one loss for each of several outputs; y is a row of targets.

    As smooth as the loss itself; √K times as large a Lipschitz constant for K outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.objective import Squared
    >>> a = np.empty(2)
    >>> z, y = np.array([3.0, 0.0]), np.array([1.0, 1.0])
    >>> float(SumOverOutputs(Squared(), 2).slopes(z, y, a)), a
    (2.5, array([ 2., -1.]))
    """

    targets: ClassVar[Targets] = "rows"
    loss: Loss
    columns: int

    def _check(self) -> None:
        if self.columns < 2 or self.loss.outputs() > 1:
            raise ValueError("a sum over outputs is of two at least, each with a loss of its own")

    def outputs(self) -> int:
        return self.columns

    def slopes(self, z: Array, y: Array, a: Array) -> float:  # type: ignore[override]
        total = 0.0
        for c in range(self.columns):
            a[c] = self.loss.slope(z[c], y[c])
            total += self.loss.value(z[c], y[c])
        return total

    def lipschitz(self) -> float:
        return math.sqrt(self.columns) * self.loss.lipschitz()

    def smoothness(self) -> float:
        return self.loss.smoothness()
