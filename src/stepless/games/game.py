"""A player, a domain, and rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.games.costs import Cost, NoGradient, as_cost
from stepless.games.errors import GameError
from stepless.games.hindsight import Best, best_fixed
from stepless.games.ledger import Ledger
from stepless.games.players import Player, Run
from stepless.objective import Domain, Regularizer


class Game:
    """A game of a player over a domain.

    Parameters
    ----------
    player
        Who decides.
    domain
        Where decisions may lie.
    d
        How many weights a decision has; found out from the first cost where it says so.
    penalty
        A fixed part of every round's cost, such as ``L1(0.1)``.
    constraints
        Sets in which decisions should lie in the long run: the ledger sums what they exceed.
    seed
        Of the player's own dice: the same seed, the same game.

    Examples
    --------
    >>> from stepless import Simplex
    >>> from stepless.games import OGD, Game
    >>> rng = np.random.default_rng(0)
    >>> ledger = Game(OGD(), Simplex()).run(rng.uniform(size=(500, 3)))
    >>> ledger.holds, ledger.best
    (True, array([0., 1., 0.]))
    """

    def __init__(
        self,
        player: Player,
        domain: Domain,
        *,
        d: int | None = None,
        penalty: Regularizer | None = None,
        constraints: Sequence[Domain] = (),
        seed: int = 0,
    ) -> None:
        self.player, self.domain, self.d = player, domain, d
        self.penalty, self.constraints, self.seed = penalty, tuple(constraints), seed

    def run(self, stream: Iterable[Any], best: Best | None = None) -> Ledger:
        """Play all rounds of a stream: costs, or whatever `as_cost` takes for one.

        Parameters
        ----------
        stream
            A cost a round.
        best
            The best fixed decision, if it is known already.
        """
        costs: list[Cost] = []
        plays: list[NDArray] = []
        losses: list[float] = []
        gradients: list[NDArray] = []
        steps: list[float] = []
        player = self.player
        for t, shown in enumerate(stream, 1):
            cost = _cost(t, shown)
            if t == 1:
                d = self._weights(cost)
                player.enter(
                    self.domain,
                    d,
                    penalty=self.penalty,
                    constraints=self.constraints,
                    seed=self.seed,
                )
            elif cost.d is not None and cost.d != d:
                raise GameError(t, f"the cost is one of {cost.d} weights, but the game has {d}")
            loss, w = self._play(cost, t)
            if plays:
                steps.append(_shift(cost, plays[-1], gradients[-1]))
            else:
                steps.append(float(player.g @ player.g))  # f_0 = 0
            costs.append(cost)
            plays.append(w)
            losses.append(loss)
            gradients.append(player.g)
        if not costs:
            raise ValueError("a game needs a round: the stream is empty")
        if best is None:
            best = best_fixed(costs, self.domain, d, self.penalty, self.constraints)
        return self._ledger(
            best, np.array(losses), np.array(steps), Run(np.array(plays), np.array(gradients))
        )

    def _weights(self, cost: Cost) -> int:
        d = cost.d if self.d is None else self.d
        if d is None:
            raise ValueError("the costs do not say how many weights a decision has: give Game d=")
        return d

    def _play(self, cost: Cost, t: int) -> tuple[float, NDArray]:
        """Let the player decide, and show it the cost; return the loss and the decision."""
        player = self.player
        w = player.play()
        if player.feedback == "values":
            values = np.array([cost.value(v) for v in np.atleast_2d(w)])
            loss, w = player.suffer(values), player.w
            player.observe(values)
        else:
            loss = cost.value(w)
            player.observe(cost)
        if self.penalty is not None:
            loss += _total(self.penalty, w[:, None])
        if not math.isfinite(loss):
            raise GameError(t, f"the cost of the decision is {loss}, which is no finite number")
        return loss, w

    def _ledger(self, best: Best, losses: NDArray, steps: NDArray, run: Run) -> Ledger:
        loss = np.cumsum(losses)
        violation = np.array([[c.excess(w) for c in self.constraints] for w in run.plays])
        return Ledger(
            player=self.player.name,
            loss=loss,
            regret=np.cumsum(losses - best.losses),
            bound=self.player.bound(run, best.w),
            theorem=self.player.theorem,
            expected=self.player.expected,
            variation=np.cumsum(steps),
            plays=run.plays,
            best=best.w,
            gap=best.gap,
            violation=np.cumsum(violation, axis=0),
        )


def _cost(t: int, shown: Any) -> Cost:
    try:
        return as_cost(shown)
    except (TypeError, ValueError) as error:
        raise GameError(t, str(error)) from None


def _shift(cost: Cost, w: NDArray, g: NDArray) -> float:
    """‖∇f_t(w_{t−1}) − ∇f_{t−1}(w_{t−1})‖²; NaN if there are only values."""
    try:
        change = cost.gradient(w) - g
    except NoGradient:
        return math.nan
    return float(change @ change)


@njit(cache=True, nogil=True)
def _total(penalty, w):  # type: ignore[no-untyped-def]
    return penalty.total(w)
