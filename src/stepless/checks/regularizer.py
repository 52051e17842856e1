"""The contract of a regularizer."""

from __future__ import annotations

import math
from itertools import pairwise
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
    same_arrays,
    slack,
    written,
)
from stepless.jit import compiled
from stepless.objective import Regularizer

_STEPS = (0.01, 0.3, 1.0, 5.0)
_TIMES = (0, 1, 5, 200)
_OUTPUTS = 3


def check_regularizer(regularizer: Regularizer, features: int = 5) -> None:
    """Check that a regularizer is what solvers and certificates rely on.

    ω ≥ 0 is convex with the minimum 0, finite at 0, and infinite below 0 if it says so;
    `strong_convexity` is not overstated; `conjugate` and `conjugate_gradient` fit the value
    (Fenchel-Young); `prox` minimises what it should, and fits the conjugate (Moreau); `prox_times`
    is prox so many times; compiled code computes the same numbers. That is of one weight, and asked
    of separable regularizers only. Of all weights, and asked of every one: Ω ≥ 0 is convex with the
    minimum 0, `shrink` and `shrink_row` minimise what they should, `floor` is not above what it
    bounds; where the conjugate is smooth, its value, gradient and curvature fit Ω; and Ω is what
    `elastic_shares` and `norm_exponent` say.

    Parameters
    ----------
    regularizer
        What is checked.
    features
        How many features to check it with; of groups, as many as they name.

    Raises
    ------
    ContractError
        A ValueError whose message says in one line what is wrong, and where.

    Examples
    --------
    >>> from stepless import check_regularizer
    >>> from stepless.objective import GroupsL2, SquaredL2
    >>> check_regularizer(SquaredL2(0.1))
    >>> check_regularizer(GroupsL2.of(0.1, ["a", "b", "a"]), features=3)
    """
    instance(regularizer, Regularizer, "SquaredL2(0.1)")
    random = np.random.default_rng(0).normal(scale=5.0, size=20)
    w = np.unique(np.concatenate([np.linspace(-3.0, 3.0, 13), random, [-1e4, 1e4]]))
    u = np.concatenate([[0.0, -30.0, 30.0], random])
    if regularizer.separable:
        _check_of_one(regularizer, w, u, _STEPS, _TIMES)
    _check_of_all(regularizer, *_of_all(regularizer, features, _OUTPUTS, 24))
    if regularizer.separable:
        _check_compiled(regularizer, np.concatenate([w, u]))
    _check_declared(regularizer)


def check_regularizer_quickly(regularizer: Regularizer, features: int, outputs: int) -> None:
    """Check a regularizer in plain Python, at few weights. Raises ContractError."""
    w = np.array([-1e3, -20.0, -1.5, -0.2, 0.0, 0.1, 1.0, 7.0, 300.0])
    if regularizer.separable:
        times = _TIMES[:3] if _own(regularizer, "prox_times") else ()
        _check_of_one(regularizer, w, w[1:-1], _STEPS[1::2], times)
    if not regularizer.separable or _own(regularizer, "total", "shrink", "shrink_row", "floor"):
        rows = min(features, 5) if regularizer.separable else features
        _of_all(regularizer, rows, outputs, 6)
    _check_declared(regularizer)


def _check_declared(regularizer: Regularizer) -> None:
    """Compare Ω with the formulas that `elastic_shares` and `norm_exponent` stand for."""
    shares, p = regularizer.elastic_shares, regularizer.norm_exponent
    if shares is None and p is None:
        return
    strength = constant(regularizer, "strong_convexity")
    for w in np.array([[0.1], [3.0]]) * np.random.default_rng(0).normal(size=(2, 5)):
        sizes, total = np.abs(w), number(regularizer, "total", w[:, None])
        formulas = []
        if shares is not None:
            ridge = 0.5 * float(w @ w)
            formulas.append(("elastic_shares", shares[0] * float(sizes.sum()) + shares[1] * ridge))
            formulas.append(("elastic_shares", total + (strength - shares[1]) * ridge))
        if p is not None:
            square = float(np.sum(sizes**p)) ** (2.0 / p)
            formulas.append(("norm_exponent", strength * square / (2.0 * (p - 1.0))))
        for name, formula in formulas:
            if not abs(total - formula) <= slack(total, formula):
                raise ContractError(
                    f"{type(regularizer).__name__}.{name} is {getattr(regularizer, name)}, of "
                    f"which total would be {formula:.6g} at {point(w)}, not {total:.6g}, with "
                    f"strong_convexity() {strength:.6g}"
                )


