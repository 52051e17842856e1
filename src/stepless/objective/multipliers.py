"""Two equations in one unknown, to which projections and proxes in a diagonal metric come down.

Both are solved by Newton's method from a point that is never too large. One function is convex and
the other concave in the right sense, so no step passes the root and nothing needs a safeguard.
"""

from __future__ import annotations

import math

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.rounding import UNIT

_MOST_STEPS = 200
_ULP = 2.0 * UNIT


@compiled("b[d] r[d]")
def level(b: Array, r: Array, target: float) -> tuple[float, float]:
    """Solve Σ (b_j − θ)₊ / r_j = target > 0, all r_j > 0, for θ: return a b_j, and b_j − θ.

    That b_j, the pivot, is the least above θ. θ itself would lose what is small against it, where
    (b_j − pivot) + excess does not. The sum is convex in θ and made of straight pieces, so Newton's
    method ends on the root's own piece. A step divides the product of the sum's excess over the
    target and its slope by 4 or more: the passes over b are few.
    """
    top, theta = -math.inf, -math.inf
    for j in range(b.size):
        top = max(top, b[j])
        theta = max(theta, b[j] - target * r[j])
    above = -1
    for _ in range(b.size + 1):
        before, above, value, slope = above, 0, 0.0, 0.0
        for j in range(b.size):
            if b[j] >= theta:
                above += 1
                value += (b[j] - theta) / r[j]
                slope += 1.0 / r[j]
        if above == before or value <= target:
            break
        theta = min(theta + (value - target) / slope, top)
    pivot = top
    for j in range(b.size):
        if b[j] >= theta:
            pivot = min(pivot, b[j])
    value, slope = 0.0, 0.0
    for j in range(b.size):
        if b[j] >= pivot:
            value += (b[j] - pivot) / r[j]
            slope += 1.0 / r[j]
    return pivot, (target - value) / slope


@compiled("p[d] q[d]")
def secular_root(p: Array, q: Array, scale: float) -> float:
    """Return the x ≥ 0 where Σ (p_j / (x + scale q_j))² = 1, or 0 if the sum is nowhere so large.

    1/√sum is concave in x, and straight where all q_j are equal: one step is enough there.
    """
    x = 0.0
    for j in range(p.size):
        x = max(x, abs(p[j]) - scale * q[j])  # from here on no term exceeds 1
    for _ in range(_MOST_STEPS):
        sum_, slope = 0.0, 0.0
        for j in range(p.size):
            if p[j] != 0.0:
                shifted = x + scale * q[j]
                term = (p[j] / shifted) ** 2
                sum_ += term
                slope += term / shifted
        root = math.sqrt(sum_)
        onward = x + (root - 1.0) * sum_ / slope if root > 1.0 + _ULP else x
        if onward <= x:
            break
        x = onward
    return sum_ if math.isnan(sum_) else x  # not a number stays one


@compiled("w[_]")
def absolute_sum(w: Array) -> float:
    """Σ |w_j|, to a rounding or two, however many there are."""
    sum_, lost = 0.0, 0.0
    for j in range(w.size):
        sum_, lost = _add(sum_, lost, abs(w[j]))
    return sum_ + lost


@compiled("w[_]")
def length(w: Array) -> float:
    """‖w‖₂, to a rounding or two, however many there are."""
    sum_, lost = 0.0, 0.0
    for j in range(w.size):
        sum_, lost = _add(sum_, lost, w[j] * w[j])
    return math.sqrt(sum_ + lost)


@compiled()
def _add(sum_: float, lost: float, term: float) -> tuple[float, float]:
    """Add a term ≥ 0 to a sum, and what rounding took away to what was lost (Neumaier)."""
    grown = sum_ + term
    rest = (sum_ - grown) + term if sum_ >= term else (term - grown) + sum_
    return grown, lost + rest
