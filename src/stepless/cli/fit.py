"""`stepless fit`: from a data file to a model file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.sentences import ExitCode, say, sentences


class Task(StrEnum):
    """What is predicted."""

    auto = "auto"
    classify = "classify"
    regress = "regress"


def fit(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="LIBSVM (svmlight) text, plain or in gz, bz2 or xz."),
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where the model goes.")
    ],
    test: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="A second file, to score the model on."),
    ] = None,
    task: Annotated[
        Task,
        typer.Option(
            metavar="NAME",
            help="auto (what the loss is for), classify or regress.",
            rich_help_panel="Problem",
        ),
    ] = Task.auto,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Classes: hinge, squared_hinge, smoothed_hinge(γ), logistic. Numbers: squared, "
            "absolute, huber(δ), epsilon_insensitive(ε), quantile(τ), poisson. "
            "By default hinge, or squared to regress.",
            rich_help_panel="Problem",
            show_default=False,
        ),
    ] = None,
    penalty: Annotated[
        str, typer.Option(metavar="NAME", help="l2 or none.", rich_help_panel="Problem")
    ] = "l2",
    alpha: Annotated[
        float, typer.Option(metavar="α", help="Strength of the penalty.", rich_help_panel="Problem")
    ] = 1e-4,
    domain: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="free, or ball(R) for weights no longer than R.",
            rich_help_panel="Problem",
        ),
    ] = "free",
    no_intercept: Annotated[
        bool,
        typer.Option("--no-intercept", help="Leave the intercept out.", rich_help_panel="Problem"),
    ] = False,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Weights of the examples, one a line.", rich_help_panel="Problem"
        ),
    ] = None,
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based",
            help="The file counts features from 0, not from 1.",
            rich_help_panel="Problem",
        ),
    ] = False,
    gap: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="SHARE",
            help="Stop when the objective is provably this close to the best possible, as a "
            "share of itself.",
            rich_help_panel="Run",
        ),
    ] = 1e-3,
    passes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Stop after so many passes over the data (1000 without any limit).",
            rich_help_panel="Run",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="S", help="Stop after so many seconds.", rich_help_panel="Run"
        ),
    ] = None,
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="auto, or a name such as proximal-bundle.", rich_help_panel="Run"
        ),
    ] = "auto",
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Seed of the order of examples.", rich_help_panel="Run"
        ),
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Threads; by default all cores.", rich_help_panel="Run"
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write one JSON document.", rich_help_panel="Output")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Write nothing but errors.", rich_help_panel="Output"),
    ] = False,
) -> None:
    """Fit a model to DATA and say how far it is from the best possible one.

    Exits with 3 if the run stopped before the gap was met; the model is written all the same.
    """
    with sentences():
        from stepless.cli.progress import live_line
        from stepless.cli.reading import refuse_overwriting
        from stepless.cli.training import build, read, remedy, train
        from stepless.report import Summary, describe, save_model, score_model
        from stepless.report.atomic import refuse_output
        from stepless.report.strict_json import strict_json

        model = build(
            task,
            loss,
            penalty=penalty,
            alpha=alpha,
            domain=domain,
            solver=solver,
            gap=gap,
            passes=passes,
            seconds=seconds,
            fit_intercept=not no_intercept,
            random_state=seed,
            n_jobs=jobs,
        )
        refuse_output(output)
        refuse_overwriting(output, data, test, weights)
        talk = not (json or quiet)
        with live_line(talk, f"reading {data}") as live:
            examples = read(model, data, test, weights, zero_based)
            train(model, examples, data, live, talk)
            score = None if examples.test is None else score_model(model, *examples.test)
        about = {"data": str(data), "zero_based": zero_based}
        save_model(model, output, about)
        summary = Summary.of(model, score)
        if json:
            files = {"data": str(data), "model": str(output)}
            typer.echo(strict_json(files | summary.as_dict(), indent=2))
        elif not quiet:
            typer.echo(describe(summary, {"model": f"written to {output}"}))
        if not summary.gap_met:
            say(remedy(summary))
            raise typer.Exit(ExitCode.GAP_NOT_MET)