def _check_of_one(
    regularizer: Regularizer,
    w: Array,
    u: Array,
    steps: tuple[float, ...],
    times: tuple[int, ...],
) -> None:
    v = w
    if regularizer.nonnegative:
        v, below = w[w >= 0.0], w[w < 0.0]
        outside = numbers(regularizer, "value", below, finite=False)
        refuse(
            np.isfinite(outside),
            lambda i: (
                f"{type(regularizer).__name__} is for weights that are not negative, "
                f"but {call(regularizer, 'value', below[i])} is {outside[i]:.6g}, not infinite"
            ),
        )
    value = numbers(regularizer, "value", v)
    _curved(regularizer, v, value)
    _fenchel_young(regularizer, v, value, u)
    for step in steps:
        for wj in w:
            _proximal(regularizer, v, value, wj, step)
        _repeated(regularizer, u[:8], step, times)


def _curved(regularizer: Regularizer, w: Array, value: Array) -> None:
    refuse(value < 0.0, lambda i: f"{call(regularizer, 'value', w[i])} is {value[i]:.6g}, below 0")
    rest = _rest(regularizer)
    if (least := number(regularizer, "value", rest)) != 0.0:
        raise ContractError(f"{call(regularizer, 'value', rest)} is {least:.6g}, but must be 0")
    mu = constant(regularizer, "strong_convexity")
    i, k = np.triu_indices(w.size, 1)
    middle = 0.5 * (w[i] + w[k])
    here = numbers(regularizer, "value", middle)
    for curvature in (0.0, mu):
        most = 0.5 * (value[i] + value[k]) - 0.125 * curvature * (w[i] - w[k]) ** 2
        fault = (
            f"{call(regularizer, 'strong_convexity')} is {mu:.6g}, but the value is less curved"
            if curvature
            else f"{type(regularizer).__name__} is not convex"
        )
        refuse(
            here > most + slack(value[i], value[k]) + floor(middle),
            lambda t, fault=fault: f"{fault} between {w[i[t]]:.6g} and {w[k[t]]:.6g}",  # type: ignore[misc]
        )


def _rest(regularizer: Regularizer) -> float:
    """Return where a weight costs nothing."""
    return number(regularizer, "conjugate_gradient", 0.0) if regularizer.separable else 0.0


def _fenchel_young(regularizer: Regularizer, w: Array, value: Array, u: Array) -> None:
    conjugate = numbers(regularizer, "conjugate", u, finite=False)
    u, conjugate = u[np.isfinite(conjugate)], conjugate[np.isfinite(conjugate)]
    product = u[:, None] * w
    low = conjugate[:, None] < product - value - slack(product, value) - floor(w)
    if low.any():
        i, k = np.argwhere(low)[0]
        raise ContractError(
            f"{call(regularizer, 'conjugate', u[i])} is {conjugate[i]:.6g}, "
            f"below uw − value, which is {product[i, k] - value[k]:.6g} at w = {w[k]:.6g}"
        )
    at = numbers(regularizer, "conjugate_gradient", u)
    attained = u * at - numbers(regularizer, "value", at)
    refuse(
        np.abs(attained - conjugate) > slack(attained, conjugate, u * at) + floor(u),
        lambda i: (
            f"{call(regularizer, 'conjugate_gradient', u[i])} is {at[i]:.6g}, where "
            f"uw − value is {attained[i]:.6g}, but the conjugate is {conjugate[i]:.6g}"
        ),
    )


