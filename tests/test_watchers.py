"""Watchers."""

import io
import math
from dataclasses import replace

import numpy as np

from stepless import Objective, Stopping
from stepless.compile_time import COMPILED
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Squared, SquaredL2
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Bundle
from stepless.trace import Event
from stepless.watchers import EarlyStop, Progress

EVENT = Event(3, 300, 0.25, 0.5, 0.4, 1.0, 7)
W = np.zeros(2)


def test_progress_writes_one_line_an_event():
    stream = io.StringIO()
    progress = Progress(stream, label="class 2: ")
    assert not progress(EVENT, W, 0.0)
    assert not progress(EVENT, W, 0.0)
    line = "class 2: pass 3  0.25 s  objective 0.5  lower bound 0.4  relative gap 0.2\n"
    assert stream.getvalue() == 2 * line


def test_progress_goes_to_standard_error(capsys):
    Progress()(EVENT, W, 0.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pass 3")


def test_early_stop_waits_for_its_patience():
    scores = iter([0.5, 0.6, 0.6, 0.55, 0.7, 0.7, 0.2, 0.3])  # an equal score is no rise
    stop = EarlyStop(lambda w, b: next(scores), patience=3)
    assert [stop(EVENT, W, 0.0) for _ in range(8)] == [False] * 7 + [True]


def test_early_stop_does_not_take_a_nan_for_progress():
    stop = EarlyStop(lambda w, b: math.nan, patience=2)
    assert [stop(EVENT, W, 0.0) for _ in range(2)] == [False, True]


def _risk():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=30)
    return LinearRisk(
        Objective(Squared(), SquaredL2(0.1), intercept=False), Source(X, y, threads=1)
    )


def test_a_run_tells_every_watcher_of_every_event_and_ends_when_one_says_so():
    seen, other = [], []

    def third(event, w, b):
        seen.append((event, w.copy(), b))
        return event.passes == 3

    risk = _risk()
    result = minimize(
        risk,
        Bundle(),
        Stopping(gap=0.0),
        watchers=[third, lambda event, w, b: other.append(event)],
    )
    assert result.stopped_by == "watcher"
    assert [event for event, *_ in seen] == other
    for event, kept in zip(other, result.trace, strict=True):  # what was proved of it in the end
        assert replace(kept, objective=0.0, lower_bound=0.0) == replace(
            event, objective=0.0, lower_bound=0.0
        )
        assert abs(kept.objective - event.objective) < 1e-12
        assert kept.lower_bound >= event.lower_bound - 1e-12
    for event, w, b in seen:  # they are shown the best point, and its objective
        value = risk.objective.penalty(w) + risk.value(w, b)
        assert abs(value - event.objective) < 1e-12


def test_progress_says_once_that_there_was_something_to_compile(monkeypatch):
    stream = io.StringIO()
    progress = Progress(stream)
    monkeypatch.setattr(COMPILED, "seconds", COMPILED.seconds + 2.5)
    progress(EVENT, W, 0.0)
    progress(EVENT, W, 0.0)
    first, *others = stream.getvalue().splitlines()
    assert first == "compiled for 2.5 s, once on this machine"
    assert len(others) == 2
