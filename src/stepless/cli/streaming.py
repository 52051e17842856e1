"""What `stepless fit` does with a stream: score each example, learn it, forget it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import typer

from stepless.arrays import AnyArray
from stepless.cli.form import Form, names_of
from stepless.cli.memory import refuse_small_memory
from stepless.cli.outputs import in_lines, writing
from stepless.cli.sentences import ExitCode, say, sentence_of
from stepless.cli.source import called
from stepless.compile_time import COMPILED
from stepless.data import Chunk, DataError, Hashing, Skipped
from stepless.data.bad_entries import LARGEST
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.interrupts import uninterrupted
from stepless.report import Summary, save_model, score_model
from stepless.report.atomic import Output
from stepless.report.text import counted

Model = LinearClassifier | LinearRegressor
_HEAD = f"{'examples':>12} {'loss since':>10} {'loss so far':>11} {'error':>8} {'a second':>9}"


@dataclass
class Tally:
    """What a stream has cost so far: each example was scored before it was learned."""

    examples: int = 0
    mistakes: int | None = None  # of a classifier
    loss: float = 0.0  # the mean of all
    skipped: Skipped = field(default_factory=Skipped)
    began: float = field(default_factory=lambda: perf_counter() - COMPILED.seconds)
    seconds: float = 0.0  # without those of compiling

    @property
    def elapsed(self) -> float:
        """Seconds so far that were not spent on compiling, which later streams are spared."""
        return perf_counter() - self.began - COMPILED.seconds

    @property
    def error(self) -> float | None:
        """The share of mistakes."""
        return None if self.mistakes is None else self.mistakes / max(self.examples, 1)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "examples": self.examples,
            "seconds": self.seconds,
            "examples_per_second": self.examples / max(self.seconds, 1e-9),
            "progressive_loss": self.loss,
            "progressive_error": self.error,
            "skipped": self.skipped.count,
            "skipped_because": self.skipped.messages,
        }

    def in_words(self) -> dict[str, str]:
        """The lines that a stream adds to a fit's description."""
        error = "" if self.error is None else f", {100 * self.error:.2f} % wrong"
        rows = {
            "stream": f"{counted(self.examples, 'example')} in {self.seconds:.3g} s, "
            f"{self.examples / max(self.seconds, 1e-9):,.0f} a second",
            "progressive": f"mean loss {self.loss:.6g}{error}, each scored before it was learned",
        }
        if self.skipped.count:
            first = self.skipped.messages[0]
            rows["skipped"] = f"{counted(self.skipped.count, 'line')}; first: {first}"
        return rows


