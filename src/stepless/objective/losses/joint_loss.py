"""The protocol of losses of several predictions."""

from __future__ import annotations

from typing import ClassVar

from stepless.arrays import Array
from stepless.objective.losses.loss import Loss, Targets


class JointLoss(Loss):
    """A convex loss ℓ(z, y) ≥ 0 of K predictions at once, one per class; y is the class, 0 … K − 1.

    Its slopes are a = p − e_y with p a distribution over the classes, so that *every* distribution
    p gives a plane under it: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y). A value may be off by ulps + 4K
    roundings of itself, a base by as many of `base_size`.
    """

    classes: int
    targets: ClassVar[Targets] = "classes"

    def _check(self) -> None:
        if self.classes < 2:
            raise ValueError(f"a joint loss is of at least two classes, not {self.classes}")

    def outputs(self) -> int:
        return self.classes

    def slopes(self, z: Array, y: float, a: Array) -> float:
        raise NotImplementedError

    def share(self, z: Array, y: float, sharpness: float, p: Array) -> float:
        """Write into p the slopes + e_y of the loss smoothed to this sharpness; return it there."""
        raise NotImplementedError

    def base(self, p: Array, y: float) -> float:
        """−ℓ*(p − e_y, y): the height at z = 0 of the plane that p gives.

        p_y itself is not looked at: it is what the others leave of 1.
        """
        raise NotImplementedError

    def base_size(self, p: Array, y: float) -> float:
        """Return what the rounding of `base` is relative to."""
        return abs(self.base(p, y))

    def sharpness(self) -> float:
        """Return γ, where the Hessian is γ(diag p − ppᵀ); infinity for a loss with corners."""
        raise NotImplementedError
