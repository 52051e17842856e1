"""Online convex games: how regret grows, what portfolios earn, how long a round takes.

Three streams of linear costs in the unit ball of 10 weights, at several lengths T:

gradual
    Nothing for T/2 rounds, one direction for √T rounds, nothing again: the variation is 2 at every
    T. It is the first construction of MAH Th. 5.1, late, when anytime steps have become short.
adversarial
    At right angles to the decision, on the side of the sum so far: nobody can lose less than √T.
i.i.d.
    Normal noise around a small mean.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import present, prices
from benchmarks.tables import table, timed
from stepless import L2Ball, Simplex
from stepless.games import PLAYERS, Game, Growth, Player, compare_players
from stepless.games.portfolio import relatives, wealth

D = 10
LENGTHS = (1_000, 3_162, 10_000, 31_623, 100_000)
IN_A_BALL = ("ogd", "ftrl", "iftrl", "mirror-prox", "adagrad", "proximal")
INVESTORS = ("constant", "eg", "ons", "mirror-prox", "adagrad")
FIRST_ORDER = ("ogd", "ftrl", "omd", "eg", "mirror-prox", "adagrad", "proximal", "adaptive")
SETS = ("nyse_o", "djia", "sp500")

Stream = Callable[[Player, int], Iterator[NDArray]]


def gradual(player: Player, T: int) -> Iterator[NDArray]:
    """Yield a push of √T rounds, after T/2 without any."""
    push, none = np.eye(D)[0], np.zeros(D)
    for t in range(T):
        yield push if 0 <= t - T // 2 < math.isqrt(T) else none


def adversarial(player: Player, T: int) -> Iterator[NDArray]:
    """Yield what the player is not prepared for."""
    sum_, w = np.zeros(D), np.zeros(D)
    for t in range(T):
        if t > 0:
            w = player.play()
        c = sum_ - (sum_ @ w) / max(w @ w, 1e-300) * w
        if not c @ c > 1e-12:
            c = np.eye(D)[0] if abs(w[0]) < 0.5 * np.linalg.norm(w) else np.eye(D)[1]
            c = c - (c @ w) / max(w @ w, 1e-300) * w
        c = c / np.linalg.norm(c)
        sum_ += c
        yield c


def iid(player: Player, T: int) -> Iterator[NDArray]:
    """Yield noise around a mean."""
    mean = 0.1 * np.eye(D)[0]
    yield from mean + np.random.default_rng(T).normal(size=(T, D)) / math.sqrt(D)


STREAMS: dict[str, Stream] = {"gradual": gradual, "adversarial": adversarial, "i.i.d.": iid}


def slope(lengths: NDArray, values: NDArray) -> float:
    """The slope of log value over log length, of what is at least 0.01."""
    return float(np.polyfit(np.log(lengths), np.log(np.maximum(values, 0.01)), 1)[0])


def curves(lengths: tuple[int, ...]) -> None:
    """Regret and bound at each length, and the slopes of both."""
    for name, stream in STREAMS.items():
        print(f"{name}: regret (bound) after T rounds; log-log slopes\n")
        rows = []
        for who in IN_A_BALL:
            ledgers = []
            for T in lengths:
                player = PLAYERS[who]()
                ledgers.append(Game(player, L2Ball(1.0)).run(stream(player, T)))
            regrets = np.array([ledger.regret[-1] for ledger in ledgers])
            bounds = np.array([ledger.bound[-1] for ledger in ledgers])
            assert all(ledger.holds for ledger in ledgers)
            cells = [f"{r:.3g} ({b:.3g})" for r, b in zip(regrets, bounds, strict=True)]
            slopes = slope(np.array(lengths), regrets), slope(np.array(lengths), bounds)
            rows.append((who, *cells, f"{slopes[0]:.2f} ({slopes[1]:.2f})"))
        table(("player", *(f"T = {T}" for T in lengths), "slope"), rows)


def portfolios() -> None:
    """Final wealth and regret on daily prices, beside the best constant-rebalanced portfolio."""
    for name in SETS:
        if not present(f"portfolio-{name}"):
            continue
        R = relatives(prices(name))
        found = compare_players(map(Growth, R), INVESTORS, Simplex())
        rows = [
            (
                who,
                float(wealth(ledger.plays, R)[-1]),
                float(ledger.regret[-1]),
                float(ledger.bound[-1]),
            )
            for who, ledger in found.ledgers.items()
        ]
        ledger = next(iter(found.ledgers.values()))
        best = np.tile(ledger.best, (len(R), 1))
        rows.append(
            (f"best in hindsight (gap {ledger.gap:.1e})", float(wealth(best, R)[-1]), 0.0, 0.0)
        )
        print(f"{name}: {R.shape[0]} days, {R.shape[1]} assets\n")
        table(("player", "wealth", "regret", "bound"), rows)


def speed() -> None:
    """Seconds of a whole game of 30 assets, hindsight included."""
    R = np.exp(0.01 * np.random.default_rng(0).normal(size=(100_000, 30)))
    rows = []
    for who in (*FIRST_ORDER, "ons"):
        T = 10_000 if who == "ons" else 100_000
        Game(PLAYERS[who](), Simplex()).run(map(Growth, R[:20]))
        took, _ = timed(
            lambda who=who, T=T: Game(PLAYERS[who](), Simplex()).run(map(Growth, R[:T]))
        )
        rows.append((who, T, took, 1e6 * took / T))
    table(("player", "rounds", "seconds", "µs a round"), rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="lengths up to 10 000 only")
    parser.add_argument("--only", choices=("curves", "portfolios", "speed"))
    asked = parser.parse_args(arguments)
    if asked.only in (None, "curves"):
        curves(LENGTHS[:3] if asked.short else LENGTHS)
    if asked.only in (None, "portfolios"):
        portfolios()
    if asked.only in (None, "speed"):
        speed()


if __name__ == "__main__":
    main()
