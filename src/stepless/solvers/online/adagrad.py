"""AdaGrad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

from stepless.compiled.metrics import DiagonalMetric, Root, Square
from stepless.objective import Objective
from stepless.solvers.online.composite_learner import CompositeLearner, averaging, mirror
from stepless.solvers.online.full_matrix import FullMatrix
from stepless.solvers.online.learner import ExampleSizes, LearnerState
from stepless.solvers.online.updates import Setting, Update

_TINY = 1e-100  # a curvature that keeps 0/0 away, and no more

Matrix = Literal["diagonal", "full", "block"]


class AdaGrad(CompositeLearner):
    """Adaptive subgradients: one step size per feature, larger for rarer features.

    Solves      min_w∈S Ω(w) + R(w), one example per round
    Algorithm   DHS Alg. 1 (diagonal), Alg. 2 (full), Cor. 14 (block): eq. (3) for ``"rda"``, (4)
                for ``"cmd"``, H_t = δI + diag ‖g_{1:t,j}‖₂ or δI + (Σ ggᵀ)^½. For ``"cmd"`` with a
                strongly convex penalty and a Lipschitz loss §5: diag ‖g_{1:t,j}‖₂², η = G²/λ
    Guarantee   regret ≤ (δ‖x*‖₂² + ‖x*‖_∞² γ)/(2η) + ηγ for ``"rda"`` if δ ≥ max|g|, and
                (δ‖x*‖₂² + max‖x* − x_t‖_∞² γ)/(2η) + ηγ for ``"cmd"``, γ = Σ_j ‖g_{1:T,j}‖₂ (Th. 6
                mended: docs/papers.md; full: Th. 8)
    Cost        diagonal: O(nnz) per round for penalties and domains of single weights and, by
                ``"rda"``, of rows; O(dK) for others; two numbers per weight, three for ``"cmd"``.
                Full: O(d²) per round, and O(d³) each time that the root is renewed
    Needs       diagonal: any penalty and domain; full and block: l2 or none, free or ball
    Differs     η is the domain's (Cor. 7) or, where it is unbounded, tuned on the first examples
                of the stream; with §5 δ is tuned instead. δ = max|g| by ``"rda"`` (Th. 6), as
                estimated there. The intercept is a feature as long as the examples, without a
                penalty, and it keeps the slower stepping of §6.2. A full root is renewed every
                round up to 128 features, beyond when its trace has grown by a tenth.

    Parameters
    ----------
    update
        ``"rda"`` or ``"cmd"``; None for ``"rda"``.
    matrix
        ``"diagonal"``, ``"full"``, or ``"block"`` for one full matrix per block.
    blocks
        The block of each feature; None for one block per class of a joint loss.
    eta, delta
        η and δ; None to find them.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(penalty="l1", alpha=0.01, solver="adagrad", passes=20)
    >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [2.5]])
    array([0, 1])
    """

    name: ClassVar[str] = "adagrad"

    def __init__(
        self,
        update: Literal["rda", "cmd"] = "rda",
        matrix: Matrix = "diagonal",
        *,
        blocks: Sequence[object] | None = None,
        eta: float | None = None,
        delta: float | None = None,
    ) -> None:
        super().__init__(eta)
        if update not in ("rda", "cmd"):
            raise ValueError(f"update must be 'rda' or 'cmd', not {update!r}")
        if matrix not in ("diagonal", "full", "block"):
            raise ValueError(f"matrix must be 'diagonal', 'full' or 'block', not {matrix!r}")
        if delta is not None and not 0.0 <= delta < math.inf:
            raise ValueError(f"delta must be at least 0, or None to be found, not {delta:g}")
        if blocks is not None and matrix != "block":
            raise ValueError("blocks= is for matrix='block'")
        self.update, self.matrix = update, matrix
        self.blocks, self.delta = blocks, delta

    def lacks(self, objective: Objective) -> str | None:
        if self.matrix == "diagonal":
            return super().lacks(objective)
        return FullMatrix.lacks(objective)

    def lipschitz(self, objective: Objective) -> float:
        """Return the Lipschitz constant of an example's loss in one prediction."""
        return float(objective.loss.lipschitz())

    def _squares(self, objective: Objective) -> bool:
        """Return whether §5 applies."""
        return (
            self.update == "cmd"
            and self.matrix == "diagonal"
            and self.eta is None
            and objective.strength > 0.0
            and not math.isinf(self.lipschitz(objective))
        )

    def fixed(self, objective: Objective) -> float | None:
        if self._squares(objective):
            return self.delta
        if self.eta is not None:
            return self.eta
        # Cor. 7 (diagonal) and Cor. 10 (full)
        if self.matrix == "diagonal":
            reach, width = objective.domain.reach(), objective.domain.width()
        else:
            reach, width = objective.radius, 2.0 * objective.radius
        known = reach if self.update == "rda" else width / math.sqrt(2.0)
        return None if math.isinf(known) else known

    def first(self, objective: Objective, sizes: ExampleSizes) -> float:
        if self._squares(objective):
            return self._eta(objective, sizes) * sizes.length**2
        return 1.0 / sizes.length

    def _eta(self, objective: Objective, sizes: ExampleSizes) -> float:
        steepest = self.lipschitz(objective) * sizes.entry
        return float(steepest**2 / objective.strength)  # Th. 13

    def setting(self, objective: Objective, state: LearnerState) -> Setting:
        sizes, penalty = state.sizes, (objective.regularizer, objective.domain)
        intercept = float(objective.intercept)
        if self._squares(objective):
            metrics: tuple[DiagonalMetric, DiagonalMetric] = Square(state.parameter), Root(_TINY)
            return Setting(penalty, metrics, (self._eta(objective, sizes), intercept))
        delta = max(self._delta(objective, sizes), _TINY)
        metrics = Root(delta), Root(delta / sizes.length)
        eta = state.parameter
        return Setting(penalty, metrics, (eta, intercept * eta * sizes.length))

    def _delta(self, objective: Objective, sizes: ExampleSizes) -> float:
        if self.delta is not None:
            return self.delta
        lipschitz = self.lipschitz(objective)
        if math.isinf(lipschitz) or (self.update == "cmd" and self.matrix == "diagonal"):
            return 0.0
        return float(lipschitz * (sizes.entry if self.matrix == "diagonal" else sizes.longest))

    def update_rule(self, objective: Objective) -> Update:
        if self.matrix != "diagonal":
            return FullMatrix(self.update == "rda", self.matrix == "block", self.blocks)
        return averaging(objective) if self.update == "rda" else mirror(objective)
