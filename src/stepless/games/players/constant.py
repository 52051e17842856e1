"""A fixed decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs import Cost, ValuesOnly
from stepless.games.players.player import Player, Run

_OUTSIDE = 1e-9  # relative: how far a decision may lie outside of its domain


class Constant(Player):
    """The same decision in all rounds: the baseline of the others.

    Plays       w_t = w; if it is not given, the point of S nearest to 0: in a simplex all weights
                are equal, which for a portfolio is uniform rebalancing
    Theorem     none: its regret may grow as t
    Cost        nothing
    Needs       nothing: it plays costs without gradients, or with tiny ones, too

    Parameters
    ----------
    w
        The decision.

    Examples
    --------
    >>> from stepless import Simplex
    >>> Constant().enter(Simplex(), 4).play()
    array([0.25, 0.25, 0.25, 0.25])
    """

    name = "constant"
    theorem = "none"

    def __init__(self, w: ArrayLike | None = None) -> None:
        self.given = None if w is None else np.array(w, dtype=np.float64)
        if self.given is not None and not np.isfinite(self.given).all():
            raise ValueError(f"a decision needs finite numbers, not {self.given.tolist()}")

    def begin(self) -> None:
        if self.given is None:
            self.w = self.center()
            return
        if self.given.shape != (self.d,):
            raise ValueError(
                f"the given decision has shape {self.given.shape}, but there are {self.d} weights"
            )
        self.w = self.inside(self.given.copy())
        away = float(np.abs(self.w - self.given).max())
        if not away <= _OUTSIDE * self.domain.reach():
            raise ValueError(
                f"the given decision lies outside of {type(self.domain).__name__}, by {away:.3g} "
                "in a weight: project it first"
            )

    def gradient_of(self, cost: Cost, w: Array) -> Array:
        return np.zeros(self.d) if isinstance(cost, ValuesOnly) else super().gradient_of(cost, w)

    def extreme_gradient(self, g: Array, top: float) -> Array:
        return g if top < 1.0 else super().extreme_gradient(g, top)

    def learn(self, g: Array, cost: Cost) -> None:
        pass

    def __repr__(self) -> str:
        return "Constant()" if self.given is None else f"Constant(w={self.given.tolist()})"

    def bound(self, run: Run, u: Array) -> Array:
        return np.full(len(run.plays), np.inf)
