"""One pass of the primal gradient solver on kernels: O(columns of the table) per round."""

from __future__ import annotations

import math

from stepless.jit import FAST, compiled
from stepless.term import Term

_TIE = 1e-9  # relative; among equals but for rounding the first is taken, so that all layouts agree

# Positions in `motion`.
CLOCK, MASS, COUNT, BIAS, BIAS_CURVATURE, REACH = range(6)
OFFSET, TILT = range(6, 8)
SIZE = 8


class Rule(Term):
    """The numbers of a run."""

    alpha: float  # strength of the penalty
    bound: float  # of the norm of f
    budget: int  # coefficients that may differ from 0
    bias: float  # 1: there is a free intercept


@compiled("table[m,n] x_squares[m] s_squares[n]", fastmath=FAST)
def evaluate(kernel, table, x_squares, s_squares):
    """Write `table`: inner products ⟨x, s⟩ become kernel values k(x, s)."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            table[i, j] = kernel.value(table[i, j], x_squares[i], s_squares[j])


@compiled("table[n,n] places[p] taken[t] kernels[p,t]")
def seat(table, places, taken, kernels):
    """Write `table`: rows and columns `places`, as far as `taken` ones cross them."""
    for j in range(taken.size):
        for i in range(places.size):
            table[taken[j], places[i]] = kernels[i, j]
            table[places[i], taken[j]] = kernels[i, j]


@compiled("squares[m] lengths[m]", fastmath=FAST)
def diagonal(kernel, squares, lengths):
    """Write `lengths`: k(x, x) of each example, from ‖x‖²."""
    for i in range(squares.size):
        lengths[i] = kernel.value(squares[i], squares[i], squares[i])


@compiled("problem[m,m,_] order[n] beta[m] motion[8] slopes[≥n]", fastmath=FAST)
def descend(problem, rule, order, beta, motion, slopes):
    """Write `beta` (one of each example of the table), `motion`, `slopes` (in the order).

    θ = Σ β_s φ(x_s) ← θ − a_i φ(x_i), f = θ/((t + 1)α) after t rounds, scaled into the ball (ZHU
    Fig. 1 with p = 2). The problem's X is the Gram matrix, one row and one column per example.
    MASS is ‖θ‖². Sums for the plane are added to those that `motion` holds.
    """
    loss, X, y, s = problem
    table = X.array
    t, mass, count = motion[CLOCK], motion[MASS], motion[COUNT]
    b, S_b, reach = motion[BIAS], motion[BIAS_CURVATURE], motion[REACH]
    for n in range(order.size):
        i = order[n]
        theta = dot(table[i], beta)  # θ(x_i)
        p = fitted(rule, t, mass) * theta
        z = p + b
        reach = max(reach, abs(p))
        a = s[i] * loss.slope(z, y[i])
        slopes[n] = a
        motion[OFFSET] += s[i] * loss.value(z, y[i]) - a * z
        motion[TILT] += a
        if a != 0.0:
            mass = max(mass + a * (a * table[i, i] - 2.0 * theta), 0.0)
            before = beta[i]
            beta[i] -= a
            count += (beta[i] != 0.0) - (before != 0.0)
            if count > rule.budget:
                mass = leave(table, beta, mass)
                count = count_of(beta)  # shares of opposite sign may have cancelled
        if rule.bias > 0.0:
            # as large as predictions are without it; the step is DLF Alg. 2's with λ = 0
            S_b = 0.5 * (S_b + math.sqrt(S_b * S_b + (a / reach) ** 2))
            if S_b > 0.0:
                b -= a / S_b
        t += 1.0
    motion[CLOCK], motion[MASS], motion[COUNT] = t, mass, count
    motion[BIAS], motion[BIAS_CURVATURE], motion[REACH] = b, S_b, reach


@compiled(fastmath=FAST)
def dot(row, beta):
    """Σ β_s k(x_s, x)."""
    total = 0.0
    for j in range(beta.size):
        total += row[j] * beta[j]
    return total


@compiled("", fastmath=FAST)
def fitted(rule, t, mass):
    """The factor from θ to f after t rounds, smaller where f would leave the ball (ZHU Cor. 2)."""
    kappa = 1.0 / ((t + 1.0) * rule.alpha)
    length = kappa * math.sqrt(mass)
    return kappa * (rule.bound / length) if length > rule.bound else kappa


@compiled(fastmath=FAST)
def leave(table, beta, mass):
    """Write `beta`: the example whose share of θ is shortest goes; return ‖θ‖².

    Its share is projected onto its nearest neighbour's direction.
    """
    out, least = -1, math.inf
    for j in range(beta.size):
        if beta[j] != 0.0:
            length = abs(beta[j]) * math.sqrt(max(table[j, j], 0.0))
            if length < least * (1.0 - _TIE):
                out, least = j, length
    near, most = -1, 0.0
    for j in range(beta.size):
        if beta[j] != 0.0 and j != out and table[j, j] > 0.0:
            share = table[out, j] * table[out, j] / table[j, j]
            if share > most * (1.0 + _TIE):
                near, most = j, share
    gone = beta[out]
    mass += gone * (gone * table[out, out] - 2.0 * dot(table[out], beta))
    beta[out] = 0.0
    if near >= 0:
        move = gone * table[out, near] / table[near, near]
        mass += move * (move * table[near, near] + 2.0 * dot(table[near], beta))
        beta[near] += move
    return max(mass, 0.0)


@compiled()
def count_of(beta):
    """Return how many coefficients differ from 0."""
    count = 0
    for j in range(beta.size):
        if beta[j] != 0.0:
            count += 1
    return count
