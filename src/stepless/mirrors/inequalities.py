"""Domains that linear inequalities describe."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from stepless.arrays import Array
from stepless.objective import Box, Domain, Nonnegative, Polytope, Simplex


@lru_cache(maxsize=64)
def inequalities(domain: Domain, d: int) -> tuple[Array, Array]:
    """A and b of S = {w : Aw ≤ b}; an equation is two of them. Not to be written into.

    Examples
    --------
    >>> A, b = inequalities(Box(-1.0, 2.0), 1)
    >>> A.ravel(), b
    (array([ 1., -1.]), array([2., 1.]))
    """
    axes, ones = np.eye(d), np.ones(d)
    match domain:
        case Nonnegative():
            return -axes, np.zeros(d)
        case Box(low=low, high=high):
            return np.vstack([axes, -axes]), np.concatenate([high * ones, -low * ones])
        case Simplex(bound=bound):
            return np.vstack([-axes, ones, -ones]), np.concatenate([0.0 * ones, [bound, -bound]])
        case Polytope():
            return domain.A, domain.b
    raise ValueError(f"{type(domain).__name__} is not described by linear inequalities")
