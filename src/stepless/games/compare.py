"""Comparison of several players on the same costs."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from stepless.compiled.blas import single_threaded_blas
from stepless.games.game import Game, rounds_of
from stepless.games.hindsight import Best
from stepless.games.ledger import Ledger
from stepless.games.players import ALIASES, PLAYERS, Player
from stepless.games.players.refusals import refuse_non_player
from stepless.objective import Domain, Regularizer
from stepless.registry import UnknownName

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Mapping[str, Ledger]):
    """The ledgers of several players on the same costs, by the players' names.

    Attributes
    ----------
    ledgers
        The ledger of each player, in the order given.
    seconds
        The playing time of each.
    best
        The best fixed decision, with which all are compared.
    """

    ledgers: dict[str, Ledger]
    seconds: dict[str, float]
    best: Best

    def __getitem__(self, name: str) -> Ledger:
        return self.ledgers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.ledgers)

    def __len__(self) -> int:
        return len(self.ledgers)

    def __repr__(self) -> str:
        rows: list[tuple[str, ...]] = [("player", "loss", "regret", "bound", "seconds", "theorem")]
        for name, ledger in self.ledgers.items():
            ends = (ledger.loss[-1], ledger.regret[-1], ledger.bound[-1], self.seconds[name])
            rows.append((name, *(_number(end) for end in ends), ledger.theorem))
        optimum = math.fsum(self.best.losses)
        rows.append(("best fixed", _number(optimum), f"≥ {_number(-self.best.gap)}", "", "", ""))
        return "\n".join(in_columns(rows, left=(0, 5)))

    def to_frame(self) -> DataFrame:
        """Return one row per player as a pandas DataFrame; needs pandas."""
        from pandas import DataFrame, Index

        columns = {
            name: [getattr(ledger, name)[-1] for ledger in self.ledgers.values()]
            for name in ("loss", "regret", "bound")
        }
        columns["seconds"] = list(self.seconds.values())
        return DataFrame(columns, index=Index(list(self.ledgers), name="player"))

    def plot(self, axes: Axes | None = None, bounds: bool = False) -> Axes:
        """Draw all regrets, and bounds if asked; needs matplotlib (``stepless[plot]``)."""
        for ledger in self.ledgers.values():
            axes = ledger.plot(axes, bounds)
        assert axes is not None
        return axes


def compare_players(
    stream: Iterable[object],
    players: Sequence[str | Player],
    domain: Domain,
    *,
    d: int | None = None,
    penalty: Regularizer | None = None,
    constraints: Sequence[Domain] = (),
    seed: int = 0,
) -> Comparison:
    """Let each player play the same costs, and compare all with the same best fixed decision.

    Parameters
    ----------
    stream
        One cost per round, or what `as_cost` converts to one; the rows of a DataFrame.
    players
        Names, as in `PLAYERS` and `ALIASES`, or players.
    domain, d, penalty, constraints, seed
        As those of `Game`.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless import L2Ball
    >>> costs = np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1))
    >>> compared = compare_players(costs, ["ogd"], L2Ball(1.0))
    >>> compared["ogd"].holds, bool(compared["ogd"].regret[-1] > 0.0)
    (True, True)
    """
    named = _by_name(players)
    costs = list(rounds_of(stream))
    games, records, seconds = {}, {}, {}
    with single_threaded_blas():  # a round's matrices are too small for threads
        for name, player in named.items():
            game = Game(player, domain, d=d, penalty=penalty, constraints=constraints, seed=seed)
            game.play(costs[:1])  # loops are compiled before the clock starts
            began = perf_counter()
            games[name], records[name] = game, game.play(costs)
            seconds[name] = perf_counter() - began
        best = next(iter(games.values())).hindsight(*records.values())
        ledgers = {name: game.ledger(records[name], best) for name, game in games.items()}
    return Comparison(ledgers, seconds, best)


def in_columns(rows: Sequence[Sequence[str]], left: tuple[int, ...]) -> list[str]:
    """Lay out rows of cells as lines, these columns aligned to the left, the others to the right.

    Examples
    --------
    >>> in_columns([("player", "loss"), ("ogd", "2")], left=(0,))
    ['player  loss', 'ogd        2']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _by_name(players: Sequence[str | Player]) -> dict[str, Player]:
    """Return players by name; those of the same name by their parameters, too."""
    if isinstance(players, str):
        players = [players]
    if not players:
        raise ValueError(f"name a player: {', '.join(PLAYERS)}")
    for player in players:
        if not isinstance(player, str):
            refuse_non_player(player)
    names = [player if isinstance(player, str) else player.name for player in players]
    named: dict[str, Player] = {}
    for name, given in zip(names, players, strict=True):
        player = _player_of(given) if isinstance(given, str) else given
        label = name if names.count(name) == 1 else repr(player)
        if label in named:
            raise ValueError(f"{label} is named twice: give one of the two other parameters")
        named[label] = player
    return named


def _player_of(name: str) -> Player:
    known = [*ALIASES, *PLAYERS]
    if name in known:
        return PLAYERS[ALIASES.get(name, name)]()
    if difflib.get_close_matches(name.lower(), known):
        raise UnknownName("player", name, known)
    raise ValueError(f"there is no player {name!r}: choose one of {', '.join(known)}")


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ("∞" if value > 0.0 else "−∞")
