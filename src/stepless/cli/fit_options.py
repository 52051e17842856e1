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
from stepless.cli.options import argument, option, output_path


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
    partial(option, rich_help_panel=panel) for panel in ("Problem", "Run", "Stream", "Output")
)


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The data and the model."""

    data: Annotated[
        Path,
        argument(
            "DATA",
            "LIBSVM (svmlight) text or CSV, or for --task tag words in columns; plain or in gz, "
            "bz2 or xz; - for standard input.",
        ),
    ]
    output: Annotated[
        Path,
        option(
            "Where to write the model; - for standard output.",
            "MODEL",
            "--output",
            "-o",
            parser=output_path,
        ),
    ]
    test: Annotated[Path | None, option("A second file, to score the model on.", "DATA")] = None


@dataclass(frozen=True, kw_only=True)
class ProblemOptions:
    """The problem that is solved, and the examples that it is about."""

    task: Annotated[
        Task,
        _problem(
            "auto (what the loss is for), classify, regress; rank, the lines of each qid; tag, "
            "words in columns, the last of them the tag, with an empty line after each sentence.",
            "NAME",
        ),
    ] = Task.auto
    loss: Annotated[
        str | None,
        _problem(
            f"Classes: {CLASS_LOSSES}. Numbers: {NUMBER_LOSSES}. By default hinge, or squared to "
            f"regress. To rank: {RANKING_LOSSES}. To tag: {CHAIN_LOSSES}.",
            "NAME",
            show_default=False,
        ),
    ] = None
    metric: Annotated[
        str | None,
        _problem(
            "Instead of a loss, the measure that a model of two classes is trained for: "
            f"{METRICS}. The greater label is the positive one.",
            "NAME",
        ),
    ] = None
    k: Annotated[
        float | None,
        _problem(
            "For the metrics at k: a number of examples, or a share of them. To rank: the number "
            f"of documents that NDCG@k sees (by default {RANKED_DOCUMENTS}).",
            "K",
            parser=_count_or_share,
            show_default=False,
        ),
    ] = None
    penalty: Annotated[
        str,
        _problem(
            f"{PENALTIES}. With entropy w ≥ 0; l1/l2 and l1/linf are over the rows of a joint "
            "model.",
            "NAME",
        ),
    ] = "l2"
    alpha: Annotated[
        object,
        _problem(
            "Strength of the penalty, or auto: chosen from the data (l2 and lp).",
            "α",
            parser=_strength,
        ),
    ] = 1e-4
    domain: Annotated[str, _problem(f"{DOMAINS}.", "NAME")] = "free"
    multi_class: Annotated[
        str, _problem("For more than two classes: ovr, each against the rest, or joint.", "NAME")
    ] = "ovr"
    no_intercept: Annotated[bool, _problem("Fit no intercept.", None, "--no-intercept")] = False
    weights: Annotated[
        Path | None,
        _problem("Weights of the examples (to tag: of the sentences), one per line.", "FILE"),
    ] = None
    zero_based: Annotated[
        bool, _problem("The file counts features from 0, not from 1.", None, "--zero-based")
    ] = False


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The solver, and the limits at which it stops."""

    gap: Annotated[
        float,
        _run(
            "Stop when the objective is provably this close to the best possible, as a share of "
            "itself.",
            "SHARE",
            min=0.0,
        ),
    ] = 1e-3
    passes: Annotated[
        int | None,
        _run(f"Stop after N passes over the data ({MOST_PASSES} without any limit).", "N", min=1),
    ] = None
    seconds: Annotated[float | None, _run("Stop after S seconds.", "S", min=0.0)] = None
    solver: Annotated[str, _run("auto, or a name such as proximal-bundle.", "NAME")] = "auto"
    seed: Annotated[int, _run("Seed of the order of examples.", "N", min=0)] = 0
    jobs: Annotated[int | None, _run("Threads; by default all cores.", "N", min=1)] = None


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """The format of a stream and its lines; all options but the first are for streams only."""

    stream: Annotated[
        bool,
        _stream(
            "Learn each example once, as it comes, in constant memory; implied by DATA -.",
            None,
            "--stream",
        ),
    ] = False
    format: Annotated[
        Format,
        _stream("auto (by the file's name), svmlight or csv, a table with a header.", "NAME"),
    ] = Format.auto
    bits: Annotated[
        int | None,
        _stream(
            f"Hash features, by index or by name, into 2^BITS columns (by default {HASH_BITS}).",
            "BITS",
            "--hash",
            min=1,
            max=30,
        ),
    ] = None
    features: Annotated[
        int | None, _stream("Do not hash: features are numbered up to N.", "N", min=1)
    ] = None
    names: Annotated[
        bool,
        _stream("Remember the names of hashed features, for `stepless info`.", None, "--names"),
    ] = False
    classes: Annotated[
        str | None,
        _stream(
            "All labels, separated by commas; by default those of the first "
            f"{CHUNK_ROWS} examples.",
            "LABELS",
        ),
    ] = None
    target: Annotated[str | None, _stream("The column of labels in a table.", "COLUMN")] = None
    categorical: Annotated[
        str | None, _stream("Columns whose numbers are categories, separated by commas.", "COLUMNS")
    ] = None
    ignore: Annotated[
        str | None, _stream("Columns to leave out, separated by commas.", "COLUMNS")
    ] = None
    on_error: Annotated[
        OnError,
        _stream(
            "At a line that cannot be used: stop, and keep the model so far, or skip it.",
            "stop|skip",
        ),
    ] = OnError.stop
    predictions: Annotated[
        Path | None,
        _stream(
            "Write the prediction for each example before it is learned; the file appears with "
            "the model, at the end; - for standard output.",
            "OUT",
            parser=output_path,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The outputs of a fit beside the model."""

    proof: Annotated[
        Path | None,
        _output(
            "Also write what `stepless verify` needs to prove the gap again: one number per "
            "example and class.",
            "FILE",
            parser=output_path,
        ),
    ] = None
    json: Annotated[bool, _output("Write one JSON document.", None, "--json")] = False
    quiet: Annotated[bool, _output("Write nothing but errors.", None, "--quiet", "-q")] = False

    @property
    def talks(self) -> bool:
        """True if progress and notes may be written to standard error."""
        return not (self.json or self.quiet)
