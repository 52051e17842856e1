"""One pass of subgradient descent, the same for every online solver of DLF.

The solvers differ only in how fast the curvature S_t = λt + τ_{1:t} grows (the step is 1/S_t), and
in what happens when the weights come near their hypothesised radius: numbers, not code.
"""

from __future__ import annotations

import math

from stepless.jit import FAST, compiled
from stepless.term import Term

_AHEAD = 6  # rows between asking for one and using it
_STEEPEST = 1e150  # curvature beyond which squares overflow; the step is nothing long before
_SMALL = 1e-9  # scale below which it is folded into the weights

# Positions in the `motion` array: what a pass reads and changes besides the weights.
SCALE, SQUARE, CURVATURE, RADIUS, PHASE, BIAS, BIAS_CURVATURE = range(7)
PICK, ITS_BIAS, BIASES, SUMMED = range(7, 11)
# Of a stream: whether it is one, its first intercept, max s_i‖x_i‖, max s_i, Σ s_i ℓ(w = 0) so far.
STREAM, FIRST, LONGEST, HEAVIEST, LOST = range(11, 16)
SIZE = 16


class Rule(Term):
    """The numbers that make one online solver of another."""

    strength: float  # λ
    gradient: float  # G; where g_t is longer, its own norm
    balance: float  # τ_t balances balance · G²/ρ²: 1 proximal, 8/3 adaptive, 0 none
    pull: float  # 1: the added curvature pulls towards 0 (Bartlett); 0: towards w_t (DLF)
    ball: float  # radius of the set that is projected on
    slack: float  # ρ grows by √2 when ‖w‖ ≥ ρ − slack; negative: never
    restart: float  # 1: with each growth a new phase begins, S = 0
    bias_gradient: float  # G of the intercept
    bias_reach: float  # radius of the intercept, in ρ; 0: there is no intercept
    batch: int  # examples a round


@compiled(
    "problem[m,d,_] order[n] w[d] motion[SIZE] kept[0|2,d] slopes[≥min(rule.batch,n)] scores[≥n]",
    fastmath=FAST,
)
def descend(problem, rule, order, w, motion, kept, slopes, scores):
    """Write w, `motion`, `kept` (0 × d or 2 × d), `slopes` (of a batch), `scores` (of all rows).

    Visits the rows of `order`, `rule.batch` a round; `scores` gets the predictions before. `kept`,
    if it has rows, gets the sum of the iterates before each round, and that before round PICK.
    `fold` ends a pass.

    w_t is held as scale · w, so that to shrink and to project cost O(1); ‖w_t‖² is carried along.
    """
    loss, X, y, s = problem
    keep = kept.shape[0] > 0
    stream = motion[STREAM] > 0.0
    scale, square, S = motion[SCALE], motion[SQUARE], motion[CURVATURE]
    radius, b, S_b = motion[RADIUS], motion[BIAS], motion[BIAS_CURVATURE]
    weight = motion[SUMMED]  # Σ w_t = weight · w + kept[0]
    biases = motion[BIASES]
    for start in range(0, order.size, rule.batch):
        stop = min(start + rule.batch, order.size)
        share = 1.0 / (stop - start)
        if keep:
            weight += scale
            biases += b
            if motion[PICK] == 0.0:
                for j in range(w.size):
                    kept[1, j] = scale * w[j]
                motion[ITS_BIAS] = b
            motion[PICK] -= 1.0

        slope = 0.0
        steepness = 0.0
        along = 0.0
        for t in range(start, stop):
            if t + _AHEAD < order.size:
                X.fetch(order[t + _AHEAD])
            i = order[t]
            first, last = X.span(i)
            p = 0.0
            length = 0.0
            for k in range(first, last):
                j, v = X.entry(i, k)
                p += w[j] * v
                length += v * v
            z = scale * p + b
            scores[t] = z
            a = s[i] * loss.slope(z, y[i])
            if stream:
                motion[LONGEST] = max(motion[LONGEST], s[i] * math.sqrt(length))
                motion[HEAVIEST] = max(motion[HEAVIEST], s[i])
                motion[LOST] += s[i] * loss.value(motion[FIRST], y[i])
            slopes[t - start] = a
            slope += share * a
            steepness += share * abs(a) * math.sqrt(length)
            along += share * a * scale * p

        S += rule.strength
        G = rule.gradient
        if rule.balance > 0.0:
            # ‖λw + g‖², g the loss's part; for a batch ‖g‖ ≤ Σ|a_i|‖x_i‖/k is the best to be had
            pull = rule.strength * rule.strength * square + 2.0 * rule.strength * along
            G = max(G, math.sqrt(max(pull + steepness * steepness, 0.0)))
        grown = 0.5 * (S + math.sqrt(S * S + rule.balance * (G / radius) ** 2))  # DLF Alg. 2
        tau = min(grown, _STEEPEST) - S
        S += tau
        step = 1.0 / S if S > 0.0 else 0.0
        shrink = 1.0 - step * (rule.strength + rule.pull * tau)
        if shrink * scale > _SMALL:
            scale *= shrink
        else:
            fold = max(shrink, 0.0) * scale
            if keep:
                for j in range(w.size):
                    kept[0, j] += weight * w[j]
                weight = 0.0
            for j in range(w.size):
                w[j] *= fold
            scale = 1.0
        square *= max(shrink, 0.0) ** 2
        for t in range(start, stop):
            a = slopes[t - start]
            if a != 0.0:
                i = order[t]
                first, last = X.span(i)
                move = -step * share * a
                part = move / scale
                longer = 0.0
                for k in range(first, last):
                    j, v = X.entry(i, k)
                    longer += v * (2.0 * scale * w[j] + move * v)
                    w[j] += part * v
                square += move * longer
                if keep:
                    for k in range(first, last):
                        j, v = X.entry(i, k)
                        kept[0, j] -= weight * part * v
        if square > rule.ball * rule.ball:
            scale *= rule.ball / math.sqrt(square)
            square = rule.ball * rule.ball

        if rule.bias_reach > 0.0:
            g = max(rule.bias_gradient, abs(slope))
            grown = 0.5 * (S_b + math.sqrt(S_b * S_b + (g / (radius * rule.bias_reach)) ** 2))
            S_b = min(grown, _STEEPEST)
            if S_b > 0.0:
                b -= slope / S_b
        motion[PHASE] += 1.0
        if rule.slack >= 0.0 and math.sqrt(max(square, 0.0)) >= radius - rule.slack:
            radius *= math.sqrt(2.0)  # DLF Alg. 3
            if rule.restart > 0.0:
                S = 0.0
                motion[PHASE] = 0.0

    motion[SCALE], motion[SQUARE], motion[CURVATURE] = scale, square, S
    motion[RADIUS], motion[BIAS], motion[BIAS_CURVATURE] = radius, b, S_b
    motion[BIASES], motion[SUMMED] = biases, weight


@compiled("w[d] motion[SIZE] kept[0|2,d]", fastmath=FAST)
def fold(w, motion, kept):
    """Write w, scale included, its square anew, and `kept`: the sum of the iterates."""
    square = 0.0
    for j in range(w.size):
        if kept.shape[0] > 0:
            kept[0, j] += motion[SUMMED] * w[j]
        w[j] *= motion[SCALE]
        square += w[j] * w[j]
    motion[SCALE], motion[SQUARE], motion[SUMMED] = 1.0, square, 0.0
