"""`stepless fit`: from a data file to a model file."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
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


# Options in the groups of `stepless fit --help`.
_problem, _run, _stream, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Problem", "Run", "Stream", "Output")
)


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
        Path | None, typer.Option(metavar="DATA", help="A second file, to score the model on.")
    ] = None,
    task: Annotated[
        Task,
        _problem(
            metavar="NAME",
            help="auto (what the loss is for), classify, regress; rank, the lines of each qid; "
            "tag, words in columns, the last of them the tag, with an empty line after a "
            "sentence.",
        ),
    ] = Task.auto,
    loss: Annotated[
        str | None,
        _problem(
            metavar="NAME",
            help="Classes: hinge, squared_hinge, smoothed_hinge(γ), logistic. Numbers: squared, "
            "absolute, huber(δ), epsilon_insensitive(ε), quantile(τ), poisson. "
            "By default hinge, or squared to regress. To rank: pairwise, ndcg, map, mrr. "
            "To tag: crf, hinge.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        _problem(
            metavar="NAME",
            help="In place of a loss, what a model of two classes is to be good at: f1, fbeta(β), "
            "roc_auc, precision_at_k, recall_at_k, prbep. The greater label is the positive one.",
        ),
    ] = None,
    k: Annotated[
        Any,
        _problem(
            "--k",
            metavar="K",
            parser=_count_or_share,
            help="Of the metrics at k: how many examples, or which share of them. To rank: how "
            "many documents NDCG@k sees (by default 10).",
            show_default=False,
        ),
    ] = None,
    penalty: Annotated[
        str,
        _problem(
            metavar="NAME",
            help="l2, l1, elasticnet(ρ), lp(p), entropy (w ≥ 0), hyperbolic(β), l1/l2 or l1/linf "
            "over the rows of a joint model, none.",
        ),
    ] = "l2",
    alpha: Annotated[
        Any,
        _problem(
            metavar="α",
            parser=_strength,
            help="Strength of the penalty, or auto: chosen from the data (l2 and lp).",
        ),
    ] = 1e-4,
    domain: Annotated[
        str,
        _problem(
            metavar="NAME",
            help="free, ball(R), l1_ball(R), lp_ball(R,p), box(low,high), nonnegative, simplex(R).",
        ),
    ] = "free",
    multi_class: Annotated[
        str,
        _problem(
            metavar="NAME", help="Of more than two classes: ovr, each against the rest, or joint."
        ),
    ] = "ovr",
    no_intercept: Annotated[
        bool, _problem("--no-intercept", help="Leave the intercept out.")
    ] = False,
    weights: Annotated[
        Path | None,
        _problem(metavar="FILE", help="Weights of the examples (of sentences to tag), one a line."),
    ] = None,
    zero_based: Annotated[
        bool, _problem("--zero-based", help="The file counts features from 0, not from 1.")
    ] = False,
    gap: Annotated[
        float,
        _run(
            min=0.0,
            metavar="SHARE",
            help="Stop when the objective is provably this close to the best possible, as a "
            "share of itself.",
        ),
    ] = 1e-3,
    passes: Annotated[
        int | None,
        _run(
            min=1,
            metavar="N",
            help="Stop after so many passes over the data (1000 without any limit).",
        ),
    ] = None,
    seconds: Annotated[
        float | None, _run(min=0.0, metavar="S", help="Stop after so many seconds.")
    ] = None,
    solver: Annotated[
        str, _run(metavar="NAME", help="auto, or a name such as proximal-bundle.")
    ] = "auto",
    seed: Annotated[int, _run(min=0, metavar="N", help="Seed of the order of examples.")] = 0,
    jobs: Annotated[
        int | None, _run(min=1, metavar="N", help="Threads; by default all cores.")
    ] = None,
    stream: Annotated[
        bool,
        _stream(
            "--stream",
            help="Learn each example once, as it comes, in constant memory; so for DATA -.",
        ),
    ] = False,
    form: Annotated[
        Format,
        _stream(
            "--format",
            metavar="NAME",
            help="auto (by the file's name), svmlight or csv, a table with a header.",
        ),
    ] = Format.auto,
    bits: Annotated[
        int | None,
        _stream(
            "--hash",
            min=1,
            max=30,
            metavar="BITS",
            help="Hash features, by index or by name, into 2^BITS columns (by default 18).",
        ),
    ] = None,
    features: Annotated[
        int | None, _stream(min=1, metavar="N", help="Do not hash: features are numbered up to N.")
    ] = None,
    names: Annotated[
        bool, _stream("--names", help="Remember the names of hashed features, for `stepless info`.")
    ] = False,
    classes: Annotated[
        str | None,
        _stream(
            metavar="LABELS",
            help="All labels, with commas between; by default those of the first 1000 examples.",
        ),
    ] = None,
    target: Annotated[
        str | None, _stream(metavar="COLUMN", help="The column of labels in a table.")
    ] = None,
    categorical: Annotated[
        str | None,
        _stream(
            metavar="COLUMNS", help="Columns whose numbers are categories, with commas between."
        ),
    ] = None,
    ignore: Annotated[
        str | None, _stream(metavar="COLUMNS", help="Columns to leave out, with commas between.")
    ] = None,
    on_error: Annotated[
        OnError,
        _stream(
            metavar="stop|skip",
            help="At a line that cannot be used: stop, and keep the model so far, or skip it.",
        ),
    ] = OnError.stop,
    predictions: Annotated[
        Path | None,
        _stream(
            metavar="OUT",
            help="Write what is predicted of each example before it is learned; the file appears "
            "with the model, at the end; - for standard output.",
        ),
    ] = None,
    proof: Annotated[
        Path | None,
        _output(
            metavar="FILE",
            help="Write also what `stepless verify` needs to prove the gap anew: a number for each "
            "example and class.",
        ),
    ] = None,
    json: Annotated[bool, _output("--json", help="Write one JSON document.")] = False,
    quiet: Annotated[bool, _output("--quiet", "-q", help="Write nothing but errors.")] = False,
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
                "--proof": proof,
                "--json": STDOUT if json else None,
            },
            {"DATA": data, "--test": test, "--weights": weights},
        )
        output = output_of(output)
        predictions, proof = (path and output_of(path) for path in (predictions, proof))
        taken = to_stdout(output, predictions, proof)
        places = f"written to {output}" + (f", its proof to {proof}" if proof else "")
        written = f"the model is {places}"

        def about() -> dict[str, Any]:
            files = {"data": str(data), "model": str(output)}
            files |= {"proof": str(proof)} if proof else {}
            return files | {"compile_seconds": COMPILED.seconds}

        talk = not (json or quiet)
        streams = isinstance(model, LinearClassifier | LinearRegressor)
        if stream or (streams and str(data) == "-"):
            from stepless.cli.form import Form, names_of
            from stepless.cli.streaming import Lesson, learn

            if not streams:
                raise ValueError(
                    "a stream is for losses of single examples: give a file, without --stream"
                )
            if seconds is not None:
                raise ValueError("a stream ends where its data do: leave --seconds out")
            if weights is not None or (passes or 1) > 1:
                raise ValueError("a stream is passed over once, and has no --weights")
            if proof is not None:
                raise ValueError("a stream is not kept, so that it has no --proof: leave it out")
            if alpha == "auto":
                raise ValueError("--alpha auto must see all examples; give a number for a stream")
            columns = {
                "target": target,
                "categorical": names_of(categorical),
                "ignore": names_of(ignore),
            }
            rows = Form.of(
                data, form, bits=bits, features=features, zero_based=zero_based, **columns
            )
            lesson = Lesson(
                model, rows, classes=classes, on_error=on_error.value, remember=names, talk=talk
            )
            summary, tally = learn(lesson, data, output, predictions, test)
            if json:
                facts = about() | summary.as_dict() | tally.as_dict()
                put(strict_json(facts, indent=2), done=written)
            elif not quiet:
                more = tally.in_words() | compile_note() | {"model": places}
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
        with writing(output, proof) as state:
            save_model(model, output, material.about, proof=proof)
        summary = Summary.of(model, score)
        if json:
            put(strict_json(about() | summary.as_dict(), indent=2), done=written)
        elif not quiet:
            more = compile_note() | {"model": places}
            put(describe(summary, more), err=taken, done=written)
        if state.interrupted or summary.stopped_by == "interrupt":
            say(f"interrupted: the model so far is in {output}; {proven(summary)}")
            raise typer.Exit(ExitCode.INTERRUPTED)
        if not summary.gap_met:
            say(remedy(summary))
            raise typer.Exit(ExitCode.GAP_NOT_MET)
