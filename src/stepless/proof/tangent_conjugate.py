"""The conjugate of a loss of which only values and slopes are known."""

from __future__ import annotations

import math

from stepless.objective import Loss

_FARTHEST = 1e100  # where slopes are looked for
_HALVINGS = 200
_SLOPE_ROUNDING = 2.0**-46  # of a slope: the error of those that it is compared with, at most
_WIDER = 1.125  # times a difference of slopes, for their rounding


class TangentConjugate(Loss):
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

    def beyond(self, a, y, side):
        """Return a point whose slope is surely below a (side −1) or above (+1); ±∞ if none is."""
        at, step = y, 1.0 + abs(y)
        while side * self.loss.slope(at, y) < side * a + _SLOPE_ROUNDING * abs(a):
            at += side * step
            step *= 2.0
            if step > _FARTHEST:
                return side * math.inf
        return at

    def bracket(self, a, y):
        """Return ℓ*(a, y) from above, and the size of the terms that cancel in it.

        Both are infinite where no slope is beyond a.
        """
        if a == 0.0:  # no loss is negative
            return 0.0, 0.0
        below, above = self.beyond(a, y, -1.0), self.beyond(a, y, 1.0)
        if math.isinf(below) or math.isinf(above):
            return math.inf, math.inf
        away = _SLOPE_ROUNDING * abs(a)
        least, size = math.inf, math.inf
        for _ in range(_HALVINGS):
            wide = above - below
            for at in (below, above):
                height, bend = self.loss.value(at, y), _WIDER * abs(a - self.loss.slope(at, y))
                if a * at - height + bend * wide < least:
                    least = a * at - height + bend * wide
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
            below, above = (middle, above) if slope < a else (below, middle)
        return least, size