def _proximal(regularizer: Regularizer, v: Array, value: Array, wj: float, step: float) -> None:
    p = number(regularizer, "prox", wj, step)
    own = number(regularizer, "value", p)
    near = p + 1e-3 * max(1.0, abs(p)) * np.array([-1.0, 1.0])
    value = np.append(value, numbers(regularizer, "value", near, finite=False))
    v = np.append(v, near)
    least, heights = own + (p - wj) ** 2 / (2 * step), value + (v - wj) ** 2 / (2 * step)
    refuse(
        heights < least - slack(heights, least) - (SLACK * p) ** 2 / step,
        lambda i: (
            f"{call(regularizer, 'prox', wj, step)} is {p:.6g}, but at {v[i]:.6g} "
            f"value + (v − w)²/(2 step) is lower: {heights[i]:.6g}, not {least:.6g}"
        ),
    )
    # Moreau: q is the prox of the conjugate, so p and q are dual. Drawn in a little, because
    # rounding may have carried q out of the conjugate's domain.
    q = (wj - p) / step
    rounding = SLACK * abs(q) + 1e-15 * abs(wj) / step
    q -= math.copysign(min(rounding, abs(q)), q)
    both = own + number(regularizer, "conjugate", q, finite=False)
    if not abs(both - p * q) <= slack(own, p * q) + 2 * rounding * abs(p) + floor(p):
        raise ContractError(
            f"{call(regularizer, 'prox', wj, step)} is {p:.6g}, by Moreau's identity dual to "
            f"{q:.6g}, but value + conjugate is {both:.6g} there, not {p * q:.6g}"
        )


def _repeated(regularizer: Regularizer, w: Array, step: float, counts: tuple[int, ...]) -> None:
    for wj in w:
        p = wj
        for before, times in pairwise((0, *counts)):
            for _ in range(before, times):
                p = number(regularizer, "prox", p, step)
            fast = number(regularizer, "prox_times", wj, step, times)
            if abs(fast - p) > slack(wj):
                raise ContractError(
                    f"{call(regularizer, 'prox_times', wj, step, times)} is {fast:.6g}, "
                    f"but prox so many times is {p:.6g}"
                )


def _check_compiled(regularizer: Regularizer, w: Array) -> None:
    out, step, times = np.empty((w.size, 4)), 0.3, 3
    examples = {
        "value": (0.5,),
        "prox": (0.5, step),
        "conjugate": (0.5,),
        "conjugate_gradient": (0.5,),
    }
    run_compiled(regularizer, _answers, (w, step, out), examples)
    for column, method in enumerate(examples):
        rows = w[:, None] if method != "prox" else np.stack([w, np.full(w.size, step)], axis=1)
        same(regularizer, method, rows, out[:, column])
    if _own(regularizer, "prox_times"):
        fast = w.copy()
        run_compiled(regularizer, _repeats, (fast, step, times), {"prox_times": (0.5, step, times)})
        plain = np.array([number(regularizer, "prox_times", wj, step, times) for wj in w])
        same_arrays(regularizer, "prox_times", w, plain, fast)


# -- of all weights --------------------------------------------------------------------------------


def _of_all(
    regularizer: Regularizer, features: int, outputs: int, draws: int
) -> tuple[Array, Array, Array, Array]:
    """Check Ω, its prox and its floor; return weights, steps, proxes and the values there."""
    rng = np.random.default_rng(0)
    sizes = np.geomspace(1e-3, 1e3, draws)[:, None, None]
    w = sizes * rng.normal(size=(draws, features, outputs))
    # Steps at which something happens: step times slope is of the size of the weights.
    slopes = numbers(regularizer, "total", _inside(regularizer, w))[:, None, None] / sizes
    near = np.divide(sizes, slopes, out=np.ones_like(sizes), where=slopes > 0.0)
    steps = near * 10.0 ** rng.uniform(-1.5, 1.5, size=w.shape)
    p = np.array([_shrunk(regularizer, *pair) for pair in zip(w, steps, strict=True)])
    one_row = np.eye(features)[np.arange(len(w)) % features][:, :, None]
    rest = np.full_like(p[:1], _rest(regularizer))
    v = np.concatenate([rest, p, 0.5 * p, one_row * p, p + 1e-3 * w, w, 0.0 * rest])
    v = _inside(regularizer, v)
    value = numbers(regularizer, "total", v)
    _curved_in_all(regularizer, v, value)
    q = (w - p) / steps
    _least(regularizer, w, q, v, value)
    for a in np.concatenate([-0.3 * q[::3], -q[::3], -3.0 * q[::3], -1.2 * one_row * q]):
        _floored(regularizer, a, v, value)
    return w, steps, p, value[1 : 1 + draws]


