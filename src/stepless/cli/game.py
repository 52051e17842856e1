"""`stepless game`: compare players of online convex games on prices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stepless.cli.errors import errors_as_messages
from stepless.cli.options import STDOUT, argument, grouped, json_option, option, output_path


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """The options of `stepless game`."""

    prices: Path = argument(
        "PRICES",
        "CSV, one row per day and one column per asset, with a header; plain or in gz, bz2 or "
        "xz; - for standard input. A first column of dates, or without a name, is left out.",
    )
    players: str = option(
        "uniform,eg,ons,mirror-prox,adagrad", "The players, separated by commas.", "NAMES"
    )
    relatives: bool = option(
        False,
        "The table holds price relatives, today's price divided by yesterday's.",
        None,
        "--relatives",
    )
    cost: float = option(
        0.0,
        "The cost of trading, as a share of all bought and sold, from 0 to below 1.",
        "SHARE",
        min=0.0,
    )
    plot: Path | None = option(
        None,
        "Draw the wealth of all players: a .png, .pdf or .svg file.",
        "FILE",
        parser=output_path,
    )
    json: bool = json_option()


@grouped
def game(options: GameOptions) -> None:
    """Let players of online convex games hold portfolios, and compare what they end with.

    Each chooses a day's weights before its prices are known. Regret is the logarithm of the
    wealth that the best portfolio of constant weights, chosen in hindsight, would have had over
    theirs; the bound is what the player's theorem allows on this very run.
    """
    with errors_as_messages():
        from stepless.cli.backtest import draw, picture_format, player_names, run_backtest
        from stepless.cli.outputs import is_stdout, refuse_outputs, write_text
        from stepless.cli.prices import read_prices
        from stepless.data import DataError
        from stepless.report.strict_json import strict_json
        from stepless.visible import visible

        prices, plot, cost = options.prices, options.plot, options.cost
        if plot is not None:
            picture_format(plot)  # before the work
        outputs = {"--plot": plot, "--json": STDOUT if options.json else None}
        refuse_outputs(outputs, {"PRICES": prices})
        players = player_names(options.players)
        if not cost < 1.0:
            raise ValueError(f"--cost is a share from 0 to below 1, not {cost:g}")
        read = read_prices(prices)
        if not options.relatives and len(read.table) < 2:
            raise DataError(f"{prices}: prices of at least two days are needed, not of one")
        relatives = read.table if options.relatives else read.relatives()
        backtest = run_backtest(read.names, relatives, players, cost)
        if plot is not None:
            draw(backtest, plot)
        if options.json:
            facts = {"data": str(prices), "left_out": read.dates}
            write_text(strict_json(facts | backtest.as_dict(), indent=2))
        else:
            dates = visible(read.dates or "without a name")
            left_out = [] if read.dates is None else [f"The first column, {dates}, is left out."]
            drawn = [] if plot is None else [f"The picture is in {plot}."]
            text = "\n".join([*left_out, backtest.in_words(), *drawn])
            write_text(text, to_stderr=is_stdout(plot))
