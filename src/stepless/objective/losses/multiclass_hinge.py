"""The hinge of several classes."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.arrays import Array
from stepless.objective.losses.joint_loss import JointLoss


class MulticlassHinge(JointLoss):
    """ℓ(z, y) = max_c (1[c ≠ y] + z_c − z_y): Crammer and Singer's.

    √2-Lipschitz, not smooth. Smoothed to sharpness γ: log Σ_c exp γ(1[c ≠ y] + z_c − z_y) / γ.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.empty(3)
    >>> float(MulticlassHinge(3).slopes(np.array([0.5, 0.0, 1.0]), 0, a)), a
    (1.5, array([-1.,  0.,  1.]))
    """

    ulps: ClassVar[float] = 8.0
    unit_slopes: ClassVar[bool] = True

    def slopes(self, z: Array, y: float, a: Array) -> float:
        own = int(y)
        worst = own
        most = z[own]
        for c in range(self.classes):
            a[c] = 0.0
            if c != own and z[c] + 1.0 > most:
                worst, most = c, z[c] + 1.0
        if worst != own:
            a[worst] = 1.0
            a[own] = -1.0
        return float(most - z[own])

    def share(self, z: Array, y: float, sharpness: float, p: Array) -> float:
        own = int(y)
        top = own
        most = z[own]
        for c in range(self.classes):
            if c != own and z[c] + 1.0 > most:
                top, most = c, z[c] + 1.0
        others = 0.0
        for c in range(self.classes):
            height = z[c] if c == own else z[c] + 1.0
            p[c] = math.exp(sharpness * (height - most))
            if c != top:
                others += p[c]
        for c in range(self.classes):
            p[c] /= 1.0 + others
        return float(most - z[own]) + math.log1p(others) / sharpness

    def base(self, p: Array, y: float) -> float:
        others = 0.0
        for c in range(self.classes):
            if c != int(y):
                others += p[c]
        return others

    def sharpness(self) -> float:
        return math.inf

    def lipschitz(self) -> float:
        return math.sqrt(2.0)
