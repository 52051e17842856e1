"""The contract of a regularizer."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from stepless.arrays import Array, Indices
from stepless.checks import loops
from stepless.checks.contract import SLACK, Subject, floor, point, refuse, slack
from stepless.objective import Regularizer

_STEPS = (0.01, 0.3, 1.0, 5.0)
_TIMES = (0, 1, 5, 200)
_OUTPUTS = 3
_OF_ALL = ("total", "shrink", "shrink_row")  # methods of all weights that are compiled

_Penalty: TypeAlias = Subject[Regularizer]


def check_regularizer(regularizer: Regularizer, features: int = 5) -> None:
    """Raise `ContractError` unless a regularizer is what solvers and certificates rely on.

    Of one weight, for separable regularizers only: ω ≥ 0 is convex with the minimum 0, finite at 0,
    and infinite below 0 if it says so; `strong_convexity` is not overstated; `conjugate` and
    `conjugate_gradient` fit the value (Fenchel-Young); `prox` minimises what it should, and fits
    the conjugate (Moreau); `prox_times` is prox repeated; compiled code computes the same numbers.
    Of all weights, for every regularizer: Ω ≥ 0 is convex with the minimum 0, `shrink` and
    `shrink_row` minimise what they should, `floor` is not above what it bounds; where the
    conjugate is smooth, its value, gradient and curvature fit Ω; and Ω is what `elastic_shares`,
    `norm_exponent` and `group_lasso` say.

    Parameters
    ----------
    regularizer
        The regularizer to check.
    features
        The number of features to check it with; of groups, as many as they name.

    Examples
    --------
    >>> from stepless import check_regularizer
    >>> from stepless.objective import GroupsL2, SquaredL2
    >>> check_regularizer(SquaredL2(0.1))
    >>> check_regularizer(GroupsL2.of(0.1, ["a", "b", "a"]), features=3)
    """
    subject = Subject.of(regularizer, Regularizer, "SquaredL2(0.1)")
    random = np.random.default_rng(0).normal(scale=5.0, size=20)
    w = np.unique(np.concatenate([np.linspace(-3.0, 3.0, 13), random, [-1e4, 1e4]]))
    u = np.concatenate([[0.0, -30.0, 30.0], random])
    if regularizer.separable:
        _check_of_one(subject, w, u, _STEPS, _TIMES)
    _check_of_all(subject, *_of_all(subject, features, _OUTPUTS, 24))
    if regularizer.separable:
        _check_compiled(subject, np.concatenate([w, u]))
    _check_declared(subject)


def check_regularizer_quickly(regularizer: Regularizer, features: int, outputs: int) -> None:
    """Check a regularizer in plain Python, at few weights. Raises ContractError."""
    subject = Subject(regularizer)
    w = np.array([-1e3, -20.0, -1.5, -0.2, 0.0, 0.1, 1.0, 7.0, 300.0])
    if regularizer.separable:
        times = _TIMES[:3] if _overrides(subject, "prox_times") else ()
        _check_of_one(subject, w, w[1:-1], _STEPS[1::2], times)
    if not regularizer.separable or _overrides(subject, *_OF_ALL, "floor"):
        rows = min(features, 5) if regularizer.separable else features
        _of_all(subject, rows, outputs, 6)
    _check_declared(subject)


def _check_declared(subject: Subject[Regularizer]) -> None:
    """Compare Ω with the formulas that `elastic_shares` and `norm_exponent` stand for."""
    regularizer = subject.term
    if regularizer.group_lasso:
        _check_groups(subject, *regularizer.group_lasso)
    shares, p = regularizer.elastic_shares, regularizer.norm_exponent
    if shares is None and p is None:
        return
    strength = subject.constant("strong_convexity")
    for w in np.array([[0.1], [3.0]]) * np.random.default_rng(0).normal(size=(2, 5)):
        sizes, total = np.abs(w), subject.number("total", w[:, None])
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
                subject.fail(
                    f"{subject.name}.{name} is {getattr(regularizer, name)}, of "
                    f"which total would be {formula:.6g} at {point(w)}, not {total:.6g}, with "
                    f"strong_convexity() {strength:.6g}"
                )


def _check_groups(
    subject: Subject[Regularizer], alpha: float, order: Indices, starts: Indices
) -> None:
    """Compare Ω with the formula that `group_lasso` stands for."""
    w = np.random.default_rng(0).normal(size=(order.size, 1))
    total, squares = subject.number("total", w), w[order, 0] ** 2
    formula = alpha * float(np.sqrt(np.add.reduceat(squares, starts[:-1])).sum())
    if not abs(total - formula) <= slack(total, formula):
        subject.fail(
            f"{subject.name}.group_lasso has alpha={alpha:.6g}, of which total would be "
            f"{formula:.6g} at {point(w)}, not {total:.6g}"
        )


def _check_of_one(
    regularizer: _Penalty, w: Array, u: Array, steps: tuple[float, ...], times: tuple[int, ...]
) -> None:
    v = w
    if regularizer.term.nonnegative:
        v, below = w[w >= 0.0], w[w < 0.0]
        outside = regularizer.numbers("value", below, finite=False)
        refuse(
            np.isfinite(outside),
            lambda i: (
                f"{regularizer.name} is for weights that are not negative, "
                f"but {regularizer.call('value', below[i])} is {outside[i]:.6g}, not infinite"
            ),
        )
    value = regularizer.numbers("value", v)
    _curved(regularizer, v, value)
    _fenchel_young(regularizer, v, value, u)
    for step in steps:
        for wj in w:
            _proximal(regularizer, v, value, wj, step)
        _repeated(regularizer, u[:8], step, times)


def _curved(regularizer: _Penalty, w: Array, value: Array) -> None:
    refuse(value < 0.0, lambda i: f"{regularizer.call('value', w[i])} is {value[i]:.6g}, below 0")
    rest = _rest(regularizer)
    if (least := regularizer.number("value", rest)) != 0.0:
        regularizer.fail(f"{regularizer.call('value', rest)} is {least:.6g}, but must be 0")
    mu = regularizer.constant("strong_convexity")
    i, k = np.triu_indices(w.size, 1)
    middle = 0.5 * (w[i] + w[k])
    here = regularizer.numbers("value", middle)
    stated = regularizer.call("strong_convexity")
    for curvature, fault in (
        (0.0, f"{regularizer.name} is not convex"),
        (mu, f"{stated} is {mu:.6g}, but the value is less curved"),
    ):
        most = 0.5 * (value[i] + value[k]) - 0.125 * curvature * (w[i] - w[k]) ** 2
        bent = here > most + slack(value[i], value[k]) + floor(middle)
        if bent.any():
            t = int(np.argmax(bent))
            regularizer.fail(f"{fault} between {w[i[t]]:.6g} and {w[k[t]]:.6g}")


def _rest(regularizer: _Penalty) -> float:
    return regularizer.number("conjugate_gradient", 0.0) if regularizer.term.separable else 0.0


def _fenchel_young(regularizer: _Penalty, w: Array, value: Array, u: Array) -> None:
    conjugate = regularizer.numbers("conjugate", u, finite=False)
    u, conjugate = u[np.isfinite(conjugate)], conjugate[np.isfinite(conjugate)]
    product = u[:, None] * w
    refuse(
        conjugate[:, None] < product - value - slack(product, value) - floor(w),
        lambda i, k: (
            f"{regularizer.call('conjugate', u[i])} is {conjugate[i]:.6g}, "
            f"below uw − value, which is {product[i, k] - value[k]:.6g} at w = {w[k]:.6g}"
        ),
    )
    at = regularizer.numbers("conjugate_gradient", u)
    attained = u * at - regularizer.numbers("value", at)
    refuse(
        np.abs(attained - conjugate) > slack(attained, conjugate, u * at) + floor(u),
        lambda i: (
            f"{regularizer.call('conjugate_gradient', u[i])} is {at[i]:.6g}, where "
            f"uw − value is {attained[i]:.6g}, but the conjugate is {conjugate[i]:.6g}"
        ),
    )


def _proximal(regularizer: _Penalty, v: Array, value: Array, wj: float, step: float) -> None:
    p = regularizer.number("prox", wj, step)
    own = regularizer.number("value", p)
    near = p + 1e-3 * max(1.0, abs(p)) * np.array([-1.0, 1.0])
    value = np.append(value, regularizer.numbers("value", near, finite=False))
    v = np.append(v, near)
    least, heights = own + (p - wj) ** 2 / (2 * step), value + (v - wj) ** 2 / (2 * step)
    refuse(
        heights < least - slack(heights, least) - (SLACK * p) ** 2 / step,
        lambda i: (
            f"{regularizer.call('prox', wj, step)} is {p:.6g}, but at {v[i]:.6g} "
            f"value + (v − w)²/(2 step) is lower: {heights[i]:.6g}, not {least:.6g}"
        ),
    )
    # Moreau: q is the prox of the conjugate, so p and q are dual. Drawn in a little, because
    # rounding may have carried q out of the conjugate's domain.
    q = (wj - p) / step
    rounding = SLACK * abs(q) + 1e-15 * abs(wj) / step
    q -= math.copysign(min(rounding, abs(q)), q)
    both = own + regularizer.number("conjugate", q, finite=False)
    if not abs(both - p * q) <= slack(own, p * q) + 2 * rounding * abs(p) + floor(p):
        regularizer.fail(
            f"{regularizer.call('prox', wj, step)} is {p:.6g}, by Moreau's identity dual to "
            f"{q:.6g}, but value + conjugate is {both:.6g} there, not {p * q:.6g}"
        )


def _repeated(regularizer: _Penalty, w: Array, step: float, counts: tuple[int, ...]) -> None:
    for wj in w:
        p = wj
        for before, times in pairwise((0, *counts)):
            for _ in range(before, times):
                p = regularizer.number("prox", p, step)
            fast = regularizer.number("prox_times", wj, step, times)
            if abs(fast - p) > slack(wj):
                regularizer.fail(
                    f"{regularizer.call('prox_times', wj, step, times)} is {fast:.6g}, "
                    f"but prox repeated as often is {p:.6g}"
                )


def _check_compiled(regularizer: _Penalty, w: Array) -> None:
    out, step, times = np.empty((4, w.size)), 0.3, 3
    one = (0.5,)
    examples = {"value": one, "prox": (0.5, step), "conjugate": one, "conjugate_gradient": one}
    regularizer.run_compiled(loops.of_each_weight, (w, step, out), examples)
    for method, found in zip(examples, out, strict=True):
        rows = w[:, None] if method != "prox" else np.stack([w, np.full(w.size, step)], axis=1)
        regularizer.same_numbers(method, rows, found)
    if _overrides(regularizer, "prox_times"):
        fast = w.copy()
        example = {"prox_times": (0.5, step, times)}
        regularizer.run_compiled(loops.prox_times, (fast, step, times), example)
        plain = np.array([regularizer.number("prox_times", wj, step, times) for wj in w])
        regularizer.same_arrays("prox_times", w, plain, fast)


def _of_all(
    regularizer: _Penalty, features: int, outputs: int, draws: int
) -> tuple[Array, Array, Array, Array]:
    """Check Ω, its prox and its floor; return weights, steps, the weights' proxes, Ω at these."""
    rng = np.random.default_rng(0)
    sizes = np.geomspace(1e-3, 1e3, draws)[:, None, None]
    w = sizes * rng.normal(size=(draws, features, outputs))
    # Steps that matter: step times slope is about as large as the weights.
    inside = np.abs(w) if regularizer.term.nonnegative else w
    slopes = regularizer.numbers("total", inside)[:, None, None] / sizes
    near = np.divide(sizes, slopes, out=np.ones_like(sizes), where=slopes > 0.0)
    steps = near * 10.0 ** rng.uniform(-1.5, 1.5, size=w.shape)
    p = np.array([_prox(regularizer, *pair) for pair in zip(w, steps, strict=True)])
    one_row = np.eye(features)[np.arange(len(w)) % features][:, :, None]
    rest = np.full_like(p[:1], _rest(regularizer))
    v = np.concatenate([rest, p, 0.5 * p, one_row * p, p + 1e-3 * w, w, 0.0 * rest])
    v = np.abs(v) if regularizer.term.nonnegative else v
    value = regularizer.numbers("total", v)
    _curved_in_all(regularizer, v, value)
    q = (w - p) / steps
    for i, (wi, qi) in enumerate(zip(w, q, strict=True), start=1):
        _minimal(regularizer, wi, qi, i, v, value)
    for a in np.concatenate([-0.3 * q[::3], -q[::3], -3.0 * q[::3], -1.2 * one_row * q]):
        _floored(regularizer, a, v, value)
    return w, steps, p, value[1 : 1 + draws]


