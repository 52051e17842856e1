"""Projections of distant points."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.objective import Domain

_FAR = 2.0**10  # times the domain's size: from there on rounding can be seen
_STILL = 1e-13  # of the domain's size: a move by rounding
_LENGTHS = 16  # a step is up to 2^15 sizes long
_TRIALS = 20 * _LENGTHS


def project_distant(domain: Domain, w: Array, size: float) -> None:
    """Move w to the nearest point of a domain, no weight of which is above `size`.

    From far away a method that goes from face to face cannot tell in which of them it is. But the
    nearest point v of w is that of all points between the two as well, so that steps from v
    towards w, which are steps of the proximal point method on a nearly linear function, end where
    a short one leads back to v. Long ones come first: they see an edge that is hardly tilted.

    Examples
    --------
    >>> from stepless.objective import Polytope
    >>> w = np.array([3e17, 1e17])
    >>> project_distant(Polytope.of([[1, 1], [-1, 0], [0, -1]], [1, 0, 0]), w, 1.0)
    >>> w.round(12) + 0.0
    array([1., 0.])
    """
    if domain.separable or domain.simplex or domain.ball_exponent is not None:
        enter(domain, w)  # by a formula, as exact from anywhere
        return
    aim = w.copy()
    enter(domain, w)
    for k in range(_TRIALS):
        away = aim - w
        distance = float(np.abs(away).max())
        if distance <= _FAR * size:
            return
        length = 2.0 ** (-k % _LENGTHS)
        moved = w + away * min(length * size / distance, 1.0)
        enter(domain, moved)
        still = length == 1.0 and float(np.abs(moved - w).max()) <= _STILL * size
        w[:] = moved
        if still:
            return
    raise ValueError(
        f"the nearest point of {type(domain).__name__} to one {distance:.3g} away is not found; "
        "scale the costs to sizes that are more alike"
    )
