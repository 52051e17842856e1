"""Planes under a risk, and where they touch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from stepless.proof.witness import Witness, blend


@dataclass(frozen=True)
class Plane:
    """A plane under the risk: R(w, b) ≥ ⟨a, w⟩ + tilt·b + offset for all w and b.

    But for rounding. The offset's has been taken off it; that of `a` and `tilt` matters the more
    the farther one goes: at weights w it may have lifted the plane by haze·⟨sizes, |w|⟩.
    """

    a: NDArray
    offset: float
    tilt: float = 0.0
    haze: float = 0.0
    sizes: NDArray | None = None  # of the features, the same array for all planes of a risk
    witness: Witness | None = None  # of what the verifier can make it anew

    def levelled(self, other: Plane) -> Plane:
        """Blend with a plane tilted the other way into one that is level in b.

        Each share is computed by itself: 1 − θ would lose the smaller of two that are far apart,
        and a tilt that is not quite 0 is no bound for large b.
        """
        spread = other.tilt - self.tilt
        mine, theirs = other.tilt / spread, -self.tilt / spread
        return Plane(
            mine * self.a + theirs * other.a,
            mine * self.offset + theirs * other.offset,
            haze=mine * self.haze + theirs * other.haze,
            sizes=self.sizes,
            witness=blend((mine, theirs), (self.witness, other.witness)),
        )


@dataclass(frozen=True)
class Tangent:
    """The risk at weights w, the intercept (or intercepts) that makes it least, and its plane."""

    value: float
    b: Any
    plane: Plane
