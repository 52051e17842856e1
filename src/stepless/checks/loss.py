"""The contract of a loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.checks import loops
from stepless.checks.contract import SLACK, Numbers, Subject, described, floor, point, refuse, slack
from stepless.objective import JointLoss, Loss

_TARGETS = {
    "signs": (-1.0, 1.0),
    "reals": (0.0, 1.0, -0.7, 2.3, -30.5),
    "counts": (0.0, 1.0, 0.4, 3.0, 40.0),
}
_FAR = (-1e8, -1e3, 1e3, 1e8)
_NEAR = 1e-4  # beside every sampled point there is another: a secant between them
_STEPS = (1e-3, 1.0, 1e3)
_OFFSETS = (0.0, 1e-3, 0.1, 0.5, 1.0, 3.0, 30.0, 1e3)  # of predictions, in units of the targets
_CLASSES = 4  # of a joint loss, at most, that a quick check looks at


def check_loss(loss: Loss) -> None:
    """Raise `ContractError` unless a loss is what solvers and certificates rely on.

    Its value is finite, non-negative and convex; its slope is a subgradient, also far out, where a
    careless formula overflows; no slope exceeds `lipschitz`, no change of slope `smoothness`; the
    optional methods that it offers fit value and slope; compiled code computes the same numbers.

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
rises by -1.0001 per unit there
    """
    subject = Subject.of(loss, Loss, "Hinge()")
    if loss.targets not in _TARGETS:
        known = ", ".join(map(repr, _TARGETS))
        subject.fail(f"{subject.name}.targets is {loss.targets!r}, but must be one of {known}")
    for y in _TARGETS[loss.targets]:
        _check_at(subject, y, _predictions(y), _STEPS)
    for y in _TARGETS[loss.targets]:
        _check_compiled(subject, y, _predictions(y))


def check_loss_quickly(loss: Loss, targets: Array) -> None:
    """Check a loss in plain Python, at few points about these targets, where it does not overflow.

    Raises ContractError.
    """
    subject = Subject(loss)
    if isinstance(loss, JointLoss):
        for c in range(min(int(loss.outputs()), _CLASSES)):
            _check_joint(subject, c)
        return
    unit = float(np.ptp(targets)) or max(1.0, abs(float(targets[0])))
    for y in map(float, np.unique(targets)):
        offsets = unit * np.concatenate([_OFFSETS, np.random.default_rng(0).uniform(0.0, 2.0, 4)])
        z = np.unique(np.concatenate([[-1.0, 0.0, 1.0], y - offsets, y + offsets]))
        z = np.unique(np.concatenate([z, z + _NEAR * np.maximum(np.abs(z), 1.0)]))
        _check_at(subject, y, z[[not _overflows(loss, at, y) for at in z]], _STEPS[1:2])


def _overflows(loss: Loss, z: float, y: float) -> bool:
    try:
        return bool(loss.value(float(z), y) == math.inf)
    except OverflowError:
        return True
    except Exception:
        return False  # the check says what is wrong


def _check_joint(loss: Subject[Loss], y: int) -> None:
    """Refuse a joint loss that is negative, or whose tangents at random predictions rise above."""
    K, rng = int(loss.term.outputs()), np.random.default_rng(y)
    z = rng.normal(size=(12, K)) * np.geomspace(0.1, 30.0, 12)[:, None]
    a = np.zeros_like(z)
    value = np.array([loss.number("slopes", z[i], float(y), a[i]) for i in range(len(z))])
    refuse(value < 0.0, lambda i: f"{loss.name} is {value[i]:.6g} at {point(z[i])}, below 0")
    rise = np.sum(a[:, None] * (z[None, :] - z[:, None]), axis=2)
    refuse(
        value[None, :] < value[:, None] + rise - slack(value[:, None], rise) - SLACK,
        lambda i, k: (
            f"{loss.name}.slopes at {point(z[i])} for class {y} are {point(a[i])}, but "
            f"the value is {value[k]:.6g} at {point(z[k])}, below the tangent's "
            f"{value[i] + rise[i, k]:.6g}"
        ),
    )


def _predictions(y: float) -> Array:
    """Return sorted z: even and random ones around 0 and the target, far ones, and neighbours."""
    random = np.random.default_rng(0).normal(scale=3.0, size=30)
    around = np.concatenate([np.linspace(-4.0, 4.0, 33), random])
    z = np.concatenate([around, y + around, _FAR])
    near = _NEAR * np.maximum(np.abs(z), 1.0)
    return np.unique(np.concatenate([z - near, z, z + near]))


@dataclass(frozen=True)
class _Samples:
    loss: Subject[Loss]
    y: float
    z: Array
    value: Array
    slope: Array
    steps: Sequence[float]  # of implicit slopes

    def at(self, method: str, z: Array, *more: float, finite: bool = True) -> Array:
        """Call a method at each z (or slope), for the target."""
        return self.loss.numbers(method, z, self.y, *more, finite=finite)

    def call(self, method: str, z: Numbers, *more: float) -> str:
        return self.loss.call(method, z, self.y, *more)


def _check_at(loss: Subject[Loss], y: float, z: Array, steps: Sequence[float]) -> None:
    value, slope = (loss.numbers(method, z, y) for method in ("value", "slope"))
    samples = _Samples(loss, y, z, value, slope, steps)
    offered = [check for method, check in _OPTIONAL.items() if loss.term.offers(method)]
    for check in (*_ALWAYS, *offered):
        check(samples)


def _nonnegative(at: _Samples) -> None:
    refuse(at.value < 0.0, lambda i: f"{at.call('value', at.z[i])} is {at.value[i]:.6g}, below 0")


def _convex(at: _Samples) -> None:
    z, value = at.z, at.value
    neighbours = np.arange(z.size - 2)[:, None] + np.arange(3)
    random = np.random.default_rng(1).choice(z.size, size=(min(5_000, z.size**2), 3))
    triples = np.concatenate([neighbours, np.sort(random, axis=1)])
    i, j, k = triples[triples[:, 0] < triples[:, 2]].T
    chord = value[i] + (value[k] - value[i]) * ((z[j] - z[i]) / (z[k] - z[i]))
    refuse(
        value[j] > chord + slack(value[i], value[k]) + floor(z[j], at.y),
        lambda t: (
            f"{at.call('value', z[j[t]])} is {value[j[t]]:.6g}, above the chord "
            f"({chord[t]:.6g}) from z = {z[i[t]]:.6g} to {z[k[t]]:.6g}: the loss is not convex"
        ),
    )


def _subgradient(at: _Samples) -> None:
    z, value, slope = at.z, at.value, at.slope
    way = z[None, :] - z[:, None]
    rise = slope[:, None] * way
    margin = slack(value[:, None], value[None, :], rise) + floor(z, at.y)
    wrong = value[None, :] < value[:, None] + rise - margin
    if not wrong.any():
        return
    # the nearest contradiction says most about the slope
    i, k = np.unravel_index(np.argmin(np.where(wrong, np.abs(way), np.inf)), way.shape)
    secant = (value[k] - value[i]) / way[i, k]
    where = "there" if abs(way[i, k]) < 10 * _NEAR * max(abs(z[i]), 1.0) else f"towards {z[k]:.6g}"
    at.loss.fail(
        f"{at.call('slope', z[i])} is {slope[i]:.6g}, "
        f"but the value rises by {secant:.6g} per unit {where}"
    )


def _lipschitz(at: _Samples) -> None:
    limit = at.loss.constant("lipschitz")
    refuse(
        np.abs(at.slope) > limit * (1 + SLACK),
        lambda i: (
            f"{at.loss.call('lipschitz')} is {limit:.6g}, "
            f"but {at.call('slope', at.z[i])} is {at.slope[i]:.6g}"
        ),
    )


def _smooth(at: _Samples) -> None:
    limit = at.loss.constant("smoothness")
    if math.isinf(limit):
        return
    # From the steepest interval inwards: curvature may be concentrated in a narrow place.
    k = int(np.argmax(np.abs(np.diff(at.slope)) / np.diff(at.z)))
    (left, right), (low, high) = at.z[k : k + 2], at.slope[k : k + 2]
    for _ in range(25):
        bend = abs(high - low) / (right - left)
        rounding = 1e-14 * max(abs(low), abs(high)) / (right - left)
        if bend > limit * (1 + 1e-6) + rounding:
            at.loss.fail(
                f"{at.loss.call('smoothness')} is {limit:.6g}, "
                f"but the slope rises by {bend:.6g} per unit at ({left:.6g}, {at.y:.6g})"
            )
        middle = 0.5 * (left + right)
        slope = at.loss.number("slope", middle, at.y)
        if abs(high - slope) > abs(slope - low):
            left, low = middle, slope
        else:
            right, high = middle, slope


def _fenchel_young(at: _Samples) -> None:
    z, value, slope = at.z, at.value, at.slope
    own = at.at("conjugate", slope, finite=False)
    expected = slope * z - value
    margin = slack(value, expected, slope * z) + floor(z, at.y)
    refuse(
        ~(np.abs(own - expected) <= margin),
        lambda i: (
            f"{at.call('conjugate', slope[i])} is {own[i]:.6g}, "
            f"but az − value is {expected[i]:.6g} at z = {z[i]:.6g}, where that is the slope"
        ),
    )
    a = np.concatenate([2 * slope, np.random.default_rng(2).normal(scale=2.0, size=30)])
    conjugate = at.at("conjugate", a, finite=False)
    a, conjugate = a[np.isfinite(conjugate), None], conjugate[np.isfinite(conjugate), None]
    least = a * z - value
    refuse(
        conjugate < least - slack(value, conjugate, a * z) - floor(z, at.y),
        lambda i, k: (
            f"{at.call('conjugate', a[i, 0])} is {conjugate[i, 0]:.6g}, "
            f"below az − value, which is {least[i, k]:.6g} at z = {z[k]:.6g}"
        ),
    )


def _curvature(at: _Samples) -> None:
    """Compare it with secants of the slope to both sides; at a kink it may lie between the two."""
    z, slope, own = at.z, at.slope, at.at("curvature", at.z)
    h = 1e-6 * np.sqrt(np.maximum(np.abs(z), 1.0))  # far out, kinks lie as close to each other
    far_left, left, right, far_right = (at.at("slope", z + k * h) for k in (-2, -1, 1, 2))
    before, after, rise = (slope - left) / h, (right - slope) / h, (right - left) / (2 * h)
    bend = np.abs(rise - (far_right - far_left) / (4 * h))
    rounding = 1e-14 * (1 + abs(at.y) + np.abs(slope)) / h
    margin = bend + 1e-4 * (np.abs(before) + np.abs(after)) + rounding
    refuse(
        (own < np.minimum(before, after) - margin) | (own > np.maximum(before, after) + margin),
        lambda i: (
            f"{at.call('curvature', z[i])} is {own[i]:.6g}, "
            f"but the slope rises by {rise[i]:.6g} per unit there"
        ),
    )


def _implicit(at: _Samples) -> None:
    for step in at.steps:
        _implicit_step(at, step)


def _implicit_step(at: _Samples, step: float) -> None:
    z, a = at.z, at.at("implicit_slope", at.z, step)
    v = z - step * a
    near = SLACK * (1 + np.abs(z) + np.abs(v))
    low, high = at.at("slope", v - near), at.at("slope", v + near)
    margin = slack(low, high) + floor(z, at.y)
    refuse(
        (a < low - margin) | (a > high + margin),
        lambda i: (
            f"{at.call('implicit_slope', z[i], step)} is {a[i]:.6g}, but the slope where "
            f"that leads, at z = {v[i]:.6g}, is {(low if a[i] < low[i] else high)[i]:.6g}"
        ),
    )
    if at.loss.term.offers("conjugate"):
        refuse(
            np.isinf(at.at("conjugate", a, finite=False)),
            lambda i: (
                f"{at.call('conjugate', a[i])} is inf, "
                f"but {at.call('implicit_slope', z[i], step)} is {a[i]:.17g}"
            ),
        )


def _corners(at: _Samples) -> None:
    z, slope, name = at.z, at.slope, f"{at.loss.name}.corners"
    try:
        parts = [np.asarray(part, dtype=float) for part in at.loss.term.corners(np.full(2, at.y))]
    except Exception as error:
        at.loss.fail(f"{name} of two targets raises {described(error)}", error)
    shapes = [part.shape for part in parts]
    if shapes != [(2,), (*shapes[-1][:1], 2), (*shapes[-1][:1], 2)]:
        given = ", ".join(map(str, shapes))
        at.loss.fail(f"{name} of two targets has shapes {given}, not (2,), (k, 2), (k, 2)")
    first, places, rises = (part[..., :1] for part in parts)
    implied = first + (rises * (z > places)).sum(axis=0)
    apart = (np.abs(z - places) > floor(z, at.y)).all(axis=0)
    refuse(
        apart & ~(np.abs(implied - slope) <= slack(first, rises.sum(axis=0), slope)),
        lambda i: (
            f"{name} make the slope {implied[i]:.6g} at ({z[i]:.6g}, {at.y:.6g}), "
            f"but {at.call('slope', z[i])} is {slope[i]:.6g}"
        ),
    )


_ALWAYS = (_nonnegative, _convex, _subgradient, _lipschitz, _smooth)
_OPTIONAL = {
    "conjugate": _fenchel_young,
    "curvature": _curvature,
    "implicit_slope": _implicit,
    "corners": _corners,
}


def _check_compiled(loss: Subject[Loss], y: float, z: Array) -> None:
    both = np.empty((2, z.size))
    examples = {"value": (0.5, y), "slope": (0.5, y)}
    loss.run_compiled(loops.values_and_slopes, (both, z, y), examples)
    rows = np.stack([z, np.full(z.size, y)], axis=1)
    for method, out in zip(examples, both, strict=True):
        loss.same_numbers(method, rows, out)
    slopes = loss.numbers("slope", z, y)
    for method, loop, at, more in (
        ("conjugate", loops.conjugates, slopes, ()),
        ("curvature", loops.curvatures, z, ()),
        ("implicit_slope", loops.implicit_slopes, z, (1.0,)),
    ):
        if loss.term.offers(method):
            out = np.empty(z.size)
            loss.run_compiled(loop, (out, at, y, *more), {method: (0.5, y, *more)})
            rows = np.stack(np.broadcast_arrays(at, y, *more), axis=1)
            loss.same_numbers(method, rows, out)
