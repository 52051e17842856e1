"""A point deep inside a domain, and the room around it."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import helmert
from scipy.optimize import linprog

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.objective import Domain, Intersection, Shrunk

_SMALLER = 1.0 - 1e-12  # so that a ball is never too large by rounding
_FLAT = 1e-7  # relative: the root of what rounding leaves of a square
_HALVINGS = 60


def interior(domain: Domain, d: int) -> tuple[Array, float, Array | None]:
    """Return a point c of S, a radius r, a basis of the directions that S extends in, or None.

    S contains c + v for all v of those directions with ‖v‖ ≤ r. The basis is orthonormal, one
    column per direction; None stands for all directions.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> c, r, basis = interior(Simplex(1.0), 2)
    >>> c, round(r, 4), basis.shape
    (array([0.5, 0.5]), 0.7071, (2, 1))
    """
    domain.admit(d)
    p, bound = domain.ball_exponent, domain.radius()
    match domain:
        case Intersection():
            return _in_ball(domain, d)
        case Shrunk(domain=inner, share=share, center=center):
            c, r, basis = interior(inner, d)
            return share * center + (1.0 - share) * c, (1.0 - share) * r, basis
    if domain.separable:
        return _in_intervals(*domain.interval(), d)
    if p is not None:
        return np.zeros(d), bound if p == 2.0 else _SMALLER * bound * d ** (0.5 - 1.0 / p), None
    if domain.simplex:
        room = _SMALLER * bound / math.sqrt(d * max(d - 1, 1))
        return np.full(d, bound / d), room, helmert(d).T if d > 1 else np.empty((1, 0))
    if domain.offers("inequalities"):
        return _in_polytope(domain, d)
    raise ValueError(f"no point inside {type(domain).__name__} is known; use another domain")


def _in_intervals(low: float, high: float, d: int) -> tuple[Array, float, None]:
    if math.isfinite(high - low):
        return np.full(d, 0.5 * (low + high)), _SMALLER * 0.5 * (high - low), None
    if math.isinf(low) and math.isinf(high):
        return np.zeros(d), math.inf, None
    return np.full(d, high - 1.0 if math.isinf(low) else low + 1.0), 1.0, None


def _in_polytope(domain: Domain, d: int) -> tuple[Array, float, None]:
    """Return Chebyshev's centre, as far as a linear programme finds it."""
    if math.isinf(domain.radius()):
        raise ValueError("a polytope without end has no center; bound it by a box of inequalities")
    A, b = domain.inequalities(d)
    lengths = np.linalg.norm(A, axis=1)
    rows = np.column_stack([A, lengths])
    found = linprog(-np.eye(d + 1)[d], A_ub=rows, b_ub=b, bounds=(None, None), method="highs")
    c = found.x[:d]
    r = float(((b - A @ c) / lengths).min())
    if not r > _FLAT * domain.radius():
        raise ValueError(
            "the polytope is flat: two of its inequalities make an equation; "
            "use a simplex, or as many weights as it has directions"
        )
    return c, _SMALLER * r, None


def _in_ball(domain: Intersection, d: int) -> tuple[Array, float, Array | None]:
    """Go from the shortest point towards the inner domain's centre while there is more room."""
    c, r, basis = interior(domain.domain, d)
    if math.isinf(r):
        return np.zeros(d), domain.bound, None
    if domain.domain.separable and math.isinf(domain.domain.reach()):  # a cone
        c, r = domain.bound * c, domain.bound * r
    shortest = np.zeros(d)
    enter(domain.domain, shortest)

    def room(share: float) -> float:
        at = shortest + share * (c - shortest)
        along = at if basis is None else basis.T @ at
        across = max(float(at @ at - along @ along), 0.0)
        left = math.sqrt(max(domain.bound**2 - across, 0.0)) - float(np.linalg.norm(along))
        return min(share * r, left)

    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):  # r·share rises; what the ball leaves falls where it is less
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(middle) == middle * r else (low, middle)
    share = 1.0 if room(1.0) == r else low
    if not room(share) > _FLAT * domain.bound:
        raise ValueError(
            f"a ball of radius {domain.bound:g} leaves no room in {type(domain.domain).__name__}; "
            "make the radius larger"
        )
    return shortest + share * (c - shortest), _SMALLER * room(share), basis
