"""Fits to streams: score each example, learn it, forget it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import typer
from scipy import sparse

from stepless.arrays import AnyArray
from stepless.cli import fit_options
from stepless.cli.building import Model
from stepless.cli.errors import ExitCode, message_of, print_message
from stepless.cli.file_format import FileFormat, comma_separated
from stepless.cli.inputs import input_name
from stepless.cli.memory import refuse_small_memory
from stepless.cli.options import given_options
from stepless.cli.outputs import prediction_lines, uninterrupted_writing
from stepless.cli.progressive_score import ProgressiveScore, ProgressTable
from stepless.cross_validation import is_choice
from stepless.data import Chunk, DataError, Hashing
from stepless.data.bad_entries import LARGEST
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.interrupts import uninterrupted
from stepless.report import Summary, save_model, score_model
from stepless.report.atomic import Output
from stepless.report.text import counted

StreamModel = LinearClassifier | LinearRegressor


def is_stream(model: Model, data: Path, asked: bool) -> TypeGuard[StreamModel]:
    """Return whether DATA is to be learned as a stream; ValueError if the model cannot."""
    able = isinstance(model, StreamModel)
    if asked and not able:
        raise ValueError("a stream is for losses of single examples: give a file, without --stream")
    if asked and data.is_dir():
        raise ValueError(f"{data}: a store is no stream: leave --stream out")
    return asked or (able and str(data) == "-")


def refuse_batch_options(
    problem: fit_options.ProblemOptions,
    run: fit_options.RunOptions,
    keeping: fit_options.CheckpointOptions,
    output: fit_options.OutputOptions,
) -> None:
    """Refuse options that make no sense for a stream."""
    for option in given_options(keeping):
        raise ValueError(f"a stream has no checkpoints, for it is not kept: leave {option} out")
    if run.seconds is not None:
        raise ValueError("a stream ends where its data do: leave --seconds out")
    if problem.weights is not None or (run.passes or 1) > 1:
        raise ValueError("a stream is passed over once, and has no --weights")
    if output.proof is not None:
        raise ValueError("a stream is not kept, so it has no --proof: leave it out")
    if is_choice(problem.alpha) and problem.alpha != "scaled":
        raise ValueError(
            f"--alpha {problem.alpha} must see all examples; give a number for a stream"
        )


def refuse_stream_options(stream: fit_options.StreamOptions) -> None:
    """Refuse options that are for streams only."""
    for option in given_options(stream):
        raise ValueError(f"{option} is for a stream: add --stream")


class StreamLearner:
    """A model that learns from a stream, and the score of its predictions, whatever ends it."""

    def __init__(
        self, model: StreamModel, form: FileFormat, options: fit_options.StreamOptions, talk: bool
    ) -> None:
        self.model, self.form, self.score = model, form, ProgressiveScore()
        self.hashing = Hashing(form.bits, remember=True) if options.names and form.bits else None
        self.classes: AnyArray = np.zeros(0)
        self._named_classes = comma_separated(options.classes)
        self._skip = options.on_error == fit_options.OnError.skip
        self._table = ProgressTable() if talk else None

    def run(self, data: Path, out: Output | None = None) -> None:
        """Learn from the stream to its end; write each prediction before its example is learned."""
        with self.form.chunks(data, "skip" if self._skip else "stop", self.hashing) as chunks:
            self.score.skipped = chunks.skipped
            waiting = True
            try:
                for chunk in chunks:
                    waiting = False
                    self._learn_chunk(chunk, data, out)
                    waiting = True
            except KeyboardInterrupt:
                rest = chunks.rest() if waiting else None
                if rest is not None:  # a pipe does not give twice what it gave
                    self._learn_chunk(rest, data, out)
                raise
            finally:
                self.form = replace(self.form, columns=chunks.columns)
                self.score.seconds = self.score.elapsed
                if self.score.examples:
                    self.model.settle()

    def _learn_chunk(self, chunk: Chunk, data: Path, out: Output | None) -> None:
        """Learn the examples that can be used; at one that cannot, stop or skip it."""
        X, y, lines = chunk
        if isinstance(self.model, LinearClassifier):
            y = _whole_numbers(y)
            usable = np.isin(y, self._known_classes(y, data))
        else:
            usable = np.abs(y) <= LARGEST if y.dtype.kind == "f" else np.ones(len(y), bool)
        large = np.flatnonzero(np.abs(X.data) > LARGEST)
        rows = np.searchsorted(X.indptr, large, side="right") - 1
        for k in np.union1d(np.flatnonzero(~usable), rows).tolist():
            reason = f"has a number beyond {LARGEST:g}, whose square may overflow; rescale it"
            if isinstance(self.model, LinearClassifier) and not usable[k]:
                reason = f"the label {y[k]} is new; name all of them with --classes"
            message = f"{input_name(data)}, line {lines[k]}: {reason}"
            if not self._skip:
                self._learn(X[:k], y[:k], out)
                raise DataError(message)
            self.score.skipped.add(message)
            usable[k] = False
        self._learn(*((X, y) if usable.all() else (X[usable], y[usable])), out)

    def _learn(self, X: sparse.csr_matrix, y: AnyArray, out: Output | None) -> None:
        if len(y) == 0:
            return
        score = self.score
        with uninterrupted():  # model, score and predictions are of the same examples
            if isinstance(self.model, LinearClassifier):
                predicted = self.model.predict_and_learn(X, y, self.classes, settle=False)
                score.mistakes = (score.mistakes or 0) + int(np.count_nonzero(predicted != y))
            else:
                predicted = self.model.predict_and_learn(X, y, settle=False)
            score.examples += len(y)
            score.loss = self.model.progressive_loss_
            if out is not None and not out.direct:
                out.write(prediction_lines(predicted.tolist()))
        if out is not None and out.direct:  # its reader may keep us waiting
            out.write(prediction_lines(predicted.tolist()))
        if self._table is not None:
            self._table.update(score)

    def _known_classes(self, y: AnyArray, data: Path) -> AnyArray:
        """Return all classes: those of --classes, or those of the first chunk."""
        if hasattr(self.model, "classes_"):
            return self.model.classes_
        self.classes = np.unique(y)
        if self._named_classes:
            dtype = y.dtype if y.dtype.kind in "if" else None
            try:
                self.classes = np.unique(np.array(self._named_classes, dtype=dtype))
            except ValueError:
                named = ", ".join(self._named_classes)
                raise DataError(
                    f"{input_name(data)}: labels are numbers, but --classes names {named}"
                ) from None
        if len(self.classes) < 2:
            raise DataError(
                f"{input_name(data)}: the first {counted(len(y), 'example')} hold one class only "
                f"({self.classes[0]}); name all of them with --classes"
            )
        return self.classes


def _whole_numbers(y: AnyArray) -> AnyArray:
    if y.dtype.kind == "f" and (y == np.floor(y)).all() and np.abs(y).max() < 2**53:
        return y.astype(np.int64)
    return y


def fit_stream(
    model: StreamModel,
    files: fit_options.FileOptions,
    problem: fit_options.ProblemOptions,
    stream: fit_options.StreamOptions,
    talk: bool,
) -> tuple[Summary, ProgressiveScore]:
    """Learn from a stream and write the model, the model so far if a bad line ends it."""
    form = FileFormat.of(files.data, stream, problem.zero_based)
    learner = StreamLearner(model, form, stream, talk)
    refuse_small_memory(form.width)
    ended: BaseException | None = None
    with Output(stream.predictions) if stream.predictions else nullcontext() as out:
        try:
            learner.run(files.data, out)
        except (Exception, KeyboardInterrupt) as error:
            ended = error
        if not learner.score.examples:
            raise ended or DataError(f"{input_name(files.data)}: holds no examples")
        lost = isinstance(ended, OSError)
        if out is not None and lost:
            out.discard()  # and leave its room to the model
        with uninterrupted_writing(files.output, stream.predictions) as state:
            _save(learner, files)
            if out is not None and not lost:
                try:
                    out.finish()
                except OSError as error:
                    ended, lost = error, True
        if state.interrupted:
            ended = ended or KeyboardInterrupt()
    if ended is not None:
        unkept = out is not None and lost and not out.direct
        _end_early(ended, learner.score.examples, files.output, unkept)
    test = None if files.test is None else score_model(model, *learner.form.read(files.test))
    return Summary.of(model, test), learner.score


def _end_early(ended: BaseException, examples: int, output: Path, unkept: bool) -> None:
    """Say what ended the stream, and what is kept of it."""
    kept = f"the model so far, of {counted(examples, 'example')}, is in {output}"
    if unkept:
        kept += ", but its predictions are not kept"
    if isinstance(ended, KeyboardInterrupt):
        print_message(f"interrupted: {kept}")
        raise typer.Exit(ExitCode.INTERRUPTED)
    if isinstance(ended, OSError | MemoryError | TypeError | ValueError):
        raise DataError(f"{message_of(ended)}; {kept}")
    raise ended


def _save(learner: StreamLearner, files: fit_options.FileOptions) -> None:
    about: dict[str, Any] = {"data": str(files.data), "form": learner.form.as_dict()}
    if learner.hashing is not None:
        used = np.flatnonzero(np.atleast_2d(learner.model.coef_).any(axis=0)).tolist()
        names = learner.hashing.names
        about["names"] = {str(j): names[j] for j in used if j in names}
    save_model(learner.model, files.output, about)
