"""One pass of subgradient descent, the same for every online solver of DLF.

The solvers differ only in how fast the curvature S_t = λt + τ_{1:t} grows (the step is 1/S_t), and
in what happens when the weights come near their hypothesised radius: numbers, not code.

w_t is held as scale · w, so that shrinking and projecting cost O(1); ‖w_t‖² is carried along.
`kept`, if it has rows, gets the sum of the iterates before each round, and the one before round
PICK. `fold` ends a pass.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.rows import AHEAD, product_and_square
from stepless.jit import FAST, compiled
from stepless.term import Term

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
    batch: int  # examples per round


@compiled("problem[m,d,_] order[n] w[d] motion[SIZE] kept[0|2,d] scores[≥n]", fastmath=FAST)
def descend(problem, rule, order, w, motion, kept, scores):
    """Write w, `motion`, `kept` (0 × d or 2 × d), `scores`: predictions before learning."""
    loss, X, y, s = problem
    keep, slopes = kept.shape[0] > 0, np.empty(min(rule.batch, order.size))
    scale, square, S = motion[SCALE], motion[SQUARE], motion[CURVATURE]
    radius, b, S_b = motion[RADIUS], motion[BIAS], motion[BIAS_CURVATURE]
    phase, biases = motion[PHASE], motion[BIASES]
    weight = motion[SUMMED]  # Σ w_t = weight · w + kept[0]
    for start in range(0, order.size, rule.batch):
        stop = min(start + rule.batch, order.size)
        share = 1.0 / (stop - start)
        if keep:
            weight, biases = weight + scale, biases + b
            if motion[PICK] == 0.0:
                _pick(w, scale, b, motion, kept)
            motion[PICK] -= 1.0
        slope, steepness, along = 0.0, 0.0, 0.0
        for t in range(start, stop):
            X.fetch(order[min(t + AHEAD, order.size - 1)])
            i = order[t]
            p, length = product_and_square(X, i, w)
            scores[t] = scale * p + b
            a = s[i] * loss.slope(scale * p + b, y[i])
            if motion[STREAM] > 0.0:
                _measure(s[i], length, s[i] * loss.value(motion[FIRST], y[i]), motion)
            slopes[t - start] = a
            slope += share * a
            steepness += share * abs(a) * math.sqrt(length)
            along += share * a * scale * p
        S, step, shrink = _curve(rule, S, radius, square, along, steepness)
        scale *= shrink
        if not scale > _SMALL:
            _fold_in(w, max(scale, 0.0), kept, weight)
            scale, weight = 1.0, 0.0
        square *= max(shrink, 0.0) ** 2
        for t in range(start, stop):
            a = slopes[t - start]
            if a != 0.0:
                move = -step * share * a
                part = move / scale
                square += move * _learn(X, order[t], w, scale, move, part)
                if keep:
                    _add(X, order[t], -weight * part, kept)
        scale, square = _project(rule.ball, scale, square)
        b, S_b = _move_bias(rule, radius, slope, b, S_b)
        radius, S, phase = _widen(rule, radius, square, S, phase)
    motion[SCALE], motion[SQUARE], motion[CURVATURE], motion[SUMMED] = scale, square, S, weight
    motion[RADIUS], motion[BIAS], motion[BIAS_CURVATURE] = radius, b, S_b
    motion[PHASE], motion[BIASES] = phase, biases


@compiled(fastmath=FAST)
def _pick(w, scale, b, motion, kept):
    """Write kept[1] and `motion`: this iterate and its intercept."""
    for j in range(w.size):
        kept[1, j] = scale * w[j]
    motion[ITS_BIAS] = b


@compiled(fastmath=FAST)
def _measure(s, length, lost, motion):
    """Write `motion`: what a stream has shown of the size of its examples and losses."""
    motion[LONGEST] = max(motion[LONGEST], s * math.sqrt(length))
    motion[HEAVIEST] = max(motion[HEAVIEST], s)
    motion[LOST] += lost


@compiled(fastmath=FAST)
def _curve(rule, S, radius, square, along, steepness):
    """Return the curvature S of this round, its step, and the factor by which w shrinks."""
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
    return S, step, 1.0 - step * (rule.strength + rule.pull * tau)


@compiled(fastmath=FAST)
def _fold_in(w, scale, kept, weight):
    """Write w, `scale` times as large, and `kept`: the sum of the iterates."""
    if kept.shape[0] > 0:
        for j in range(w.size):
            kept[0, j] += weight * w[j]
    for j in range(w.size):
        w[j] *= scale


@compiled(fastmath=FAST)
def _learn(X, i, w, scale, move, part):
    """Add (move/scale)·x_i to w; return ⟨x_i, 2 scale·w + move·x_i⟩."""
    longer = 0.0
    first, last = X.span(i)
    for k in range(first, last):
        j, v = X.entry(i, k)
        longer += v * (2.0 * scale * w[j] + move * v)
        w[j] += part * v
    return longer


@compiled(fastmath=FAST)
def _add(X, i, a, kept):
    first, last = X.span(i)
    for k in range(first, last):
        j, v = X.entry(i, k)
        kept[0, j] += a * v


@compiled(fastmath=FAST)
def _project(ball, scale, square):
    if square > ball * ball:
        return scale * (ball / math.sqrt(square)), ball * ball
    return scale, square


@compiled(fastmath=FAST)
def _move_bias(rule, radius, slope, b, S_b):
    if not rule.bias_reach > 0.0:
        return b, S_b
    g = max(rule.bias_gradient, abs(slope))
    grown = 0.5 * (S_b + math.sqrt(S_b * S_b + (g / (radius * rule.bias_reach)) ** 2))
    S_b = min(grown, _STEEPEST)
    return b - slope / S_b if S_b > 0.0 else b, S_b


@compiled(fastmath=FAST)
def _widen(rule, radius, square, S, phase):
    """Return radius, curvature and phase for the next round; a wider ball may begin a phase."""
    if not (rule.slack >= 0.0 and math.sqrt(max(square, 0.0)) >= radius - rule.slack):
        return radius, S, phase + 1.0
    radius *= math.sqrt(2.0)  # DLF Alg. 3
    return (radius, 0.0, 0.0) if rule.restart > 0.0 else (radius, S, phase + 1.0)


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
