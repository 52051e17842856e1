"""Games: rounds of a player over a domain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.vertices import enter
from stepless.games.costs import Cost, CostSum, Growth, NoGradient, UndefinedCost, as_cost, total
from stepless.games.costs.conversion import UserCost
from stepless.games.costs.growth import RUIN
from stepless.games.errors import GameError
from stepless.games.hindsight import Best, best_fixed, refuse_empty
from stepless.games.hindsight.problem import penalty_value
from stepless.games.ledger import Ledger
from stepless.games.players import PLAYERS, Player, Run
from stepless.games.players.refusals import described, refuse_non_player
from stepless.objective import Domain, Regularizer
from stepless.user_terms import check_user_penalty, is_user_defined

_OUTSIDE = 1e-9  # relative: how far a decision may lie outside of the domain by rounding
_SAMPLE = 16  # decisions of a game from which the best is chosen if only values are shown
_COARSE = 1e-6  # relative: the rounding error that a user-defined cost may have


@dataclass(frozen=True)
class GameRecord:
    """The costs, decisions and losses of a game."""

    costs: Sequence[Cost]
    cost_sum: CostSum
    run: Run
    losses: Array
    game: int  # its number among the player's games

    def variations(self) -> Array:
        """‖∇f_t(w_{t−1}) − ∇f_{t−1}(w_{t−1})‖², f_0 = 0; NaN if there are only values."""
        W, f = self.run.plays, self.cost_sum
        try:
            here, before = f.gradients(W), f.gradients(np.vstack([W[:1], W[:-1]]))
        except NoGradient:
            return np.full(len(W), math.nan)
        change = before - np.vstack([np.zeros_like(W[:1]), here[:-1]])
        squares: Array = np.einsum("tj,tj->t", change, change)
        return squares

    def sample(self) -> Array:
        """Return a few decisions, evenly spaced in the game, and the mean of all."""
        plays = self.run.plays
        return np.vstack([plays[self._sampled_rounds()], plays.mean(axis=0)])

    def refuse_nonconvex(self, best: Array) -> None:
        """Refuse a user-defined cost that lies below one of its tangents, in a few rounds.

        Tangents are taken at the decision and at the best one: regret and gap rely on them.
        """
        for t in self._sampled_rounds():
            f, w = self.costs[t], self.run.plays[t]
            if not isinstance(f, UserCost) and not is_user_defined(getattr(f, "loss", f)):
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

    def _sampled_rounds(self) -> Array:
        rounds = len(self.run.plays)
        return np.linspace(0, rounds - 1, min(_SAMPLE, rounds)).astype(int)


class Game:
    """A game of a player over a domain.

    Parameters
    ----------
    player
        The player.
    domain
        The set of decisions.
    d
        Number of weights of a decision; by default, that of the first cost. If it is given, the
        player has its first decision before the stream is asked for a cost.
    penalty
        A fixed part of every round's cost, such as ``L1(0.1)``.
    constraints
        Sets in which decisions should lie in the long run: the ledger sums the violations.
    seed
        Seed of the player's random draws: the same seed gives the same game.

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
        refuse_non_player(player)
        if isinstance(constraints, Domain):  # which is a tuple, of numbers
            raise TypeError(f"constraints are a list: write [{constraints!r}]")
        constraints = tuple(constraints)
        for given in (domain, *constraints):
            if not isinstance(given, Domain):
                raise TypeError(f"a domain is an object such as Simplex(), not {described(given)}")
        for constraint in constraints:
            if not constraint.offers("excess"):
                raise ValueError(
                    f"a constraint needs `excess`, which {type(constraint).__name__} lacks: "
                    "use it as the domain"
                )
        self.player, self.domain, self.d = player, domain, d
        self.penalty, self.constraints, self.seed = penalty, constraints, seed

    def run(self, stream: Iterable[object], best: Best | None = None) -> Ledger:
        """Play all rounds of a stream of costs, and return the ledger.

        Parameters
        ----------
        stream
            One cost per round, or what `as_cost` converts to one; the rows of a DataFrame.
        best
            The best fixed decision, if it is known already.
        """
        if not isinstance(best, Best | None):
            raise TypeError(f"best must be a Best, from `hindsight`, not {described(best)}")
        with single_threaded_blas():  # a round's matrices are too small for threads
            record = self.play(stream)
            return self.ledger(record, self.hindsight(record) if best is None else best)

    def play(self, stream: Iterable[object]) -> GameRecord:
        """Play all rounds, and record them."""
        costs: list[Cost] = []
        plays: list[Array] = []
        points: list[Array] = []  # of players that are not built in
        gradients: list[Array] = []
        losses: list[float] = []
        player = self.player
        values_only = player.feedback == "values"
        # Tests check that built-in players replace w and stay inside; others may write into it.
        built_in = type(player) in PLAYERS.values()
        for t, cost in self._rounds(stream):
            w = player.play()
            if not built_in:
                w = np.array(w)
                points.append(w)
            costs.append(cost)
            if values_only:
                values = _values(t, cost, w)
                plays.append(player.w if built_in else player.w.copy())
                losses.append(player.suffer(values))
                player.observe(values)
            else:
                plays.append(w)
                player.observe(cost)
            gradients.append(player.g if built_in else player.g.copy())
        if not costs:
            raise ValueError("a game needs a round: the stream is empty")
        for t, (w, asked) in enumerate(zip(plays, points, strict=False), 1):
            for v in (w, *np.atleast_2d(asked)):
                self._refuse_outside(t, v, "plays")
        cost_sum, run = total(costs), Run(np.array(plays), np.array(gradients))
        suffered = np.array(losses) if values_only else _suffered(cost_sum, costs, run.plays)
        if self.penalty is not None:
            suffered += np.array([penalty_value(self.penalty, w) for w in run.plays])
        worst = int(np.argmin(np.isfinite(suffered)))
        _refuse(worst + 1, costs[worst], suffered[worst])
        return GameRecord(costs, cost_sum, run, suffered, player.games_begun)

    def hindsight(self, *records: GameRecord) -> Best:
        """Return the best fixed decision of games on the same costs."""
        costs, d = records[0].costs, records[0].run.plays.shape[1]
        seen = [w for record in records for w in record.sample()]
        best = best_fixed(costs, self.domain, d, self.penalty, self.constraints, seen)
        for record in records:
            record.refuse_nonconvex(best.w)
        return best

    def ledger(self, record: GameRecord, best: Best) -> Ledger:
        """Compare a game with a fixed decision."""
        run, player = record.run, self.player
        if player.games_begun != record.game:
            raise ValueError(
                f"{player.name} has begun another game since, and can bound that one only: "
                "ask for the ledger before, or use another player"
            )
        violation = np.array([[c.excess(w) for c in self.constraints] for w in run.plays])
        return Ledger(
            player=player.name,
            loss=_sums(record.losses),
            regret=_sums(record.losses - best.losses),
            bound=player.bound(run, best.w),
            theorem=player.theorem,
            expected=player.expected,
            variation=np.cumsum(record.variations()),
            plays=run.plays,
            best=best.w,
            gap=best.gap,
            violation=np.cumsum(violation, axis=0),
        )

    def _rounds(self, stream: Iterable[object]) -> Iterator[tuple[int, Cost]]:
        """Yield the number and the cost of each round; the player enters before the first."""
        d = self.d
        if d is not None:  # an opponent may want to see the first decision
            self._enter(d)
        for t, f in enumerate(rounds_of(stream), 1):
            try:
                cost = as_cost(f)
            except (TypeError, ValueError) as error:
                raise GameError(t, str(error)) from None
            if d is None:
                if cost.d is None:
                    raise ValueError(
                        "the costs do not say how many weights a decision has: give Game d="
                    )
                d = cost.d
                self._enter(d)
            if cost.d is not None and cost.d != d:
                raise GameError(t, f"the cost is one of {cost.d} weights, but the game has {d}")
            yield t, cost

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


