"""A player, a domain, and rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.vertices import enter
from stepless.games.costs import Cost, Growth, NoGradient, Total, Undefined, as_cost, total
from stepless.games.costs.growth import RUIN
from stepless.games.costs.shown import Own
from stepless.games.errors import GameError
from stepless.games.hindsight import Best, best_fixed, refuse_empty
from stepless.games.hindsight.task import total_of
from stepless.games.ledger import Ledger
from stepless.games.players import PLAYERS, Player, Run
from stepless.games.players.refusals import refuse_nobody, told
from stepless.objective import Domain, Regularizer
from stepless.user_terms import check_user_penalty, is_user_defined

_OUTSIDE = 1e-9  # relative: how far a decision may lie out of the domain by rounding
_SAMPLE = 16  # decisions of a game from which the best is chosen where only values are shown
_COARSE = 1e-6  # relative: how far a user's own sums may be off


@dataclass(frozen=True)
class Record:
    """What happened in a game: the costs, the decisions, and what they cost."""

    costs: Sequence[Cost]
    whole: Total
    run: Run
    losses: Array
    entry: int  # which of the player's games it was

    def steps(self) -> Array:
        """‖∇f_t(w_{t−1}) − ∇f_{t−1}(w_{t−1})‖², f_0 = 0; NaN if there are only values."""
        W = self.run.plays
        try:
            here, before = self.whole.gradients(W), self.whole.gradients(np.vstack([W[:1], W[:-1]]))
        except NoGradient:
            return np.full(len(W), math.nan)
        change = before - np.vstack([np.zeros_like(W[:1]), here[:-1]])
        return np.einsum("tj,tj->t", change, change)

    def sample(self) -> Array:
        """A few decisions, spread over the game, and their mean."""
        plays = self.run.plays
        return np.vstack([plays[self._spread()], plays.mean(axis=0)])

    def refuse_unsound(self, best: Array) -> None:
        """Refuse a user's own cost of a few rounds whose tangents, there and at the best, cross it.

        Regret and gap count on their lying below.
        """
        for t in self._spread():
            f, w = self.costs[t], self.run.plays[t]
            if not isinstance(f, Own) and not is_user_defined(getattr(f, "loss", f)):
                continue
            for u, v in ((w, best), (best, w)):
                here, there, rise = f.value(u), f.value(v), f.gradient(u) * (v - u)
                room = _COARSE * (abs(here) + abs(there) + float(np.abs(rise).sum()))
                if here + float(rise.sum()) > there + room:
                    raise GameError(
                        t + 1,
                        "the cost is not convex, or its gradient is none: from one decision to "
                        f"another it goes from {here:.6g} to {there:.6g}, but its tangent to "
                        f"{here + float(rise.sum()):.6g}, above",
                    )

    def _spread(self) -> Array:
        """A few rounds, spread over the game."""
        rounds = len(self.run.plays)
        return np.linspace(0, rounds - 1, min(_SAMPLE, rounds)).astype(int)


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
        refuse_nobody(player)
        if isinstance(constraints, Domain):  # which is a tuple, of numbers
            raise TypeError(f"constraints are a list: write [{constraints!r}]")
        constraints = tuple(constraints)
        for given in (domain, *constraints):
            if not isinstance(given, Domain):
                raise TypeError(f"a domain is an object such as Simplex(), not {told(given)}")
        for constraint in constraints:
            if not constraint.offers("excess"):
                raise ValueError(
                    f"a constraint needs `excess`, which {type(constraint).__name__} has not: "
                    "use it as the domain"
                )
        self.player, self.domain, self.d = player, domain, d
        self.penalty, self.constraints, self.seed = penalty, constraints, seed

    def run(self, stream: Iterable[Any], best: Best | None = None) -> Ledger:
        """Play all rounds of a stream: costs, or whatever `as_cost` takes for one.

        Parameters
        ----------
        stream
            A cost a round; of a DataFrame, its rows.
        best
            The best fixed decision, if it is known already.
        """
        if not isinstance(best, Best | None):
            raise TypeError(f"best is what `hindsight` returned, a Best, not {told(best)}")
        with single_threaded_blas():  # a round's matrices are too small for threads
            record = self.play(stream)
            return self.ledger(record, self.hindsight(record) if best is None else best)

    def play(self, stream: Iterable[Any]) -> Record:
        """Play all rounds, and write down what happened."""
        costs: list[Cost] = []
        plays: list[Array] = []
        gradients: list[Array] = []
        losses: list[float] = []
        player, d = self.player, self.d
        blind = player.feedback == "values"
        ours = type(player) in PLAYERS.values()  # who replace w, and stay inside: it is tested
        asked: list[Array] = []
        if d is not None:  # an opponent may want to see the first decision
            self._enter(d)
        for t, shown in enumerate(rounds_of(stream), 1):
            cost = _cost(t, shown)
            if d is None:
                if cost.d is None:
                    raise ValueError(
                        "the costs do not say how many weights a decision has: give Game d="
                    )
                d = cost.d
                self._enter(d)
            if cost.d is not None and cost.d != d:
                raise GameError(t, f"the cost is one of {cost.d} weights, but the game has {d}")
            w = player.play()
            if not ours:
                w = np.array(w)  # it may be written into
                asked.append(w)
            costs.append(cost)
            if blind:
                values = _values(t, cost, w)
                plays.append(player.w if ours else player.w.copy())
                losses.append(player.suffer(values))
                player.observe(values)
            else:
                plays.append(w)
                player.observe(cost)
            gradients.append(player.g if ours else player.g.copy())
        if not costs:
            raise ValueError("a game needs a round: the stream is empty")
        for t, (w, points) in enumerate(zip(plays, asked, strict=False), 1):
            for v in (w, *np.atleast_2d(points)):
                self._refuse_outside(t, v, "plays")
        whole, run = total(costs), Run(np.array(plays), np.array(gradients))
        suffered = np.array(losses) if blind else _suffered(whole, costs, run.plays)
        if self.penalty is not None:
            suffered += np.array([total_of(self.penalty, w[:, None]) for w in run.plays])
        worst = int(np.argmin(np.isfinite(suffered)))
        _refuse(worst + 1, costs[worst], suffered[worst])
        return Record(costs, whole, run, suffered, player.entries)

    def hindsight(self, *records: Record) -> Best:
        """The best fixed decision of games on the same costs."""
        costs = records[0].costs
        seen = [w for record in records for w in record.sample()]
        d = records[0].run.plays.shape[1]
        best = best_fixed(costs, self.domain, d, self.penalty, self.constraints, seen)
        for record in records:
            record.refuse_unsound(best.w)
        return best

    def ledger(self, record: Record, best: Best) -> Ledger:
        """What the game cost against a fixed decision."""
        run, player = record.run, self.player
        if player.entries != record.entry:
            raise ValueError(
                f"{player.name} has begun another game since, and its bound is of that one: "
                "ask for a ledger before, or let another player play"
            )
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
        check_user_penalty(d, self.penalty, self.domain, *self.constraints)
        self.player.enter(
            self.domain, d, penalty=self.penalty, constraints=self.constraints, seed=self.seed
        )
        self._refuse_outside(1, self.player.w, "starts")
        if self.constraints:
            refuse_empty(self.domain, self.constraints, d)

    def _refuse_outside(self, t: int, w: Array, plays: str) -> None:
        name, d = self.player.name, self.player.d
        if w.shape != (d,):
            raise GameError(t, f"{name} plays weights of shape {w.shape}, not ({d},)")
        size = float(np.abs(w).max())
        if not math.isfinite(size):
            raise GameError(t, f"{name} plays weights that are not finite")
        inside = w.astype(np.float64)
        enter(self.domain, inside)
        away = float(np.abs(inside - w).max())
        if not away <= _OUTSIDE * (1.0 + size):
            raise GameError(
                t,
                f"{name} {plays} outside of the domain, {away:.3g} away from it; "
                "play points of the domain",
            )


def rounds_of(stream: Any) -> Iterable[Any]:
    """A stream's rounds: the rows of a DataFrame, which by itself yields the columns' names.

    Examples
    --------
    >>> rounds_of(3)
    Traceback (most recent call last):
    ...
    TypeError: a game needs a stream of costs, one a round, not int
    """
    if hasattr(stream, "to_numpy"):
        rows: Array = stream.to_numpy()
        return rows
    if not isinstance(stream, Iterable):
        raise TypeError(f"a game needs a stream of costs, one a round, not {told(stream)}")
    return stream


def _cost(t: int, shown: Any) -> Cost:
    try:
        return as_cost(shown)
    except (TypeError, ValueError) as error:
        raise GameError(t, str(error)) from None


def _values(t: int, cost: Cost, points: Array) -> Array:
    """f_t at the points that a bandit asks for."""
    try:
        values = np.array([cost.value(v) for v in np.atleast_2d(points)])
    except Undefined as error:
        raise GameError(t, str(error)) from None
    _refuse(t, cost, values.sum())
    return values


def _suffered(whole: Total, costs: Sequence[Cost], plays: Array) -> Array:
    """f_t(w_t) of each round."""
    try:
        return whole.values(plays)
    except Undefined:  # it is the sum that was asked: ask for the round
        each = enumerate(zip(costs, plays, strict=True), 1)
        return np.array([_values(t, cost, w)[0] for t, (cost, w) in each])


def _refuse(t: int, cost: Cost, loss: float) -> None:
    if not math.isfinite(loss):
        ruin = f": {RUIN}" if isinstance(cost, Growth) else ", which is no finite number"
        raise GameError(t, f"the cost of the decision is {loss}{ruin}")


def _sums(losses: Array) -> Array:
    """Sums up to each round; with more digits on the way, where the machine has them."""
    return np.cumsum(losses, dtype=np.longdouble).astype(np.float64)
