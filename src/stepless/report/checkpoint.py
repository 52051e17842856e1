"""Checkpoints: files from which a run that was broken off goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from safetensors import SafetensorError

import stepless
from stepless.arguments import as_float
from stepless.data import DataError
from stepless.report.atomic import Path, is_direct, refuse_output, write_atomically
from stepless.report.plain_values import Arrays, Json, NotPlain, decode, encode
from stepless.report.run_identity import Identity, first_difference, identity_of
from stepless.report.tensors import TensorFile, damage_reported
from stepless.risks.risk import Risk
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping
from stepless.warning import warn

FORMAT = 1
_FILE = TensorFile("checkpoint", "stepless_checkpoint", FORMAT, (), finite=False)
_LIMITS = ("interrupt", "passes", "seconds")  # ends of a run that could go on
_PARTS = ("objective", "source", "problem", "gram")  # of a risk

_Stored = tuple[Identity, Json, Arrays]  # what a run is of, and its content


class Checkpoint:
    """A watcher that keeps in a file what a fit needs to go on where it was broken off.

    Give it among the `watchers` of a fit or of `minimize`. The file is replaced every `every`
    seconds, whole or not at all, and when signals or limits end a run. It holds the best point,
    planes or dual point, trace, random generator and the solver's state, of each run if there are
    several (one per class); a resumed run takes the very steps that the undisturbed one would have
    taken. Other examples, another problem, solver or version of Stepless are refused. What a
    watcher has ended stays so. Reading a file runs no code from it, and what it says of
    certificates is proved again.

    Parameters
    ----------
    path
        The file.
    every
        Seconds between two writes.
    resume
        True to go on from the file, which must be there. Limits count from the run's beginning.

    Examples
    --------
    >>> import tempfile
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier("logistic", alpha=0.1, gap=1e-9, passes=2)
    >>> X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf = clf.fit(X, y, watchers=[Checkpoint(f"{folder}/run.ck")])
    ...     clf = clf.set_params(passes=None)
    ...     clf = clf.fit(X, y, watchers=[Checkpoint(f"{folder}/run.ck", resume=True)])
    >>> clf.stopped_by_, len(clf.trace_) > 2
    ('gap', True)
    """

    def __init__(self, path: Path, every: float = 30.0, resume: bool = False) -> None:
        self.path, self.every, self.resume = path, as_float("every", every), resume
        if not self.every >= 0.0:
            raise ValueError(f"every must be a number of seconds ≥ 0, not {every}")
        if is_direct(path):
            raise ValueError(f"{os.fspath(path)}: is no regular file, as a checkpoint must be")
        refuse_output(path)
        self._used = True
        self.open()

    def open(self) -> None:
        """Begin a fit; read what is to be resumed."""
        if not self._used:
            return
        self._used = False
        self._ended: list[_Stored] = []  # runs of this fit
        self._waiting = self._read() if self.resume else []
        self._written, self._closed, self._warned = perf_counter(), False, False

    @property
    def runs(self) -> int:
        """The number of runs that the file holds and that are to go on."""
        return len(self._waiting)

    def begin(
        self, risk: Risk, sequence: SolverSequence, stopping: Stopping, rng: np.random.Generator
    ) -> dict[str, Any] | None:
        """Return the content of the run to go on with; None for a new one. Refuse another's."""
        self._used = True
        parts = {name: getattr(risk, name) for name in _PARTS if hasattr(risk, name)}
        terms = ("loss", "regularizer", "domain")
        named = {name: getattr(risk.objective, name, None) for name in terms}
        self._known = parts | {name: term for name, term in named.items() if term is not None}
        self._identity = identity_of(risk, sequence, stopping, rng)
        if not self._waiting:
            return None
        identity, text, arrays = self._waiting.pop(0)
        with damage_reported(self.path):
            if (difference := first_difference(identity, self._identity)) is not None:
                raise DataError(
                    f"{os.fspath(self.path)}: this run was begun {difference}; go on with what it "
                    "was begun with, or begin a new run"
                )
            content: dict[str, Any] = decode(text, arrays, self._known)
        return content

    def keep(self, content: Callable[[], dict[str, Any]], reason: str | None) -> None:
        """Write the content of a run after a step, if it is time; `reason` says why it has ended.

        After an interrupt the other runs of a fit take one step each, which is not worth a file.
        """
        due = perf_counter() - self._written >= self.every or reason in _LIMITS
        if self._closed or not (due or reason):
            return
        try:
            now = self._identity, *encode(content(), self._known)
        except NotPlain as error:
            raise ValueError(f"a checkpoint cannot hold a {error}; fit without one") from None
        if due:
            self._write([*self._ended, now])
        if reason is not None:
            self._ended.append(now)
        self._closed = reason == "interrupt"

    def _write(self, runs: list[_Stored]) -> None:
        known = [{"identity": identity, "content": text} for identity, text, _ in runs]
        arrays = {f"{k}.{n}": a for k, run in enumerate(runs) for n, a in run[2].items()}
        try:
            data = _FILE.packed({"runs": known}, arrays)
        except SafetensorError as error:
            raise ValueError(f"{os.fspath(self.path)}: cannot hold this run ({error})") from None
        self._written = perf_counter()
        try:
            write_atomically(self.path, data)
        except OSError as error:
            if not self._warned:
                warn(
                    f"{os.fspath(self.path)}: no checkpoint was written ({error.strerror}); the "
                    "fit goes on without: make room, or it is lost if it is broken off"
                )
            self._warned = True

    def _read(self) -> list[_Stored]:
        if not os.path.exists(self.path):
            raise DataError(
                f"{os.fspath(self.path)}: there is no checkpoint to go on from, as of a run that "
                "had ended before one was due; begin a new run, without resuming"
            )
        header, arrays = _FILE.read(self.path)
        with damage_reported(self.path):
            if header["stepless"] != stepless.__version__:
                raise DataError(
                    f"{os.fspath(self.path)}: was written by stepless {header['stepless']}, and "
                    f"only that version can go on from it; this is {stepless.__version__}"
                )
            runs: list[_Stored] = []
            for k, run in enumerate(header["runs"]):
                own = {n.split(".")[1]: a for n, a in arrays.items() if n.startswith(f"{k}.")}
                runs.append((run["identity"], run["content"], own))
        return runs
