"""What `stepless fit` does with a stream: score each example, learn it, forget it."""

from __future__ import annotations

import sys
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TextIO

import numpy as np
import typer
from numpy.typing import NDArray

from stepless.cli.form import Form, names_of
from stepless.cli.sentences import ExitCode, say
from stepless.data import Chunk, Chunks, DataError, Hashing
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.report import Summary, save_model, score_model
from stepless.report.text import counted

Model = LinearClassifier | LinearRegressor
_HEAD = f"{'examples':>12} {'loss since':>10} {'loss so far':>11} {'error':>8} {'a second':>9}"


@dataclass
class Tally:
    """What a stream has cost so far: each example was scored before it was learned."""

    examples: int = 0
    mistakes: int | None = None  # of a classifier
    loss: float = 0.0  # the mean of all
    refused: int = 0  # lines that were skipped
    messages: list[str] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)
    seconds: float = 0.0

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
            "skipped": self.refused,
            "skipped_because": self.messages,
        }

    def in_words(self) -> dict[str, str]:
        """The lines that a stream adds to a fit's description."""
        error = "" if self.error is None else f", {100 * self.error:.2f} % wrong"
        rows = {
            "stream": f"{counted(self.examples, 'example')} in {self.seconds:.3g} s, "
            f"{self.examples / max(self.seconds, 1e-9):,.0f} a second",
            "progressive": f"mean loss {self.loss:.6g}{error}, each scored before it was learned",
        }
        if self.refused:
            rows["skipped"] = f"{counted(self.refused, 'line')}; first: {self.messages[0]}"
        return rows


class Lesson:
    """A model that learns from a stream; it can be asked how it went, whatever ended it."""

    def __init__(
        self,
        model: Model,
        form: Form,
        *,
        classes: tuple[str, ...] = (),
        on_error: Literal["stop", "skip"] = "stop",
        remember: bool = False,
        talk: bool = False,
    ) -> None:
        self.model = model
        self.form = form
        self.tally = Tally()
        self.hashing = Hashing(form.bits, remember=True) if remember and form.bits else None
        self.classes: NDArray = np.zeros(0)
        self._named = classes
        self._skip = on_error == "skip"
        self._talk = talk
        self._skipped = 0  # lines that the reader has skipped
        self._next = 1  # examples after which the next line is due
        self._said = (0, 0.0)  # examples and total loss of the last line

    def run(self, data: Path, predictions: Path | None = None) -> None:
        """Learn from the stream to its end; write each prediction before its example counts."""
        with ExitStack() as stack:
            out = stack.enter_context(_opened(predictions)) if predictions else None
            chunks = stack.enter_context(
                self.form.chunks(data, "skip" if self._skip else "stop", self.hashing)
            )
            try:
                for chunk in chunks:
                    self._take(chunk, data, out)
                    self._count(chunks)
            finally:
                self._count(chunks)
                self.tally.seconds = perf_counter() - self.tally.began
                if self.tally.examples:
                    self.model.settle()

    def _take(self, chunk: Chunk, data: Path, out: TextIO | None) -> None:
        X, y, lines = chunk
        if isinstance(self.model, LinearClassifier):
            y = self._labels(y)
            known = np.isin(y, self._classes(y, data))
            for k in np.flatnonzero(~known):
                message = (
                    f"{_called(data)}, line {lines[k]}: the label {y[k]} is new; "
                    "name all of them with --classes"
                )
                if not self._skip:
                    self._learn(X[:k], y[:k], out)
                    raise DataError(message)
                self.tally.refused += 1
                self.tally.messages.append(message)
            X, y = (X, y) if known.all() else (X[known], y[known])
        self._learn(X, y, out)

    def _learn(self, X: Any, y: NDArray, out: TextIO | None) -> None:
        if len(y) == 0:
            return
        tally = self.tally
        if isinstance(self.model, LinearClassifier):
            predicted = self.model.predict_and_learn(X, y, self.classes, settle=False)
            tally.mistakes = (tally.mistakes or 0) + int(np.count_nonzero(predicted != y))
        else:
            predicted = self.model.predict_and_learn(X, y, settle=False)
        tally.examples += len(y)
        tally.loss = self.model.progressive_loss_
        if out is not None:
            out.writelines(f"{value}\n" for value in predicted.tolist())
        self._say()

    def _labels(self, y: NDArray) -> NDArray:
        """Whole numbers as such; else what they are."""
        if y.dtype.kind == "f" and (y == np.floor(y)).all() and np.abs(y).max() < 2**53:
            return y.astype(np.int64)
        return y

    def _classes(self, y: NDArray, data: Path) -> NDArray:
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
                    f"{_called(data)}: labels are numbers, but --classes names {named}"
                ) from None
        if len(self.classes) < 2:
            raise DataError(
                f"{_called(data)}: the first {counted(len(y), 'example')} hold one class only "
                f"({self.classes[0]}); name all of them with --classes"
            )
        return self.classes

    def _count(self, chunks: Chunks) -> None:
        skipped, tally = chunks.skipped, self.tally
        new = skipped.count - self._skipped
        tally.refused += new
        self._skipped = skipped.count
        if new:
            tally.messages = [*tally.messages, *skipped.messages][:5]

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
        rate = tally.examples / max(perf_counter() - tally.began, 1e-9)
        print(
            f"{tally.examples:>12,} {since:>10.4f} {tally.loss:>11.4f} {error:>8} {rate:>9,.0f}",
            file=sys.stderr,
            flush=True,
        )
        self._said = tally.examples, total
        self._next = 2 * tally.examples