def _shrunk(regularizer: Regularizer, w: Array, steps: Array) -> Array:
    """Return the prox; of a separable regularizer that inherits it, without compiled code."""
    if regularizer.separable and not _own(regularizer, "shrink", "shrink_row"):
        return numbers(regularizer, "prox", w.ravel(), steps.ravel()).reshape(w.shape)
    return written(regularizer, "shrink", w, steps)


def _check_of_all(regularizer: Regularizer, w: Array, steps: Array, p: Array, value: Array) -> None:
    """Check the rows, the dual and compiled code against what was found in plain Python."""
    if regularizer.by_rows:
        _row_by_row(regularizer, w, steps, p)
    if regularizer.smooth_conjugate():
        _check_dual(regularizer, (w - p) / steps, p)
    if _own(regularizer, "total", "shrink", "shrink_row"):
        fast, totals = w.copy(), np.empty(len(w))
        examples: dict[str, tuple[Any, ...]] = {"shrink": (w[0].copy(), steps[0]), "total": (w[0],)}
        run_compiled(regularizer, _shrinks, (fast, steps, totals), examples)
        same_arrays(regularizer, "shrink", w, p, fast)
        same_arrays(regularizer, "total", p, value, totals)


def _inside(regularizer: Regularizer, w: Array) -> Array:
    return np.abs(w) if regularizer.nonnegative else w


def _curved_in_all(regularizer: Regularizer, v: Array, value: Array) -> None:
    refuse(value < 0.0, lambda i: f"{call(regularizer, 'total', v[i])} is {value[i]:.6g}, below 0")
    if value[0] != 0.0:
        raise ContractError(f"{call(regularizer, 'total', v[0])} is {value[0]:.6g}, but must be 0")
    middle = numbers(regularizer, "total", 0.5 * (v[1:] + v[:-1]))
    most = 0.5 * (value[1:] + value[:-1])
    refuse(
        middle > most + slack(most),
        lambda i: (
            f"{type(regularizer).__name__}.total is not convex "
            f"between {point(v[i])} and {point(v[i + 1])}"
        ),
    )
    if regularizer.separable:
        sums = np.array([numbers(regularizer, "value", vi.ravel()).sum() for vi in v])
        refuse(
            np.abs(sums - value) > slack(value),
            lambda i: (
                f"{call(regularizer, 'total', v[i])} is {value[i]:.6g}, "
                f"but the values of its weights add up to {sums[i]:.6g}"
            ),
        )


def _least(regularizer: Regularizer, w: Array, q: Array, v: Array, value: Array) -> None:
    """Refuse v[1:], what was made of w, if q = (w − v)/step is no subgradient there."""
    for i, (p, own) in enumerate(zip(v[1 : 1 + len(w)], value[1:], strict=False)):
        rise = np.sum(q[i] * (v - p), axis=(1, 2))
        sizes = np.sum(np.abs(q[i] * (v - p)), axis=(1, 2))
        refuse(
            value < own + rise - slack(value, own, sizes),
            lambda k, i=i, p=p: (  # type: ignore[misc]
                f"{type(regularizer).__name__}.shrink takes {point(w[i])} to {point(p)}, but "
                f"total + Σ (v − w)²/(2 step) falls from there towards {point(v[k])}"
            ),
        )


def _row_by_row(regularizer: Regularizer, w: Array, steps: Array, p: Array) -> None:
    rows, own = w.reshape(-1, _OUTPUTS), p.reshape(-1, _OUTPUTS)
    pairs = zip(rows, steps.reshape(-1, _OUTPUTS), strict=True)
    shrunk = np.array([written(regularizer, "shrink_row", *pair) for pair in pairs])
    refuse(
        np.abs(shrunk - own).max(axis=1) > slack(rows).max(axis=1),
        lambda i: (
            f"{type(regularizer).__name__}.shrink_row takes {point(rows[i])} to "
            f"{point(shrunk[i])}, but shrink to {point(own[i])}"
        ),
    )