def rounds_of(stream: object) -> Iterable[object]:
    """Return a stream's rounds: for a DataFrame, whose iterator yields column names, its rows."""
    if hasattr(stream, "to_numpy"):
        rows: Array = stream.to_numpy()
        return rows
    if not isinstance(stream, Iterable):
        raise TypeError(f"a game needs a stream of costs, one per round, not {described(stream)}")
    return stream


def _values(t: int, cost: Cost, points: Array) -> Array:
    """Return f_t at the points of a bandit."""
    try:
        values = np.array([cost.value(v) for v in np.atleast_2d(points)])
    except UndefinedCost as error:
        raise GameError(t, str(error)) from None
    _refuse(t, cost, values.sum())
    return values


def _suffered(cost_sum: CostSum, costs: Sequence[Cost], plays: Array) -> Array:
    """f_t(w_t) of each round."""
    try:
        return cost_sum.values(plays)
    except UndefinedCost:  # the sum does not know in which round
        each = enumerate(zip(costs, plays, strict=True), 1)
        return np.array([_values(t, cost, w)[0] for t, (cost, w) in each])


def _refuse(t: int, cost: Cost, loss: float) -> None:
    if not math.isfinite(loss):
        ruin = f": {RUIN}" if isinstance(cost, Growth) else ", which is not finite"
        raise GameError(t, f"the cost of the decision is {loss}{ruin}")


def _sums(losses: Array) -> Array:
    """Sums up to each round, in extended precision if the machine has it."""
    return np.cumsum(losses, dtype=np.longdouble).astype(np.float64)
