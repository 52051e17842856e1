"""The options of `stepless fit`, one dataclass per panel of its help."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

import typer

from stepless.cli import names as known
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
    if text in known.CHOSEN_STRENGTHS.split(", "):
        return str(text)
    try:
        return float(str(text))
    except ValueError:
        raise typer.BadParameter(
            f"α is a number, or one of {known.CHOSEN_STRENGTHS}, not {text!r}."
        ) from None


def _count_or_share(text: str) -> float:
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        raise typer.BadParameter(f"k is a number, not {text!r}.") from None


def _duration(text: str) -> float:
    unit = _SECONDS.get(text[-1:], 0.0)
    try:
        return float(text[:-1]) * unit if unit else float(text)
    except ValueError:
        raise typer.BadParameter(f"T is a time such as 30s, 5m or 1h, not {text!r}.") from None


_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_problem, _run, _checkpoint, _stream, _output = (
    partial(option, rich_help_panel=panel)
    for panel in ("Problem", "Run", "Checkpoint", "Stream", "Output")
)


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The data and the model."""

    data: Path = argument(
        "DATA",
        "LIBSVM (svmlight) text or CSV, or for --task tag words in columns; plain or in gz, "
        "bz2 or xz; - for standard input. Or a store, which `stepless pack` made.",
    )
    output: Path = option(
        MISSING,
        "Where to write the model; - for standard output.",
        "MODEL",
        "--output",
        "-o",
        parser=output_path,
    )
    test: Path | None = option(None, "A second file, to score the model on.", "DATA")


@dataclass(frozen=True, kw_only=True)
class ProblemOptions:
    """The problem that is solved, and the examples that it is about."""

    task: Task = _problem(
        Task.auto,
        "auto (what the loss is for), classify, regress; rank, the lines of each qid; tag, "
        "words in columns, the last of them the tag, with an empty line after each sentence.",
        "NAME",
    )
    loss: str | None = _problem(
        None,
        f"Classes: {known.CLASS_LOSSES}. Numbers: {known.NUMBER_LOSSES}. By default hinge, or "
        f"squared to regress. To rank: {known.RANKING_LOSSES}. To tag: {known.CHAIN_LOSSES}.",
        "NAME",
        show_default=False,
    )
    metric: str | None = _problem(
        None,
        "Instead of a loss, the measure that a model of two classes is trained for: "
        f"{known.METRICS}. The greater label is the positive one.",
        "NAME",
    )
    k: float | None = _problem(
        None,
        "For the metrics at k: a number of examples, or a share of them. To rank: the number "
        f"of documents that NDCG@k sees (by default {known.RANKED_DOCUMENTS}).",
        "K",
        parser=_count_or_share,
        show_default=False,
    )
    penalty: str = _problem(
        "l2",
        f"{known.PENALTIES}. With entropy w ≥ 0; l1/l2 and l1/linf are over the rows of a "
        "joint model.",
        "NAME",
    )
    alpha: object = _problem(
        None,
        "Strength of the penalty. By default scaled: weak, in units of the data (1e-4 for --metric "
        "and to rank or tag). Or auto: chosen from the data (l2, l1, elasticnet, lp). Or cv: by "
        "its scores on the examples that each of five folds leaves out.",
        "α",
        parser=_strength,
        show_default=False,
    )
    domain: str = _problem("free", f"{known.DOMAINS}.", "NAME")
    multi_class: str = _problem(
        "ovr", "For more than two classes: ovr, each against the rest, or joint.", "NAME"
    )
    no_intercept: bool = _problem(False, "Fit no intercept.", None, "--no-intercept")
    weights: Path | None = _problem(
        None, "Weights of the examples (to tag: of the sentences), one per line.", "FILE"
    )
    zero_based: bool = _problem(
        False, "The file counts features from 0, not from 1.", None, "--zero-based"
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The solver, and the limits at which it stops."""

    gap: float = _run(
        1e-3,
        "Stop when the objective is provably this close to the best possible, as a share of "
        "itself.",
        "SHARE",
        min=0.0,
    )
    passes: int | None = _run(
        None,
        f"Stop after N passes over the data ({known.MOST_PASSES} without any limit).",
        "N",
        min=1,
    )
    seconds: float | None = _run(None, "Stop after S seconds.", "S", min=0.0)
    solver: str = _run("auto", "auto, or a name such as proximal-bundle.", "NAME")
    seed: int = _run(0, "Seed of the order of examples.", "N", min=0)
    jobs: int | None = _run(None, "Threads; by default all cores.", "N", min=1)


@dataclass(frozen=True, kw_only=True)
class CheckpointOptions:
    """The file from which a run that was broken off goes on."""

    checkpoint: Path | None = _checkpoint(
        None,
        "Keep there what the run needs to go on: every so often, and when a limit or a signal "
        "ends it.",
        "FILE",
    )
    every: float | None = _checkpoint(
        None, "How often (by default every 30s).", "T", parser=_duration, show_default=False
    )
    resume: Path | None = _checkpoint(
        None,
        "Go on from this checkpoint, with the same DATA and options, and keep it up to date; "
        "--passes and --seconds count from the run's beginning.",
        "FILE",
    )


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """The format of a stream and its lines; all options but the first are for streams only."""

    stream: bool = _stream(
        False,
        "Learn each example once, as it comes, in constant memory; implied by DATA -.",
        None,
        "--stream",
    )
    format: Format = _stream(
        Format.auto, "auto (by the file's name), svmlight or csv, a table with a header.", "NAME"
    )
    bits: int | None = _stream(
        None,
        f"Hash features, by index or by name, into 2^BITS columns (by default {known.HASH_BITS}).",
        "BITS",
        "--hash",
        min=1,
        max=30,
    )
    features: int | None = _stream(None, "Do not hash: features are numbered up to N.", "N", min=1)
    names: bool = _stream(
        False, "Remember the names of hashed features, for `stepless info`.", None, "--names"
    )
    classes: str | None = _stream(
        None,
        f"All labels, separated by commas; by default those of the first "
        f"{known.CHUNK_ROWS} examples.",
        "LABELS",
    )
    target: str | None = _stream(None, "The column of labels in a table.", "COLUMN")
    categorical: str | None = _stream(
        None, "Columns whose numbers are categories, separated by commas.", "COLUMNS"
    )
    ignore: str | None = _stream(None, "Columns to leave out, separated by commas.", "COLUMNS")
    on_error: OnError = _stream(
        OnError.stop,
        "At a line that cannot be used: stop, and keep the model so far, or skip it.",
        "stop|skip",
    )
    predictions: Path | None = _stream(
        None,
        "Write the prediction for each example before it is learned; the file appears with "
        "the model, at the end; - for standard output.",
        "OUT",
        parser=output_path,
    )


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The outputs of a fit beside the model."""

    proof: Path | None = _output(
        None,
        "Also write what `stepless verify` needs to prove the gap again: one number per "
        "example and class.",
        "FILE",
        parser=output_path,
    )
    json: bool = _output(False, "Write one JSON document.", None, "--json")
    quiet: bool = _output(False, "Write nothing but errors.", None, "--quiet", "-q")

    @property
    def talks(self) -> bool:
        """True if progress and notes may be written to standard error."""
        return not (self.json or self.quiet)
