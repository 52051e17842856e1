"""The contract of a domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.checks.contract import (
    SLACK,
    ContractError,
    compiled,
    constant,
    instance,
    point,
    refuse,
    told,
)
from stepless.objective import Domain

_WIDTH = 4


def check_domain(domain: Domain) -> None:
    """Check that a domain is what solvers and certificates rely on.

    `project` turns its argument into the nearest point of a convex set around the origin, and
    leaves points of the set alone; `vertex` minimises linear functions, if the set is bounded; no
    point is farther out than `radius`; compiled code computes the same numbers.

    Raises
    ------
    ContractError
        A ValueError whose message says in one line what is wrong, and where.

    Examples
    --------
    >>> from stepless import check_domain
    >>> from stepless.objective import L2Ball
    >>> check_domain(L2Ball(2.0))
    """
    name = instance(domain, Domain, "L2Ball(1.0)")
    radius = constant(domain, "radius")
    bounded = not math.isinf(radius)
    rng = np.random.default_rng(0)
    unit = radius if bounded else 1.0
    sizes = np.geomspace(1e-3, 1e3, 40)[:, None] * unit
    axes = 10.0 * sizes[-1] * np.eye(_WIDTH)
    w = np.concatenate([np.zeros((1, _WIDTH)), rng.normal(size=(40, _WIDTH)) * sizes, axes, -axes])

    p = _projections(domain, w, radius, unit)
    if p[0].any():
        raise ContractError(f"{name}.project moves the origin, which every domain contains")
    # p is nearest iff no u of the set lies beyond it, seen from w: ⟨w − p, u − p⟩ ≤ 0
    beyond = (w - p) @ p.T - np.sum((w - p) * p, axis=1, keepdims=True)
    margin = SLACK * np.linalg.norm(w, axis=1) * (unit + np.linalg.norm(p, axis=1).max())
    if (beyond > margin[:, None]).any():
        i, k = np.argwhere(beyond > margin[:, None])[0]
        raise ContractError(
            f"{name}.project takes {point(w[i])} to {point(p[i])}, "
            f"but nearer ones lie towards {point(p[k])}"
        )
    g = rng.normal(size=(20, _WIDTH))
    v = _vertices(domain, g, p, radius) if bounded else g
    _check_compiled(domain, "project", _project, w, p)
    if bounded:
        _check_compiled(domain, "vertex", _vertex, g, v)


def _projections(domain: Domain, w: NDArray, radius: float, unit: float) -> NDArray:
    name = type(domain).__name__
    p = np.array([_moved(domain, "project", row) for row in w])
    lengths = np.linalg.norm(p, axis=1)
    refuse(
        lengths > radius * (1 + SLACK),
        lambda i: (
            f"{name}.radius() is {radius:.6g}, but {point(p[i])}, the projection of "
            f"{point(w[i])}, has length {lengths[i]:.6g}"
        ),
    )
    again = np.array([_moved(domain, "project", row) for row in p])
    refuse(
        np.linalg.norm(again - p, axis=1) > SLACK * (unit + lengths),
        lambda i: (
            f"{name}.project takes {point(w[i])} to {point(p[i])}, "
            f"and that to {point(again[i])}: it must leave its own results alone"
        ),
    )
    return p


def _vertices(domain: Domain, g: NDArray, p: NDArray, radius: float) -> NDArray:
    name = type(domain).__name__
    v = np.array([_moved(domain, "vertex", np.full(_WIDTH, np.nan), row) for row in g])
    lengths = np.linalg.norm(v, axis=1)
    refuse(
        lengths > radius * (1 + SLACK),
        lambda i: (
            f"{name}.radius() is {radius:.6g}, but {point(v[i])}, the vertex at "
            f"{point(g[i])}, has length {lengths[i]:.6g}"
        ),
    )
    back = np.array([_moved(domain, "project", row) for row in v])
    refuse(
        np.linalg.norm(back - v, axis=1) > SLACK * radius,
        lambda i: f"{name}.vertex at {point(g[i])} is {point(v[i])}, outside of the domain",
    )
    heights = g @ p.T
    lowest = heights.min(axis=1)
    refuse(
        np.sum(g * v, axis=1) > lowest + SLACK * radius * np.linalg.norm(g, axis=1),
        lambda i: (
            f"{name}.vertex at {point(g[i])} is {point(v[i])}, "
            f"but ⟨g, ·⟩ is lower at {point(p[heights[i].argmin()])}"
        ),
    )
    return v


def _moved(domain: Domain, method: str, w: NDArray, *before: NDArray) -> NDArray:
    """Call a method that writes into its last argument, w; return what it wrote."""
    name, w = type(domain).__name__, w.copy()
    try:
        result = getattr(domain, method)(*before, w)
    except Exception as error:
        raise ContractError(f"{name}.{method} raises {told(error)}") from error
    if result is not None:
        raise ContractError(f"{name}.{method} returns something, but must write into w instead")
    if not np.isfinite(w).all():
        raise ContractError(f"{name}.{method} writes {point(w)}")
    return w


def _check_compiled(
    domain: Domain, method: str, kernel: Callable[..., None], given: NDArray, plain: NDArray
) -> None:
    out = given.copy() if method == "project" else np.zeros_like(given)
    example = (out[0].copy(),) if method == "project" else (given[0], out[0].copy())
    compiled(domain, kernel, (given, out), {method: example})
    refuse(
        np.linalg.norm(out - plain, axis=1) > SLACK * np.linalg.norm(plain, axis=1),
        lambda i: (
            f"{type(domain).__name__}.{method} at {point(given[i])} gives {point(plain[i])} "
            f"in Python, but {point(out[i])} when compiled"
        ),
    )


@njit(cache=True)
def _project(domain: Any, given: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        domain.project(out[i])


@njit(cache=True)
def _vertex(domain: Any, given: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        domain.vertex(given[i], out[i])
