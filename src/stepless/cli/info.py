"""`stepless info`: what a model file says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.sentences import sentences


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    json: Annotated[
        bool, typer.Option("--json", help="Write one JSON document, with all events of the run.")
    ] = False,
) -> None:
    """Tell what MODEL is, how it was fitted, and how far from the best possible it is."""
    with sentences():
        from stepless.cli.heaviest import heaviest
        from stepless.report import Summary, describe, load_model, read_header
        from stepless.report.strict_json import strict_json

        summary, header = Summary.of(load_model(model)), read_header(model)
        if json:
            file = {"model": str(model)} | {
                key: header.get(key) for key in ("format", "stepless", "about", "trace")
            }
            typer.echo(strict_json(file | summary.as_dict(), indent=2))
        else:
            source = header["about"].get("data")
            made = f"by stepless {header['stepless']}" + (f" from {source}" if source else "")
            typer.echo(describe(summary, {"made": made} | heaviest(model)))
