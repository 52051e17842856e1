"""What a domain says about the signs of weights."""

from __future__ import annotations

import numpy as np

from stepless.objective import (
    Box,
    Domain,
    Free,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
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
            axes = np.eye(domain.A.shape[1])
            return all(domain.floor(axis) >= -_SLACK * domain.reach() for axis in axes)
    return False


def both_signs(domain: Domain) -> bool:
    """Whether, with w, all weights of the same sizes or smaller are of the domain."""
    return isinstance(domain, Free | L2Ball | L1Ball | LpBall)