def _prox(regularizer: _Penalty, w: Array, steps: Array) -> Array:
    """Return the prox; of a separable regularizer that inherits it, without compiled code."""
    if regularizer.term.separable and not _overrides(regularizer, "shrink", "shrink_row"):
        return regularizer.numbers("prox", w.ravel(), steps.ravel()).reshape(w.shape)
    return regularizer.written("shrink", w, steps)


def _check_of_all(regularizer: _Penalty, w: Array, steps: Array, p: Array, value: Array) -> None:
    """Check the rows, the dual and compiled code against what was found in plain Python."""
    if regularizer.term.by_rows:
        _row_by_row(regularizer, w, steps, p)
    if regularizer.term.smooth_conjugate():
        _check_dual(regularizer, (w - p) / steps, p)
    if _overrides(regularizer, *_OF_ALL):
        fast, totals = w.copy(), np.empty(len(w))
        examples = {"shrink": (w[0].copy(), steps[0]), "total": (w[0],)}
        regularizer.run_compiled(loops.shrink_and_total, (fast, steps, totals), examples)
        regularizer.same_arrays("shrink", w, p, fast)
        regularizer.same_arrays("total", p, value, totals)


def _curved_in_all(regularizer: _Penalty, v: Array, value: Array) -> None:
    refuse(value < 0.0, lambda i: f"{regularizer.call('total', v[i])} is {value[i]:.6g}, below 0")
    if value[0] != 0.0:
        regularizer.fail(f"{regularizer.call('total', v[0])} is {value[0]:.6g}, but must be 0")
    middle = regularizer.numbers("total", 0.5 * (v[1:] + v[:-1]))
    most = 0.5 * (value[1:] + value[:-1])
    name = f"{regularizer.name}.total"
    refuse(
        middle > most + slack(most),
        lambda i: f"{name} is not convex between {point(v[i])} and {point(v[i + 1])}",
    )
    if regularizer.term.separable:
        sums = np.array([regularizer.numbers("value", vi.ravel()).sum() for vi in v])
        refuse(
            np.abs(sums - value) > slack(value),
            lambda i: (
                f"{regularizer.call('total', v[i])} is {value[i]:.6g}, "
                f"but the values of its weights add up to {sums[i]:.6g}"
            ),
        )