class Lesson:
    """A model that learns from a stream; it can be asked how it went, whatever ended it."""

    def __init__(
        self,
        model: Model,
        form: Form,
        *,
        classes: str | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        remember: bool = False,
        talk: bool = False,
    ) -> None:
        self.model = model
        self.form = form
        self.tally = Tally()
        self.hashing = Hashing(form.bits, remember=True) if remember and form.bits else None
        self.classes: AnyArray = np.zeros(0)
        self._named = names_of(classes)
        self._skip = on_error == "skip"
        self._talk = talk
        self._next = 1  # examples after which the next line is due
        self._said = (0, 0.0)  # examples and total loss of the last line

    def run(self, data: Path, out: Output | None = None) -> None:
        """Learn from the stream to its end; write each prediction before its example counts."""
        with self.form.chunks(data, "skip" if self._skip else "stop", self.hashing) as chunks:
            self.tally.skipped = chunks.skipped
            waiting = True
            try:
                for chunk in chunks:
                    waiting = False
                    self._take(chunk, data, out)
                    waiting = True
            except KeyboardInterrupt:
                rest = chunks.rest() if waiting else None
                if rest is not None:  # a pipe does not give twice what it gave
                    self._take(rest, data, out)
                raise
            finally:
                self.form = replace(self.form, columns=chunks.columns)
                self.tally.seconds = self.tally.elapsed
                if self.tally.examples:
                    self.model.settle()

    def _take(self, chunk: Chunk, data: Path, out: Output | None) -> None:
        X, y, lines = chunk
        if isinstance(self.model, LinearClassifier):
            y = self._labels(y)
            fit = np.isin(y, self._classes(y, data))
        else:
            fit = np.abs(y) <= LARGEST if y.dtype.kind == "f" else np.ones(len(y), bool)
        large = np.flatnonzero(np.abs(X.data) > LARGEST)
        rows = np.searchsorted(X.indptr, large, side="right") - 1
        for k in np.union1d(np.flatnonzero(~fit), rows).tolist():
            reason = f"has a number beyond {LARGEST:g}, whose square may overflow; rescale it"
            if isinstance(self.model, LinearClassifier) and not fit[k]:
                reason = f"the label {y[k]} is new; name all of them with --classes"
            message = f"{called(data)}, line {lines[k]}: {reason}"
            if not self._skip:
                self._learn(X[:k], y[:k], out)
                raise DataError(message)
            self.tally.skipped.add(message)
            fit[k] = False
        self._learn(*((X, y) if fit.all() else (X[fit], y[fit])), out)

    def _learn(self, X: Any, y: AnyArray, out: Output | None) -> None:
        if len(y) == 0:
            return
        tally = self.tally
        with uninterrupted():  # model, tally and predictions are of the same examples
            if isinstance(self.model, LinearClassifier):
                predicted = self.model.predict_and_learn(X, y, self.classes, settle=False)
                tally.mistakes = (tally.mistakes or 0) + int(np.count_nonzero(predicted != y))
            else:
                predicted = self.model.predict_and_learn(X, y, settle=False)
            tally.examples += len(y)
            tally.loss = self.model.progressive_loss_
            if out is not None and not out.direct:
                out.write(in_lines(predicted.tolist()))
        if out is not None and out.direct:  # who reads it may keep us waiting
            out.write(in_lines(predicted.tolist()))
        self._say()

    def _labels(self, y: AnyArray) -> AnyArray:
        """Whole numbers as such; else what they are."""
        if y.dtype.kind == "f" and (y == np.floor(y)).all() and np.abs(y).max() < 2**53:
            return y.astype(np.int64)
        return y

    def _classes(self, y: AnyArray, data: Path) -> AnyArray:
        """All classes: those that were named, or those of the first chunk."""
        if hasattr(self.model, "classes_"):
            return self.model.classes_
        self.classes = np.unique(y)
        if self._named:
            kind = y.dtype if y.dtype.kind in "if" else None
            try:
                self.classes = np.unique(np.array(self._named, dtype=kind))
            except ValueError:
                named = ", ".join(self._named)
                raise DataError(
                    f"{called(data)}: labels are numbers, but --classes names {named}"
                ) from None
        if len(self.classes) < 2:
            raise DataError(
                f"{called(data)}: the first {counted(len(y), 'example')} hold one class only "
                f"({self.classes[0]}); name all of them with --classes"
            )
        return self.classes

    def _say(self) -> None:
        """A line each time that the examples have doubled."""
        tally = self.tally
        if not self._talk or tally.examples < self._next:
            return
        if self._said[0] == 0:
            print(_HEAD, file=sys.stderr)
        before, cost = self._said
        total = tally.loss * tally.examples
        since = (total - cost) / (tally.examples - before)
        error = "" if tally.error is None else f"{100 * tally.error:.2f} %"
        rate = tally.examples / max(tally.elapsed, 1e-9)
        print(
            f"{tally.examples:>12,} {since:>10.4f} {tally.loss:>11.4f} {error:>8} {rate:>9,.0f}",
            file=sys.stderr,
            flush=True,
        )
        self._said = tally.examples, total
        self._next = 2 * tally.examples


def learn(
    lesson: Lesson, data: Path, output: Path, predictions: Path | None, test: Path | None
) -> tuple[Summary, Tally]:
    """Learn from a stream and write the model, the model so far if a bad line ends it."""
    refuse_small_memory(lesson.form.width)
    ended: BaseException | None = None
    with Output(predictions) if predictions else nullcontext() as out:
        try:
            lesson.run(data, out)
        except (Exception, KeyboardInterrupt) as error:
            ended = error
        if not lesson.tally.examples:
            raise ended or DataError(f"{called(data)}: holds no examples")
        lost = isinstance(ended, OSError)
        if out is not None and lost:
            out.discard()  # and leave its room to the model
        with writing(output, predictions) as state:
            _save(lesson, data, output)
            if out is not None and not lost:
                try:
                    out.finish()
                except OSError as error:
                    ended, lost = error, True
        if state.interrupted:
            ended = ended or KeyboardInterrupt()
    if ended is None:
        score = None if test is None else score_model(lesson.model, *lesson.form.read(test))
        return Summary.of(lesson.model, score), lesson.tally
    kept = f"the model so far, of {counted(lesson.tally.examples, 'example')}, is in {output}"
    if out is not None and lost and not out.direct:
        kept += ", but its predictions are not kept"
    if isinstance(ended, KeyboardInterrupt):
        say(f"interrupted: {kept}")
        raise typer.Exit(ExitCode.INTERRUPTED)
    if isinstance(ended, OSError | MemoryError | TypeError | ValueError):
        raise DataError(f"{sentence_of(ended)}; {kept}")
    raise ended


def _save(lesson: Lesson, data: Path, output: Path) -> None:
    about: dict[str, Any] = {"data": str(data), "form": lesson.form.as_dict()}
    if lesson.hashing is not None:
        used = np.flatnonzero(np.atleast_2d(lesson.model.coef_).any(axis=0)).tolist()
        met = lesson.hashing.names
        about["names"] = {str(j): met[j] for j in used if j in met}
    save_model(lesson.model, output, about)
