"""A player, a domain, and rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.games.costs import Cost, NoGradient, Total, as_cost, total
from stepless.games.errors import GameError
from stepless.games.hindsight import Best, best_fixed
from stepless.games.hindsight.task import total_of
from stepless.games.ledger import Ledger
from stepless.games.players import Player, Run
from stepless.kernels.blas import single_threaded_blas
from stepless.objective import Domain, Regularizer

_OUTSIDE = 1e-9  # relative: how far a start may lie out of the domain by rounding
_SAMPLE = 16  # decisions of a game from which the best is chosen where only values are shown


@dataclass(frozen=True)
class Record:
    """What happened in a game: the costs, the decisions, and what they cost."""

    costs: Sequence[Cost]
    whole: Total
    run: Run
    losses: NDArray

    def steps(self) -> NDArray:
        """‖∇f_t(w_{t−1}) − ∇f_{t−1}(w_{t−1})‖², f_0 = 0; NaN if there are only values."""
        W = self.run.plays
        try:
            here, before = self.whole.gradients(W), self.whole.gradients(np.vstack([W[:1], W[:-1]]))
        except NoGradient:
            return np.full(len(W), math.nan)
        change = before - np.vstack([np.zeros_like(W[:1]), here[:-1]])
        return np.einsum("tj,tj->t", change, change)

    def sample(self) -> NDArray:
        """A few decisions, spread over the game, and their mean."""
        plays = self.run.plays
        rows = np.linspace(0, len(plays) - 1, min(_SAMPLE, len(plays))).astype(int)
        return np.vstack([plays[rows], plays.mean(axis=0)])


class Game:
    """A game of a player over a domain.

    Parameters
    ----------
    player
        Who decides.
    domain
        Where decisions may lie.
    d
        How many weights a decision has; if it is not given, what the first cost says. Given, the
        player stands at its first decision before the first cost is asked for.
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
    (True, array([0., 0., 1.]))
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
        with single_threaded_blas():  # a round's matrices are too small for threads
            record = self.play(stream)
            return self.ledger(record, self.hindsight(record) if best is None else best)

    def play(self, stream: Iterable[Any]) -> Record:
        """Play all rounds, and write down what happened."""
        costs: list[Cost] = []
        plays: list[NDArray] = []
        gradients: list[NDArray] = []
        losses: list[float] = []
        player, d = self.player, self.d
        blind = player.feedback == "values"
        if d is not None:  # an opponent may want to see the first decision
            self._enter(d)
        for t, shown in enumerate(stream, 1):
            cost = _cost(t, shown)
            if d is None:
                d = _weights(cost)
                self._enter(d)
            if cost.d is not None and cost.d != d:
                raise GameError(t, f"the cost is one of {cost.d} weights, but the game has {d}")
            w = player.play()
            costs.append(cost)
            if blind:
                values = np.array([cost.value(v) for v in np.atleast_2d(w)])
                _refuse(t, values.sum())
                plays.append(player.w)
                losses.append(player.suffer(values))
                player.observe(values)
            else:
                plays.append(w)
                player.observe(cost)
            gradients.append(player.g)
        if not costs:
            raise ValueError("a game needs a round: the stream is empty")
        whole, run = total(costs), Run(np.array(plays), np.array(gradients))
        suffered = np.array(losses) if blind else whole.values(run.plays)
        if self.penalty is not None:
            suffered += np.array([total_of(self.penalty, w[:, None]) for w in run.plays])
        worst = int(np.argmin(np.isfinite(suffered)))
        _refuse(worst + 1, suffered[worst])
        return Record(costs, whole, run, suffered)

    def hindsight(self, *records: Record) -> Best:
        """The best fixed decision of games on the same costs."""
        costs = records[0].costs
        seen = [w for record in records for w in record.sample()]
        d = records[0].run.plays.shape[1]
        return best_fixed(costs, self.domain, d, self.penalty, self.constraints, seen)

    def ledger(self, record: Record, best: Best) -> Ledger:
        """What the game cost against a fixed decision."""
        run, player = record.run, self.player
        violation = np.array([[c.excess(w) for c in self.constraints] for w in run.plays])
        return Ledger(
            player=player.name,
            loss=_sums(record.losses),
            regret=_sums(record.losses - best.losses),
            bound=player.bound(run, best.w),
            theorem=player.theorem,
            expected=player.expected,
            variation=np.cumsum(record.steps()),
            plays=run.plays,
            best=best.w,
            gap=best.gap,
            violation=np.cumsum(violation, axis=0),
        )

    def _enter(self, d: int) -> None:
        self.player.enter(
            self.domain, d, penalty=self.penalty, constraints=self.constraints, seed=self.seed
        )
        w = self.player.w
        if w.shape != (d,):
            raise GameError(1, f"{self.player.name} plays weights of shape {w.shape}, not ({d},)")
        inside = w.copy()
        self.domain.project(inside)
        away = float(np.abs(inside - w).max())
        if not away <= _OUTSIDE * (1.0 + float(np.abs(w).max())):
            raise GameError(
                1,
                f"{self.player.name} starts outside of the domain, {away:.3g} away from it; "
                "start at a point of the domain",
            )


def _weights(cost: Cost) -> int:
    if cost.d is None:
        raise ValueError("the costs do not say how many weights a decision has: give Game d=")
    return cost.d


def _cost(t: int, shown: Any) -> Cost:
    try:
        return as_cost(shown)
    except (TypeError, ValueError) as error:
        raise GameError(t, str(error)) from None


def _refuse(t: int, loss: float) -> None:
    if not math.isfinite(loss):
        raise GameError(t, f"the cost of the decision is {loss}, which is no finite number")


def _sums(losses: NDArray) -> NDArray:
    """Sums up to each round; with more digits on the way, where the machine has them."""
    return np.cumsum(losses, dtype=np.longdouble).astype(np.float64)
