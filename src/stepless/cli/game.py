"""`stepless game`: which player would have lost least on these prices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.sentences import sentences


def game(
    prices: Annotated[
        Path,
        typer.Argument(
            metavar="PRICES",
            help="CSV, a row a day and a column an asset, with a header; plain or in gz, bz2 or "
            "xz; - for standard input. A first column of dates, or without a name, is left out.",
        ),
    ],
    players: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Who plays, with commas between."),
    ] = "uniform,eg,ons,mirror-prox,adagrad",
    relatives: Annotated[
        bool,
        typer.Option(
            "--relatives", help="The table holds price relatives, today's price by yesterday's."
        ),
    ] = False,
    cost: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="SHARE",
            help="What trading costs, of all bought and sold, from 0 to below 1.",
        ),
    ] = 0.0,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw everybody's wealth: a .png, .pdf or .svg file."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON document.")] = False,
) -> None:
    """Let players of online convex games hold portfolios, and compare what they end with.

    Each decides on a day's weights before its prices are known. Regret is the logarithm of the
    wealth that the best portfolio of constant weights, chosen in hindsight, would have had over
    theirs; the bound is what the player's theorem allows on this very run.
    """
    with sentences():
        from stepless.cli.backtest import as_dict, chosen, draw, in_words, picture_kind, run
        from stepless.cli.outputs import STDOUT, output_of, put, refuse_outputs, to_stdout
        from stepless.cli.prices import read_prices
        from stepless.data import DataError
        from stepless.report.strict_json import strict_json
        from stepless.visible import visible

        if plot is not None:
            plot = output_of(plot)
            picture_kind(plot)  # before the work
        refuse_outputs({"--plot": plot, "--json": STDOUT if json else None}, {"PRICES": prices})
        named = chosen(players)
        if not cost < 1.0:
            raise ValueError(f"--cost is a share from 0 to below 1, not {cost:g}")
        read = read_prices(prices)
        if not relatives and len(read.table) < 2:
            raise DataError(f"{prices}: prices of two days at least are needed, not of one")
        test = run(read.names, read.table if relatives else read.relatives(), named, cost)
        if plot is not None:
            draw(test, plot)
        if json:
            facts = {"data": str(prices), "left_out": read.dates}
            put(strict_json(facts | as_dict(test), indent=2))
        else:
            dates = visible(read.dates or "without a name")
            left_out = [] if read.dates is None else [f"The first column, {dates}, is left out."]
            drawn = [] if plot is None else [f"The picture is in {plot}."]
            put("\n".join([*left_out, in_words(test), *drawn]), err=to_stdout(plot))
