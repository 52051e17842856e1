"""What the signs of a domain's weights let a lasso do."""

from __future__ import annotations

import numpy as np

from stepless.objective import (
    Box,
    Domain,
    Free,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
    Shrunk,
    Simplex,
)

_SLACK = 1e-9  # as far as a linear programme is to be trusted


def nonnegative(domain: Domain) -> bool:
    """Whether no weight of the domain is negative."""
    match domain:
        case Simplex() | Nonnegative():
            return True
        case Box(low=low):
            return low >= 0.0
        case Polytope():
            size = min(domain.reach(), float(np.abs(domain.b).max()))
            return all(domain.floor(e) >= -_SLACK * size for e in np.eye(domain.A.shape[1]))
        case Intersection(domain=inner) | Shrunk(domain=inner):
            return nonnegative(inner)
    return False


def shrinks_first(domain: Domain) -> bool:
    """Whether the nearest point with a lasso is the nearest to the lasso's prox.

    So it is where, with w, S has all weights of the same sizes or smaller ones, whatever their
    signs; where it is a product of intervals around 0; and in a ball's part of those, for a ball's
    multiplier only scales.
    """
    if isinstance(domain, Intersection):
        return shrinks_first(domain.domain)
    return isinstance(domain, Free | L2Ball | L1Ball | LpBall | Box | Nonnegative)