def _minimal(regularizer: _Penalty, w: Array, q: Array, i: int, v: Array, value: Array) -> None:
    """Refuse v[i], the prox of w, if q = (w − v[i])/step is no subgradient there."""
    terms = q * (v - v[i])
    rise, sizes = terms.sum(axis=(1, 2)), np.abs(terms).sum(axis=(1, 2))
    refuse(
        value < value[i] + rise - slack(value, value[i], sizes),
        lambda k: (
            f"{regularizer.name}.shrink takes {point(w)} to {point(v[i])}, but "
            f"total + Σ (v − w)²/(2 step) falls from there towards {point(v[k])}"
        ),
    )


def _row_by_row(regularizer: _Penalty, w: Array, steps: Array, p: Array) -> None:
    rows, own = w.reshape(-1, _OUTPUTS), p.reshape(-1, _OUTPUTS)
    shrunk = regularizer.written_each("shrink_row", rows, steps.reshape(-1, _OUTPUTS))
    refuse(
        np.abs(shrunk - own).max(axis=1) > slack(rows).max(axis=1),
        lambda i: (
            f"{regularizer.name}.shrink_row takes {point(rows[i])} to "
            f"{point(shrunk[i])}, but shrink to {point(own[i])}"
        ),
    )


def _floored(regularizer: _Penalty, a: Array, v: Array, value: Array) -> None:
    """Refuse a floor that is too high for slopes a, of any signs: rounding may flip them."""
    sizes = np.sum(np.abs(a * v), axis=(1, 2))
    products = np.sum(a * v, axis=(1, 2)) if regularizer.term.nonnegative else -sizes
    margin = slack(value) + SLACK * sizes
    ceilings = (math.inf, *value[1::10])
    heights = np.array([np.where(value <= c, value + products, math.inf) for c in ceilings])
    least = np.array(
        [regularizer.number("floor", a, c, finite=False, infinity=-math.inf) for c in ceilings]
    )
    refuse(
        least[:, None] > heights + margin,
        lambda c, k: (
            f"{regularizer.call('floor', a, ceilings[c])} is {least[c]:.6g}, "
            f"but total + ⟨±a, w⟩ can be {heights[c, k]:.6g} at {point(v[k])}"
        ),
    )


