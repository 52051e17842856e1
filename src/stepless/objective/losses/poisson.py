"""The loss of Poisson regression."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.jit import compiled
from stepless.objective.losses.loss import Loss, Targets
from stepless.objective.losses.softplus import softplus
from stepless.rounding import UNIT

_STEEP = 80.0  # beyond e^80 the exponential goes on as its tangent, so that nothing overflows


@compiled("")
def implicit_exponential(c: float, step: float) -> float:
    """Return the u with u = exp(c − step·u), or e^80 if that is less.

    By Halley's method in v = log u, the root of f(v) = v + step·eᵛ − c, from an approximation of
    Lambert's function: one or two exponentials, four at most in what was tried.
    """
    steepest = math.exp(_STEEP)
    if _STEEP + step * steepest <= c:
        return steepest
    room = softplus(c + math.log(max(step, 1e-300)))
    v = c - room * (1.0 - math.log1p(room) / (1.5 + room))
    u = 0.0
    for _ in range(20):
        u = math.exp(v)
        f, bend = v + step * u - c, step * u
        move = f * (1.0 + bend) / ((1.0 + bend) * (1.0 + bend) - 0.5 * f * bend)
        if abs(move) <= 1e-5:  # what is left is its cube; the last move needs no exponential
            u *= 1.0 - move + 0.5 * move * move
            break
        v -= move
    return min(u, steepest)


@compiled("")
def beyond_tangent(u: float) -> float:
    """Eᵘ − 1 − u, without cancellation near 0."""
    if abs(u) > 0.05:
        return math.expm1(u) - u
    series = 0.0
    for k in range(10, 2, -1):  # 1 + u/3 (1 + u/4 (1 + …))
        series = u / k * (1.0 + series)
    return 0.5 * u * u * (1.0 + series)


@compiled("")
def entropy_beyond_tangent(t: float) -> float:
    """(1 + t) log(1 + t) − t for t ≥ −1, without cancellation near 0."""
    if abs(t) > 0.05:
        return (1.0 + t) * math.log1p(t) - t if t > -1.0 else 1.0
    series = 0.0
    for k in range(12, 1, -1):
        series = 1.0 / (k * (k - 1)) - t * series
    return t * t * series


class Poisson(Loss):
    """ℓ(z, y) = eᶻ − yz + y log y − y ≥ 0, y ≥ 0; the mean of a prediction is eᶻ.

    Neither Lipschitz nor smooth. Conjugate, with u = a + y ≥ 0:
    ℓ*(a, y) = u log u − u − y log y + y. From z = 80 on, eᶻ is replaced by its tangent there.

    Examples
    --------
    >>> Poisson().value(0.0, 1.0), Poisson().slope(0.0, 3.0)
    (0.0, -2.0)
    """

    targets: ClassVar[Targets] = "counts"
    linked: ClassVar[bool] = True
    ulps: ClassVar[float] = 32.0
    unimodal: ClassVar[bool] = True

    def value(self, z: float, y: float) -> float:
        below = min(z, _STEEP)
        fit = y * beyond_tangent(below - math.log(y)) if y > 0.0 else math.exp(below)
        return fit + (math.exp(_STEEP) - y) * (z - below)

    def value_size(self, value: float, z: float, y: float) -> float:
        level = 1.0 + abs(z) + (abs(math.log(y)) if y > 0.0 else 0.0)
        # next to the minimum what a rounding of z or log y does is of the second order
        return value + abs(self.slope(z, y)) * level + y * UNIT * level * level

    def conjugate_size(self, conjugate: float, a: float, y: float) -> float:
        level = abs(math.log(y)) if y > 0.0 else 0.0
        return abs(conjugate) + abs(a) * (1.0 + 2.0 * level + abs(math.log(max(a + y, 1e-300))))

    def slope(self, z: float, y: float) -> float:
        return math.exp(min(z, _STEEP)) - y

    def curvature(self, z: float, y: float) -> float:
        return math.exp(z) if z < _STEEP else 0.0

    def implicit_slope(self, z: float, y: float, step: float) -> float:
        return implicit_exponential(z + step * y, step) - y

    def conjugate(self, a: float, y: float) -> float:
        u = a + y
        if u < 0.0 or u > math.exp(_STEEP):
            return math.inf
        if y == 0.0:
            return u * math.log(u) - u if u > 0.0 else 0.0
        return a * math.log(y) + y * entropy_beyond_tangent(a / y)

    def mean(self, z: float) -> float:
        return math.exp(min(z, _STEEP))
