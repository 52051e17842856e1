"""The contract of a domain."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.checks import loops
from stepless.checks.contract import SLACK, Subject, point, refuse
from stepless.objective import Domain

_WIDTH = 4
_MANY = 100  # weights, of which few points are tried


def check_domain(domain: Domain) -> None:
    """Raise `ContractError` unless a domain is what solvers and certificates rely on.

    `project` turns its argument into the nearest point of a convex set, and leaves points of the
    set alone; so does `project_in`, if there is one, in the metric that it is given, and `clip`, of
    a separable domain, for each weight; `vertex`, if there is one, minimises linear functions over
    a bounded set, and `floor` is not above their minimum; no point is farther out than `radius` and
    `reach`, no two are farther apart than `width`; compiled code computes the same numbers.

    Examples
    --------
    >>> from stepless import check_domain
    >>> from stepless.objective import L2Ball
    >>> check_domain(L2Ball(2.0))
    """
    subject = Subject.of(domain, Domain, "L2Ball(1.0)")
    w, p, metric, q, g, v = _check_plain(subject, _WIDTH, 40)
    _check_compiled(subject, "project", (w,), p)
    if q is not None:
        _check_compiled(subject, "project_in", (w, metric), q)
    if v is not None:
        _check_compiled(subject, "vertex", (g, np.zeros_like(g)), v)


def check_domain_quickly(domain: Domain, d: int) -> None:
    """Check a domain of d weights in plain Python, at few points. Raises ContractError."""
    _check_plain(Subject(domain), d, 12 if d <= _MANY else 4)


def size_of(domain: Subject[Domain]) -> float:
    """Return the smaller one of the radius and the reach that a domain states."""
    return min(domain.constant("radius"), domain.constant("reach"))


def _check_plain(
    domain: Subject[Domain], d: int, draws: int
) -> tuple[Array, Array, Array, Array | None, Array, Array | None]:
    """Return weights and their projections, also in metrics; slopes and their vertices."""
    size = size_of(domain)
    unit = size if size < math.inf else 1.0
    rng = np.random.default_rng(0)
    sizes = np.geomspace(1e-3, 1e3, draws)[:, None] * unit
    axes = 10.0 * sizes[-1] * np.eye(min(d, draws // 3), d)
    w = np.concatenate([np.zeros((1, d)), rng.normal(size=(draws, d)) * sizes, axes, -axes])
    metric = 10.0 ** rng.uniform(-3.0, 3.0, size=w.shape)
    g = rng.normal(size=(draws // 2, d))

    p = domain.written_each("project", w)
    _sized(domain, p)
    # in many dimensions, others lie far off
    near = domain.written_each("project", p + 0.1 * unit * rng.normal(size=p.shape))
    _nearest(domain, "project", w, np.ones_like(w), p, np.concatenate([p, near]), unit)
    if domain.term.separable:
        _clipped(domain, w, p)
    q = _in_a_metric(domain, w, metric, p, unit) if domain.term.offers("project_in") else None
    bounded = size < math.inf and domain.term.offers("vertex")
    v = _vertices(domain, g, p, unit) if bounded else None
    _floored(domain, g, np.concatenate([points for points in (p, q, v) if points is not None]))
    _declared(domain, p, unit)
    return w, p, metric, q, g, v


def _sized(domain: Subject[Domain], p: Array) -> None:
    _within(domain, "radius", "length", p, np.linalg.norm(p, axis=1))
    _within(domain, "reach", "a weight of", p, np.abs(p).max(axis=1))
    _within(domain, "l1_radius", "an ℓ₁ norm of", p, np.abs(p).sum(axis=1))
    low, high, width = p.argmin(axis=0), p.argmax(axis=0), domain.constant("width")
    refuse(
        p.max(axis=0) - p.min(axis=0) > width * (1 + SLACK),
        lambda j: (
            f"{domain.name}.width() is {width:.6g}, but {point(p[low[j]])} and {point(p[high[j]])},"
            f" both in the domain, are {p[high[j], j] - p[low[j], j]:.6g} apart"
        ),
    )


def _within(domain: Subject[Domain], method: str, measure: str, p: Array, sizes: Array) -> None:
    limit = domain.constant(method)
    refuse(
        sizes > limit * (1 + SLACK),
        lambda i: (
            f"{domain.name}.{method}() is {limit:.6g}, but {point(p[i])}, "
            f"which is in the domain, has {measure} {sizes[i]:.6g}"
        ),
    )


def _declared(subject: Subject[Domain], p: Array, unit: float) -> None:
    """Compare points of the domain with what its attributes say of them."""
    domain, bound, outside = subject.term, subject.constant("radius"), {}
    exponent = domain.ball_exponent
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
            lambda i, name=name: (
                f"{subject.name}.{name} is {getattr(domain, name)}, and radius() is "
                f"{bound:.6g}, but project leads to {point(p[i])}"
            ),
        )


def _nearest(
    domain: Subject[Domain], method: str, w: Array, h: Array, p: Array, u: Array, unit: float
) -> None:
    """Refuse projections p of w in the metrics h that are not in the domain, or not nearest."""
    again = domain.written_each("project", p)
    refuse(
        np.linalg.norm(again - p, axis=1) > SLACK * (unit + np.linalg.norm(p, axis=1)),
        lambda i: (
            f"{domain.name}.{method} takes {point(w[i])} to {point(p[i])}, and project takes that "
            f"to {point(again[i])}: it must leave points of the domain alone"
        ),
    )
    # p is nearest iff no u of the set lies beyond it, seen from w: ⟨h(w − p), u − p⟩ ≤ 0
    beyond = (h * (w - p)) @ u.T - np.sum(h * (w - p) * p, axis=1, keepdims=True)
    apart = np.linalg.norm(h * (np.abs(w) + np.abs(p)), axis=1, keepdims=True)
    metrics = ["" if (h == 1.0).all() else f" in the metric {point(hi)}" for hi in h]
    refuse(
        beyond > SLACK * apart * (unit + np.linalg.norm(u, axis=1).max()),
        lambda i, k: (
            f"{domain.name}.{method} takes {point(w[i])} to {point(p[i])}{metrics[i]}, "
            f"but nearer ones lie towards {point(u[k])}"
        ),
    )


def _clipped(domain: Subject[Domain], w: Array, p: Array) -> None:
    if p[0].any():
        domain.fail(f"{domain.name}.project moves the origin, which a separable domain contains")
    clipped = np.array([domain.numbers("clip", row) for row in w])
    refuse(
        np.abs(clipped - p).max(axis=1) > SLACK * np.abs(p).max(axis=1),
        lambda i: (
            f"{domain.name}.clip takes {point(w[i])} to {point(clipped[i])}, "
            f"but project to {point(p[i])}"
        ),
    )


def _in_a_metric(domain: Subject[Domain], w: Array, metric: Array, p: Array, unit: float) -> Array:
    ones = np.ones(w.shape[1])
    plain = domain.written_each("project_in", w, ones)
    refuse(
        np.linalg.norm(plain - p, axis=1) > SLACK * (unit + np.linalg.norm(p, axis=1)),
        lambda i: (
            f"{domain.name}.project_in takes {point(w[i])} to {point(plain[i])} "
            f"in the metric {point(ones)}, but project to {point(p[i])}"
        ),
    )
    q = domain.written_each("project_in", w, metric)
    both = np.concatenate([p, q])
    _sized(domain, both)
    _nearest(domain, "project_in", w, metric, q, both, unit)
    return q


def _vertices(domain: Subject[Domain], g: Array, p: Array, unit: float) -> Array:
    v = domain.written_each("vertex", g, np.full(g.shape[1], np.nan), into=1)
    _sized(domain, np.concatenate([p, v]))
    back = domain.written_each("project", v)
    refuse(
        np.linalg.norm(back - v, axis=1) > SLACK * unit,
        lambda i: f"{domain.name}.vertex at {point(g[i])} is {point(v[i])}, outside of the domain",
    )
    heights = g @ p.T
    refuse(
        np.sum(g * v, axis=1) > heights.min(axis=1) + SLACK * unit * np.linalg.norm(g, axis=1),
        lambda i: (
            f"{domain.name}.vertex at {point(g[i])} is {point(v[i])}, "
            f"but ⟨g, ·⟩ is lower at {point(p[heights[i].argmin()])}"
        ),
    )
    return v


def _floored(domain: Subject[Domain], g: Array, p: Array) -> None:
    floors = domain.numbers("floor", g, finite=False, infinity=-math.inf)
    heights = g @ p.T
    margin = SLACK * np.linalg.norm(g, axis=1) * np.linalg.norm(p, axis=1).max()
    refuse(
        floors > heights.min(axis=1) + margin,
        lambda i: (
            f"{domain.name}.floor at {point(g[i])} is {floors[i]:.6g}, "
            f"but ⟨a, ·⟩ is {heights[i].min():.6g} at {point(p[heights[i].argmin()])}"
        ),
    )


def _check_compiled(
    domain: Subject[Domain], method: str, arguments: tuple[Array, ...], plain: Array
) -> None:
    copies = tuple(a.copy() for a in arguments)
    examples = {method: tuple(a[0].copy() for a in arguments)}
    domain.run_compiled(getattr(loops, method), copies, examples)
    written = copies[1] if method == "vertex" else copies[0]
    domain.same_arrays(method, arguments[0], plain, written)
