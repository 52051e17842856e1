"""The contract of a loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.checks.contract import (
    SLACK,
    ContractError,
    call,
    compiled,
    constant,
    floor,
    instance,
    number,
    numbers,
    refuse,
    same,
    slack,
)
from stepless.objective import Loss

_TARGETS = {
    "signs": (-1.0, 1.0),
    "reals": (0.0, 1.0, -0.7, 2.3, -30.5),
    "counts": (0.0, 1.0, 0.4, 3.0, 40.0),
}
_FAR = (-1e8, -1e3, 1e3, 1e8)
_NEAR = 1e-4  # beside every sampled point there is another: they tell the slope


def check_loss(loss: Loss) -> None:
    """Check that a loss is what solvers and certificates rely on.

    Its value is finite, non-negative and convex; its slope is a subgradient, also far out, where a
    careless formula overflows; no slope exceeds `lipschitz`, no change of slope `smoothness`; a
    conjugate, if there is one, fits the value; compiled code computes the same numbers.

    Raises
    ------
    ContractError
        A ValueError whose message says in one line what is wrong, and where.

    Examples
    --------
    >>> from stepless import Loss, check_loss
    >>> class Cubic(Loss):
    ...     def value(self, z, y):
    ...         return abs(z - y) ** 3 / 3
    ...     def slope(self, z, y):
    ...         return (z - y) ** 2
    >>> check_loss(Cubic())
    Traceback (most recent call last):
        ...
    stepless.checks.contract.ContractError: Cubic.slope(-1.0001, 0) is 1.0002, but the value \
