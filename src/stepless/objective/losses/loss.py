"""The protocol of losses."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from stepless.arrays import Array
from stepless.objective.declared import Declared

Targets = Literal["signs", "reals", "counts", "classes", "rows"]


class Loss(Declared):
    """A convex, non-negative function ℓ(z, y) of a prediction z, for each target y.

    A user-defined loss is a subclass with `value` and `slope`, and, where they are finite, the
    constants `lipschitz` and `smoothness`; it then runs in every solver of the first order at
    native speed. Newton's method asks for `curvature` too, or, of a piecewise-linear loss, for its
    `corners`; dual ascent for `implicit_slope` and `conjugate`.
    :func:`stepless.check_loss` says in one line what is wrong with it; a fit looks at a few points.

    Attributes
    ----------
    targets
        Values of y: ``"signs"`` (−1 and +1), ``"reals"``, ``"counts"`` (y ≥ 0), or, of a
        `JointLoss`, ``"classes"`` (0, 1, …); of a `SumOverOutputs`, ``"rows"`` of numbers.
    linked
        True if `mean` turns a prediction into an expectation: P(y = +1), or E(y).
    ulps
        Bound on the errors of `value` and `conjugate`, in units of 2⁻⁵³ of `value_size` and
        `conjugate_size`.
    unimodal
        True if `curvature` nowhere falls and then rises: on an interval it is least at an end.
    quadratic
        True if `curvature` is one number: then a quadratic model of the risk is exact.
    unit_slopes
        True if ℓ(·, y) is linear wherever it is positive, with slopes of ±1 (of a joint loss: of
        two of its predictions), so that a step of a passive-aggressive method can bring it to 0.

    Examples
    --------
    >>> class PseudoHuber(Loss):
    ...     delta: float = 1.0
    ...     def value(self, z, y):
    ...         return self.delta**2 * (math.sqrt(1 + ((z - y) / self.delta) ** 2) - 1)
    ...     def slope(self, z, y):
    ...         return (z - y) / math.sqrt(1 + ((z - y) / self.delta) ** 2)
    ...     def lipschitz(self):
    ...         return self.delta
    >>> PseudoHuber(2.0).slope(3.0, 1.0)
    1.414213562373095
    """

    targets: ClassVar[Targets] = "reals"
    linked: ClassVar[bool] = False
    ulps: ClassVar[float] = 64.0
    unimodal: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False
    unit_slopes: ClassVar[bool] = False
    checked_by: ClassVar[str] = "check_loss"

    @classmethod
    def required(cls) -> tuple[str, ...]:
        return "value", "slope"

    def value(self, z: float, y: float) -> float:
        """ℓ(z, y)."""
        raise NotImplementedError

    def slope(self, z: float, y: float) -> float:
        """One element of the subdifferential of ℓ(·, y) at z."""
        raise NotImplementedError

    def curvature(self, z: float, y: float) -> float:
        """ℓ''(z, y), of a loss without corners."""
        raise NotImplementedError

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        """Return the a with a ∈ ∂ℓ(z − step·a, y): the slope where a step of this length lands.

        It is also the slope at z of the loss smoothed by that step, its Moreau envelope
        min_v ℓ(v, y) + (v − z)²/(2 step). With corners, step > 0; without, step = 0 gives `slope`.
        """
        raise NotImplementedError

    def corners(self, y: Array) -> tuple[Array, Array, Array]:
        """Return a piecewise-linear loss's slope left of all corners, their places, their rises.

        For an array y of m targets: arrays of shape m, (corners, m) and (corners, m).
        """
        raise NotImplementedError

    def conjugate(self, a: float, y: float) -> float:
        """Return ℓ*(a, y) = max_z az − ℓ(z, y), infinite where there is no maximum."""
        raise NotImplementedError

    def value_size(self, value: float, z: float, y: float) -> float:
        """Return what the rounding of a `value` is relative to: itself, unless terms cancel."""
        return value

    def conjugate_size(self, conjugate: float, a: float, y: float) -> float:
        """Return what the rounding of a `conjugate` is relative to."""
        return abs(conjugate) + abs(a * y) + abs(a)

    def outputs(self) -> int:
        """Return the number of predictions per example: 1 but for a joint loss or a sum."""
        return 1

    def slopes(self, z: Array, y: float, a: Array) -> float:
        """Write into a the slopes at the predictions z, an array; return the value there."""
        a[0] = self.slope(z[0], y)
        return self.value(z[0], y)

    def mean(self, z: float) -> float:
        """Return the expectation at prediction z; without a link, z itself."""
        return z

    def lipschitz(self) -> float:
        """Return the least L with |ℓ(z, y) − ℓ(z', y)| ≤ L |z − z'|, or infinity."""
        return math.inf

    def smoothness(self) -> float:
        """Return the least β with |ℓ'(z, y) − ℓ'(z', y)| ≤ β |z − z'|, or infinity."""
        return math.inf
