"""Fits to files that are read whole: read, run, write the model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from rich.live import Live
from sklearn.exceptions import ConvergenceWarning

from stepless.arrays import Array
from stepless.cli.building import Model, refuse_together
from stepless.cli.errors import print_message
from stepless.cli.fit_options import CheckpointOptions, FileOptions, OutputOptions, ProblemOptions
from stepless.cli.memory import refuse_small_memory
from stepless.cli.outputs import uninterrupted_writing
from stepless.cli.progress import LiveLine, line, live_line
from stepless.cli.reading import (
    Examples,
    FractionalLabel,
    open_store,
    queries,
    read_examples,
    read_for_model,
    read_weights,
    targets,
)
from stepless.cli.remedies import as_options
from stepless.cli.tagging import inputs_of, read_tagged, tags_of
from stepless.cross_validation import is_choice
from stepless.data import DataError, Store
from stepless.data.store import is_store
from stepless.estimators import ChainClassifier, LinearClassifier, LinearRanker, MetricClassifier
from stepless.report import Checkpoint, Summary, save_model, score_model
from stepless.run import Run
from stepless.watchers import Watcher

_EVERY = 30.0  # seconds between two checkpoints

# Examples to learn, their weights, those to test on, and what the model file says of their format.
_FitData = tuple[Examples, Array | None, Examples | None, dict[str, Any]]


def fit_batch(
    model: Model,
    files: FileOptions,
    problem: ProblemOptions,
    keeping: CheckpointOptions,
    output: OutputOptions,
) -> tuple[Summary, bool]:
    """Fit the model and write it; return its summary, and whether a signal came meanwhile."""
    keeper = checkpoint_of(keeping)
    with live_line(output.talks, f"reading {files.data}") as live:
        examples, weights, test, about = _read(model, files, problem)
        data = {"X": examples.X, "y": examples.y}
        data |= {"sample_weight": weights} if examples.qid is None else {"qid": examples.qid}
        watchers: list[Watcher] = [] if keeper is None else [keeper]
        if live is not None:
            watchers.append(_live_line(model, examples, live, keeper))
        model.set_params(verbose=int(output.talks and live is None))
        _train(model, data, files.data, watchers, output.talks)
        score = None if test is None else score_model(model, test.X, test.known, test.qid)
    with uninterrupted_writing(files.output, output.proof) as state:
        save_model(model, files.output, about, proof=output.proof)
    return Summary.of(model, score), state.interrupted


def _read(model: Model, files: FileOptions, problem: ProblemOptions) -> _FitData:
    """Read all files before the run, so that none of them can spoil it afterwards."""
    data, test, weights = files.data, files.test, problem.weights
    if isinstance(model, ChainClassifier) and not is_store(data):
        refuse_together("--task tag", {"--zero-based": problem.zero_based})
        words, about = read_tagged(data)
        s = None if weights is None else read_weights(weights, len(words.sentences))
        held_out = None if test is None else read_for_model(test, model, about, zero_based=False)
        examples = Examples(inputs_of(words, about), tags_of(words))
        return examples, s, held_out, {"data": str(data)} | about
    if isinstance(model, LinearRanker):
        refuse_together("--task rank", {"--weights": weights})
    about = {"data": str(data), "zero_based": problem.zero_based}
    examples = _read_examples(model, data, problem.zero_based)
    if isinstance(model, LinearClassifier | MetricClassifier) and not is_store(data):
        first = examples.y[0]
        if (examples.y == first).all():
            raise DataError(
                f"{data}: all labels are {first}, but a classifier needs two classes to tell apart"
            )
    s = None if weights is None else read_weights(weights, examples.X.shape[0])
    if test is None:
        return examples, s, None, about
    held_out = _read_examples(model, test, problem.zero_based)
    # a feature that only one of the files has is 0 in the other
    features = max(examples.X.shape[1], held_out.X.shape[1])
    for path, (X, _, _) in ((data, examples), (test, held_out)):
        if not isinstance(X, Store):
            X.resize(X.shape[0], features)
        elif X.shape[1] < features:
            raise DataError(
                f"{path}: has {X.shape[1]} features, but the other file has {features}; pack it "
                f"with --features {features}"
            )
    return examples, s, held_out, about


def _read_examples(model: Model, path: Path, zero_based: bool) -> Examples:
    if is_store(path):
        return open_store(path, model)
    X, y, qid = read_examples(path, zero_based)
    refuse_small_memory(X.shape[1])
    try:
        return Examples(X, targets(path, model, y), queries(path, model, qid))
    except FractionalLabel as error:
        raise DataError(
            f"{error}; to predict numbers choose a loss for them, such as --loss squared"
        ) from None


def checkpoint_of(options: CheckpointOptions) -> Checkpoint | None:
    """Return the checkpoint that these options describe, read if the run is to go on from it."""
    path = options.checkpoint or options.resume
    if options.checkpoint and options.resume:
        raise ValueError(
            f"--resume keeps {options.resume} up to date: leave --checkpoint out, or copy the file"
        )
    if path is None:
        if options.every is not None:
            raise ValueError("--every says how often a checkpoint is written: add --checkpoint")
        return None
    every = _EVERY if options.every is None else options.every
    return Checkpoint(path, every, resume=options.resume is not None)


def _live_line(model: Model, data: Examples, live: Live, keeper: Checkpoint | None) -> LiveLine:
    """Return the watcher that keeps the live line up to date."""
    classes = data.classes if isinstance(model, LinearClassifier) else 2
    chosen = is_choice(model.alpha) and model.alpha != "scaled"
    first = "choosing alpha" if chosen else "starting"
    live.update(line(f"{first}; a loss that is new to this machine is compiled first"))
    begun = 0 if keeper is None else keeper.runs
    return LiveLine(live, Run.of(model).limits, classes if classes > 2 else 1, begun)


def _train(
    model: Model, data: dict[str, Any], path: Path, watchers: list[Watcher], talk: bool
) -> None:
    """Run, and pass on its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(**data, watchers=watchers)
        except DataError:  # of the checkpoint or a store, which it names
            raise
        except (ValueError, TypeError) as error:
            raise DataError(f"{path}: {as_options(str(error))}") from None
    model.set_params(verbose=0)
    for warning in caught if talk else []:
        if warning.category is not ConvergenceWarning:  # which the report tells
            print_message(f"note: {as_options(' '.join(str(warning.message).split()))}")
