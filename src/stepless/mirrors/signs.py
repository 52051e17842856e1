"""Domains without negative weights."""

from __future__ import annotations

import math

import numpy as np

from stepless.objective import Domain

_SLACK = 1e-9  # of the domain's size: how far a linear programme is to be trusted


def nonnegative(domain: Domain, d: int) -> bool:
    """Return whether no point of a domain of d weights has a negative weight, but for rounding.

    Examples
    --------
    >>> from stepless.objective import Polytope
    >>> nonnegative(Polytope.of([[1, 1], [-2, 1], [1, -2]], [1, 0, 0]), 2)
    True
    """
    if domain.nonnegative or math.isinf(domain.reach()):
        return domain.nonnegative
    axis = np.zeros(d)
    for j in range(d):
        axis[j - 1], axis[j] = 0.0, 1.0
        if domain.floor(axis) < -_SLACK * domain.reach():
            return False
    return True
