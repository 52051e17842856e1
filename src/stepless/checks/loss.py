"""The contract of a loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.checks.contract import (
    SLACK,
    ContractError,
    call,
    constant,
    floor,
    instance,
    number,
    numbers,
    point,
    refuse,
    run_compiled,
    same,
    slack,
    told,
)
from stepless.jit import compiled
from stepless.objective import JointLoss, Loss

_TARGETS = {
    "signs": (-1.0, 1.0),
    "reals": (0.0, 1.0, -0.7, 2.3, -30.5),
    "counts": (0.0, 1.0, 0.4, 3.0, 40.0),
}
_FAR = (-1e8, -1e3, 1e3, 1e8)
_NEAR = 1e-4  # beside every sampled point there is another: they tell the slope
_STEPS = (1e-3, 1.0, 1e3)
_OFFSETS = (0.0, 1e-3, 0.1, 0.5, 1.0, 3.0, 30.0, 1e3)  # of predictions, in units of the targets
_CLASSES = 4  # of a joint loss, that a quick check looks at


def check_loss(loss: Loss) -> None:
    """Check that a loss is what solvers and certificates rely on.

    Its value is finite, non-negative and convex; its slope is a subgradient, also far out, where a
    careless formula overflows; no slope exceeds `lipschitz`, no change of slope `smoothness`; the
    optional methods that it offers fit value and slope; compiled code computes the same numbers.

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
        _check_at(loss, y, _predictions(y), _STEPS)
    for y in _TARGETS[loss.targets]:
        _check_compiled(loss, y, _predictions(y))


def check_loss_quickly(loss: Loss, targets: Array) -> None:
    """Check a loss in plain Python, at few points about these targets, where it does not overflow.

    Raises ContractError.
    """
    if isinstance(loss, JointLoss):
        for c in range(min(int(loss.outputs()), _CLASSES)):
            _check_joint(loss, c)
        return
    unit = float(np.ptp(targets)) or max(1.0, abs(float(targets[0])))
    for y in map(float, np.unique(targets)):
        offsets = unit * np.concatenate([_OFFSETS, np.random.default_rng(0).uniform(0.0, 2.0, 4)])
        z = np.unique(np.concatenate([[-1.0, 0.0, 1.0], y - offsets, y + offsets]))
        z = np.unique(np.concatenate([z, z + _NEAR * np.maximum(np.abs(z), 1.0)]))
        _check_at(loss, y, z[[not _overflows(loss, at, y) for at in z]], _STEPS[1:2])


def _overflows(loss: Loss, z: float, y: float) -> bool:
    try:
        return bool(loss.value(float(z), y) == math.inf)
    except OverflowError:
        return True
    except Exception:
        return False  # the check says what is wrong


def _check_joint(loss: Loss, y: int) -> None:
    """Refuse a joint loss that is negative, or whose tangents at random predictions rise above."""
    K, rng = int(loss.outputs()), np.random.default_rng(y)
    z = rng.normal(size=(12, K)) * np.geomspace(0.1, 30.0, 12)[:, None]
    a = np.zeros_like(z)
    value = np.array(
        [number(loss, "slopes", zi, float(y), ai) for zi, ai in zip(z, a, strict=True)]
    )
    refuse(
        value < 0.0, lambda i: f"{type(loss).__name__} is {value[i]:.6g} at {point(z[i])}, below 0"
    )
    rise = np.sum(a[:, None] * (z[None, :] - z[:, None]), axis=2)
    wrong = value[None, :] < value[:, None] + rise - slack(value[:, None], rise) - SLACK
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        raise ContractError(
            f"{type(loss).__name__}.slopes at {point(z[i])} for class {y} are {point(a[i])}, but "
            f"the value is {value[k]:.6g} at {point(z[k])}, below the tangent's "
            f"{value[i] + rise[i, k]:.6g}"
        )


def _predictions(y: float) -> Array:
    """Sorted points z: even and random ones around 0 and the target, far ones, and neighbours."""
    random = np.random.default_rng(0).normal(scale=3.0, size=30)
    around = np.concatenate([np.linspace(-4.0, 4.0, 33), random])
    z = np.concatenate([around, y + around, _FAR])
    near = _NEAR * np.maximum(np.abs(z), 1.0)
    return np.unique(np.concatenate([z - near, z, z + near]))


def _check_at(loss: Loss, y: float, z: Array, steps: tuple[float, ...]) -> None:
    value = numbers(loss, "value", z, y)
    slope = numbers(loss, "slope", z, y)
    refuse(value < 0.0, lambda i: f"{call(loss, 'value', z[i], y)} is {value[i]:.6g}, below 0")
    _convex(loss, y, z, value)
    _subgradient(loss, y, z, value, slope)
    _lipschitz(loss, y, z, slope)
    _smooth(loss, y, z, slope)
    if loss.offers("conjugate"):
        _fenchel_young(loss, y, z, value, slope)
    if loss.offers("curvature"):
        _curvature(loss, y, z, slope)
    if loss.offers("implicit_slope"):
        for step in steps:
            _implicit(loss, y, z, step)
    if loss.offers("corners"):
        _corners(loss, y, z, slope)


def _convex(loss: Loss, y: float, z: Array, value: Array) -> None:
    neighbours = np.arange(z.size - 2)[:, None] + np.arange(3)
    random = np.sort(
        np.random.default_rng(1).choice(z.size, size=(min(5_000, z.size**2), 3)), axis=1
    )
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


def _subgradient(loss: Loss, y: float, z: Array, value: Array, slope: Array) -> None:
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


