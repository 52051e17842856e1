"""A loss whose implicit slope is found by bisection."""

from __future__ import annotations

from stepless.objective.losses.loss import Loss, Targets

_HALVINGS = 60


class Bisected(Loss):
    """A loss that may offer nothing but `value` and `slope`, given an `implicit_slope`.

    v + step·ℓ'(v, y) = z has its root between z and z − step·ℓ'(z, y).

    Examples
    --------
    >>> from stepless.objective import Hinge
    >>> [round(loss.implicit_slope(0.8, 1.0, 0.5), 6) for loss in (Hinge(), Bisected(Hinge()))]
    [-0.4, -0.4]
    """

    loss: Loss

    @property
    def targets(self) -> Targets:  # type: ignore[override]
        return self.loss.targets

    def value(self, z: float, y: float) -> float:
        return self.loss.value(z, y)

    def slope(self, z: float, y: float) -> float:
        return self.loss.slope(z, y)

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        if step == 0.0:
            return self.loss.slope(z, y)
        end = z - step * self.loss.slope(z, y)
        low, high = min(z, end), max(z, end)
        for _ in range(_HALVINGS):
            v = 0.5 * (low + high)
            if v + step * self.loss.slope(v, y) < z:
                low = v
            else:
                high = v
        slope = (z - 0.5 * (low + high)) / step
        return min(max(slope, self.loss.slope(low, y)), self.loss.slope(high, y))

    def lipschitz(self) -> float:
        return self.loss.lipschitz()

    def smoothness(self) -> float:
        return self.loss.smoothness()
