"""The contract of a domain."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.checks.contract import (
    SLACK,
    ContractError,
    constant,
    instance,
    number,
    numbers,
    point,
    refuse,
    run_compiled,
    same_arrays,
    written,
)
from stepless.jit import compiled
from stepless.objective import Domain

_WIDTH = 4
_MANY = 100  # weights, of which few points are tried


def check_domain(domain: Domain) -> None:
    """Check that a domain is what solvers and certificates rely on.

    `project` turns its argument into the nearest point of a convex set, and leaves points of the
    set alone; so does `project_in`, if there is one, in the metric that it is given, and `clip`, of
    a separable domain, for each weight; `vertex`, if there is one, minimises linear functions over
    a bounded set, and `floor` is not above their minimum; no point is farther out than `radius` and
    `reach`, no two are farther apart than `width`; compiled code computes the same numbers.

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
    instance(domain, Domain, "L2Ball(1.0)")
    bounded = min(constant(domain, "radius"), constant(domain, "reach")) < math.inf
    bounded = bounded and domain.offers("vertex")
    tried = _check_plain(domain, _WIDTH, 40, bounded)
    _check_compiled(domain, "project", _project, (tried.w,), tried.p)
    if domain.offers("project_in"):
        _check_compiled(domain, "project_in", _project_in, (tried.w, tried.metric), tried.q)
    if bounded:
        blank = np.zeros_like(tried.g)
        _check_compiled(domain, "vertex", _vertex, (tried.g, blank), tried.v, into=1)


def check_domain_quickly(domain: Domain, d: int) -> None:
    """Check a domain of d weights in plain Python, at few points. Raises ContractError."""
    bounded = min(constant(domain, "radius"), constant(domain, "reach")) < math.inf
    _check_plain(domain, d, 12 if d <= _MANY else 4, bounded and domain.offers("vertex"))


class _Tried(NamedTuple):
    """Weights, their projections, also in metrics; slopes and their vertices."""

    w: Array
    p: Array
    metric: Array
    q: Array
    g: Array
    v: Array


