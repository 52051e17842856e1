"""A run goes on from a result on the same problem only: elsewhere its planes are not true."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from contracts.problems import OF_ONE_OUTPUT
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    Free,
    Hinge,
    L1Ball,
    Logistic,
    Objective,
    SmoothedHinge,
    SquaredHinge,
    SquaredL2,
    Zero,
)
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS, Bundle
from stepless.solvers.auto import choose
from stepless.stopping import Stopping

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.sign(X[:, 0] + 0.5 * RNG.normal(size=60))
S = RNG.uniform(0.5, 1.5, size=60)
SHORT = Stopping(gap=0.0, passes=3)


def changed(array, change):
    copy = array.copy()
    change(copy)
    return copy


def negate(copy):
    copy[:] = -copy


def negate_two(copy):
    copy.flat[[0, 4]] *= -1.0


def swap(copy):
    copy[[0, 1]] = copy[[1, 0]]


def nudge(copy):
    copy.flat[-1] = np.nextafter(copy.flat[-1], 9.0)


OTHER = {
    "X, ten times": lambda: Source(10.0 * X, Y, S),
    "X, negated": lambda: Source(changed(X, negate), Y, S),
    "X, two signs": lambda: Source(changed(X, negate_two), Y, S),
    "X, two rows": lambda: Source(changed(X, swap), Y, S),
    "X, one bit": lambda: Source(changed(X, nudge), Y, S),
    "X, half as exact": lambda: Source(X.astype(np.float32), Y, S),
    "X, fewer": lambda: Source(X[:-1], Y[:-1], S[:-1]),
    "y": lambda: Source(X, changed(Y, negate_two), S),
    "s": lambda: Source(X, Y, changed(S, nudge)),
}


def solver_and_risk(name, source, losses=(Logistic(), Hinge())):
    """A solver, and the risk of the first objective that it knows."""
    solver = SOLVERS[name]()
    ways = product(losses, ((SquaredL2(0.05), Free()), (Zero(), Free()), (Zero(), L1Ball(2.0))))
    objectives = (Objective(loss, *way) for loss, way in ways)
    objective = next(objective for objective in objectives if solver.lacks(objective) is None)
    return solver, LinearRisk(objective, source)


@pytest.mark.parametrize("other", OTHER)
@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_other_examples_are_refused(name, other):
    solver, risk = solver_and_risk(name, Source(X, Y, S))
    result = minimize(risk, solver, SHORT)
    with pytest.raises(ValueError, match=r"start from \(result\.w, result\.b\)"):
        minimize(LinearRisk(risk.objective, OTHER[other]()), solver, SHORT, start=result)


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_another_loss_or_intercept_is_refused(name):
    solver, risk = solver_and_risk(name, Source(X, Y, S))
    result = minimize(risk, solver, SHORT)
    objective = risk.objective
    others = [
        replace(objective, intercept=False),
        *(replace(objective, loss=loss) for loss in (SmoothedHinge(0.5), SquaredHinge())),
    ]
    for other in others:
        if solver.lacks(other) is None:
            with pytest.raises(ValueError, match=r"start from \(result\.w, result\.b\)"):
                minimize(LinearRisk(other, risk.source), solver, SHORT, start=result)


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_equal_examples_elsewhere_are_the_same_and_the_bounds_stay_true(name, form):
    losses = (Logistic(), Hinge()) if form is np.array else (Hinge(), Logistic())
    solver, risk = solver_and_risk(name, Source(form(X), Y, S), losses)
    result = minimize(risk, solver, SHORT)
    ridge = isinstance(risk.objective.regularizer, SquaredL2)
    penalty = SquaredL2(0.01) if ridge else Zero()
    copies = Source(form(X.copy()), Y.copy(), S.copy())
    weaker = LinearRisk(replace(risk.objective, regularizer=penalty), copies)
    on = minimize(weaker, solver, SHORT, start=result)
    best = minimize(weaker, choose(weaker, 1e-6), Stopping(gap=1e-6, passes=100))
    assert on.lower_bound <= best.objective
    assert on.objective >= best.lower_bound


def test_a_result_that_is_not_resumable_is_refused():
    risk = LinearRisk(Objective(Hinge(), SquaredL2(0.1)), Source(X, Y))
    result = minimize(risk, Bundle(), Stopping(gap=1e-3), resumable=False)
    with pytest.raises(ValueError, match="a run goes on from a result on the same examples"):
        minimize(risk, Bundle(), Stopping(gap=1e-3), start=result)


def test_examples_that_were_changed_in_place_are_others():
    mine = X.copy()
    risk = LinearRisk(Objective(Hinge(), SquaredL2(0.1)), Source(mine, Y))
    result = minimize(risk, Bundle(), Stopping(gap=1e-3))
    mine *= 5.0
    with pytest.raises(ValueError, match="a run goes on from a result on the same examples"):
        minimize(risk, Bundle(), Stopping(gap=1e-3), start=result)
