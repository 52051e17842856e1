"""The conjugate of a loss of which only values and slopes are known."""

from __future__ import annotations

import math

from stepless.objective import Loss

_FARTHEST = 1e100  # where slopes are looked for
_HALVINGS = 200
_AWAY = 2.0**-46  # of a slope: by so much rounding may have moved those that it is compared with
_ROUGHLY = 1.125  # times a difference of slopes, for their rounding


class ByTangents(Loss):
    """A loss, and its conjugate from above by two tangents, one on each side of the slope.

    ℓ*(a) = max_z az − ℓ(z) is attained between points p ≤ q with slopes ≤ a and ≥ a; there
    az − ℓ(z) ≤ ap − ℓ(p) + (a − ℓ'(p))(z − p), and likewise from q.
    """

    loss: Loss

    def value(self, z, y):
        return self.loss.value(z, y)

    def slope(self, z, y):
        return self.loss.slope(z, y)

    def value_size(self, value, z, y):
        return self.loss.value_size(value, z, y)

    def conjugate(self, a, y):
        return self.bracket(a, y)[0]

    def conjugate_size(self, conjugate, a, y):
        return self.bracket(a, y)[1]

    def bracket(self, a, y):
        """ℓ*(a, y) from above, and what cancels in it; infinite where no slope is beyond a."""
        if a == 0.0:  # no loss is negative
            return 0.0, 0.0
        away = _AWAY * abs(a)
        below, above = y, y
        step = 1.0 + abs(y)
        while self.loss.slope(below, y) > a - away:
            below -= step
            step *= 2.0
            if step > _FARTHEST:
                return math.inf, math.inf
        step = 1.0 + abs(y)
        while self.loss.slope(above, y) < a + away:
            above += step
            step *= 2.0
            if step > _FARTHEST:
                return math.inf, math.inf
        least, size = math.inf, math.inf
        for _ in range(_HALVINGS):
            wide = above - below
            for at in (below, above):
                height, far = self.loss.value(at, y), _ROUGHLY * abs(a - self.loss.slope(at, y))
                if a * at - height + far * wide < least:
                    least = a * at - height + far * wide
                    size = abs(a * at) + self.loss.value_size(height, at, y)
            middle = below + 0.5 * wide
            slope = self.loss.slope(middle, y)
            if abs(slope - a) < away:  # as good as level
                height = self.loss.value(middle, y)
                if a * middle - height + 2.0 * away * wide < least:
                    least = a * middle - height + 2.0 * away * wide
                    size = abs(a * middle) + self.loss.value_size(height, middle, y)
                break
            if not below < middle < above:
                break
            if slope < a:
                below = middle
            else:
                above = middle
        return least, size
