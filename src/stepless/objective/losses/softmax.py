"""The loss of multinomial logistic regression."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.objective.losses.joint_loss import JointLoss


class Softmax(JointLoss):
    """ℓ(z, y) = log Σ_c exp(z_c) − z_y; exp(z_c)/Σ exp(z) is the probability of class c.

    √2-Lipschitz, ½-smooth.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.empty(2)
    >>> round(Softmax(2).slopes(np.zeros(2), 0, a), 6), a
    (0.693147, array([-0.5,  0.5]))
    """

    linked: ClassVar[bool] = True

    def slopes(self, z, y, a):
        value = self.share(z, y, 1.0, a)
        a[int(y)] -= 1.0
        return value

    def share(self, z, y, sharpness, p):
        most = z[0]
        for c in range(1, self.classes):
            most = max(most, z[c])
        total = 0.0
        for c in range(self.classes):
            p[c] = math.exp(z[c] - most)
            total += p[c]
        for c in range(self.classes):
            p[c] /= total
        return max(math.log(total) + most - z[int(y)], 0.0)

    def base(self, p, y):
        entropy = 0.0
        for c in range(self.classes):
            if p[c] > 0.0:
                entropy -= p[c] * math.log(p[c])
        return entropy

    def sharpness(self):
        return 1.0

    def lipschitz(self):
        return math.sqrt(2.0)

    def smoothness(self):
        return 0.5
