"""Backtests of `stepless game`: players hold portfolios, and their wealth is compared."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.cli.file_format import comma_separated
from stepless.games import Comparison, Growth, compare_players, growths, wealth
from stepless.games.compare import in_columns
from stepless.games.players import ALIASES, PLAYERS
from stepless.objective import Simplex
from stepless.report.atomic import write_atomically
from stepless.report.text import counted, percent_up
from stepless.visible import visible

_HEAVIEST = 5  # assets that are named
_TRACE = 5e-4  # smaller shares would be shown as 0


class Backtest(NamedTuple):
    """Players' games on price relatives, the wealth that each led to, and the best portfolio's."""

    names: list[str]
    relatives: Array
    cost: float
    compared: Comparison
    wealth: dict[str, Array]
    best: Array

    def in_words(self) -> str:
        """Return a table, and what is certain of the best portfolio in hindsight."""
        best = self.compared.best
        order = np.argsort(-best.w, kind="stable")[:_HEAVIEST]
        held = ", ".join(
            f"{visible(self.names[j])} {100.0 * best.w[j]:.1f} %"
            for j in order
            if best.w[j] > _TRACE
        )
        size = f"{counted(len(self.relatives), 'day')}, {counted(len(self.names), 'asset')}"
        if self.cost > 0.0:
            size += f", {100.0 * self.cost:g} % of all bought and sold for trading (not in regret)"
        return "\n".join(
            [
                f"{size}. A unit of wealth becomes:",
                "",
                *in_columns(self._rows(), left=(0,)),
                "",
                f"The best portfolio of constant weights, all days known: {held}.",
                f"Without costs a unit becomes {math.exp(-math.fsum(best.losses)):.9g}, "
                f"and in no other more than {percent_up(math.expm1(best.gap))} above that.",
            ]
        )

    def _rows(self) -> list[tuple[str, ...]]:
        first = ("player", "wealth", "per day", "regret", "bound", "seconds")
        rows = [
            (
                player,
                f"{self.wealth[player][-1]:.6g}",
                _daily(self.wealth[player]),
                _fixed(ledger.regret[-1]),
                _fixed(ledger.bound[-1]) if math.isfinite(ledger.bound[-1]) else "none",
                f"{self.compared.seconds[player]:.2f}",
            )
            for player, ledger in self.compared.items()
        ]
        last = ("best in hindsight", f"{self.best[-1]:.6g}", _daily(self.best), "", "", "")
        return [first, *rows, last]

    def as_dict(self) -> dict[str, Any]:
        """Return the same for JSON."""
        best = self.compared.best
        return {
            "days": len(self.relatives),
            "assets": self.names,
            "cost": self.cost,
            "players": {
                player: {
                    "wealth": float(self.wealth[player][-1]),
                    "loss": float(ledger.loss[-1]),
                    "regret": float(ledger.regret[-1]),
                    "bound": float(ledger.bound[-1]),
                    "theorem": ledger.theorem,
                    "seconds": self.compared.seconds[player],
                }
                for player, ledger in self.compared.items()
            },
            "best": {
                "wealth": float(self.best[-1]),
                "loss": math.fsum(best.losses),
                "gap": best.gap,
                "weights": dict(zip(self.names, best.w.tolist(), strict=True)),
            },
        }


def player_names(listed: str) -> tuple[str, ...]:
    """Return the players in a list separated by commas; ValueError if one holds no portfolio."""
    players = comma_separated(listed)
    unable = {name: need for name in PLAYERS if (need := _unmet_need(name))}
    if not players:
        able = [name for name in (*ALIASES, *PLAYERS) if name not in unable]
        raise ValueError(f"--players needs a name: {', '.join(able)}")
    for name in players:
        if name in unable:
            raise ValueError(f"{name} holds no portfolio: it needs {unable[name]}")
        if players.count(name) > 1:
            raise ValueError(f"--players has {name} twice: name it once")
    return players


def _unmet_need(name: str) -> str:
    """Return what a player needs beyond prices, in words; nothing if it can hold a portfolio."""
    kind = PLAYERS[name]
    if not issubclass(Growth, kind.cost_class):
        return f"costs of class {kind.cost_class.__name__}"
    return "constraints" if kind.needs_constraints else ""


def run_backtest(
    names: list[str], relatives: Array, players: tuple[str, ...], cost: float
) -> Backtest:
    """Let the players play, and compute the wealth of each."""
    compared = compare_players(growths(relatives, names), players, Simplex(1.0))
    ends = {name: wealth(ledger.plays, relatives, cost) for name, ledger in compared.items()}
    best = np.broadcast_to(compared.best.w, relatives.shape)
    return Backtest(names, relatives, cost, compared, ends, wealth(best, relatives, cost))


def draw(backtest: Backtest, path: Path) -> None:
    """Draw the wealth of all players over the days; the file is written whole or not at all."""
    kind = picture_format(path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("--plot needs matplotlib: pip install 'stepless[plot]'") from None
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.subplots()
    day = np.arange(1, len(backtest.relatives) + 1)
    for player, path_ in backtest.wealth.items():
        axes.plot(day, path_, label=player)
    axes.plot(day, backtest.best, color="black", linestyle="--", label="best in hindsight")
    axes.set(xlabel="day", ylabel="wealth", yscale="log")
    axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format=kind, dpi=150)
    write_atomically(path, picture.getvalue())


def picture_format(path: Path) -> str:
    """Return the format that a file's name asks for; ValueError if it is none that can be drawn."""
    kind = path.suffix.lower().lstrip(".") or "png"
    if kind not in ("png", "pdf", "svg"):
        raise ValueError(f"{path}: a picture is a .png, .pdf or .svg file")
    return kind


def _daily(wealth: Array) -> str:
    return f"{_fixed(100.0 * math.expm1(math.log(wealth[-1]) / len(wealth)), '+')} %"


def _fixed(value: float, sign: str = "") -> str:
    """Return four digits after the point, without a sign if all are 0."""
    text = f"{value:{sign}.4f}"
    return text.lstrip("+-") if float(text) == 0.0 else text
