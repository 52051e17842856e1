"""Bound the excess of mistakes by the excess of a convex risk."""

from __future__ import annotations

import math
from collections.abc import Callable

from stepless.objective import LOSSES, Loss
from stepless.registry import named
from stepless.rounding import UNIT

_UNSURE = 32 * UNIT  # of ψ, relative to ℓ at 0: counted against the bound
_HALVINGS = 100  # of an interval of numbers: it is empty before


def excess_risk_bound(excess: float, loss: str | Loss = "smoothed_hinge") -> float:
    """Bound the mistakes beyond the best possible by the excess of a convex risk.

    For any predictor f and any distribution of examples, P(yf(x) ≤ 0) exceeds the least that any
    function attains by at most ψ⁻¹ of the `excess`, R(f) − R*, where R is the expected loss, R* its
    least over all functions, and ψ(η) = ℓ(0) − min_z (1+η)/2 ℓ(z) + (1−η)/2 ℓ(−z), with ℓ(z) the
    loss at y = +1 (MAH Th. 4.2, 4.5; Bartlett, Jordan, McAuliffe 2006). No better bound holds for
    all distributions.

    A fit certifies one part of the excess, its `gap_`: what more optimisation could gain on these
    examples. The other parts are yours to add: how far the risk of the examples is from the
    expected one (and the penalty), and how far the best linear function is from the best one.

    MAH's own closed forms are not used, as they are not true: Th. 4.6 fails at γ = 5, η = 0.9, and
    Th. 4.8 at γ = 1, where an excess of 0.001 allows 0.0271 and not 0.0079. A simple form that is
    true is excess + (log 2)/γ, for the smoothed hinge.

    Parameters
    ----------
    excess
        R(f) − R*, or a bound on it.
    loss
        A name such as ``"smoothed_hinge(50)"``, or a `Loss` that depends on yz alone.

    Examples
    --------
    >>> round(excess_risk_bound(0.05, "hinge"), 4)
    0.05
    >>> round(excess_risk_bound(0.05, "smoothed_hinge(100)"), 4)
    0.0517
    >>> round(excess_risk_bound(0.05, "smoothed_hinge(1)"), 4)
    0.193
    """
    of = named("loss", loss, LOSSES) if isinstance(loss, str) else loss
    _refuse_loss(of)
    if not excess >= 0.0:
        raise ValueError(f"an excess is not negative, but this one is {excess}")
    if excess == 0.0:
        return 0.0
    low, high = 0.0, 1.0
    if _psi(of, high) <= excess:
        return 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if _psi(of, middle) > excess else (middle, high)
    return high


def _psi(loss: Loss, eta: float) -> float:
    """Return a number below ψ(η): any z is above the minimum, so that no search can err upwards."""
    left, right = 0.0, 1.0
    while _mixed(loss.slope, right, eta) < 0.0:
        left, right = right, 2.0 * right
    for _ in range(_HALVINGS):
        middle = 0.5 * (left + right)
        if not left < middle < right:
            break
        left, right = (middle, right) if _mixed(loss.slope, middle, eta) < 0.0 else (left, middle)
    level = loss.value(0.0, 1.0)
    least = min(_mixed(loss.value, left, eta), _mixed(loss.value, right, eta))
    return float(level - least - _UNSURE * level)


def _mixed(of: Callable[[float, float], float], z: float, eta: float) -> float:
    return 0.5 * ((1.0 + eta) * of(z, 1.0) + (1.0 - eta) * of(z, -1.0))


def _refuse_loss(loss: Loss) -> None:
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a name or a Loss, not {type(loss).__name__}")
    pairs = ((loss.value(z, 1.0), loss.value(-z, -1.0)) for z in (-2.0, -0.5, 0.0, 0.5, 2.0))
    if loss.targets != "signs" or not all(math.isclose(*pair) for pair in pairs):
        raise ValueError(
            f"the bound is for losses of yz, such as hinge and logistic, not {type(loss).__name__}"
        )
    if not loss.slope(0.0, 1.0) < 0.0:
        raise ValueError(f"{type(loss).__name__} does not fall at 0: it says nothing of mistakes")
