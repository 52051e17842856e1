"""The contract of a domain's constraint function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.checks.contract import (
    SLACK,
    ContractError,
    constant,
    instance,
    number,
    point,
    refuse,
    run_compiled,
    told,
    written,
)
from stepless.jit import compiled
from stepless.objective import Domain

_NEAR = 1e-4  # steps by which a slope is tried close by, relative to the domain's size
_BEYOND = 1.01  # of a radius: where no point of the domain is


def check_constraint(domain: Domain, d: int = 4) -> None:
    """Check that a domain of d weights says truly how far outside a point lies, and which way.

    `excess` is a convex function, and `outward` writes a subgradient of it and returns the same
    number; `project` leaves points alone where it is at most 0, and moves others to where it is;
    compiled code computes the same numbers.

    Raises
    ------
    ContractError
        A ValueError whose message says in one line what is wrong, and where.

    Examples
    --------
    >>> from stepless import check_constraint
    >>> from stepless.objective import L1Ball
    >>> check_constraint(L1Ball(2.0))
    """
    name = instance(domain, Domain, "L1Ball(1.0)")
    for method in ("excess", "outward"):
        if not domain.offers(method):
            raise ContractError(f"{name} has no method {method}, which a constraint needs")
    w, c, g, unit = check_constraint_quickly(domain, d, 40)
    _compiled(domain, w, c, g)
    _enclosed(domain, w, c, unit)  # by compiled code, where a projection comes of itself


def check_constraint_quickly(
    domain: Domain, d: int, draws: int = 8
) -> tuple[Array, Array, Array, float]:
    """Check `excess` and `outward` in plain Python; return points, their answers and a size.

    Raises ContractError.
    """
    sizes = min(constant(domain, "radius"), constant(domain, "reach"))
    unit = sizes if sizes < math.inf else 1.0
    rng = np.random.default_rng(0)
    w = rng.normal(size=(draws, d)) * np.geomspace(1e-2, 1e1, draws)[:, None] * unit
    w = np.array([written(domain, "into_span", row) for row in w])
    c = np.array([number(domain, "excess", row) for row in w])
    g = np.array([_outward(domain, row, at) for row, at in zip(w, c, strict=True)])
    _convex(domain, w, c)
    _supported(domain, w, c, g, unit)
    _sized(domain, w)
    return w, c, g, unit


def _sized(domain: Domain, w: Array) -> None:
    """Refuse a radius or a reach beyond which there are points of the domain."""
    for method, what, order in (("radius", "length", 2), ("reach", "largest weight", np.inf)):
        told = constant(domain, method)
        sizes = np.linalg.norm(w, order, axis=1, keepdims=True)
        if told < math.inf:
            beyond = w * (_BEYOND * told / np.where(sizes > 0.0, sizes, 1.0))
            excess = np.array([number(domain, "excess", row) for row in beyond])
            refuse(
                (excess <= 0.0) & (sizes[:, 0] > 0.0) & (told > 0.0),
                lambda i, told=told, method=method, what=what, v=beyond: (  # type: ignore[misc]
                    f"{type(domain).__name__}.{method}() is {told:.6g}, but {point(v[i])}, "
                    f"which is of the domain, has {what} {_BEYOND * told:.6g}"
                ),
            )


def _outward(domain: Domain, w: Array, c: float) -> Array:
    """The subgradient that a domain writes, and the excess that it returns with it compared."""
    name, g = type(domain).__name__, np.zeros_like(w)
    try:
        returned = domain.outward(w.copy(), g)
    except Exception as error:
        raise ContractError(f"{name}.outward raises {told(error)}") from error
    if not np.isfinite(g).all():
        raise ContractError(f"{name}.outward writes {point(g)} at {point(w)}")
    if returned is None or not abs(returned - c) <= SLACK * (abs(c) + np.abs(w).max()):
        raise ContractError(
            f"{name}.outward returns {returned} at {point(w)}, but the excess there is {c:.6g}"
        )
    return g


def _convex(domain: Domain, w: Array, c: Array) -> None:
    middles = (w[:, None] + w[None, :]) / 2.0
    of_middles = np.array([[number(domain, "excess", row) for row in rows] for rows in middles])
    chords = (c[:, None] + c[None, :]) / 2.0
    room = SLACK * (np.abs(c[:, None]) + np.abs(c[None, :]) + np.abs(middles).max(axis=2))
    if (of_middles > chords + room).any():
        i, k = np.argwhere(of_middles > chords + room)[0]
        raise ContractError(
            f"{type(domain).__name__}.excess is not convex: between {point(w[i])} and "
            f"{point(w[k])} it is {of_middles[i, k]:.6g}, above the chord's {chords[i, k]:.6g}"
        )


def _supported(domain: Domain, w: Array, c: Array, g: Array, unit: float) -> None:
    """Refuse subgradients whose tangent plane rises above the function, far away or close by."""
    name = type(domain).__name__
    lengths = np.linalg.norm(g, axis=1, keepdims=True)
    near = w - _NEAR * unit * g / np.where(lengths > 0.0, lengths, 1.0)
    for v in (near, *(np.broadcast_to(row, w.shape) for row in w)):
        actual = np.array([number(domain, "excess", row) for row in v])
        height = c + np.sum(g * (v - w), axis=1)
        room = SLACK * (np.abs(c) + np.abs(actual) + np.sum(np.abs(g) * np.abs(v - w), axis=1))
        room += 1e-3 * SLACK * (np.abs(w).max(axis=1) + np.abs(v).max(axis=1))
        refuse(
            actual < height - room,
            lambda i, v=v, actual=actual, height=height: (  # type: ignore[misc]
                f"{name}.outward at {point(w[i])} writes {point(g[i])}, which is no subgradient: "
                f"at {point(v[i])} the excess is {actual[i]:.6g}, below the tangent's "
                f"{height[i]:.6g}"
            ),
        )


def _enclosed(domain: Domain, w: Array, c: Array, unit: float) -> None:
    name = type(domain).__name__
    p = np.array([written(domain, "project", row) for row in w])
    moved = np.linalg.norm(p - w, axis=1)
    size = unit + np.linalg.norm(w, axis=1)
    refuse(
        (c <= 0.0) & (moved > SLACK * size),
        lambda i: (
            f"{name}.excess at {point(w[i])} is {c[i]:.6g}, inside, "
            f"but project moves it to {point(p[i])}"
        ),
    )
    left = np.array([number(domain, "excess", row) for row in p])
    refuse(
        left > SLACK * (np.abs(c) + size),
        lambda i: (
            f"{name}.project takes {point(w[i])} to {point(p[i])}, "
            f"where the excess is {left[i]:.6g}, outside"
        ),
    )


def _compiled(domain: Domain, w: Array, c: Array, g: Array) -> None:
    excess, returned, out = np.empty(len(w)), np.empty(len(w)), np.zeros_like(w)
    examples = {"excess": (w[0].copy(),), "outward": (w[0].copy(), out[0].copy())}
    run_compiled(domain, _kernel, (w, excess, returned, out), examples)
    size = np.abs(c) + np.abs(w).max(axis=1)
    for method, fast in (("excess", excess), ("outward", returned)):
        refuse(
            ~(np.abs(fast - c) <= SLACK * size),
            lambda i, fast=fast, method=method: (  # type: ignore[misc]
                f"{type(domain).__name__}.{method} at {point(w[i])} is {c[i]:.6g} in Python, "
                f"but {fast[i]:.6g} when compiled"
            ),
        )
    refuse(
        ~(np.abs(out - g).max(axis=1) <= SLACK * (np.abs(g).max(axis=1) + 1e-3)),
        lambda i: (
            f"{type(domain).__name__}.outward at {point(w[i])} writes {point(g[i])} in Python, "
            f"but {point(out[i])} when compiled"
        ),
    )


@compiled("w[n,d] excess[n] returned[n] out[n,d]")
def _kernel(domain: Any, w: Any, excess: Any, returned: Any, out: Any) -> None:
    for i in range(w.shape[0]):
        excess[i] = domain.excess(w[i])
        returned[i] = domain.outward(w[i], out[i])
