"""Adaptive regularization of weights."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.margins import MEAN, regularize_diagonal, regularize_full
from stepless.objective import FiniteSum, Objective
from stepless.solvers.online.learner import ExampleSizes, Learner, LearnerState, needs_no_penalty
from stepless.solvers.online.updates import Memory


class AROW(Learner):
    """A Gaussian over weights: those of frequent features change less.

    Solves      each example in turn: a mean μ and a covariance Σ
    Algorithm   Crammer, Kulesza, Dredze 2009, as in DHS eq. (10): where yz < 1, with
                β = 1/(xᵀΣx + r): μ ← μ + (1 − yz)β y Σx, Σ ← Σ − β Σx xᵀΣ
    Guarantee   a bound on mistakes (their Th. 1)
    Cost        O(nnz) per round and two numbers per weight, or, full, O(d²)
    Needs       two classes and the hinge; no penalty
    Differs     r is tuned on the first examples of the stream. DHS's α_t lacks the factor β_t. The
                diagonal form keeps the diagonal of Σ. With an intercept, x has a last entry of 1.
                Sample weights divide r.

    Parameters
    ----------
    matrix
        ``"diagonal"`` or ``"full"``.
    r
        The larger, the less one example counts; None to tune it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(penalty="none", solver="arow", passes=20, random_state=0)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "arow"

    def __init__(
        self, matrix: Literal["diagonal", "full"] = "diagonal", r: float | None = None
    ) -> None:
        if matrix not in ("diagonal", "full"):
            raise ValueError(f"matrix must be 'diagonal' or 'full', not {matrix!r}")
        if r is not None and not r > 0.0:
            raise ValueError(f"r must be positive, or None to be found, not {r:g}")
        self.matrix, self.r = matrix, r

    def lacks(self, objective: Objective) -> str | None:
        loss = objective.loss
        if loss.unit_slopes and loss.outputs() > 1:
            return "is of two classes; use multi_class='ovr', or solver='passive-aggressive'"
        if not (loss.unit_slopes and loss.targets == "signs"):
            return f"needs the hinge, not {type(loss).__name__}; use loss='hinge'"
        return needs_no_penalty(objective)

    def fixed(self, objective: Objective) -> float | None:
        return self.r

    def first(self, objective: Objective, sizes: ExampleSizes) -> float:
        return sizes.length**2

    def fresh(self, objective: Objective, state: LearnerState) -> Memory:
        (w, b), ones = state.start, int(objective.intercept)
        if self.matrix == "full":
            mean = np.concatenate([w[:, 0], b[:ones]])
            return Memory(mean, np.zeros(ones), np.eye(mean.size))
        memory = Memory(np.ones((len(w), 2)), np.ones((ones, 2)))
        memory.kept[:, MEAN], memory.bias[:, MEAN] = w[:, 0], b[:ones]
        return memory

    def run(
        self, rows: FiniteSum, objective: Objective, state: LearnerState, order: Indices, z: Array
    ) -> None:
        memory, r = state.memory, state.parameter
        if self.matrix == "full":
            arrays = memory.bias.size > 0, memory.kept, memory.common
            regularize_full(rows, r, order, *arrays, z)
        else:
            regularize_diagonal(rows, r, order, memory.kept, memory.bias, z)

    def weights(self, objective: Objective, state: LearnerState) -> tuple[Array, Array]:
        memory, ones = state.memory, state.memory.bias.shape[0]
        if self.matrix == "full":
            w, b = np.split(memory.kept, [memory.kept.size - ones])
        else:
            w, b = memory.kept[:, MEAN], memory.bias[:, MEAN]
        return w.reshape(-1, 1).copy(), b.copy() if ones else np.zeros(1)
