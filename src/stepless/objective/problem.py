"""What a kernel is told of the problem."""

from __future__ import annotations

from numpy.typing import NDArray

from stepless.design import Design
from stepless.objective.losses.loss import Loss
from stepless.term import Term


class Problem(Term):
    """Loss, examples, targets and sample weights (scaled to mean 1): R(w, b) = Σ s_i ℓ(z_i, y_i)/m.

    Kernels unpack it in their first line: ``loss, X, y, s = problem``.
    """

    loss: Loss
    X: Design
    y: NDArray
    s: NDArray
