"""What an online run lost, against the best fixed weights, and what a theorem allowed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-10  # of loss and bound: what sums of so many rounds may be off by


@dataclass(frozen=True, repr=False, eq=False)
class RegretLedger:
    """One round a row: cumulative loss, regret against one fixed point x*, the theorem's bound.

    x* is the best point found for the whole stream. In every round the regret so far is against
    this same x*, and so is the bound, which is a theorem for any point of the domain: the two can
    be compared whether or not x* is quite the optimum. That the true optimum, had it been found,
    would leave no more regret than `certified_regret` in the end, x*'s certificate proves.

    Attributes
    ----------
    round
        1, 2, …, T.
    loss
        Σ f_t(x_t) + Ω(x_t) up to this round, each example scored before it was learned.
    regret
        `loss` less the same sum at x*. Early on it may be negative: x* knows the rounds to come.
    bound
        What the theorem allows for `regret`, from the gradients and iterates up to this round.
    theorem
        Which one, by its number in DHS (Duchi, Hazan, Singer 2010), mended where the print is
        wrong (docs/papers.md).
    coef, intercept
        x*: as in a fitted estimator.
    gap
        How far the mean loss and penalty of x* can at most be above the optimum's; infinite if
        nothing is known.
    solver, eta, delta
        Who played, and with which η and δ; NaN for a δ that is none of the solver's.

    Examples
    --------
    >>> one, two = np.array([1, 2]), np.array([1.0, 1.5])
    >>> RegretLedger(one, two, two - 0.5, two + 2.0, "Theorem 6", np.ones(3), 0.0, 0.1, "adagrad")
    RegretLedger(2 rounds of adagrad: regret 1 ≤ 3.5 by Theorem 6, certified ≤ 1.2)
    """

    round: NDArray
    loss: NDArray
    regret: NDArray
    bound: NDArray
    theorem: str
    coef: NDArray
    intercept: Any
    gap: float
    solver: str
    eta: float = float("nan")
    delta: float = float("nan")

    @property
    def holds(self) -> bool:
        """Whether the regret is within the bound, but for rounding, in every round."""
        slack = _ROUNDING * (np.abs(self.loss) + np.abs(self.bound))
        return bool((self.regret <= self.bound + slack).all())

    @property
    def certified_regret(self) -> float:
        """No less than the regret of all rounds against the true optimum: T·gap above `regret`."""
        return float(self.regret[-1]) + len(self) * self.gap

    def __len__(self) -> int:
        return self.round.size

    def __repr__(self) -> str:
        sign = "≤" if self.holds else "NOT ≤"
        regret, bound = self.regret[-1], self.bound[-1]
        return (
            f"RegretLedger({len(self)} rounds of {self.solver}: regret {regret:.6g} {sign} "
            f"{bound:.6g} by {self.theorem}, certified ≤ {self.certified_regret:.6g})"
        )

    def to_frame(self) -> Any:
        """Return the columns as a pandas DataFrame; needs pandas."""
        from pandas import DataFrame

        names = ("round", "loss", "regret", "bound")
        return DataFrame({name: getattr(self, name) for name in names})

    def plot(self, axes: Any = None) -> Any:
        """Draw regret and bound over the rounds; needs matplotlib (``stepless[plot]``)."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        axes.plot(self.round, self.regret, label="regret")
        axes.plot(self.round, self.bound, label=self.theorem)
        axes.set(xlabel="round", ylabel=f"regret of {self.solver}")
        axes.legend()
        return axes
