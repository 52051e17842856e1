"""The program `stepless` and its commands.

Only typer is imported here: a command imports what it needs when it runs.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from stepless.cli.demo import demo
from stepless.cli.errors import ExitCode, print_message
from stepless.cli.fit import fit
from stepless.cli.game import game
from stepless.cli.info import info
from stepless.cli.interrupts import end_by_interrupt, ignore_interrupts
from stepless.cli.pack import pack
from stepless.cli.predict import predict
from stepless.cli.score import score
from stepless.cli.standard_files import prepare_standard_files
from stepless.cli.verify import verify
from stepless.cli.warm import warm

app = typer.Typer(
    name="stepless",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 bad input or a claim that does not hold, 2 wrong usage, "
    "3 stopped before the gap was met, 130 interrupted.",
)
for command in (fit, pack, predict, score, verify, info, game, demo, warm):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        import stepless

        typer.echo(f"stepless {stepless.__version__}")
        raise typer.Exit


@app.callback()
def stepless(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train linear models with no step size to choose and a certificate on every fit."""


def main() -> None:
    """Run the program."""
    prepare_standard_files()
    end_by_interrupt()
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except SystemExit as ended:  # outside of a command, typer turns an interrupt into an exit
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            print_message("interrupted")
        raise
    except OSError as error:  # commands report theirs; this one is of help that cannot be written
        print_message(f"/dev/stdout: {error.strerror}")
        sys.exit(ExitCode.BAD_INPUT)
    finally:
        ignore_interrupts()
