"""The contract of a domain's constraint function."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.checks import loops
from stepless.checks.contract import SLACK, Subject, described, point, refuse
from stepless.checks.domain import size_of
from stepless.objective import Domain

_NEAR = 1e-4  # steps by which a slope is tried close by, relative to the domain's size
_BEYOND = 1.01  # of a radius: where no point of the domain is


def check_constraint(domain: Domain, d: int = 4) -> None:
    """Raise `ContractError` unless a domain of d weights keeps the contract of a constraint.

    `excess` is a convex function, and `outward` writes a subgradient of it and returns the same
    number; `project` leaves points alone where it is at most 0, and moves others to where it is;
    compiled code computes the same numbers.

    Examples
    --------
    >>> from stepless import check_constraint
    >>> from stepless.objective import L1Ball
    >>> check_constraint(L1Ball(2.0))
    """
    subject = Subject.of(domain, Domain, "L1Ball(1.0)")
    for method in ("excess", "outward"):
        if not domain.offers(method):
            subject.fail(f"{subject.name} has no method {method}, which a constraint needs")
    w, c, g, unit = check_constraint_quickly(domain, d, 40)
    _check_compiled(subject, w, c, g)
    _enclosed(subject, w, c, unit)  # last: an inherited projection is compiled


def check_constraint_quickly(
    domain: Domain, d: int, draws: int = 8
) -> tuple[Array, Array, Array, float]:
    """Check `excess` and `outward` in plain Python; return points, their answers and a size.

    Raises ContractError.
    """
    subject = Subject(domain)
    size = size_of(subject)
    unit = size if size < math.inf else 1.0
    rng = np.random.default_rng(0)
    w = rng.normal(size=(draws, d)) * np.geomspace(1e-2, 1e1, draws)[:, None] * unit
    w = subject.written_each("into_span", w)
    c = subject.numbers("excess", w)
    g = np.array([_outward(subject, row, at) for row, at in zip(w, c, strict=True)])
    _convex(subject, w, c)
    lengths = np.linalg.norm(g, axis=1, keepdims=True)
    near = w - _NEAR * unit * g / np.where(lengths > 0.0, lengths, 1.0)
    for v in (near, *(np.broadcast_to(row, w.shape) for row in w)):
        _supported(subject, w, c, g, v)
    _sized(subject, w, "radius", "length", 2)
    _sized(subject, w, "reach", "largest weight", math.inf)
    return w, c, g, unit


def _outward(domain: Subject[Domain], w: Array, c: float) -> Array:
    """Return the subgradient that a domain writes; the excess returned with it must be c."""
    name, g = f"{domain.name}.outward", np.zeros_like(w)
    try:
        returned = domain.term.outward(w.copy(), g)
    except Exception as error:
        domain.fail(f"{name} raises {described(error)}", error)
    if not np.isfinite(g).all():
        domain.fail(f"{name} writes {point(g)} at {point(w)}")
    if returned is None or not abs(returned - c) <= SLACK * (abs(c) + np.abs(w).max()):
        domain.fail(f"{name} returns {returned} at {point(w)}, but the excess there is {c:.6g}")
    return g


def _convex(domain: Subject[Domain], w: Array, c: Array) -> None:
    middles = (w[:, None] + w[None, :]) / 2.0
    of_middles = np.array([domain.numbers("excess", rows) for rows in middles])
    chords = (c[:, None] + c[None, :]) / 2.0
    room = SLACK * (np.abs(c[:, None]) + np.abs(c[None, :]) + np.abs(middles).max(axis=2))
    refuse(
        of_middles > chords + room,
        lambda i, k: (
            f"{domain.name}.excess is not convex: between {point(w[i])} and "
            f"{point(w[k])} it is {of_middles[i, k]:.6g}, above the chord's {chords[i, k]:.6g}"
        ),
    )


def _supported(domain: Subject[Domain], w: Array, c: Array, g: Array, v: Array) -> None:
    """Refuse subgradients g at w whose tangent planes rise above the function at v."""
    actual = domain.numbers("excess", v)
    height = c + np.sum(g * (v - w), axis=1)
    room = SLACK * (np.abs(c) + np.abs(actual) + np.sum(np.abs(g) * np.abs(v - w), axis=1))
    room += 1e-3 * SLACK * (np.abs(w).max(axis=1) + np.abs(v).max(axis=1))
    refuse(
        actual < height - room,
        lambda i: (
            f"{domain.name}.outward at {point(w[i])} writes {point(g[i])}, which is no "
            f"subgradient: at {point(v[i])} the excess is {actual[i]:.6g}, below the tangent's "
            f"{height[i]:.6g}"
        ),
    )


def _sized(domain: Subject[Domain], w: Array, method: str, measure: str, order: float) -> None:
    """Refuse a radius or a reach beyond which there are points of the domain."""
    limit = domain.constant(method)
    if not 0.0 < limit < math.inf:
        return
    sizes = np.linalg.norm(w, order, axis=1, keepdims=True)
    beyond = w * (_BEYOND * limit / np.where(sizes > 0.0, sizes, 1.0))
    refuse(
        (domain.numbers("excess", beyond) <= 0.0) & (sizes[:, 0] > 0.0),
        lambda i: (
            f"{domain.name}.{method}() is {limit:.6g}, but {point(beyond[i])}, "
            f"which is in the domain, has {measure} {_BEYOND * limit:.6g}"
        ),
    )


def _enclosed(domain: Subject[Domain], w: Array, c: Array, unit: float) -> None:
    p = domain.written_each("project", w)
    moved = np.linalg.norm(p - w, axis=1)
    size = unit + np.linalg.norm(w, axis=1)
    refuse(
        (c <= 0.0) & (moved > SLACK * size),
        lambda i: (
            f"{domain.name}.excess at {point(w[i])} is {c[i]:.6g}, inside, "
            f"but project moves it to {point(p[i])}"
        ),
    )
    left = domain.numbers("excess", p)
    refuse(
        left > SLACK * (np.abs(c) + size),
        lambda i: (
            f"{domain.name}.project takes {point(w[i])} to {point(p[i])}, "
            f"where the excess is {left[i]:.6g}, outside"
        ),
    )


def _check_compiled(domain: Subject[Domain], w: Array, c: Array, g: Array) -> None:
    excess, returned, out = np.empty(len(w)), np.empty(len(w)), np.zeros_like(w)
    examples = {"excess": (w[0].copy(),), "outward": (w[0].copy(), out[0].copy())}
    domain.run_compiled(loops.excess_and_outward, (w, excess, returned, out), examples)
    size = np.abs(w).max(axis=1)
    domain.same_arrays("excess", w, c, excess, size)
    domain.same_arrays("outward", w, c, returned, size)
    domain.same_arrays("outward", w, g, out, 1e-3)
