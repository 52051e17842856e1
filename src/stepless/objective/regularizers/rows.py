"""Penalties of the rows of a joint model's weights."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.objective.regularizers.regularizer import Regularizer, positive


class Rows(Regularizer):
    """A penalty of rows; with a single output it is the lasso."""

    separable: ClassVar[bool] = False
    alpha: float = 1.0

    def _check(self) -> None:
        positive(self.alpha)

    def prox(self, wj: float, step: float) -> float:
        cut = step * self.alpha
        return 0.0 if abs(wj) <= cut else wj - math.copysign(cut, wj)
