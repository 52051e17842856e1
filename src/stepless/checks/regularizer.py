"""The contract of a regularizer."""

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
from stepless.objective import Regularizer

_STEPS = (0.01, 0.3, 1.0, 5.0)


def check_regularizer(regularizer: Regularizer) -> None:
    """Check that a regularizer is what solvers and certificates rely on.

    ω ≥ 0 is convex with ω(0) = 0; `strong_convexity` is not overstated; `conjugate` and
    `conjugate_gradient` fit the value (Fenchel-Young); `prox` minimises what it should, and fits
    the conjugate (Moreau); compiled code computes the same numbers.

    Raises
    ------
    ContractError
        A ValueError whose message says in one line what is wrong, and where.

    Examples
    --------
    >>> from stepless import check_regularizer
    >>> from stepless.objective import SquaredL2
    >>> check_regularizer(SquaredL2(0.1))
    """
    instance(regularizer, Regularizer, "SquaredL2(0.1)")
    random = np.random.default_rng(0).normal(scale=5.0, size=20)
    w = np.unique(np.concatenate([np.linspace(-3.0, 3.0, 13), random, [-1e4, 1e4]]))
    u = np.concatenate([[0.0, -30.0, 30.0], random])
    value = numbers(regularizer, "value", w)
    _curved(regularizer, w, value)
    _fenchel_young(regularizer, w, value, u)
    for step in _STEPS:
        for wj in w:
            _proximal(regularizer, w, value, wj, step)
    _check_compiled(regularizer, np.concatenate([w, u]))


def _curved(regularizer: Regularizer, w: NDArray, value: NDArray) -> None:
    refuse(value < 0.0, lambda i: f"{call(regularizer, 'value', w[i])} is {value[i]:.6g}, below 0")
    if (origin := number(regularizer, "value", 0.0)) != 0.0:
        raise ContractError(f"{call(regularizer, 'value', 0)} is {origin:.6g}, but must be 0")
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


def _fenchel_young(regularizer: Regularizer, w: NDArray, value: NDArray, u: NDArray) -> None:
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


def _proximal(regularizer: Regularizer, v: NDArray, value: NDArray, wj: float, step: float) -> None:
    p = number(regularizer, "prox", wj, step)
    own = number(regularizer, "value", p)
    near = p + 1e-3 * max(1.0, abs(p)) * np.array([-1.0, 1.0])
    v, value = np.append(v, near), np.append(value, numbers(regularizer, "value", near))
    least, heights = own + (p - wj) ** 2 / (2 * step), value + (v - wj) ** 2 / (2 * step)
    refuse(
        heights < least - slack(heights, least),
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


def _check_compiled(regularizer: Regularizer, w: NDArray) -> None:
    out, step = np.empty((w.size, 4)), 0.3
    examples = {
        "value": (0.5,),
        "prox": (0.5, step),
        "conjugate": (0.5,),
        "conjugate_gradient": (0.5,),
    }
    compiled(regularizer, _answers, (w, step, out), examples)
    for column, method in enumerate(examples):
        rows = w[:, None] if method != "prox" else np.stack([w, np.full(w.size, step)], axis=1)
        same(regularizer, method, rows, out[:, column])


@njit(cache=True)
def _answers(regularizer: Any, w: Any, step: Any, out: Any) -> None:
    for j in range(w.size):
        out[j, 0] = regularizer.value(w[j])
        out[j, 1] = regularizer.prox(w[j], step)
        out[j, 2] = regularizer.conjugate(w[j])
        out[j, 3] = regularizer.conjugate_gradient(w[j])
