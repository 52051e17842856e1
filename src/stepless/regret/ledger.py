"""What an online run lost, against the best fixed weights, and what a theorem allowed it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from stepless.arrays import Array
from stepless.games.ledger import Ledger, empty_array


@dataclass(frozen=True, repr=False, eq=False)
class RegretLedger(Ledger):
    """The ledger of an online pass over examples: `player` is the solver.

    `loss` is Σ f_t(x_t) + Ω(x_t), each example scored before it was learned; `theorem` is one of
    DHS (Duchi, Hazan, Singer 2010), mended where the print is wrong (docs/papers.md).

    Attributes
    ----------
    coef, intercept
        The best fixed point: as in a fitted estimator.
    eta, delta
        The solver's η and δ; NaN for a δ that is none of the solver's.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([1.0, 1.5])
    >>> RegretLedger("adagrad", two, two - 0.5, two + 2.0, "Theorem 6", 0.2, coef=np.ones(3))
    RegretLedger(2 rounds of adagrad: regret 1 ≤ 3.5 by Theorem 6, certified ≤ 1.2)
    """

    coef: Array = field(default_factory=empty_array)
    intercept: Any = 0.0
    eta: float = math.nan
    delta: float = math.nan
