"""What `stepless game` does: let players hold portfolios, and say what became of them."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.cli.form import names_of
from stepless.games import Comparison, Growth, compare_players, growths, wealth
from stepless.games.compare import in_columns
from stepless.games.players import ALIASES, PLAYERS
from stepless.objective import Simplex
from stepless.report.atomic import write_atomically
from stepless.report.text import counted, percent_up
from stepless.visible import visible

_HEAVIEST = 5  # assets that are named
_TRACE = 5e-4  # a share below is shown as 0


class Backtest(NamedTuple):
    """Players' games on price relatives, the wealth that each led to, and the best portfolio's."""

    names: list[str]
    relatives: Array
    cost: float
    compared: Comparison
    wealth: dict[str, Array]
    best: Array


def chosen(listed: str) -> tuple[str, ...]:
    """The players that are named, with commas between; ValueError where one holds no portfolio."""
    players = names_of(listed)
    unable = {name: need for name in PLAYERS if (need := _unmet_need(name))}
    if not players:
        able = [name for name in (*ALIASES, *PLAYERS) if name not in unable]
        raise ValueError(f"--players needs a name: {', '.join(able)}")
    for name in players:
        if name in unable:
            raise ValueError(f"{name} cannot hold a portfolio: it needs {unable[name]}")
        if players.count(name) > 1:
            raise ValueError(f"--players has {name} twice: name it once")
    return players


def _unmet_need(name: str) -> str:
    """Return what a player needs beyond prices, in words; nothing if it can hold a portfolio."""
    kind = PLAYERS[name]
    if not issubclass(Growth, kind.cost_class):
        return f"costs of class {kind.cost_class.__name__}"
    return "constraints" if kind.needs_constraints else ""


def run(names: list[str], relatives: Array, players: tuple[str, ...], cost: float) -> Backtest:
    """Play."""
    compared = compare_players(growths(relatives, names), players, Simplex(1.0))
    ends = {name: wealth(ledger.plays, relatives, cost) for name, ledger in compared.items()}
    best = np.broadcast_to(compared.best.w, relatives.shape)
    return Backtest(names, relatives, cost, compared, ends, wealth(best, relatives, cost))


def in_words(test: Backtest) -> str:
    """A table, and what is certain of the best portfolio in hindsight."""
    days, best = len(test.relatives), test.compared.best
    rows = [("player", "wealth", "a day", "regret", "bound", "seconds")]
    for player, ledger in test.compared.items():
        rows.append(
            (
                player,
                f"{test.wealth[player][-1]:.6g}",
                _daily(test.wealth[player]),
                _fixed(ledger.regret[-1]),
                _fixed(ledger.bound[-1]) if math.isfinite(ledger.bound[-1]) else "none",
                f"{test.compared.seconds[player]:.2f}",
            )
        )
    rows.append(("best in hindsight", f"{test.best[-1]:.6g}", _daily(test.best), "", "", ""))
    order = np.argsort(-best.w, kind="stable")[:_HEAVIEST]
    held = ", ".join(
        f"{visible(test.names[j])} {100.0 * best.w[j]:.1f} %" for j in order if best.w[j] > _TRACE
    )
    told = f"{counted(days, 'day')}, {counted(len(test.names), 'asset')}"
    if test.cost > 0.0:
        told += f", {100.0 * test.cost:g} % of all bought and sold for trading (not in regret)"
    return "\n".join(
        [
            f"{told}. A unit of wealth becomes:",
            "",
            *in_columns(rows, left=(0,)),
            "",
            f"The best portfolio of constant weights, all days known: {held}.",
            f"Without costs a unit becomes {math.exp(-math.fsum(best.losses)):.9g}, "
            f"and in no other more than {percent_up(math.expm1(best.gap))} above that.",
        ]
    )


def as_dict(test: Backtest) -> dict[str, Any]:
    """The same for a machine."""
    best = test.compared.best
    return {
        "days": len(test.relatives),
        "assets": test.names,
        "cost": test.cost,
        "players": {
            player: {
                "wealth": float(test.wealth[player][-1]),
                "loss": float(ledger.loss[-1]),
                "regret": float(ledger.regret[-1]),
                "bound": float(ledger.bound[-1]),
                "theorem": ledger.theorem,
                "seconds": test.compared.seconds[player],
            }
            for player, ledger in test.compared.items()
        },
        "best": {
            "wealth": float(test.best[-1]),
            "loss": math.fsum(best.losses),
            "gap": best.gap,
            "weights": dict(zip(test.names, best.w.tolist(), strict=True)),
        },
    }


def draw(test: Backtest, path: Path) -> None:
    """Draw the wealth of all players over the days, whole or not at all."""
    kind = picture_kind(path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("--plot needs matplotlib: pip install 'stepless[plot]'") from None
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.subplots()
    day = np.arange(1, len(test.relatives) + 1)
    for player, path_ in test.wealth.items():
        axes.plot(day, path_, label=player)
    axes.plot(day, test.best, color="black", linestyle="--", label="best in hindsight")
    axes.set(xlabel="day", ylabel="wealth", yscale="log")
    axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format=kind, dpi=150)
    write_atomically(path, picture.getvalue())


def picture_kind(path: Path) -> str:
    """Tell the format by a file's name; ValueError where no picture of such a name can be drawn."""
    kind = path.suffix.lower().lstrip(".") or "png"
    if kind not in ("png", "pdf", "svg"):
        raise ValueError(f"{path}: a picture is a .png, .pdf or .svg file")
    return kind


def _daily(wealth: Array) -> str:
    """Mean growth a day."""
    return f"{_fixed(100.0 * math.expm1(math.log(wealth[-1]) / len(wealth)), '+')} %"


def _fixed(value: float, sign: str = "") -> str:
    """Four digits after the point, with no sign where all are 0."""
    told = f"{value:{sign}.4f}"
    return told.lstrip("+-") if float(told) == 0.0 else told
