"""Projection onto an ℓ₁ ball in the metric of a matrix, by the path of the lasso."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array

_TURNS = 20  # of the path, for each weight: it takes about one


def project_l1_ball(bound: float, w: Array, H: Array) -> Array | None:
    """argmin_v ½(v − w)ᵀH(v − w) over ‖v‖₁ ≤ bound, for w outside; None where ties have no end.

    v is a point of the lasso's path, H(w − v) = λ∂‖v‖₁, followed from v = 0 (Osborne, Presnell,
    Turlach): it turns where a weight joins those that are not 0, or leaves them, and ends where
    ‖v‖₁ = bound. How far away w is does not matter: the path never goes there.

    Examples
    --------
    >>> project_l1_ball(1.0, np.array([2.0, 0.5]), np.diag([1.0, 8.0]))
    array([0.66666667, 0.33333333])
    """
    pull, v = H @ w, np.zeros(w.size)
    first = int(np.abs(pull).argmax())
    signs = np.zeros(w.size)
    signs[first] = math.copysign(1.0, pull[first])
    left = (-1, 0.0)  # who left at the last turn, and from which side: not to come back at once
    for _ in range(_TURNS * w.size):
        at = np.flatnonzero(signs)
        move = np.linalg.solve(H[np.ix_(at, at)], signs[at])
        slope = H[:, at] @ move
        rest = pull - H @ v
        level = float(np.abs(rest[at]).max())
        best = (bound - float(np.abs(v).sum())) / float(signs[at] @ move)
        turn, sign = -1, 0.0
        for j in np.flatnonzero(signs == 0.0).tolist():
            for side in (1.0, -1.0):
                room, speed = level - side * rest[j], 1.0 - side * slope[j]
                if (j, side) != left and speed > 0.0 and max(room, 0.0) < best * speed:
                    best, turn, sign = max(room, 0.0) / speed, j, side
        left = (-1, 0.0)
        for j, step in zip(at.tolist(), move, strict=True):
            if signs[j] * step < 0.0 and abs(v[j]) < best * abs(step):
                best, turn, sign, left = abs(v[j] / step), j, 0.0, (j, signs[j])
        v[at] += best * move
        if turn < 0:
            return v
        signs[turn] = sign
        if sign == 0.0:
            v[turn] = 0.0
    return None
