"""The entropy's nearest point in a polytope, by Newton's method."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.objective import Domain
from stepless.objective.active_set import nearest

_ROUNDS = 200
_INSIDE = 0.9  # of the way to where a weight would be 0
_ENOUGH = 1e-26  # Newton's decrement, relative: it is squared at every step
_CERTAIN = 1e-3  # share of a weight: shorter moves need no search, in which rounding would decide
_FALL = 1e-4  # of what the slope promises, which a step must keep
_NEAR = 1e-8  # a decrement, relative, at which full steps converge and values are too rough to tell


@dataclass(frozen=True)
class Inequalities:
    """S = {w : Aw ≤ b}, without negative weights, and a point where every weight is positive."""

    A: Array
    b: Array
    start: Array

    @classmethod
    def of(cls, domain: Domain, d: int) -> Inequalities:
        corners = np.empty((d, d))
        for j, axis in enumerate(np.eye(d)):
            domain.vertex(-axis, corners[j])
        w = corners.mean(axis=0)
        if not w.min() > 0.0:
            raise ValueError(
                f"weight {int(w.argmin())} of the polytope can only be 0, where the entropy has no "
                "gradient; leave that weight out"
            )
        return cls(*domain.inequalities(d), w)

    def least(self, theta: Array, ridge: float, mass: float, scale: float) -> Array:
        """argmin_w∈S M Σ_j (w_j log(w_j/s) − w_j) + ridge‖w‖²/2 − ⟨θ, w⟩.

        Every step minimises the second-order model over S, exactly, and stays where all weights
        are positive.
        """

        def value(w: Array) -> float:
            entropy = mass * float(w @ np.log(w / scale) - w.sum())
            return entropy + float(w @ (0.5 * ridge * w - theta))

        w, here, last = self.start, value(self.start), math.inf
        for _ in range(_ROUNDS):
            g = mass * np.log(w / scale) + ridge * w - theta
            h = mass / w + ridge
            move = self._nearest(w - g / h, h) - w
            decrement = float(move @ (h * move))
            if decrement <= _ENOUGH * mass * mass:
                break
            if float(np.abs(move / w).max()) <= _CERTAIN:
                if decrement >= last:  # rounding is left
                    break
                w, last = w + move, decrement
                here = value(w)
                continue
            falling = move < 0.0
            step = min(1.0, _INSIDE * float((w[falling] / -move[falling]).min(initial=math.inf)))
            slope = float(g @ move)
            while True:
                onward = w + step * move
                there = value(onward)
                if there <= here + _FALL * step * slope or step < _FALL:
                    break
                step *= 0.5
            if there > here:  # by rounding: nothing is left to gain
                break
            w, here = onward, there
        return w

    def _nearest(self, y: Array, h: Array) -> Array:
        """argmin_v∈S Σ_j h_j (v_j − y_j)²."""
        root = np.sqrt(h)
        rows = self.A / root
        lengths = np.sqrt(np.einsum("kj,kj->k", rows, rows))
        u, active = root * y, np.zeros(lengths.size, dtype=np.bool_)
        nearest(u, rows / lengths[:, None], self.b / lengths, active)
        return u / root
