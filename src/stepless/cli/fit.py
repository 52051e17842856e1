"""`stepless fit`: from a data file to a model file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from stepless.cli.sentences import ExitCode, say, sentences


class Format(StrEnum):
    """How the examples are written."""

    auto = "auto"
    svmlight = "svmlight"
    csv = "csv"


class OnError(StrEnum):
    """What to do about a line that cannot be used."""

    stop = "stop"
    skip = "skip"


class Task(StrEnum):
    """What is predicted."""

    auto = "auto"
    classify = "classify"
    regress = "regress"
    rank = "rank"
    tag = "tag"


def _strength(text: Any) -> float | str:
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"α is a number or auto, not {text!r}.") from None


def _count_or_share(text: Any) -> float:
    try:
        return float(text) if "." in str(text) or "e" in str(text) else int(text)
    except ValueError:
        raise typer.BadParameter(f"k is a number, not {text!r}.") from None


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="LIBSVM (svmlight) text or CSV, or for --task tag words in columns; plain or in "
            "gz, bz2 or xz; - for standard input.",
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="Where the model goes; - for standard output.",
        ),
    ],
    test: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="A second file, to score the model on."),
    ] = None,
    task: Annotated[
        Task,
        typer.Option(
            metavar="NAME",
            help="auto (what the loss is for), classify, regress; rank, the lines of each qid; "
            "tag, words in columns, the last of them the tag, with an empty line after a "
            "sentence.",
            rich_help_panel="Problem",
        ),
    ] = Task.auto,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Classes: hinge, squared_hinge, smoothed_hinge(γ), logistic. Numbers: squared, "
            "absolute, huber(δ), epsilon_insensitive(ε), quantile(τ), poisson. "
            "By default hinge, or squared to regress. To rank: pairwise, ndcg, map, mrr. "
            "To tag: crf, hinge.",
            rich_help_panel="Problem",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="In place of a loss, what a model of two classes is to be good at: f1, fbeta(β), "
            "roc_auc, precision_at_k, recall_at_k, prbep. The greater label is the positive one.",
            rich_help_panel="Problem",
        ),
    ] = None,
    k: Annotated[
        Any,
        typer.Option(
            "--k",
            metavar="K",
            parser=_count_or_share,
            help="Of the metrics at k: how many examples, or which share of them. To rank: how "
            "many documents NDCG@k sees (by default 10).",
            rich_help_panel="Problem",
            show_default=False,
        ),
    ] = None,
    penalty: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="l2, l1, elasticnet(ρ), lp(p), entropy (w ≥ 0), hyperbolic(β), l1/l2 or l1/linf "
            "over the rows of a joint model, none.",
            rich_help_panel="Problem",
        ),
    ] = "l2",
    alpha: Annotated[
        Any,
        typer.Option(
            metavar="α",
            parser=_strength,
            help="Strength of the penalty, or auto: chosen from the data (l2 and lp).",
            rich_help_panel="Problem",
        ),
    ] = 1e-4,
    domain: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="free, ball(R), l1_ball(R), lp_ball(R,p), box(low,high), nonnegative, simplex(R).",
            rich_help_panel="Problem",
        ),
    ] = "free",
    multi_class: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Of more than two classes: ovr, each against the rest, or joint.",
            rich_help_panel="Problem",
        ),
    ] = "ovr",
    no_intercept: Annotated[
        bool,
        typer.Option("--no-intercept", help="Leave the intercept out.", rich_help_panel="Problem"),
    ] = False,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Weights of the examples (of sentences to tag), one a line.",
            rich_help_panel="Problem",
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
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Learn each example once, as it comes, in constant memory; so for DATA -.",
            rich_help_panel="Stream",
        ),
    ] = False,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="NAME",
            help="auto (by the file's name), svmlight or csv, a table with a header.",
            rich_help_panel="Stream",
        ),
    ] = Format.auto,
    bits: Annotated[
        int | None,
        typer.Option(
            "--hash",
            min=1,
            max=30,
            metavar="BITS",
            help="Hash features, by index or by name, into 2^BITS columns (by default 18).",
            rich_help_panel="Stream",
        ),
    ] = None,
    features: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Do not hash: features are numbered up to N.",
            rich_help_panel="Stream",
        ),
    ] = None,
    names: Annotated[
        bool,
        typer.Option(
            "--names",
            help="Remember the names of hashed features, for `stepless info`.",
            rich_help_panel="Stream",
        ),
    ] = False,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="All labels, with commas between; by default those of the first 1000 examples.",
            rich_help_panel="Stream",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of labels in a table.", rich_help_panel="Stream"
        ),
    ] = None,
    categorical: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns whose numbers are categories, with commas between.",
            rich_help_panel="Stream",
        ),
    ] = None,
    ignore: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns to leave out, with commas between.",
            rich_help_panel="Stream",
        ),
    ] = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            metavar="stop|skip",
            help="At a line that cannot be used: stop, and keep the model so far, or skip it.",
            rich_help_panel="Stream",
        ),
    ] = OnError.stop,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write what is predicted of each example before it is learned; the file appears "
            "with the model, at the end; - for standard output.",
            rich_help_panel="Stream",
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

    Exits with 3 if the run stopped before the gap was met, and with 130 if
    Ctrl-C or SIGTERM ended it; the model is written all the same. A second
    one writes nothing, unless this is a stream (DATA -, or --stream): that
    is learned in one pass, and each example scored before; there is no gap
    then.
    """
    with sentences():
        from stepless.cli.building import build
        from stepless.cli.outputs import (
            STDOUT,
            output_of,
            put,
            refuse_outputs,
            to_stdout,
            writing,
        )
        from stepless.cli.progress import live_line
        from stepless.cli.training import proven, read, remedy, train
        from stepless.cli.warming import compile_note
        from stepless.compile_time import COMPILED
        from stepless.estimators import LinearClassifier, LinearRegressor
        from stepless.report import Summary, describe, save_model, score_model
        from stepless.report.strict_json import strict_json

        model = build(
            task,
            loss,
            metric,
            k,
            penalty=penalty,
            alpha=alpha,
            domain=domain,
            multi_class=multi_class,
            solver=solver,
            gap=gap,
            passes=passes,
            seconds=seconds,
            fit_intercept=not no_intercept,
            random_state=seed,
            n_jobs=jobs,
        )
        refuse_outputs(
            {
                "--output": output,
                "--predictions": predictions,
                "--json": STDOUT if json else None,
            },
            {"DATA": data, "--test": test, "--weights": weights},
        )
        output = output_of(output)
        predictions = None if predictions is None else output_of(predictions)
        taken = to_stdout(output, predictions)
        written = f"the model is written to {output}"

        def about() -> dict[str, Any]:
            return {"data": str(data), "model": str(output), "compile_seconds": COMPILED.seconds}

        talk = not (json or quiet)
        streams = isinstance(model, LinearClassifier | LinearRegressor)
        if stream or (streams and str(data) == "-"):
            from stepless.cli.streaming import Options, learn

            if not streams:
                raise ValueError(
                    "a stream is for losses of single examples: give a file, without --stream"
                )
            if seconds is not None:
                raise ValueError("a stream ends where its data do: leave --seconds out")
            if weights is not None or (passes or 1) > 1:
                raise ValueError("a stream is passed over once, and has no --weights")
            if alpha == "auto":
                raise ValueError("--alpha auto must see all examples; give a number for a stream")
            how = Options(
                form,
                bits,
                features,
                zero_based,
                classes,
                on_error.value,
                names,
                predictions,
                target,
                categorical,
                ignore,
            )
            summary, tally = learn(model, data, how, output, test, talk)
            if json:
                facts = about() | summary.as_dict() | tally.as_dict()
                put(strict_json(facts, indent=2), done=written)
            elif not quiet:
                more = tally.in_words() | compile_note() | {"model": f"written to {output}"}
                put(describe(summary, more), err=taken, done=written)
            return
        for_streams = {
            "--format": form != Format.auto,
            "--hash": bits is not None,
            "--features": features is not None,
            "--names": names,
            "--classes": classes is not None,
            "--target": target is not None,
            "--categorical": categorical is not None,
            "--ignore": ignore is not None,
            "--on-error": on_error != OnError.stop,
            "--predictions": predictions is not None,
        }
        for option, given in for_streams.items():
            if given:
                raise ValueError(f"{option} is for a stream: add --stream")
        with live_line(talk, f"reading {data}") as live:
            material = read(model, data, test, weights, zero_based)
            train(model, material, data, live, talk)
            score = None if material.test is None else score_model(model, *material.test)
        with writing(output) as state:
            save_model(model, output, material.about)
        summary = Summary.of(model, score)
        if json:
            put(strict_json(about() | summary.as_dict(), indent=2), done=written)
        elif not quiet:
            more = compile_note() | {"model": f"written to {output}"}
            put(describe(summary, more), err=taken, done=written)
        if state.interrupted or summary.stopped_by == "interrupt":
            say(f"interrupted: the model so far is in {output}; {proven(summary)}")
            raise typer.Exit(ExitCode.INTERRUPTED)
        if not summary.gap_met:
            say(remedy(summary))
            raise typer.Exit(ExitCode.GAP_NOT_MET)
