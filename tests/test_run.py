"""A run is a value: solver, limits, seed, threads, watchers."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from stepless import LinearClassifier, Run
from stepless.solvers import AdaGrad, Bundle, ProximalBundle
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping
from stepless.watchers import Progress


def test_parameters_of_an_estimator_are_those_of_its_run():
    clf = LinearClassifier(solver="bundle", gap=0.1, passes=7, random_state=3, n_jobs=2)
    run = Run.of(clf, [print])
    assert run == Run("bundle", 0.1, 7, random_state=3, n_jobs=2, watchers=[print])
    assert (run.threads, run.watchers) == (2, (print,))
    with pytest.raises(FrozenInstanceError):
        run.gap = 0.2


def test_limits():
    assert Run().limits == Stopping(1e-3, 1000)
    assert Run(patience=20).limits == Stopping(1e-3, 20)
    assert Run(seconds=6).limits == Stopping(1e-3, math.inf, 6)
    assert Run(seconds=6).stopping(runs_left=2, spent=2.0).seconds == 2.0
    assert Run(seconds=6).stopping(spent=9.0).seconds == 0.0


def test_chance():
    def drawn(run):
        return run.generator().integers(2**40)

    assert drawn(Run()) == drawn(Run(random_state=0)) != drawn(Run(random_state=1))
    rng = np.random.default_rng(5)
    assert Run(random_state=rng).generator() is rng


def test_solvers():
    assert isinstance(Run("bundle").named_solver(), Bundle)
    assert isinstance(Run().online_solver(), AdaGrad)
    with pytest.raises(ValueError, match="solver 'bundle' cannot learn from a stream: choose one"):
        Run("bundle").online_solver()


def test_watchers():
    assert Run(watchers=[print]).event_watchers() == [print]
    first, second = replace(Run(watchers=[print]), verbose=1).event_watchers("class 3: ")
    assert isinstance(first, Progress)
    assert (first.label, second) == ("class 3: ", print)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gap": -1.0}, "gap must be at least 0, not -1"),
        ({"passes": 1.5}, "passes must be a whole number, not 1.5"),
        ({"n_jobs": 0}, "n_jobs must be positive, or -1 for all cores, not 0"),
        ({"shuffle": "no"}, "shuffle must be True or False, not 'no'"),
        ({"random_state": "x"}, "random_state must be None, a whole number"),
        ({"verbose": -1}, "verbose must be a whole number, at least 0, not -1"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ValueError, match=message):
        Run(**given)


def test_solvers_that_take_turns_are_a_solver():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    sequence = SolverSequence((Bundle(), 2), (ProximalBundle(), 2))
    assert LinearClassifier(alpha=0.1, solver=sequence).fit(X, y).stopped_by_ == "gap"


def test_what_is_no_risk_is_said():
    with pytest.raises(TypeError, match="risk must be a Risk"):
        Run().minimize(None)


def test_classes_that_all_weigh_nothing_are_said():
    with pytest.raises(ValueError, match="class_weight is zero for every example"):
        LinearClassifier(class_weight={0: 0.0, 1: 0.0}).fit([[0.0], [1.0]], [0, 1])
