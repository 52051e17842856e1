"""One pass of the primal gradient solver: O(nnz) per round for every norm."""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.rows import AHEAD
from stepless.jit import FAST, compiled
from stepless.term import Term

_DRIFT = 1e-3  # share of its peak below which a carried sum is summed again

# Columns of `kept`: θ and ψ; where iterates are added up, Σ w_t so far, and Σκ_t until then.
THETA, PSI, SUM, SINCE = range(4)
# Positions in `motion`.
CLOCK, MASS, UNIT, PEAK, BIAS, BIAS_CURVATURE, REACH = range(7)
PICK, ITS_BIAS, BIASES, PASSED = range(7, 11)
# Of a stream: whether it is one, its first intercept, Σ s_i ℓ(w = 0) so far.
STREAM, FIRST, LOST = range(11, 14)
SIZE = 14


class Rule(Term):
    """The link from dual to primal, and the numbers of a run."""

    link: Term  # one of `links`
    bound: float  # of the norm of w
    batch: int  # k: examples per round
    bias: float  # 1: there is a free intercept


@compiled(
    "problem[m,d,_] order[n] kept[d,2|4] motion[SIZE] room.0[2,d] room.1[0|d] scores[≥n]",
    fastmath=FAST,
)
def descend(problem, rule, order, kept, motion, room, scores):
    """Write `kept` (d × 2 or d × 4), `motion`, `room`, `scores`: predictions before learning.

    θ ← θ − mean over the batch of a_i x_i, w = ∇Ω*(θ/(t + 1)) after t rounds (ZHU Fig. 1), scaled
    into the ball. `room` is zeros for a list of features, and for the weights before round PICK.
    """
    loss, X, y, s = problem
    (touched, picked), link = room, rule.link
    keep, moves = kept.shape[1] > 2, np.empty(min(rule.batch, order.size))
    t, mass, unit = motion[CLOCK], motion[MASS], motion[UNIT]
    b, S_b, reach = motion[BIAS], motion[BIAS_CURVATURE], motion[REACH]
    passed, biases = motion[PASSED], motion[BIASES]  # Σκ and Σb of this pass
    for start in range(0, order.size, rule.batch):
        stop = min(start + rule.batch, order.size)
        share, slope = 1.0 / (stop - start), 0.0
        kappa = fitted(rule, t, mass, unit)
        if keep:
            passed, biases = passed + kappa, biases + b
            if motion[PICK] == 0.0:
                _pick(link, kept, kappa, picked)
                motion[ITS_BIAS] = b
            motion[PICK] -= 1.0
        for n in range(start, stop):
            X.fetch(order[min(n + AHEAD, order.size - 1)])
            i = order[n]
            p = _product(X, i, link, kept, kappa)
            scores[n] = p + b
            reach = max(reach, abs(p))
            a = s[i] * loss.slope(p + b, y[i])  # ZHU Fig. 1, line 6
            if motion[STREAM] > 0.0:
                motion[LOST] += s[i] * loss.value(motion[FIRST], y[i])
            moves[n - start] = -share * a
            slope += share * a
        rows, sums = order[start:stop], (passed, mass, unit)
        if rule.batch == 1 or not link.costly():
            mass, largest = add_each(X, link, rows, moves, kept, sums)
        else:
            mass, largest = add_up(X, link, rows, moves, kept, touched, sums)
        motion[PEAK] = max(motion[PEAK], mass)
        if largest > unit or mass < _DRIFT * motion[PEAK]:
            motion[PASSED] = passed
            settle(link, kept, motion)
            unit, mass = motion[UNIT], motion[MASS]
        b, S_b = _move_bias(rule, slope, reach, b, S_b)
        t += 1.0
    motion[CLOCK], motion[MASS], motion[UNIT] = t, mass, unit
    motion[BIAS], motion[BIAS_CURVATURE], motion[REACH] = b, S_b, reach
    motion[PASSED], motion[BIASES] = passed, biases


@compiled(fastmath=FAST)
def _pick(link, kept, kappa, picked):
    for j in range(kept.shape[0]):
        picked[j] = link.weight(kept[j, PSI], kappa)


@compiled(fastmath=FAST)
def _product(X, i, link, kept, kappa):
    """⟨w, x_i⟩."""
    p = 0.0
    first, last = X.span(i)
    for k in range(first, last):
        j, x = X.entry(i, k)
        p += link.weight(kept[j, PSI], kappa) * x
    return p


