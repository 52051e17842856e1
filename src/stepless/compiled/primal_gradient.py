"""One pass of the primal gradient solver: O(nnz) a round for every norm."""

from __future__ import annotations

import math

from stepless.jit import FAST, compiled
from stepless.term import Term

_AHEAD = 6  # rows between asking for one and using it
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
    """The numbers of a run."""

    bound: float  # of the norm of w
    batch: int  # k: examples a round
    bias: float  # 1: there is a free intercept


@compiled(
    "problem[m,d,_] order[n] kept[d,2|4] motion[SIZE] slopes[≥min(rule.batch,n)] touched[2,d] "
    "picked[0|d] scores[≥n]",
    fastmath=FAST,
)
def descend(problem, link, rule, order, kept, motion, slopes, touched, picked, scores):
    """Write `kept` (d × 2 or d × 4), `motion`, `slopes` (of a batch), `scores` (of all rows).

    θ ← θ − mean over the batch of a_i x_i, w = ∇Ω*(θ/(t + 1)) after t rounds (ZHU Fig. 1), scaled
    into the ball. `touched` (2 × d) is room for a list, zeros at first; `picked` gets the weights
    before round PICK. `settle` ends a pass.
    """
    loss, X, y, s = problem
    keep = kept.shape[1] > 2
    t, mass, unit = motion[CLOCK], motion[MASS], motion[UNIT]
    b, S_b, reach = motion[BIAS], motion[BIAS_CURVATURE], motion[REACH]
    biases = motion[BIASES]
    passed = motion[PASSED]  # Σκ of this pass
    for start in range(0, order.size, rule.batch):
        stop = min(start + rule.batch, order.size)
        share = 1.0 / (stop - start)
        kappa = fitted(link, rule, t, mass, unit)
        if keep:
            passed += kappa
            biases += b
            if motion[PICK] == 0.0:
                for j in range(kept.shape[0]):
                    picked[j] = link.weight(kept[j, PSI], kappa)
                motion[ITS_BIAS] = b
            motion[PICK] -= 1.0
        slope = 0.0
        for n in range(start, stop):
            if n + _AHEAD < order.size:
                X.fetch(order[n + _AHEAD])
            i = order[n]
            first, last = X.span(i)
            p = 0.0
            for k in range(first, last):
                j, x = X.entry(i, k)
                p += link.weight(kept[j, PSI], kappa) * x
            z = p + b
            scores[n] = z
            reach = max(reach, abs(p))
            a = s[i] * loss.slope(z, y[i])  # ZHU Fig. 1, line 6
            if motion[STREAM] > 0.0:
                motion[LOST] += s[i] * loss.value(motion[FIRST], y[i])
            slopes[n - start] = a
            slope += share * a

        rows = order[start:stop]
        if rule.batch == 1 or not link.costly():
            mass, largest = add_each(X, link, rows, slopes, share, kept, passed, mass, unit)
        else:
            mass, largest = add_up(X, link, rows, slopes, share, kept, touched, passed, mass, unit)
        motion[PEAK] = max(motion[PEAK], mass)
        if largest > unit or mass < _DRIFT * motion[PEAK]:
            if keep:
                add_iterates(kept, passed)
            unit, mass = refresh(link, kept)
            motion[PEAK] = mass
        if rule.bias > 0.0:
            # as large as predictions are without it; the step is DLF Alg. 2's with λ = 0
            S_b = 0.5 * (S_b + math.sqrt(S_b * S_b + (slope / reach) ** 2))
            if S_b > 0.0:
                b -= slope / S_b
        t += 1.0
    motion[CLOCK], motion[MASS], motion[UNIT] = t, mass, unit
    motion[BIAS], motion[BIAS_CURVATURE], motion[REACH] = b, S_b, reach
    motion[BIASES], motion[PASSED] = biases, passed


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
def add_each(X, link, rows, slopes, share, kept, passed, mass, unit):
    """Write `kept`: θ and ψ after a batch, by entries; return the mass and the largest |θ_j|."""
    keep = kept.shape[1] > 2
    largest = 0.0
    for n in range(rows.size):
        move = -share * slopes[n]
        if move != 0.0:
            i = rows[n]
            first, last = X.span(i)
            for k in range(first, last):
                j, x = X.entry(i, k)
                theta = kept[j, THETA]
                psi = kept[j, PSI]
                if keep:
                    kept[j, SUM] += (passed - kept[j, SINCE]) * psi
                    kept[j, SINCE] = passed
                mass -= theta * psi
                theta += move * x  # line 7
                psi = link.stored(theta, unit)
                mass += theta * psi
                kept[j, THETA] = theta
                kept[j, PSI] = psi
                largest = max(largest, abs(theta))
    return mass, largest


@compiled(fastmath=FAST)
def add_up(X, link, rows, slopes, share, kept, touched, passed, mass, unit):
    """Write `kept`: θ after a batch, then each ψ once; return the mass and the largest |θ_j|."""
    keep = kept.shape[1] > 2
    largest = 0.0
    count = 0
    for n in range(rows.size):
        move = -share * slopes[n]
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
def fitted(link, rule, t, mass, unit):
    """κ after t rounds, smaller where w would leave the ball (ZHU Cor. 2)."""
    c = 1.0 / (t + 1.0)
    kappa = link.common(c, mass, unit)  # line 8
    length = link.length(c, mass, unit)
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
def weights(link, rule, kept, motion, w):
    """Write w."""
    kappa = fitted(link, rule, motion[CLOCK], motion[MASS], motion[UNIT])
    for j in range(kept.shape[0]):
        w[j] = link.weight(kept[j, PSI], kappa)
