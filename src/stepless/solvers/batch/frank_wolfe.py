"""The conditional gradient method of Frank and Wolfe."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import vertices
from stepless.objective import Penalized
from stepless.plane import Tangent
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.gradient import Gradient, GradientState
from stepless.solvers.batch.smoothness import Smoothness, needs_smooth


class FrankWolfe(Gradient):
    """Steps towards the vertex where the tangent is lowest, so that no projection is needed.

    Solves      min_w∈S Ω(w) + R(w), S bounded, ℓ smooth
    Algorithm   MAH §2.3.2.5: p_t = argmin_p∈S ⟨∇J(w_t), p⟩, w_{t+1} = (1 − η)w_t + ηp_t; in an ℓ₁
                ball or a simplex also away from the worst vertex that w_t is made of, if that is
                steeper (Guélat and Marcotte's away steps)
    Guarantee   J(w_T) − J* ≤ 2β·diam(S)²/(T + 1) (Th. 2.21), and geometric with away steps if J is
                strongly convex (Lacoste-Julien and Jaggi); at every step
                J(w_t) − J* ≤ ⟨∇J(w_t), w_t − p_t⟩
    Cost        one oracle (a pass on all threads) per step, another if L must rise; O(d) memory
    Needs       a smooth loss; penalty l2 or none; a bounded domain
    Differs     η is where J's bound of smoothness L is lowest, with L estimated (`Smoothness`); not
                2/(t + 1). A free intercept is minimised out in the oracle.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", penalty="none", domain="l1_ball(2)",
    ...                        solver="frank-wolfe")
    >>> clf.fit([[0.0], [1.0], [2.0]], [0, 0, 1]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "frank-wolfe"

    def lacks(self, objective: Penalized) -> str | None:
        domain = objective.domain
        if not objective.regularizer.only_ridge:
            return (
                "knows the penalties l2 and none; use solver='auto', penalty='l2', "
                "or for the lasso penalty='none' and domain='l1_ball(R)'"
            )
        if math.isinf(domain.radius()) and math.isinf(domain.reach()):
            return "needs a bounded domain; use solver='auto', or domain='l1_ball(R)'"
        if not domain.offers("vertex"):
            return f"needs a `vertex` of {type(domain).__name__}; use solver='auto'"
        return needs_smooth(objective)

    @staticmethod
    def _move(
        risk: WeightRisk, state: GradientState, here: Tangent, smoothness: Smoothness
    ) -> None:
        metric, ridge = state.metric, risk.objective.strength
        g = here.plane.a + ridge * state.w
        direction, longest, leaving = _direction(risk.objective, state.w, g)
        slope = -float(g @ direction)
        if slope <= 0.0:  # no point of the domain is lower, but for rounding
            return
        square = metric.square(direction)
        while True:
            bend = smoothness.L * square + ridge * float(direction @ direction)
            length = min(slope / bend, longest) if bend > 0.0 else longest
            w = state.w + length * direction
            if leaving is not None:
                if length == longest:
                    w[leaving] = 0.0
                vertices.enter(risk.objective.domain, w)  # steps away add up their rounding
            move = w - state.w
            there = risk.tangent(w, metric.follow(risk.objective, here.b, move))
            if smoothness.admits(risk, here, move, there.value, metric.square(move)):
                break
        state.w, state.tangent = w, there


def _direction(objective: Penalized, w: Array, g: Array) -> tuple[Array, float, int | slice | None]:
    """Return a direction to the lowest vertex or away from the highest, and its longest step.

    And the entries that are 0 there. In an ℓ₁ ball and a simplex w is a combination of vertices,
    |w_j|/R of each, and of 0.
    """
    domain = objective.domain
    u = np.empty_like(w)
    vertices.lowest(domain, g, u)
    towards = u - w
    if not (domain.simplex or domain.ball_exponent == 1.0):
        return towards, 1.0, None
    bound = domain.radius()
    heights = np.where(w != 0.0, g * np.sign(w), -math.inf) * bound
    j = int(np.argmax(heights))
    height, share = float(heights[j]), abs(float(w[j])) / bound
    rest = 1.0 - float(np.abs(w).sum()) / bound
    centre = not domain.simplex and height < 0.0 and rest > 0.0
    if centre:
        height, share = 0.0, rest
    if height - float(g @ w) <= -float(g @ towards) or share >= 1.0:
        return towards, 1.0, None
    away = w.copy()
    if not centre:
        away[j] -= math.copysign(bound, w[j])
    return away, share / (1.0 - share), slice(0) if centre else j
