"""Mirror prox: the extragradient method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.mirrors import MirrorName
from stepless.objective import Penalized
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.mirror_steps import MirrorSteps, needs_mirror
from stepless.solvers.batch.smoothness import needs_smooth, rounding_error
from stepless.solvers.solver import Finding, finding_at

_SHORTER = 0.5  # after a step that was too long
_LONGER = 1.1  # after one that was not


@dataclass
class MirrorProxState:
    """The present point and the step size."""

    steps: MirrorSteps
    w: Array
    b: Any
    step: float = 0.0


class MirrorProx:
    """A look ahead, and a step with the gradient that was found there.

    Solves      min_w∈S Ω(w) + R(w), ℓ smooth
    Algorithm   MAH §2.3.2.4: z = argmin_v∈S η(⟨∇R(w_t), v⟩ + Ω(v)) + B(v, w_t), and
                w_{t+1} = argmin_v∈S η(⟨∇R(z), v⟩ + Ω(v)) + B(v, w_t)
    Guarantee   min_t J(z_t) − J* ≤ B(w*, w_1)/Σ η_t, and η_t ≥ 1/(2β) or so: O(β/T) (Th. 2.20)
    Cost        two oracles (passes on all threads) per step, another if η must fall; O(d) memory
    Needs       a smooth loss, and what `mirror-descent` needs
    Differs     η is found: the longest, by halves, for which the theorem's proof holds at this
                step, η⟨∇R(z) − ∇R(w), z − w_{t+1}⟩ ≤ B(z, w) + B(w_{t+1}, z). The loop keeps the
                best z instead of their mean. A free intercept is minimised out in the oracle.

    Parameters
    ----------
    mirror
        ``"euclidean"``, ``"entropy"`` or ``"p-norm"``; None for the domain's own: entropy for
        weights ≥ 0, p-norms for ℓ₁ and ℓ_p balls.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="l1", alpha=0.1, solver="mirror-prox")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "mirror-prox"
    online: ClassVar[bool] = False
    anywhere: ClassVar[bool] = True
    needs: ClassVar[type] = WeightRisk

    def __init__(self, mirror: MirrorName | None = None) -> None:
        self.mirror = mirror

    def lacks(self, objective: Penalized) -> str | None:
        return needs_mirror(objective, self.mirror) or needs_smooth(objective)

    def start(self, risk: WeightRisk, w: Array, b: Any) -> MirrorProxState:
        steps = MirrorSteps.of(risk, self.mirror)
        return MirrorProxState(steps, steps.mirror.inside(w), b)

    def step(self, risk: WeightRisk, state: MirrorProxState, rng: np.random.Generator) -> Finding:
        w, here = state.w, risk.tangent(state.w, state.b)
        steps, mirror = state.steps, state.steps.mirror
        g = here.plane.a + steps.ridge * w
        if state.step == 0.0:  # a risk ≥ 0 would fall below 0 if it were less smooth than that
            square = mirror.dual_square(g, w)
            state.step = 2.0 * here.value / square if square > 0.0 and here.value > 0.0 else 1.0
        while True:
            z = steps.move(w, g, state.step)
            there = risk.tangent(z, here.b)
            ahead = there.plane.a + steps.ridge * z
            v = steps.move(w, ahead, state.step)
            bend = state.step * float((ahead - g) @ (z - v))
            near = mirror.divergence(z, w) + mirror.divergence(v, z)
            rounding = state.step * rounding_error(risk, here.value)
            # false for what is not a number, which shorter steps would not mend
            if not bend > near + rounding:
                break
            state.step *= _SHORTER
        if near > rounding:
            state.step *= _LONGER
        state.w, state.b = v, there.b
        return finding_at(risk, z, there)
