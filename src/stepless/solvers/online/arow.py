"""Adaptive regularization of weights."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.margins import MEAN, regularize_diagonal, regularize_full
from stepless.objective import Hinge, MulticlassHinge, Objective
from stepless.solvers.online.learner import Course, Learner, Scale, needs_nothing_else
from stepless.solvers.online.updates import Memory


class AROW(Learner):
    """A Gaussian over weights: what has been seen often is held more firmly.

    Solves      nothing but each example in turn: a mean μ and a covariance Σ
    Algorithm   Crammer, Kulesza, Dredze 2009, as in DHS eq. (10): where yz < 1, with
                β = 1/(xᵀΣx + r): μ ← μ + (1 − yz)β y Σx, Σ ← Σ − β Σx xᵀΣ
    Guarantee   a bound on mistakes (their Th. 1)
    Cost        O(nnz) a round and two numbers a weight, or, full, O(d²)
    Needs       two classes and the hinge; no penalty
    Differs     r is found by an early look at the stream. DHS's α_t lacks the factor β_t. The
                diagonal form keeps the diagonal of Σ. With an intercept, x has a last entry of 1.
                Sample weights divide r.

    Parameters
    ----------
    matrix
        ``"diagonal"`` or ``"full"``.
    r
        How little one example counts; None to find it.

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
        self.matrix = matrix
        self.r = r

    def lacks(self, objective: Objective) -> str | None:
        if isinstance(objective.loss, MulticlassHinge):
            return "is of two classes; use multi_class='ovr', or solver='passive-aggressive'"
        if not isinstance(objective.loss, Hinge):
            return f"needs the hinge, not {type(objective.loss).__name__}; use loss='hinge'"
        return needs_nothing_else(objective)

    def fixed(self, objective: Objective) -> float | None:
        return self.r

    def first(self, objective: Objective, scale: Scale) -> float:
        return scale.length**2

    def fresh(self, objective: Objective, course: Course) -> Memory:
        (w, b), ones = course.start, int(objective.intercept)
        if self.matrix == "full":
            mean = np.concatenate([w[:, 0], b[:ones]])
            return Memory(mean, np.zeros(ones), np.eye(mean.size))
        memory = Memory(np.ones((len(w), 2)), np.ones((ones, 2)))
        memory.kept[:, MEAN], memory.bias[:, MEAN] = w[:, 0], b[:ones]
        return memory

    def run(
        self, problem: Any, objective: Objective, course: Course, order: Indices, scores: Array
    ) -> None:
        memory, r = course.memory, course.knob
        if self.matrix == "full":
            arrays = memory.bias.size > 0, memory.kept, memory.common
            regularize_full(problem, r, order, *arrays, scores)
        else:
            regularize_diagonal(problem, r, order, memory.kept, memory.bias, scores)

    def weights(self, objective: Objective, course: Course) -> tuple[Array, Array]:
        memory, ones = course.memory, course.memory.bias.shape[0]
        if self.matrix == "full":
            w, b = np.split(memory.kept, [memory.kept.size - ones])
        else:
            w, b = memory.kept[:, MEAN], memory.bias[:, MEAN]
        return w.reshape(-1, 1).copy(), b.copy() if ones else np.zeros(1)
