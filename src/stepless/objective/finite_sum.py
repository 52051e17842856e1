"""The risk of examples as compiled loops see it."""

from __future__ import annotations

from stepless.arrays import Array
from stepless.design import Design
from stepless.objective.losses.loss import Loss
from stepless.term import Term


class FiniteSum(Term):
    """R(w, b) = Σ s_i ℓ(z_i, y_i)/m: loss, examples, targets, sample weights (scaled to mean 1).

    Compiled loops unpack it in their first line: ``loss, X, y, s = problem``.
    """

    loss: Loss
    X: Design
    y: Array
    s: Array

    @property
    def shape(self) -> tuple[int, int, int]:
        """Examples, features, and predictions per example."""
        return *self.X.shape, self.loss.outputs()

    def _check(self) -> None:
        column, outputs = self.X.shape[:1], self.loss.outputs()
        targets = (*column, outputs) if self.loss.targets == "rows" else column
        if self.y.shape != targets or self.s.shape != column:
            raise ValueError(
                f"there are {column[0]} examples, but targets of shape {self.y.shape} and sample "
                f"weights of shape {self.s.shape}"
            )
