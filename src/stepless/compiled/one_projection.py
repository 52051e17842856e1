"""One pass of gradient steps with a multiplier for the constraint instead of a projection."""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.rows import square
from stepless.jit import FAST, compiled
from stepless.term import Term

# Places in `motion`: the multiplier λ, the intercept and Σa² for its steps, rounds so far, and sums
# over a phase: of rounds, of λ, of ‖g‖² and c², and the largest ‖∇c‖².
MULTIPLIER, BIAS, SLOPES, CLOCK, ROUNDS, MULTIPLIERS, GRADIENTS, EXCESSES, STEEPEST = range(9)


class Rule(Term):
    """The step size of a round, and the multiplier of the constraint.

    `weigh` returns the λ of a round at excess c, `adjust` that of the next one; here the same.
    """

    def length(self, t):
        """Return η_t."""
        raise NotImplementedError

    def weigh(self, multiplier, c):
        return multiplier

    def adjust(self, multiplier, c):
        return multiplier


class PrimalDual(Rule):
    """λ climbs by its own gradient, c − γλ (MAH Alg. 12)."""

    step: float  # η
    dual_step: float  # η for λ
    gamma: float

    def length(self, t):
        return self.step

    def adjust(self, multiplier, c):
        climbed = (1.0 - self.gamma * self.dual_step) * multiplier + self.dual_step * c
        return max(climbed, 0.0)  # step 6


class Smoothed(Rule):
    """λ is the slope of the smoothed penalty γ ln(1 + exp(λ₀c/γ)) (MAH Alg. 13)."""

    strength: float  # β
    ceiling: float  # λ₀
    gamma: float

    def length(self, t):
        return 1.0 / (2.0 * self.strength * t)

    def weigh(self, multiplier, c):
        return self.ceiling / (1.0 + math.exp(-self.ceiling * c / self.gamma))  # (9.12)


@compiled("problem[m,d,_] order[_] w[d] total[d] motion[9]", fastmath=FAST)
def descend(problem, domain, setting, order, w, total, motion):
    """Write w, `total`, to which all iterates are added, and `motion`.

    `setting` holds the rule, the strength of the ridge, the radius of the ball, and the intercept's
    scale.
    """
    loss, X, y, s = problem
    rule, ridge, ball, bias_scale = setting
    g = np.zeros(w.size)
    for n in range(order.size):
        i = order[n]
        c = domain.outward(w, g)
        drawn = rule.weigh(motion[MULTIPLIER], c)
        motion[MULTIPLIER] = drawn
        eta = rule.length(motion[CLOCK] + 1.0)
        first, last = X.span(i)
        z, row = 0.0, 0.0
        for k in range(first, last):
            j, x = X.entry(i, k)
            z += w[j] * x
            row += x * x
        a = s[i] * loss.slope(z + motion[BIAS], y[i])
        size, steep = 0.0, 0.0
        for j in range(w.size):
            total[j] += w[j]
            size += w[j] * w[j]
            steep += g[j] * g[j]
            w[j] -= eta * (ridge * w[j] + drawn * g[j])  # step 4
        for k in range(first, last):
            j, x = X.entry(i, k)
            w[j] -= eta * a * x
        domain.into_span(w)
        reach = 0.0
        for j in range(w.size):
            reach += w[j] * w[j]
        if reach > ball * ball:
            shrink = ball / math.sqrt(reach)  # step 5
            for j in range(w.size):
                w[j] *= shrink
        motion[MULTIPLIER] = rule.adjust(drawn, c)
        motion[SLOPES] += a * a
        if a != 0.0:
            motion[BIAS] -= bias_scale * a / math.sqrt(motion[SLOPES])
        motion[CLOCK] += 1.0
        motion[ROUNDS] += 1.0
        motion[MULTIPLIERS] += drawn
        motion[GRADIENTS] += a * a * row + 2.0 * ridge * a * z + ridge * ridge * size
        if c > -math.inf:
            motion[EXCESSES] += c * c
        motion[STEEPEST] = max(motion[STEEPEST], steep)


@compiled("problem[m,_,_] z[m]", fastmath=FAST)
def survey(problem, z, b, ball, farthest):
    """Return how steep any example can get within the ball, and the mean square slope at z + b.

    Slopes of a convex loss are steepest at the ends of the range of predictions: ± ball · ‖x_i‖,
    and ± ball · farthest more for the intercept.
    """
    loss, X, y, s = problem
    steepest = squares = 0.0
    for i in range(z.size):
        row = math.sqrt(square(X, i))
        for end in range(3):
            at = z[i] if end == 2 else (2.0 * end - 1.0) * ball * (row + farthest)
            a = s[i] * loss.slope(at + b, y[i])
            if end == 2:
                squares += a * a
            else:
                steepest = max(steepest, abs(a) * row)
    return steepest, squares / z.size
