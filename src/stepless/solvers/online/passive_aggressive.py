"""Passive-aggressive learning."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.margins import correct
from stepless.objective import Objective
from stepless.objective.finite_sum import FiniteSum
from stepless.solvers.online.learner import ExampleSizes, Learner, LearnerState, needs_no_penalty
from stepless.solvers.online.updates import Memory


class PassiveAggressive(Learner):
    """The smallest move that corrects each example, or less.

    Solves      each example in turn: argmin ½‖w − w_t‖² subject to ℓ_t(w) = 0
    Algorithm   Crammer et al. 2006, PA-I and PA-II (DHS §7): w ← w − τa ⊗ x, a ∈ ∂ℓ, with
                τ = min(C, ℓ/(‖a‖²‖x‖²)) or ℓ/(‖a‖²‖x‖² + 1/2C)
    Guarantee   mistakes ≤ max(max‖x‖², 1/C)(‖u‖² + 2C Σ ℓ_t(u)) for every u (PA-I)
    Cost        O(nnz) per round; one number per weight
    Needs       a hinge (of two or several classes), absolute or ε-insensitive loss; no penalty
    Differs     C is tuned on the first examples of the stream. With an intercept, x has a last
                entry of 1. Sample weights multiply C.

    Parameters
    ----------
    variant
        ``"I"`` or ``"II"``.
    C
        The aggressiveness; None to tune it.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(penalty="none", solver="passive-aggressive", passes=20)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "passive-aggressive"

    def __init__(self, variant: Literal["I", "II"] = "I", C: float | None = None) -> None:
        if variant not in ("I", "II"):
            raise ValueError(f"variant must be 'I' or 'II', not {variant!r}")
        if C is not None and not C > 0.0:
            raise ValueError(f"C must be positive, or None to be found, not {C:g}")
        self.variant, self.C = variant, C

    def lacks(self, objective: Objective) -> str | None:
        if not objective.loss.unit_slopes:
            return (
                f"needs a loss that a step can bring to 0, and {type(objective.loss).__name__} is "
                "none; use loss='hinge', or 'epsilon_insensitive' for numbers"
            )
        return needs_no_penalty(objective)

    def fixed(self, objective: Objective) -> float | None:
        return self.C

    def first(self, objective: Objective, sizes: ExampleSizes) -> float:
        return 1.0 / sizes.length**2

    def fresh(self, objective: Objective, state: LearnerState) -> Memory:
        w, b = state.start
        return Memory(w.copy(), b.copy() if objective.intercept else np.zeros(0))

    def run(
        self, rows: FiniteSum, objective: Objective, state: LearnerState, order: Indices, z: Array
    ) -> None:
        memory, C = state.memory, state.parameter
        cap, soft = (C, 0.0) if self.variant == "I" else (math.inf, 0.5 / C)
        correct(rows, cap, soft, order, memory.kept, memory.bias, z)

    def weights(self, objective: Objective, state: LearnerState) -> tuple[Array, Array]:
        w, b = state.memory.kept, state.memory.bias
        return w.copy(), b.copy() if b.size else np.zeros(w.shape[1])
