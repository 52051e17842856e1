"""The loss of Poisson regression."""

from __future__ import annotations

import math
from typing import ClassVar

from numba import njit

from stepless.objective.losses.loss import Loss, Targets
from stepless.objective.losses.softplus import softplus

_STEEP = 80.0  # beyond e^80 the exponential goes on as its tangent, so that nothing overflows


@njit(cache=True, error_model="numpy")
def implicit_exponential(c, step):
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

    def value(self, z, y):
        e = math.exp(min(z, _STEEP))
        fit = e + e * max(z - _STEEP, 0.0) - y * z
        return max(fit + (y * math.log(y) - y if y > 0.0 else 0.0), 0.0)

    def slope(self, z, y):
        return math.exp(min(z, _STEEP)) - y

    def curvature(self, z, y):
        return math.exp(z) if z < _STEEP else 0.0

    def implicit_slope(self, z, y, step):
        return implicit_exponential(z + step * y, step) - y

    def conjugate(self, a, y):
        u = a + y
        if u < 0.0 or u > math.exp(_STEEP):
            return math.inf
        own = u * math.log(u) - u if u > 0.0 else 0.0
        return own - (y * math.log(y) - y if y > 0.0 else 0.0)

    def mean(self, z):
        """Return the expected count at prediction z."""
        return math.exp(min(z, _STEEP))