@dataclass(frozen=True)
class Options:
    """What the command line says of a stream."""

    form: str
    bits: int | None
    features: int | None
    zero_based: bool
    classes: str | None
    on_error: Literal["stop", "skip"]
    names: bool
    predictions: Path | None
    target: str | None
    categorical: str | None
    ignore: str | None


def learn(
    model: Model, data: Path, how: Options, output: Path, test: Path | None, talk: bool
) -> tuple[Summary, Tally]:
    """Learn from a stream and write the model, the model so far if a bad line ends it."""
    form = Form.of(
        data,
        how.form,
        bits=how.bits,
        features=how.features,
        zero_based=how.zero_based,
        target=how.target,
        categorical=names_of(how.categorical),
        ignore=names_of(how.ignore),
    )
    lesson = Lesson(
        model,
        form,
        classes=names_of(how.classes),
        on_error=how.on_error,
        remember=how.names,
        talk=talk,
    )
    try:
        lesson.run(data, how.predictions)
    except (DataError, KeyboardInterrupt) as error:
        if not lesson.tally.examples:
            raise
        _save(lesson, data, output)
        kept = f"the model so far, of {counted(lesson.tally.examples, 'example')}, is in {output}"
        if isinstance(error, KeyboardInterrupt):
            say(f"interrupted: {kept}")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        raise DataError(f"{error}; {kept}") from None
    if not lesson.tally.examples:
        raise DataError(f"{_called(data)}: holds no examples")
    _save(lesson, data, output)
    score = None if test is None else score_model(model, *form.read(test))
    return Summary.of(model, score), lesson.tally


def _save(lesson: Lesson, data: Path, output: Path) -> None:
    about: dict[str, Any] = {"data": str(data), "form": lesson.form.as_dict()}
    if lesson.hashing is not None:
        used = np.flatnonzero(np.atleast_2d(lesson.model.coef_).any(axis=0)).tolist()
        met = lesson.hashing.names
        about["names"] = {str(j): met[j] for j in used if j in met}
    save_model(lesson.model, output, about)


def _called(data: Path) -> str:
    return "<stdin>" if str(data) == "-" else str(data)


def _opened(path: Path) -> Any:
    return nullcontext(sys.stdout) if str(path) == "-" else path.open("w", encoding="utf-8")
