"""The loss of multinomial logistic regression."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.arrays import Array
from stepless.objective.losses.joint_loss import JointLoss


class Softmax(JointLoss):
    """ℓ(z, y) = log Σ_c exp(z_c) − z_y; exp(z_c)/Σ exp(z) is the probability of class c.

    √2-Lipschitz, ½-smooth.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.empty(2)
    >>> round(float(Softmax(2).slopes(np.zeros(2), 0, a)), 6), a
    (0.693147, array([-0.5,  0.5]))
    """

    linked: ClassVar[bool] = True
    ulps: ClassVar[float] = 8.0

    def slopes(self, z: Array, y: float, a: Array) -> float:
        own = int(y)
        value = self.share(z, y, 1.0, a)
        # 1 − p would lose what is small against 1
        a[own] = 0.0
        others = 0.0
        for c in range(self.classes):
            others += a[c]
        a[own] = -others
        return value

    def share(self, z: Array, y: float, sharpness: float, p: Array) -> float:
        top = 0
        for c in range(1, self.classes):
            if z[c] > z[top]:
                top = c
        others = 0.0
        for c in range(self.classes):
            p[c] = math.exp(sharpness * (z[c] - z[top]))
            if c != top:
                others += p[c]
        for c in range(self.classes):
            p[c] /= 1.0 + others
        return float(z[top] - z[int(y)]) + math.log1p(others) / sharpness

    def base(self, p: Array, y: float) -> float:
        entropy, others = 0.0, 0.0
        for c in range(self.classes):
            if c != int(y) and p[c] > 0.0:
                entropy -= p[c] * math.log(p[c])
                others += p[c]
        if others < 1.0:
            entropy -= (1.0 - others) * math.log1p(-others)
        return entropy

    def base_size(self, p: Array, y: float) -> float:
        others = 0.0
        for c in range(self.classes):
            if c != int(y):
                others += p[c]
        # by this factor (1 − o) log(1 − o) changes where o does by a rounding
        steep = 1.0 - math.log1p(-others) if others < 1.0 else 1.0
        return self.base(p, y) + others * steep

    def sharpness(self) -> float:
        return 1.0

    def lipschitz(self) -> float:
        return math.sqrt(2.0)

    def smoothness(self) -> float:
        return 0.5