def _lipschitz(loss: Loss, y: float, z: Array, slope: Array) -> None:
    limit = constant(loss, "lipschitz")
    refuse(
        np.abs(slope) > limit * (1 + SLACK),
        lambda i: (
            f"{call(loss, 'lipschitz')} is {limit:.6g}, "
            f"but {call(loss, 'slope', z[i], y)} is {slope[i]:.6g}"
        ),
    )


def _smooth(loss: Loss, y: float, z: Array, slope: Array) -> None:
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


def _fenchel_young(loss: Loss, y: float, z: Array, value: Array, slope: Array) -> None:
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


def _curvature(loss: Loss, y: float, z: Array, slope: Array) -> None:
    """Compare it with secants of the slope to both sides; at a kink it may lie between the two."""
    own = numbers(loss, "curvature", z, y)
    h = 1e-6 * np.sqrt(np.maximum(np.abs(z), 1.0))  # far out, kinks lie as close to each other
    far_left, left, right, far_right = (
        numbers(loss, "slope", z + k * h, y) for k in (-2, -1, 1, 2)
    )
    before, after, rise = (slope - left) / h, (right - slope) / h, (right - left) / (2 * h)
    bend = np.abs(rise - (far_right - far_left) / (4 * h))
    rounding = 1e-14 * (1 + abs(y) + np.abs(slope)) / h
    margin = bend + 1e-4 * (np.abs(before) + np.abs(after)) + rounding
    refuse(
        (own < np.minimum(before, after) - margin) | (own > np.maximum(before, after) + margin),
        lambda i: (
            f"{call(loss, 'curvature', z[i], y)} is {own[i]:.6g}, "
            f"but the slope rises by {rise[i]:.6g} a unit there"
        ),
    )


def _implicit(loss: Loss, y: float, z: Array, step: float) -> None:
    a = numbers(loss, "implicit_slope", z, y, step)
    v = z - step * a
    near = SLACK * (1 + np.abs(z) + np.abs(v))
    low, high = numbers(loss, "slope", v - near, y), numbers(loss, "slope", v + near, y)
    margin = slack(low, high) + floor(z, y)
    refuse(
        (a < low - margin) | (a > high + margin),
        lambda i: (
            f"{call(loss, 'implicit_slope', z[i], y, step)} is {a[i]:.6g}, but the slope where "
            f"that leads, at z = {v[i]:.6g}, is {(low if a[i] < low[i] else high)[i]:.6g}"
        ),
    )
    if loss.offers("conjugate"):
        conjugate = numbers(loss, "conjugate", a, y, finite=False)
        refuse(
            np.isinf(conjugate),
            lambda i: (
                f"{call(loss, 'conjugate', a[i], y)} is inf, "
                f"but {call(loss, 'implicit_slope', z[i], y, step)} is {a[i]:.17g}"
            ),
        )


def _corners(loss: Loss, y: float, z: Array, slope: Array) -> None:
    name = f"{type(loss).__name__}.corners"
    try:
        parts = [np.asarray(part, dtype=float) for part in loss.corners(np.full(2, y))]
    except Exception as error:
        raise ContractError(f"{name} of two targets raises {told(error)}") from error
    shapes = [part.shape for part in parts]
    count = shapes[-1][:1]
    if shapes != [(2,), (*count, 2), (*count, 2)]:
        told_shapes = ", ".join(map(str, shapes))
        raise ContractError(
            f"{name} of two targets has shapes {told_shapes}, not (2,), (k, 2), (k, 2)"
        )
    first, places, rises = (part[..., :1] for part in parts)
    said = first + (rises * (z > places)).sum(axis=0)
    apart = (np.abs(z - places) > floor(z, y)).all(axis=0)
    refuse(
        apart & ~(np.abs(said - slope) <= slack(first, rises.sum(axis=0), slope)),
        lambda i: (
            f"{name} make the slope {said[i]:.6g} at ({z[i]:.6g}, {y:.6g}), "
            f"but {call(loss, 'slope', z[i], y)} is {slope[i]:.6g}"
        ),
    )


def _check_compiled(loss: Loss, y: float, z: Array) -> None:
    at: dict[str, tuple[Any, ...]] = {
        "value": (z, y),
        "slope": (z, y),
        "conjugate": (numbers(loss, "slope", z, y), y),
        "curvature": (z, y),
        "implicit_slope": (z, y, 1.0),
    }
    for method, arguments in at.items():
        if loss.offers(method):
            out = np.empty(z.size)
            run_compiled(loss, _KERNELS[method], (out, *arguments), {method: (0.5, *arguments[1:])})
            same(loss, method, np.stack(np.broadcast_arrays(*arguments), axis=1), out)


@compiled("z[n] out[n]")
def _values(loss: Any, out: Any, z: Any, y: Any) -> None:
    for i in range(z.size):
        out[i] = loss.value(z[i], y)


@compiled("z[n] out[n]")
def _slopes(loss: Any, out: Any, z: Any, y: Any) -> None:
    for i in range(z.size):
        out[i] = loss.slope(z[i], y)


@compiled("a[n] out[n]")
def _conjugates(loss: Any, out: Any, a: Any, y: Any) -> None:
    for i in range(a.size):
        out[i] = loss.conjugate(a[i], y)


@compiled("z[n] out[n]")
def _curvatures(loss: Any, out: Any, z: Any, y: Any) -> None:
    for i in range(z.size):
        out[i] = loss.curvature(z[i], y)


@compiled("z[n] out[n]")
def _implicit_slopes(loss: Any, out: Any, z: Any, y: Any, step: Any) -> None:
    for i in range(z.size):
        out[i] = loss.implicit_slope(z[i], y, step)


_KERNELS: dict[str, Callable[..., None]] = {
    "value": _values,
    "slope": _slopes,
    "conjugate": _conjugates,
    "curvature": _curvatures,
    "implicit_slope": _implicit_slopes,
}
