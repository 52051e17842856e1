"""The dual of a bundle's model: planes under a risk, plus a convex Ψ with a smooth conjugate.

    min_w  Ψ(w) + max(0, max_i ⟨a_i, w⟩ + b_i)   is   max_α  bᵀα − Ψ*(−Aα),   α ≥ 0, 1ᵀα ≤ 1,

and w = ∇Ψ*(−Aα) (SVL Th. 2). *Any* such α gives a number below: an inexact one costs tightness.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from stepless.arrays import Array
from stepless.certificates.simplex_qp import maximise

_STEPS = 60  # of Newton's method; a bundle goes on from where they end
_TRIALS = 60  # of a line search
_DAMPING = 1e-3  # a first share of the largest curvature to add to all, where steps are short
_LEAST_GAP = 1e-14  # relative to the heights of planes: no gap is smaller


class SmoothConjugate(Protocol):
    """The conjugate of a convex Ψ, which is differentiable."""

    def weights(self, u: Array) -> Array:
        """Return ∇Ψ*(u), the weights that maximise ⟨u, w⟩ − Ψ(w)."""

    def curvature(self, u: Array) -> tuple[Array, float, Array]:
        """Return D, f and r with ∇²Ψ*(u) = diag(D) + f rrᵀ, or about that."""


def ascend(A: Array, b: Array, alpha: Array, conjugate: SmoothConjugate, enough: float) -> Array:
    """Maximise the dual in place, from a feasible α, to a gap of `enough` in the model; return w.

    Newton's method: Ψ* is taken for its parabola at −Aα, whose programme is that of
    `simplex_qp.maximise`, on the planes that have weight or are too high; then a line search. Where
    the parabola promises too much, for Ψ* may have corners in its slope, it is damped.
    """
    damping = 0.0
    v = alpha @ A
    w = conjugate.weights(-v)
    for _ in range(_STEPS):
        heights = b + A @ w  # the slope of the dual
        mean = float(alpha @ heights)
        size = float(alpha @ np.abs(b)) + abs(mean)
        if float(heights.max(initial=0.0)) - mean <= max(enough, _LEAST_GAP * size):
            break
        W = np.flatnonzero((alpha > 0.0) | (heights > mean))
        B, before = A[W], alpha[W]
        D, factor, r = conjugate.curvature(-v)
        gram = (B * (D + damping * D.max())) @ B.T
        if factor != 0.0:
            products = B @ r
            gram += factor * np.outer(products, products)
        after = before.copy()
        maximise(gram, heights[W] + gram @ before, after)
        along = after - before
        down, rise = along @ B, float(along @ b[W])
        share = _line_search(conjugate, v, down, rise)
        if share == 0.0 and damping >= 1.0:
            break
        if share < 0.1:
            damping = min(max(10.0 * damping, _DAMPING), 1.0)
        elif share > 0.5:
            damping = damping / 10.0 if damping > _DAMPING else 0.0
        alpha[W] = before + share * along
        v = alpha @ A
        w = conjugate.weights(-v)
    return w


def _line_search(conjugate: SmoothConjugate, v: Array, down: Array, rise: float) -> float:
    """Return the best share of a step that changes Aα = v by `down`, and bᵀα by `rise`; or 0."""

    def slope(share: float) -> float:
        return rise + float(down @ conjugate.weights(-(v + share * down)))

    first = slope(0.0)
    if not first > 0.0:
        return 0.0
    if slope(1.0) >= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_TRIALS):
        middle = 0.5 * (low + high)
        here = slope(middle)
        if here >= 0.0:
            low = middle
            if here <= 0.3 * first:
                break
        else:
            high = middle
    return low