def _check_dual(regularizer: _Penalty, u: Array, w: Array) -> None:
    """Refuse a conjugate that does not fit the weights w, at which u are subgradients."""
    rng = np.random.default_rng(1)
    for ui, wi in zip(u, w, strict=True):
        conjugate = regularizer.number("conjugate_total", ui)
        least, product = regularizer.number("total", wi), float(np.sum(ui * wi))
        sizes = slack(conjugate, least) + SLACK * np.sum(np.abs(ui * wi))
        if not abs(conjugate + least - product) <= sizes:
            regularizer.fail(
                f"{regularizer.call('conjugate_total', ui)} is {conjugate:.6g}, but ⟨u, w⟩ − "
                f"total is {product - least:.6g} at {point(wi)}, where u is a subgradient"
            )
        here = regularizer.term.conjugate_weights(ui)
        attained = float(np.sum(ui * here)) - regularizer.number("total", here)
        if not abs(attained - conjugate) <= sizes:
            regularizer.fail(
                f"{regularizer.name}.conjugate_weights takes {point(ui)} to "
                f"{point(here)}, where ⟨u, w⟩ − total is {attained:.6g}, not {conjugate:.6g}"
            )
        _curved_dual(regularizer, ui, rng.normal(size=ui.shape) * np.abs(ui))


def _curved_dual(regularizer: _Penalty, u: Array, along: Array) -> None:
    """Refuse a curvature of the conjugate that its gradient exceeds."""
    near = 1e-5
    D, factor, r = regularizer.term.conjugate_curvature(u)
    weights = regularizer.term.conjugate_weights
    ahead, back = (weights(u + sign * near * along) for sign in (1.0, -1.0))
    rise = float(np.sum((ahead - back) * along)) / (2.0 * near)
    most = float(np.sum(D * along * along)) + factor * float(np.sum(r * along)) ** 2
    noise = 1e-9 * float(np.sum(np.abs(ahead * along))) / near
    if not rise <= most * (1.0 + 1e-3) + noise:
        regularizer.fail(
            f"{regularizer.name}.conjugate_curvature is {most:.6g} along {point(along)} "
            f"at {point(u)}, but conjugate_weights change by {rise:.6g}"
        )


def _overrides(regularizer: _Penalty, *methods: str) -> bool:
    """Return whether one of these methods is not the inherited one, which is known to compile."""
    own = type(regularizer.term)
    return any(getattr(own, method) is not getattr(Regularizer, method) for method in methods)
