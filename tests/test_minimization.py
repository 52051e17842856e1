"""What a run takes over from another."""

import numpy as np
import pytest

from stepless import LinearClassifier, LinearRegressor
from stepless.certificates import Certifier
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Hinge, Objective, Squared, SquaredHinge, SquaredL2
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import AdaGrad, Bundle, InteriorPoint, ProximalBundle
from stepless.stopping import Stopping
from stepless.trace import Event
from stepless.verdict import Verdict


def examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=40)


def test_a_result_starts_runs_on_its_own_problem_only():
    X, z = examples()
    sources = Source(X, z + 100.0), Source(X, np.sign(z))
    free, bound = (
        LinearRisk(Objective(Squared(), SquaredL2(0.1), intercept=i), sources[0])
        for i in (True, False)
    )
    smooth, sharp = (
        LinearRisk(Objective(loss, SquaredL2(0.1)), sources[1])
        for loss in (SquaredHinge(), Hinge())
    )
    other = LinearRisk(Objective(Hinge(), SquaredL2(0.1)), Source(X, -np.sign(z)))
    for first, second in ((bound, free), (smooth, sharp), (sharp, other)):
        result = minimize(first, Bundle(), Stopping(gap=1e-6))
        with pytest.raises(ValueError, match=r"start from \(result\.w, result\.b\)"):
            minimize(second, Bundle(), Stopping(gap=1e-6), start=result)
    stronger = LinearRisk(Objective(Hinge(), SquaredL2(1.0)), sources[1])
    again = minimize(stronger, Bundle(), Stopping(gap=1e-6), start=result)
    fresh = minimize(stronger, Bundle(), Stopping(gap=1e-6))
    assert again.objective == pytest.approx(fresh.objective, rel=1e-5)


def test_no_intercept_is_carried_to_where_there_is_none():
    X, z = examples()
    model = LinearRegressor("squared", warm_start=True).fit(X, z + 100.0)
    model.set_params(fit_intercept=False).fit(X, z + 100.0)
    fresh = LinearRegressor("squared", fit_intercept=False).fit(X, z + 100.0)
    assert model.intercept_ == 0.0
    assert model.objective_ == pytest.approx(fresh.objective_, rel=1e-3)


def test_no_negative_weight_is_carried_to_where_there_is_none():
    X, z = examples()
    model = LinearClassifier("logistic", warm_start=True).fit(X, z > 0)
    model.set_params(penalty="entropy", solver="mirror-descent", passes=20).fit(X, z > 0)
    assert (model.coef_ >= 0.0).all()
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize(
    "start",
    [
        (np.zeros(3), 0.0),
        (np.zeros(5), 0.0),
        (np.zeros((4, 1)), 0.0),
        (np.zeros(4), np.zeros(2)),
        (np.array([0.0, np.nan, 0.0, 0.0]), 0.0),
        (np.zeros(4), np.inf),
        (["a"] * 4, 0.0),
        (np.zeros(4),),
        np.zeros(4),
        0.0,
    ],
    ids=repr,
)
def test_a_start_of_another_size_is_refused(start):
    X, z = examples()
    risk = LinearRisk(Objective(Squared(), SquaredL2(0.1)), Source(X, z))
    with pytest.raises(ValueError, match=r"start must be a result or \(4 weights, an intercept\)"):
        minimize(risk, Bundle(), Stopping(), start=start)


@pytest.mark.parametrize("b", [1, np.float32(1.0), np.ones(1)], ids=repr)
def test_a_start_may_hold_numbers_of_any_kind(b):
    X, z = examples()
    risk = LinearRisk(Objective(Squared(), SquaredL2(0.1)), Source(X, z))
    at = minimize(risk, Bundle(), Stopping(gap=1e-6), start=([1, -2, 0, 0], b))
    assert at.objective == pytest.approx(minimize(risk, Bundle(), Stopping(gap=1e-6)).objective)


@pytest.mark.parametrize("solver", [Bundle(), ProximalBundle(), InteriorPoint(), AdaGrad()])
def test_examples_that_are_no_numbers_are_said_and_not_run_for_ever(solver):
    X, y = np.array([[0.0], [np.nan], [2.0]]), np.array([-1.0, 1.0, 1.0])
    risk = LinearRisk(Objective(Hinge(), SquaredL2(0.1)), Source(X, y))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="the objective is not a num"):
        minimize(risk, solver, Stopping(gap=1e-3, passes=50))


@pytest.mark.parametrize(("share", "ends"), [(0.0, True), (1e-16, True), (0.5, False)])
def test_a_claimed_bound_that_rounding_made_positive_proves_nothing(share, ends):
    """An objective of 1e-60, where the risk at 0 is 1, is 0 unless a real bound says otherwise."""
    risk = LinearRisk(Objective(Squared(), SquaredL2(1.0)), Source(np.eye(2), np.ones(2)))
    verdict = Verdict(risk, Certifier(risk.objective, risk.d), Stopping())
    event = Event(2, 4, 0.0, 1e-60, share * 1e-60, 0.0, 0)
    assert verdict.rounds_to_zero(event) == ends
