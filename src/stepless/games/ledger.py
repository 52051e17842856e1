"""What a game cost, against the best fixed decision, and what a theorem allowed it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepless.arrays import Array, Indices

_OFF = 1e-10  # of loss and bound: what sums of so many rounds may be off by


def nothing() -> Array:
    """An array without entries, for a column that was not kept."""
    return np.empty((0, 0))


@dataclass(frozen=True, repr=False, eq=False)
class Ledger:
    """One round a row: cumulative loss, regret against one fixed decision u, the player's bound.

    u is the best decision found for the whole game. In every round the regret so far is against
    this same u, and so is the bound, which is a theorem for any point of the domain: the two can be
    compared whether or not u is quite the optimum. That the true optimum, had it been found, would
    leave no more regret than `certified_regret` in the end, u's certificate proves.

    Attributes
    ----------
    player
        Who played.
    loss
        Σ f_s(w_s) up to each round, every fixed penalty included.
    regret
        `loss` less the same sum at u. Early on it may be negative: u knows the rounds to come.
    bound
        What the theorem allows for `regret`, from what the player saw up to each round; infinite
        where its conditions do not hold.
    theorem, expected
        Which one, and whether it speaks of the expectation over the player's own dice only.
    variation
        Σ ‖∇f_s(w_{s−1}) − ∇f_{s−1}(w_{s−1})‖² up to each round, MAH (5.9); NaN where only values
        were shown.
    violation
        Σ c_i(w_s) up to each round, a column for each constraint.
    plays
        The decisions w_t, a row each.
    best
        u.
    gap
        How far Σ f_t(u) can at most be above the optimum; infinite if nothing is known.

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
    variation: Array = field(default_factory=nothing)
    plays: Array = field(default_factory=nothing)
    best: Array = field(default_factory=nothing)
    violation: Array = field(default_factory=nothing)

    @property
    def round(self) -> Indices:
        """1, 2, …, T."""
        return np.arange(1, len(self) + 1)

    @property
    def holds(self) -> bool:
        """Whether the regret is within the bound, but for rounding, in every round."""
        slack = _OFF * (np.abs(self.loss) + np.abs(self.bound))
        return bool((self.regret <= self.bound + slack).all())

    @property
    def certified_regret(self) -> float:
        """No less than the regret of all rounds against the true optimum."""
        return float(self.regret[-1]) + self.gap

    def __len__(self) -> int:
        return self.loss.size

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self)} rounds of {self.player}: "
            f"regret {self.regret[-1]:.6g}{self._allowed()}, "
            f"certified ≤ {self.certified_regret:.6g})"
        )

    def _allowed(self) -> str:
        if self.theorem == "none":
            return ", no theorem"
        sign = "≤" if self.holds else "above" if self.expected else "NOT ≤"
        mean = " in expectation" if self.expected else ""
        return f" {sign} {self.bound[-1]:.6g} by {self.theorem}{mean}"

    def to_frame(self) -> Any:
        """Return the columns as a pandas DataFrame, indexed by round; needs pandas."""
        from pandas import DataFrame, Index

        names = ("loss", "regret", "bound", "variation")
        columns = {name: getattr(self, name) for name in names if getattr(self, name).size}
        for i, column in enumerate(self.violation.T):
            columns[f"violation_{i}"] = column
        return DataFrame(columns, index=Index(self.round, name="round"))

    def plot(self, axes: Any = None, bound: bool = True) -> Any:
        """Draw regret and bound over the rounds; needs matplotlib (``stepless[plot]``)."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        (line,) = axes.plot(self.round, self.regret, label=self.player)
        if bound and np.isfinite(self.bound).any():
            axes.plot(
                self.round,
                self.bound,
                color=line.get_color(),
                linestyle="--",
                label=self.theorem,
            )
        axes.set(xlabel="round", ylabel="regret")
        axes.legend()
        return axes
