"""Ledgers: a game's losses, its regret and the bound that a theorem gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from stepless.arrays import Array, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_ROUNDING = 1e-10  # relative to loss and bound: rounding error of the sums


def empty_array() -> Array:
    """Return an array without entries, for a column that was not kept."""
    return np.empty((0, 0))


@dataclass(frozen=True, repr=False, eq=False)
class Ledger:
    """Cumulative loss, regret against one fixed decision u, and bound: one row per round.

    u is the best decision found for the whole game. Regret and bound of every round are against
    this same u. The bound is a theorem for any point of the domain, so the two can be compared even
    if u is not quite the optimum. u's certificate proves that the regret of the whole game against
    the true optimum is at most `certified_regret`.

    Attributes
    ----------
    player
        The player's name.
    loss
        Σ f_s(w_s) up to each round, including a fixed penalty.
    regret
        `loss` less the same sum at u. It may be negative early on: u is chosen for all rounds.
    bound
        The theorem's bound on `regret`, from the rounds so far; infinite if its conditions fail.
    theorem, expected
        The theorem, and True if it only bounds the expectation over the player's random draws.
    variation
        Σ ‖∇f_s(w_{s−1}) − ∇f_{s−1}(w_{s−1})‖² up to each round, MAH (5.9); NaN if only values were
        shown.
    violation
        Σ c_i(w_s) up to each round, one column per constraint.
    plays
        The decisions w_t, one row per round.
    best
        u.
    gap
        Upper bound on Σ f_t(u) less the optimum; infinite if nothing is known.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> from stepless.games import OGD, Game
    >>> Game(OGD(), L2Ball(1.0)).run([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    Ledger(3 rounds of ogd: regret 1.23607 ≤ 2.5731 by MAH Theorem 2.8, certified ≤ 1.23607)
    """

    player: str
    loss: Array
    regret: Array
    bound: Array
    theorem: str
    gap: float
    expected: bool = False
    variation: Array = field(default_factory=empty_array)
    plays: Array = field(default_factory=empty_array)
    best: Array = field(default_factory=empty_array)
    violation: Array = field(default_factory=empty_array)

    @property
    def round(self) -> Indices:
        """1, 2, …, T."""
        return np.arange(1, len(self) + 1)

    @property
    def holds(self) -> bool:
        """True if the regret is within the bound in every round, up to rounding."""
        slack = _ROUNDING * (np.abs(self.loss) + np.abs(self.bound))
        return bool((self.regret <= self.bound + slack).all())

    @property
    def certified_regret(self) -> float:
        """Upper bound on the regret of all rounds against the true optimum."""
        return float(self.regret[-1]) + self.gap

    def __len__(self) -> int:
        return self.loss.size

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self)} rounds of {self.player}: "
            f"regret {self.regret[-1]:.6g}{self._comparison()}, "
            f"certified ≤ {self.certified_regret:.6g})"
        )

    def _comparison(self) -> str:
        """Compare the regret with the bound, in words."""
        if self.theorem == "none":
            return ", no theorem"
        sign = "≤" if self.holds else "above" if self.expected else "NOT ≤"
        mean = " in expectation" if self.expected else ""
        return f" {sign} {self.bound[-1]:.6g} by {self.theorem}{mean}"

    def to_frame(self) -> DataFrame:
        """Return the columns as a pandas DataFrame, indexed by round; needs pandas."""
        from pandas import DataFrame, Index

        names = ("loss", "regret", "bound", "variation")
        columns = {name: getattr(self, name) for name in names if getattr(self, name).size}
        for i, column in enumerate(self.violation.T):
            columns[f"violation_{i}"] = column
        return DataFrame(columns, index=Index(self.round, name="round"))

    def plot(self, axes: Axes | None = None, bound: bool = True) -> Axes:
        """Draw regret and bound over the rounds; needs matplotlib (``stepless[plot]``)."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        (line,) = axes.plot(self.round, self.regret, label=self.player)
        if bound and np.isfinite(self.bound).any():
            color = line.get_color()
            axes.plot(self.round, self.bound, color=color, linestyle="--", label=self.theorem)
        axes.set(xlabel="round", ylabel="regret")
        axes.legend()
        return axes
