"""Cutting planes below a risk, and its tangents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepless.arrays import Array
from stepless.proof.witness import Witness, blend


@dataclass(frozen=True)
class Plane:
    """A cutting plane: R(w, b) ≥ ⟨a, w⟩ + tilt·b + offset for all w and b, but for rounding."""

    a: Array
    offset: float
    tilt: float = 0.0
    witness: Witness | None = None  # from which the verifier recomputes it

    def levelled(self, other: Plane) -> Plane:
        """Blend with a plane tilted the other way into one that is level in b.

        Each share is computed by itself, as in `stepless.intercept.levelling`.
        """
        rise = other.tilt - self.tilt
        mine, theirs = other.tilt / rise, -self.tilt / rise
        return Plane(
            mine * self.a + theirs * other.a,
            mine * self.offset + theirs * other.offset,
            witness=blend((mine, theirs), (self.witness, other.witness)),
        )


@dataclass(frozen=True)
class Tangent:
    """The risk at weights w, the intercept (or intercepts) that minimises it, and its plane."""

    value: float
    b: Any
    plane: Plane