def _floored(regularizer: Regularizer, a: Array, v: Array, value: Array) -> None:
    products = np.sum(a * v, axis=(1, 2))
    margin = slack(value) + SLACK * np.sum(np.abs(a * v), axis=(1, 2))
    for ceiling in (math.inf, *value[1::10]):
        heights = np.where(value <= ceiling, value + products, math.inf)
        least = number(regularizer, "floor", a, ceiling, finite=False, infinity=-math.inf)
        refuse(
            least > heights + margin,
            lambda k, ceiling=ceiling, least=least, heights=heights: (  # type: ignore[misc]
                f"{call(regularizer, 'floor', a, ceiling)} is {least:.6g}, "
                f"but total + ⟨a, w⟩ is {heights[k]:.6g} at {point(v[k])}"
            ),
        )


# -- of all dual weights ---------------------------------------------------------------------------


def _check_dual(regularizer: Regularizer, u: Array, w: Array) -> None:
    """Refuse a conjugate that does not fit the weights w, at which u are subgradients."""
    rng = np.random.default_rng(1)
    for ui, wi in zip(u, w, strict=True):
        conjugate = number(regularizer, "conjugate_total", ui)
        least, product = number(regularizer, "total", wi), float(np.sum(ui * wi))
        sizes = slack(conjugate, least) + SLACK * np.sum(np.abs(ui * wi))
        if not abs(conjugate + least - product) <= sizes:
            raise ContractError(
                f"{call(regularizer, 'conjugate_total', ui)} is {conjugate:.6g}, but ⟨u, w⟩ − "
                f"total is {product - least:.6g} at {point(wi)}, where u is a subgradient"
            )
        here = regularizer.conjugate_weights(ui)
        attained = float(np.sum(ui * here)) - number(regularizer, "total", here)
        if not abs(attained - conjugate) <= sizes:
            raise ContractError(
                f"{type(regularizer).__name__}.conjugate_weights takes {point(ui)} to "
                f"{point(here)}, where ⟨u, w⟩ − total is {attained:.6g}, not {conjugate:.6g}"
            )
        _curved_dual(regularizer, ui, rng.normal(size=ui.shape) * np.abs(ui))


def _curved_dual(regularizer: Regularizer, u: Array, along: Array) -> None:
    """Refuse a curvature of the conjugate that its gradient exceeds."""
    near = 1e-5
    D, factor, r = regularizer.conjugate_curvature(u)
    ahead, back = (regularizer.conjugate_weights(u + sign * near * along) for sign in (1.0, -1.0))
    rise = float(np.sum((ahead - back) * along)) / (2.0 * near)
    most = float(np.sum(D * along * along)) + factor * float(np.sum(r * along)) ** 2
    noise = 1e-9 * float(np.sum(np.abs(ahead * along))) / near
    if not rise <= most * (1.0 + 1e-3) + noise:
        raise ContractError(
            f"{type(regularizer).__name__}.conjugate_curvature is {most:.6g} along {point(along)} "
            f"at {point(u)}, but conjugate_weights change by {rise:.6g}"
        )


def _own(regularizer: Regularizer, *methods: str) -> bool:
    """Whether one of these methods is not the inherited one, which is known to compile."""
    return any(getattr(type(regularizer), m) is not getattr(Regularizer, m) for m in methods)


@compiled("w[n] out[n,4]")
def _answers(regularizer: Any, w: Any, step: Any, out: Any) -> None:
    for j in range(w.size):
        out[j, 0] = regularizer.value(w[j])
        out[j, 1] = regularizer.prox(w[j], step)
        out[j, 2] = regularizer.conjugate(w[j])
        out[j, 3] = regularizer.conjugate_gradient(w[j])


@compiled("w[_]")
def _repeats(regularizer: Any, w: Any, step: Any, times: Any) -> None:
    for j in range(w.size):
        w[j] = regularizer.prox_times(w[j], step, times)


@compiled("w[n,d,K] steps[n,d,K] totals[n]")
def _shrinks(regularizer: Any, w: Any, steps: Any, totals: Any) -> None:
    for i in range(w.shape[0]):
        regularizer.shrink(w[i], steps[i])
        totals[i] = regularizer.total(w[i])
