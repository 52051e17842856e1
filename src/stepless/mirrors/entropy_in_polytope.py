"""The entropy's nearest point in a polytope, by Newton's method."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.objective import Polytope
from stepless.objective.active_set import nearest

_ROUNDS = 200
_INSIDE = 0.9  # of the way to where a weight would be 0
_ENOUGH = 1e-26  # Newton's decrement, relative: it is squared at every step
_FALL = 1e-4  # of what the slope promises, which a step must keep
_NEAR = 1e-8  # a decrement, relative, at which full steps converge and values are too rough to tell


def least_in_polytope(
    domain: Polytope, theta: Array, ridge: float, mass: float, scale: float, start: Array
) -> Array:
    """argmin_w M Σ_j (w_j log(w_j/s) − w_j) + ridge‖w‖²/2 − ⟨θ, w⟩ over the polytope.

    Every step minimises the second-order model over the polytope, exactly, and stays where all
    weights are positive.
    """

    def value(w: Array) -> float:
        return mass * float(w @ np.log(w / scale) - w.sum()) + float(w @ (0.5 * ridge * w - theta))

    w, here, before = start, value(start), math.inf
    for _ in range(_ROUNDS):
        g = mass * np.log(w / scale) + ridge * w - theta
        h = mass / w + ridge
        move = _nearest_in(domain, w - g / h, h) - w
        decrement = float(move @ (h * move))
        near = decrement <= _NEAR * mass * mass
        if decrement <= _ENOUGH * mass * mass or (near and decrement >= before):
            break
        before = decrement if near else math.inf
        falling = move < 0.0
        step = min(1.0, _INSIDE * float((w[falling] / -move[falling]).min(initial=math.inf)))
        slope = float(g @ move)
        while True:
            onward = w + step * move
            there = value(onward)
            if near or there <= here + _FALL * step * slope or step < _FALL:
                break
            step *= 0.5
        if there > here and not near:  # by rounding: nothing is left to gain
            break
        w, here = onward, there
    return w


def _nearest_in(domain: Polytope, y: Array, h: Array) -> Array:
    """argmin_v Σ_j h_j (v_j − y_j)² over the polytope."""
    root = np.sqrt(h)
    rows = domain.A / root
    lengths = np.sqrt(np.einsum("kj,kj->k", rows, rows))
    u = root * y
    nearest(u, rows / lengths[:, None], domain.b / lengths, np.zeros(lengths.size, dtype=np.bool_))
    return u / root


def inside(domain: Polytope, d: int) -> Array:
    """A point where every weight is positive that can be."""
    corners = np.empty((d, d))
    for j, axis in enumerate(np.eye(d)):
        domain.vertex(-axis, corners[j])
    w = corners.mean(axis=0)
    if not w.min() > 0.0:
        raise ValueError(
            f"weight {int(w.argmin())} of the polytope can only be 0, where the entropy has no "
            "gradient; leave that weight out"
        )
    return w