rises by -1.0001 a unit there
    """
    name = instance(loss, Loss, "Hinge()")
    if loss.targets not in _TARGETS:
        known = ", ".join(map(repr, _TARGETS))
        raise ContractError(f"{name}.targets is {loss.targets!r}, but must be one of {known}")
    for y in _TARGETS[loss.targets]:
        _check_at(loss, y, _predictions(y))
    for y in _TARGETS[loss.targets]:
        _check_compiled(loss, y, _predictions(y))


def _predictions(y: float) -> NDArray:
    """Sorted points z: even and random ones around 0 and the target, far ones, and neighbours."""
    random = np.random.default_rng(0).normal(scale=3.0, size=30)
    around = np.concatenate([np.linspace(-4.0, 4.0, 33), random])
    z = np.concatenate([around, y + around, _FAR])
    near = _NEAR * np.maximum(np.abs(z), 1.0)
    return np.unique(np.concatenate([z - near, z, z + near]))


def _check_at(loss: Loss, y: float, z: NDArray) -> None:
    value = numbers(loss, "value", z, y)
    slope = numbers(loss, "slope", z, y)
    refuse(value < 0.0, lambda i: f"{call(loss, 'value', z[i], y)} is {value[i]:.6g}, below 0")
    _convex(loss, y, z, value)
    _subgradient(loss, y, z, value, slope)
    _lipschitz(loss, y, z, slope)
    _smooth(loss, y, z, slope)
    if hasattr(loss, "conjugate"):
        _fenchel_young(loss, y, z, value, slope)


def _convex(loss: Loss, y: float, z: NDArray, value: NDArray) -> None:
    neighbours = np.arange(z.size - 2)[:, None] + np.arange(3)
    random = np.sort(np.random.default_rng(1).choice(z.size, size=(5_000, 3)), axis=1)
    triples = np.concatenate([neighbours, random])
    i, j, k = triples[triples[:, 0] < triples[:, 2]].T
    chord = value[i] + (value[k] - value[i]) * ((z[j] - z[i]) / (z[k] - z[i]))
    refuse(
        value[j] > chord + slack(value[i], value[k]) + floor(z[j], y),
        lambda t: (
            f"{call(loss, 'value', z[j[t]], y)} is {value[j[t]]:.6g}, above the chord "
            f"({chord[t]:.6g}) from z = {z[i[t]]:.6g} to {z[k[t]]:.6g}: the loss is not convex"
        ),
    )


def _subgradient(loss: Loss, y: float, z: NDArray, value: NDArray, slope: NDArray) -> None:
    way = z[None, :] - z[:, None]
    rise = slope[:, None] * way
    margin = slack(value[:, None], value[None, :], rise) + floor(z, y)
    wrong = value[None, :] < value[:, None] + rise - margin
    if not wrong.any():
        return
    # the nearest contradiction says most about the slope
    i, k = np.unravel_index(np.argmin(np.where(wrong, np.abs(way), np.inf)), way.shape)
    secant = (value[k] - value[i]) / way[i, k]
    where = "there" if abs(way[i, k]) < 10 * _NEAR * max(abs(z[i]), 1.0) else f"towards {z[k]:.6g}"
    raise ContractError(
        f"{call(loss, 'slope', z[i], y)} is {slope[i]:.6g}, "
        f"but the value rises by {secant:.6g} a unit {where}"
    )


def _lipschitz(loss: Loss, y: float, z: NDArray, slope: NDArray) -> None:
    limit = constant(loss, "lipschitz")
    refuse(
        np.abs(slope) > limit * (1 + SLACK),
        lambda i: (
            f"{call(loss, 'lipschitz')} is {limit:.6g}, "
            f"but {call(loss, 'slope', z[i], y)} is {slope[i]:.6g}"
        ),
    )


def _smooth(loss: Loss, y: float, z: NDArray, slope: NDArray) -> None:
    limit = constant(loss, "smoothness")
    if math.isinf(limit):
        return
    # From the steepest interval inwards: curvature may be concentrated in a narrow place.
    k = int(np.argmax(np.abs(np.diff(slope)) / np.diff(z)))
    (left, right), (low, high) = z[k : k + 2], slope[k : k + 2]
    for _ in range(25):
        bend = abs(high - low) / (right - left)
        rounding = 1e-14 * max(abs(low), abs(high)) / (right - left)
        if bend > limit * (1 + 1e-6) + rounding:
            raise ContractError(
                f"{call(loss, 'smoothness')} is {limit:.6g}, "
                f"but the slope rises by {bend:.6g} a unit at ({left:.6g}, {y:.6g})"
            )
        middle = 0.5 * (left + right)
        at = number(loss, "slope", middle, y)
        if abs(high - at) > abs(at - low):
            left, low = middle, at
        else:
            right, high = middle, at


def _fenchel_young(loss: Loss, y: float, z: NDArray, value: NDArray, slope: NDArray) -> None:
    own = numbers(loss, "conjugate", slope, y, finite=False)
    expected = slope * z - value
    margin = slack(value, expected, slope * z) + floor(z, y)
    refuse(
        ~(np.abs(own - expected) <= margin),
        lambda i: (
            f"{call(loss, 'conjugate', slope[i], y)} is {own[i]:.6g}, "
            f"but az − value is {expected[i]:.6g} at z = {z[i]:.6g}, where that is the slope"
        ),
    )
    a = np.concatenate([2 * slope, np.random.default_rng(2).normal(scale=2.0, size=30)])
    own = numbers(loss, "conjugate", a, y, finite=False)
    a, own = a[np.isfinite(own), None], own[np.isfinite(own), None]
    least = a * z - value
    low = own < least - slack(value, own, a * z) - floor(z, y)
    if low.any():
        i, k = np.argwhere(low)[0]
        raise ContractError(
            f"{call(loss, 'conjugate', a[i, 0], y)} is {own[i, 0]:.6g}, "
            f"below az − value, which is {least[i, k]:.6g} at z = {z[k]:.6g}"
        )


def _check_compiled(loss: Loss, y: float, z: NDArray) -> None:
    out = np.empty((z.size, 2))
    examples = {"value": (0.5, y), "slope": (0.5, y)}
    compiled(loss, _values_and_slopes, (z, y, out), examples)
    rows = np.stack([z, np.full(z.size, y)], axis=1)
    same(loss, "value", rows, out[:, 0])
    same(loss, "slope", rows, out[:, 1])
    if hasattr(loss, "conjugate"):
        rows[:, 0] = numbers(loss, "slope", z, y)
        compiled(loss, _conjugates, (rows[:, 0].copy(), y, out), {"conjugate": (0.5, y)})
        same(loss, "conjugate", rows, out[:, 0])


@njit(cache=True)
def _values_and_slopes(loss: Any, z: Any, y: Any, out: Any) -> None:
    for i in range(z.size):
        out[i, 0] = loss.value(z[i], y)
        out[i, 1] = loss.slope(z[i], y)


@njit(cache=True)
def _conjugates(loss: Any, a: Any, y: Any, out: Any) -> None:
    for i in range(a.size):
        out[i, 0] = loss.conjugate(a[i], y)