def _check_plain(domain: Domain, d: int, draws: int, vertices: bool) -> _Tried:
    size = min(constant(domain, "radius"), constant(domain, "reach"))
    unit = size if size < math.inf else 1.0
    rng = np.random.default_rng(0)
    sizes = np.geomspace(1e-3, 1e3, draws)[:, None] * unit
    axes = 10.0 * sizes[-1] * np.eye(min(d, draws // 3), d)
    w = np.concatenate([np.zeros((1, d)), rng.normal(size=(draws, d)) * sizes, axes, -axes])
    metric = 10.0 ** rng.uniform(-3.0, 3.0, size=w.shape)
    g = rng.normal(size=(draws // 2, d))

    p = np.array([written(domain, "project", row) for row in w])
    _sized(domain, p)
    near = p + 0.1 * unit * rng.normal(size=p.shape)  # in many dimensions, others lie far off
    near = np.array([written(domain, "project", row) for row in near])
    _nearest(domain, "project", w, np.ones_like(w), p, np.concatenate([p, near]), unit)
    if domain.separable:
        _clipped(domain, w, p)
    q = _in_a_metric(domain, w, metric, p, unit) if domain.offers("project_in") else p
    v = _vertices(domain, g, p, unit) if vertices else p
    _floored(domain, g, np.concatenate([p, q, v]))
    _declared(domain, p, unit)
    return _Tried(w, p, metric, q, g, v)


def _sized(domain: Domain, p: Array) -> None:
    """Compare points of the domain with the sizes that it tells."""
    name = type(domain).__name__
    sizes = (
        ("radius", "length", np.linalg.norm(p, axis=1)),
        ("reach", "a weight of", np.abs(p).max(axis=1)),
        ("l1_radius", "an ℓ₁ norm of", np.abs(p).sum(axis=1)),
    )
    for method, what, found in sizes:
        told = constant(domain, method)
        refuse(
            found > told * (1 + SLACK),
            lambda i, told=told, method=method, what=what, found=found: (  # type: ignore[misc]
                f"{name}.{method}() is {told:.6g}, but {point(p[i])}, "
                f"which is of the domain, has {what} {found[i]:.6g}"
            ),
        )
    low, high, told = p.argmin(axis=0), p.argmax(axis=0), constant(domain, "width")
    refuse(
        p.max(axis=0) - p.min(axis=0) > told * (1 + SLACK),
        lambda j: (
            f"{name}.width() is {told:.6g}, but {point(p[low[j]])} and {point(p[high[j]])}, "
            f"both of the domain, are {p[high[j], j] - p[low[j], j]:.6g} apart"
        ),
    )


def _declared(domain: Domain, p: Array, unit: float) -> None:
    """Compare points of the domain with what its attributes say of them."""
    bound, exponent = constant(domain, "radius"), domain.ball_exponent
    outside = {}
    if exponent is not None:
        norms = np.sum(np.abs(p) ** exponent, axis=1) ** (1.0 / exponent)
        outside["ball_exponent"] = norms > bound * (1 + SLACK)
    if domain.nonnegative or domain.simplex:
        outside["nonnegative"] = p.min(axis=1) < -SLACK * unit
    if domain.simplex:
        outside["simplex"] = np.abs(p.sum(axis=1) - bound) > SLACK * bound
    for name, wrong in outside.items():
        refuse(
            wrong,
            lambda i, name=name: (  # type: ignore[misc]
                f"{type(domain).__name__}.{name} is {getattr(domain, name)}, and radius() is "
                f"{bound:.6g}, but project leads to {point(p[i])}"
            ),
        )


def _nearest(
    domain: Domain, method: str, w: Array, h: Array, p: Array, u: Array, unit: float
) -> None:
    """Refuse projections p of w in the metrics h that are not of the domain, or not nearest."""
    name, lengths = type(domain).__name__, np.linalg.norm(p, axis=1)
    again = np.array([written(domain, "project", row) for row in p])
    refuse(
        np.linalg.norm(again - p, axis=1) > SLACK * (unit + lengths),
        lambda i: (
            f"{name}.{method} takes {point(w[i])} to {point(p[i])}, and project takes that to "
            f"{point(again[i])}: it must leave points of the domain alone"
        ),
    )
    # p is nearest iff no u of the set lies beyond it, seen from w: ⟨h(w − p), u − p⟩ ≤ 0
    beyond = (h * (w - p)) @ u.T - np.sum(h * (w - p) * p, axis=1, keepdims=True)
    apart = np.linalg.norm(h * (np.abs(w) + np.abs(p)), axis=1)
    margin = SLACK * apart * (unit + np.linalg.norm(u, axis=1).max())
    if (beyond > margin[:, None]).any():
        i, k = np.argwhere(beyond > margin[:, None])[0]
        metric = "" if (h == 1.0).all() else f" in the metric {point(h[i])}"
        raise ContractError(
            f"{name}.{method} takes {point(w[i])} to {point(p[i])}{metric}, "
            f"but nearer ones lie towards {point(u[k])}"
        )


def _clipped(domain: Domain, w: Array, p: Array) -> None:
    name = type(domain).__name__
    if p[0].any():
        raise ContractError(f"{name}.project moves the origin, which a separable domain contains")
    clipped = np.array([numbers(domain, "clip", row) for row in w])
    refuse(
        np.abs(clipped - p).max(axis=1) > SLACK * np.abs(p).max(axis=1),
        lambda i: (
            f"{name}.clip takes {point(w[i])} to {point(clipped[i])}, but project to {point(p[i])}"
        ),
    )


def _in_a_metric(domain: Domain, w: Array, metric: Array, p: Array, unit: float) -> Array:
    ones = np.ones(w.shape[1])
    plain = np.array([written(domain, "project_in", row, ones) for row in w])
    refuse(
        np.linalg.norm(plain - p, axis=1) > SLACK * (unit + np.linalg.norm(p, axis=1)),
        lambda i: (
            f"{type(domain).__name__}.project_in takes {point(w[i])} to {point(plain[i])} "
            f"in the metric {point(ones)}, but project to {point(p[i])}"
        ),
    )
    q = np.array([written(domain, "project_in", *pair) for pair in zip(w, metric, strict=True)])
    _sized(domain, np.concatenate([p, q]))
    _nearest(domain, "project_in", w, metric, q, np.concatenate([p, q]), unit)
    return q


def _vertices(domain: Domain, g: Array, p: Array, unit: float) -> Array:
    name, blank = type(domain).__name__, np.full(g.shape[1], np.nan)
    v = np.array([written(domain, "vertex", row, blank, into=1) for row in g])
    _sized(domain, np.concatenate([p, v]))
    back = np.array([written(domain, "project", row) for row in v])
    refuse(
        np.linalg.norm(back - v, axis=1) > SLACK * unit,
        lambda i: f"{name}.vertex at {point(g[i])} is {point(v[i])}, outside of the domain",
    )
    heights = g @ p.T
    lowest = heights.min(axis=1)
    refuse(
        np.sum(g * v, axis=1) > lowest + SLACK * unit * np.linalg.norm(g, axis=1),
        lambda i: (
            f"{name}.vertex at {point(g[i])} is {point(v[i])}, "
            f"but ⟨g, ·⟩ is lower at {point(p[heights[i].argmin()])}"
        ),
    )
    return v


def _floored(domain: Domain, g: Array, p: Array) -> None:
    floors = np.array([number(domain, "floor", row, finite=False, infinity=-math.inf) for row in g])
    heights = g @ p.T
    margin = SLACK * np.linalg.norm(g, axis=1) * np.linalg.norm(p, axis=1).max()
    refuse(
        floors > heights.min(axis=1) + margin,
        lambda i: (
            f"{type(domain).__name__}.floor at {point(g[i])} is {floors[i]:.6g}, "
            f"but ⟨a, ·⟩ is {heights[i].min():.6g} at {point(p[heights[i].argmin()])}"
        ),
    )


def _check_compiled(
    domain: Domain,
    method: str,
    kernel: Callable[..., None],
    arguments: tuple[Array, ...],
    plain: Array,
    into: int = 0,
) -> None:
    copies = tuple(a.copy() for a in arguments)
    run_compiled(domain, kernel, copies, {method: tuple(a[0].copy() for a in arguments)})
    same_arrays(domain, method, arguments[0], plain, copies[into])


@compiled("out[_,_]")
def _project(domain: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        domain.project(out[i])


@compiled("out[n,d] metric[n,d]")
def _project_in(domain: Any, out: Any, metric: Any) -> None:
    for i in range(out.shape[0]):
        domain.project_in(out[i], metric[i])


@compiled("given[n,d] out[n,d]")
def _vertex(domain: Any, given: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        domain.vertex(given[i], out[i])
