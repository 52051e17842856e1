"""Sweeps of dual coordinate ascent, and the pass that certifies what they found.

The dual of (λ/2)‖w‖² + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/m has a variable a_i for each example, the slope
of its loss, and w = −Σ s_i a_i x_i/(λm). A step in a_i alone moves prediction z_i by −q_i times the
change of a_i, q_i = s_i‖x_i‖²/(λm), and ends where a_i is the slope: at `implicit_slope`.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.compiled.rows import AHEAD, square
from stepless.jit import FAST, compiled
from stepless.term import Term

# Positions in the `motion` array: what a sweep reads and changes besides a and w.
BIAS, SLACK, MOVE = range(3)
_HALVINGS = 8  # of a move that leaves the slopes of a loss


class Scale(Term):
    """Factors by which a change of s_i a_i moves the weights and the intercept."""

    weights: float  # 1/(λm)
    bias_square: float  # r², if a constant feature r stands for the intercept; or 0


@compiled("block[m,_]", fastmath=FAST)
def squares(block):
    """‖x_i‖²."""
    X, _, s = block
    lengths = np.empty(s.size)
    for i in range(s.size):
        lengths[i] = square(X, i)
    return lengths


@compiled(fastmath=FAST)
def _ascend(loss, level, y, q):
    """Return the a_i that a step ends at; in one place, for numba warns where it inlines two."""
    return loss.implicit_slope(level, y, q)


@compiled(fastmath=FAST)
def _rests(loss, level, y, q, a, slack):
    """Return whether a step keeps a as it is at predictions `slack` higher and lower."""
    return _ascend(loss, level + slack, y, q) == a and _ascend(loss, level - slack, y, q) == a


@compiled("problem[m,_,_] q[m] z[m] a[m]", fastmath=FAST)
def explain(problem, q, z, a):
    """Write a: the slopes at which a step from predictions z ends."""
    loss, _, y, _ = problem
    for i in range(z.size):
        a[i] = _ascend(loss, z[i], y[i], q[i])


@compiled("problem[m,_,_] a[m]", fastmath=FAST)
def scaled(problem, a, share):
    """Σ s_i ℓ*(share·a_i)."""
    loss, _, y, s = problem
    total = 0.0
    for i in range(a.size):
        total += s[i] * loss.conjugate(share * a[i], y[i])
    return total


@compiled("problem[m,_,_] a[m] move[m]", fastmath=FAST)
def extend(problem, a, move):
    """Write a: moved, where that leaves the slopes of the loss by a part; and `move`: what is left.

    Return Σ s_i ℓ*(a_i).
    """
    loss, _, y, s = problem
    total = 0.0
    for i in range(a.size):
        gone = move[i]
        for _ in range(_HALVINGS):
            if loss.conjugate(a[i] + gone, y[i]) < math.inf:
                break
            gone *= 0.5
        else:
            gone = 0.0
        a[i] += gone
        move[i] -= gone
        total += s[i] * loss.conjugate(a[i], y[i])
    return total


@compiled("problem[m,d,_] q[m] order[_] a[m] w[d] motion[3]", fastmath=FAST)
def sweep(problem, scale, q, order, a, w, motion):
    """Write a, w, `motion`, `order`; return how many of the examples are still active.

    Visits the examples of `order`. One that does not move, and would not if its prediction were
    `SLACK` higher or lower, goes to the end of `order`: it rests. `MOVE` becomes the largest change
    of an example's prediction by its own step.
    """
    loss, X, y, s = problem
    b, slack = motion[BIAS], motion[SLACK]
    top, active = 0.0, 0
    for k in range(order.size):
        X.fetch(order[min(k + AHEAD, order.size - 1)])
        i = order[k]
        first, last = X.span(i)
        z = b
        for e in range(first, last):
            j, v = X.entry(i, e)
            z += w[j] * v
        here = a[i]
        level = z + q[i] * here
        new = _ascend(loss, level, y[i], q[i])
        if new != here:
            a[i] = new
            top = max(top, q[i] * abs(new - here))
            part = scale.weights * s[i] * (here - new)
            for e in range(first, last):
                j, v = X.entry(i, e)
                w[j] += part * v
            b += scale.bias_square * part
        if new != here or not _rests(loss, level, y[i], q[i], here, slack):
            order[k], order[active] = order[active], i
            active += 1
    motion[BIAS], motion[MOVE] = b, top
    return active


@compiled("problem[m,_,_] q[m] order[_] a[m] z[m]", fastmath=FAST)
def recall(problem, q, order, active, slack, a, z):
    """Write `order`: resting examples that may move at predictions z join the active ones."""
    loss, _, y, _ = problem
    for k in range(active, order.size):
        i = order[k]
        if not _rests(loss, z[i] + q[i] * a[i], y[i], q[i], a[i], slack):
            order[k], order[active] = order[active], i
            active += 1
    return active


@compiled("block[m,d] g[k,d] z[m] a[m] point.0[d]", fastmath=FAST)
def gather(block, g, z, a, loss, point, shares):
    """Add to g: Σ s_i a_i x_i of both signs of a_i, or of each. Write z: ⟨w, x_i⟩ + b; 0 if s_i is.

    Return Σ s_i ℓ(z_i), and Σ s_i ℓ*(c a_i) with a share c for a_i > 0 and one for the others.
    """
    (X, y, s), (w, b) = block, point
    z[:] = 0.0
    total = conjugates = 0.0
    for i in range(s.size):
        if s[i] > 0.0:
            kind = 0 if a[i] > 0.0 else 1
            sums = g[kind * (g.shape[0] - 1)]
            first, last = X.span(i)
            part = s[i] * a[i]
            p = b
            for k in range(first, last):
                j, v = X.entry(i, k)
                p += w[j] * v
            if part != 0.0:
                for k in range(first, last):
                    j, v = X.entry(i, k)
                    sums[j] += part * v
            z[i] = p
            total += s[i] * loss.value(p, y[i])
            conjugates += s[i] * loss.conjugate(shares[kind] * a[i], y[i])
    return total, conjugates
