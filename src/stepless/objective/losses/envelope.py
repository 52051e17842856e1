"""The Moreau envelope of a loss: its corners rounded."""

from __future__ import annotations

import math

from stepless.objective.losses.loss import Loss, Targets

_APART = 1e-6  # of the width, on either side, are slopes whose difference is the curvature


class Envelope(Loss):
    """ℓ_h(z, y) = min_v ℓ(v, y) + (v − z)²/(2h), of a loss ℓ that offers `implicit_slope`.

    1/h-smooth; at most hL²/2 below an L-Lipschitz ℓ. Conjugate: ℓ*(a, y) + ha²/2. Its slope is the
    implicit one of ℓ, its curvature a difference quotient of that.

    Examples
    --------
    >>> from stepless.objective import Absolute
    >>> rounded = Envelope(Absolute(), 0.5)
    >>> rounded.value(0.25, 0.0), rounded.slope(0.25, 0.0), round(rounded.curvature(0.1, 0.0), 6)
    (0.0625, 0.5, 2.0)
    """

    loss: Loss
    width: float

    def _check(self) -> None:
        if not (isinstance(self.loss, Loss) and self.loss.offers("implicit_slope")):
            raise ValueError(f"an envelope needs a loss with implicit_slope, not {self.loss!r}")
        if not 0.0 < self.width < math.inf:
            raise ValueError(f"the width must be positive and finite, not {self.width:g}")

    @property
    def targets(self) -> Targets:  # type: ignore[override]
        return self.loss.targets

    def offers(self, *methods: str) -> bool:  # type: ignore[override]
        """Return whether it has these optional methods; a conjugate only if its loss has one."""
        offered = super().offers(*methods) and "corners" not in methods
        return offered and ("conjugate" not in methods or self.loss.offers("conjugate"))

    def value(self, z: float, y: float) -> float:
        a = self.loss.implicit_slope(z, y, self.width)
        return self.loss.value(z - self.width * a, y) + 0.5 * self.width * a * a

    def slope(self, z: float, y: float) -> float:
        return self.loss.implicit_slope(z, y, self.width)

    def curvature(self, z: float, y: float) -> float:
        apart = _APART * self.width
        before = self.loss.implicit_slope(z - apart, y, self.width)
        return (self.loss.implicit_slope(z + apart, y, self.width) - before) / (2.0 * apart)

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return self.loss.implicit_slope(z, y, step + self.width)

    def conjugate(self, a: float, y: float) -> float:
        return self.loss.conjugate(a, y) + 0.5 * self.width * a * a

    def lipschitz(self) -> float:
        return self.loss.lipschitz()

    def smoothness(self) -> float:
        return 1.0 / self.width
