"""The options of `stepless fit`, one dataclass per panel of its help."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.names import (
    CHAIN_LOSSES,
    CHUNK_ROWS,
    CLASS_LOSSES,
    DOMAINS,
    HASH_BITS,
    METRICS,
    MOST_PASSES,
    NUMBER_LOSSES,
    PENALTIES,
    RANKED_DOCUMENTS,
    RANKING_LOSSES,
)
from stepless.cli.options import output_path


class Format(StrEnum):
    """Formats of examples."""

    auto = "auto"
    svmlight = "svmlight"
    csv = "csv"


class OnError(StrEnum):
    """Ways to treat a line that cannot be used."""

    stop = "stop"
    skip = "skip"


class Task(StrEnum):
    """Kinds of prediction."""

    auto = "auto"
    classify = "classify"
    regress = "regress"
    rank = "rank"
    tag = "tag"


def _strength(text: object) -> float | str:
    if text == "auto":
        return "auto"
    try:
        return float(str(text))
    except ValueError:
        raise typer.BadParameter(f"α is a number or auto, not {text!r}.") from None


def _count_or_share(text: str) -> float:
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        raise typer.BadParameter(f"k is a number, not {text!r}.") from None


_problem, _run, _stream, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Problem", "Run", "Stream", "Output")
)


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The data and the model."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="LIBSVM (svmlight) text or CSV, or for --task tag words in columns; plain or in "
            "gz, bz2 or xz; - for standard input.",
        ),
    ]
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            parser=output_path,
            help="Where to write the model; - for standard output.",
        ),
    ]
    test: Annotated[
        Path | None, typer.Option(metavar="DATA", help="A second file, to score the model on.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ProblemOptions:
    """What is minimised, and over which examples."""

    task: Annotated[
        Task,
        _problem(
            metavar="NAME",
            help="auto (what the loss is for), classify, regress; rank, the lines of each qid; "
            "tag, words in columns, the last of them the tag, with an empty line after each "
            "sentence.",
        ),
    ] = Task.auto
    loss: Annotated[
        str | None,
        _problem(
            metavar="NAME",
            help=f"Classes: {CLASS_LOSSES}. Numbers: {NUMBER_LOSSES}. "
            "By default hinge, or squared to regress. "
            f"To rank: {RANKING_LOSSES}. To tag: {CHAIN_LOSSES}.",
            show_default=False,
        ),
    ] = None
    metric: Annotated[
        str | None,
        _problem(
            metavar="NAME",
            help="Instead of a loss, the measure that a model of two classes is trained for: "
            f"{METRICS}. The greater label is the positive one.",
        ),
    ] = None
    k: Annotated[
        float | None,
        _problem(
            "--k",
            metavar="K",
            parser=_count_or_share,
            help="For the metrics at k: a number of examples, or a share of them. To rank: the "
            f"number of documents that NDCG@k sees (by default {RANKED_DOCUMENTS}).",
            show_default=False,
        ),
    ] = None
    penalty: Annotated[
        str,
        _problem(
            metavar="NAME",
            help=f"{PENALTIES}. With entropy w ≥ 0; l1/l2 and l1/linf are over the rows "
            "of a joint model.",
        ),
    ] = "l2"
    alpha: Annotated[
        object,
        _problem(
            metavar="α",
            parser=_strength,
            help="Strength of the penalty, or auto: chosen from the data (l2 and lp).",
        ),
    ] = 1e-4
    domain: Annotated[str, _problem(metavar="NAME", help=f"{DOMAINS}.")] = "free"
    multi_class: Annotated[
        str,
        _problem(
            metavar="NAME",
            help="For more than two classes: ovr, each against the rest, or joint.",
        ),
    ] = "ovr"
    no_intercept: Annotated[bool, _problem("--no-intercept", help="Fit no intercept.")] = False
    weights: Annotated[
        Path | None,
        _problem(
            metavar="FILE",
            help="Weights of the examples (to tag: of the sentences), one per line.",
        ),
    ] = None
    zero_based: Annotated[
        bool, _problem("--zero-based", help="The file counts features from 0, not from 1.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How the minimum is sought, and when to stop."""

    gap: Annotated[
        float,
        _run(
            min=0.0,
            metavar="SHARE",
            help="Stop when the objective is provably this close to the best possible, as a "
            "share of itself.",
        ),
    ] = 1e-3
    passes: Annotated[
        int | None,
        _run(
            min=1,
            metavar="N",
            help=f"Stop after N passes over the data ({MOST_PASSES} without any limit).",
        ),
    ] = None
    seconds: Annotated[float | None, _run(min=0.0, metavar="S", help="Stop after S seconds.")] = (
        None
    )
    solver: Annotated[
        str, _run(metavar="NAME", help="auto, or a name such as proximal-bundle.")
    ] = "auto"
    seed: Annotated[int, _run(min=0, metavar="N", help="Seed of the order of examples.")] = 0
    jobs: Annotated[int | None, _run(min=1, metavar="N", help="Threads; by default all cores.")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """How a stream is read and learned; every option but the first is for streams only."""

    stream: Annotated[
        bool,
        _stream(
            "--stream",
            help="Learn each example once, as it comes, in constant memory; implied by DATA -.",
        ),
    ] = False
    format: Annotated[
        Format,
        _stream(
            metavar="NAME",
            help="auto (by the file's name), svmlight or csv, a table with a header.",
        ),
    ] = Format.auto
    bits: Annotated[
        int | None,
        _stream(
            "--hash",
            min=1,
            max=30,
            metavar="BITS",
            help="Hash features, by index or by name, into 2^BITS columns "
            f"(by default {HASH_BITS}).",
        ),
    ] = None
    features: Annotated[
        int | None, _stream(min=1, metavar="N", help="Do not hash: features are numbered up to N.")
    ] = None
    names: Annotated[
        bool, _stream("--names", help="Remember the names of hashed features, for `stepless info`.")
    ] = False
    classes: Annotated[
        str | None,
        _stream(
            metavar="LABELS",
            help="All labels, separated by commas; by default those of the first "
            f"{CHUNK_ROWS} examples.",
        ),
    ] = None
    target: Annotated[
        str | None, _stream(metavar="COLUMN", help="The column of labels in a table.")
    ] = None
    categorical: Annotated[
        str | None,
        _stream(
            metavar="COLUMNS", help="Columns whose numbers are categories, separated by commas."
        ),
    ] = None
    ignore: Annotated[
        str | None, _stream(metavar="COLUMNS", help="Columns to leave out, separated by commas.")
    ] = None
    on_error: Annotated[
        OnError,
        _stream(
            metavar="stop|skip",
            help="At a line that cannot be used: stop, and keep the model so far, or skip it.",
        ),
    ] = OnError.stop
    predictions: Annotated[
        Path | None,
        _stream(
            metavar="OUT",
            parser=output_path,
            help="Write the prediction for each example before it is learned; the file appears "
            "with the model, at the end; - for standard output.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What a fit writes beside the model."""

    proof: Annotated[
        Path | None,
        _output(
            metavar="FILE",
            parser=output_path,
            help="Also write what `stepless verify` needs to prove the gap again: one number per "
            "example and class.",
        ),
    ] = None
    json: Annotated[bool, _output("--json", help="Write one JSON document.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", help="Write nothing but errors.")] = False

    @property
    def talks(self) -> bool:
        """True if progress and notes may be written to standard error."""
        return not (self.json or self.quiet)
