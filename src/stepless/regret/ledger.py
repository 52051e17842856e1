"""The ledger of an online run: losses, regret, and a theorem's bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from stepless.arrays import Array
from stepless.games.ledger import Ledger, empty_array


@dataclass(frozen=True, repr=False, eq=False)
class RegretLedger(Ledger):
    """The ledger of an online pass over examples: `player` is the solver.

    `loss` is Σ f_t(x_t) + Ω(x_t), each example predicted before it was learned; `theorem` is one of
    DHS (Duchi, Hazan, Singer 2010), corrected where the print is wrong (docs/papers.md).

    Attributes
    ----------
    coef, intercept
        The best fixed point, as in a fitted estimator.
    eta, delta
        The solver's η and δ; NaN if it has no δ.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([1.0, 1.5])
    >>> RegretLedger("adagrad", two, two - 0.5, two + 2.0, "Theorem 6", 0.2, coef=np.ones(3))
    RegretLedger(2 rounds of adagrad: regret 1 ≤ 3.5 by Theorem 6, certified ≤ 1.2)
    """

    coef: Array = field(default_factory=empty_array)
    intercept: float | Array = 0.0
    eta: float = math.nan
    delta: float = math.nan