@compiled(fastmath=FAST)
def _move_bias(rule, slope, reach, b, S_b):
    if not rule.bias > 0.0:
        return b, S_b
    # as large as predictions are without it; the step is DLF Alg. 2's with λ = 0
    S_b = 0.5 * (S_b + math.sqrt(S_b * S_b + (slope / reach) ** 2))
    return b - slope / S_b if S_b > 0.0 else b, S_b


@compiled("kept[_,2|4] motion[SIZE]", fastmath=FAST)
def settle(link, kept, motion):
    """Write `kept` and `motion`: the sum of the iterates, and every ψ anew."""
    if kept.shape[1] > 2:
        add_iterates(kept, motion[PASSED])
    motion[UNIT], motion[MASS] = refresh(link, kept)
    motion[PEAK] = motion[MASS]


@compiled("kept[_,4]", fastmath=FAST)
def add_iterates(kept, passed):
    """Write `kept`: the sum of the iterates up to now."""
    for j in range(kept.shape[0]):
        kept[j, SUM] += (passed - kept[j, SINCE]) * kept[j, PSI]
        kept[j, SINCE] = passed


@compiled(fastmath=FAST)
def add_each(X, link, rows, moves, kept, sums):
    """Write `kept`: θ and ψ after a batch, by entries; return the mass and the largest |θ_j|."""
    passed, mass, unit = sums
    keep = kept.shape[1] > 2
    largest = 0.0
    for n in range(rows.size):
        move = moves[n]
        if move != 0.0:
            i = rows[n]
            first, last = X.span(i)
            for k in range(first, last):
                j, x = X.entry(i, k)
                theta, psi = kept[j, THETA], kept[j, PSI]
                if keep:
                    kept[j, SUM] += (passed - kept[j, SINCE]) * psi
                    kept[j, SINCE] = passed
                mass -= theta * psi
                theta += move * x  # line 7
                psi = link.stored(theta, unit)
                mass += theta * psi
                kept[j, THETA], kept[j, PSI] = theta, psi
                largest = max(largest, abs(theta))
    return mass, largest


@compiled(fastmath=FAST)
def add_up(X, link, rows, moves, kept, touched, sums):
    """Write `kept`: θ after a batch, then each ψ once; return the mass and the largest |θ_j|."""
    passed, mass, unit = sums
    keep = kept.shape[1] > 2
    largest, count = 0.0, 0
    for n in range(rows.size):
        move = moves[n]
        if move != 0.0:
            i = rows[n]
            first, last = X.span(i)
            for k in range(first, last):
                j, x = X.entry(i, k)
                if touched[1, j] == 0:
                    touched[1, j] = 1
                    touched[0, count] = j
                    count += 1
                    mass -= kept[j, THETA] * kept[j, PSI]
                    if keep:
                        kept[j, SUM] += (passed - kept[j, SINCE]) * kept[j, PSI]
                        kept[j, SINCE] = passed
                kept[j, THETA] += move * x  # line 7
    for n in range(count):
        j = touched[0, n]
        touched[1, j] = 0
        theta = kept[j, THETA]
        psi = link.stored(theta, unit)
        mass += theta * psi
        kept[j, PSI] = psi
        largest = max(largest, abs(theta))
    return mass, largest


@compiled("", fastmath=FAST)
def fitted(rule, t, mass, unit):
    """κ after t rounds, smaller where w would leave the ball (ZHU Cor. 2)."""
    c = 1.0 / (t + 1.0)
    kappa = rule.link.common(c, mass, unit)  # line 8
    length = rule.link.length(c, mass, unit)
    return kappa * (rule.bound / length) if length > rule.bound else kappa


@compiled("kept[_,2|4]", fastmath=FAST)
def refresh(link, kept):
    """Write every ψ anew; return the unit and the mass."""
    largest = 0.0
    for j in range(kept.shape[0]):
        largest = max(largest, abs(kept[j, THETA]))
    unit = 2.0 * largest if largest > 0.0 else 1.0
    mass = 0.0
    for j in range(kept.shape[0]):
        kept[j, PSI] = link.stored(kept[j, THETA], unit)
        mass += kept[j, THETA] * kept[j, PSI]
    return unit, mass


@compiled("kept[d,2|4] motion[SIZE] w[d]")
def weights(rule, kept, motion, w):
    """Write w."""
    kappa = fitted(rule, motion[CLOCK], motion[MASS], motion[UNIT])
    for j in range(kept.shape[0]):
        w[j] = rule.link.weight(kept[j, PSI], kappa)
