"""Intervals of several outputs, against fractions and 600 bits."""

import numpy as np
import pytest
from scipy import sparse

from proof import exact
from stepless.data import Column, Source
from stepless.objective import Free, Huber, Objective, RowsL2, Squared, SquaredL2, SumOverOutputs
from stepless.risks.joint_risk import risk_of

K = 3
CASES = {
    "rows": (Squared(), RowsL2(0.3), True, np.asarray, 0.0),
    "rows, no intercept": (Squared(), RowsL2(0.3), False, np.asarray, 0.0),
    "ridge, sparse": (Squared(), SquaredL2(0.1), True, sparse.csr_array, 0.0),
    "far from 0": (Squared(), SquaredL2(0.1), True, np.asarray, 2.0**30),
    "huber": (Huber(1.0), SquaredL2(0.1), True, np.asarray, 0.0),
}


@pytest.fixture(params=CASES)
def risk(request):
    loss, penalty, intercept, layout, offset = CASES[request.param]
    rng = np.random.default_rng(len(request.param))
    X, s = rng.normal(size=(12, 4)) + offset, rng.uniform(0.1, 2.0, 12)
    s[-1] = 0.0
    Y = rng.normal(size=(12, K)) + np.array([0.0, 5.0, -3.0])
    objective = Objective(SumOverOutputs(loss, K), penalty, intercept=intercept)
    return risk_of(objective, Source(layout(X), Y, s, threads=1))


def problem(risk):
    X, y, s = risk.source.whole
    return risk.objective.loss, risk.objective.regularizer, X.matrix(), y, s


def dual(risk, slopes, ceiling):
    loss, penalty, X, y, s = problem(risk)
    return exact.dual(loss, penalty, Free(), X, y, s, slopes, risk.objective.intercept, ceiling)


def objective(risk, w, b):
    loss, penalty, X, y, s = problem(risk)
    return exact.objective(loss, penalty, X, y, s, w, b)


def test_the_objective_is_above_the_truth_and_next_to_it(risk):
    rng = np.random.default_rng(1)
    for far in (0.0, 1.0, 1e3):
        w = far * rng.normal(size=risk.d)
        b = rng.normal(size=K) * risk.objective.intercept
        truth, found = objective(risk, w, b), risk.verify(w, b, None).objective
        assert truth <= found <= truth * (1 + exact.mp.mpf("1e-12"))


@pytest.mark.parametrize("enough", [0.0, 1e-3])
def test_the_bound_is_what_the_slopes_prove(risk, enough):
    """Also of slopes that tilt, which the verifier levels, and none of them below any point."""
    rng = np.random.default_rng(2)
    w, b = 1e-3 * rng.normal(size=risk.d), np.zeros(K)
    tangent = risk.tangent(w, b)
    own = tangent.plane.witness.slopes.whole
    b, bounds = tangent.b, []
    for slopes in (own, 0.05 * own, own * rng.uniform(0.1, 1.0, own.shape)):
        witness = type(tangent.plane.witness)(Column([slopes]))
        found = risk.verify(w, b, witness, enough)
        proved = dual(risk, slopes, found.objective)
        truth = objective(risk, w, b)
        assert found.lower_bound <= max(proved, 0) <= truth <= found.objective
        # a plain sum of products of 10⁹ loses their last digits
        lost = exact.mp.mpf("1e-12" if risk.source.means.max() < 1e3 else "1e-4")
        lost += enough * truth
        assert found.lower_bound >= proved - lost * (abs(proved) + 1)
        bounds.append(found.lower_bound)
    assert max(bounds) > 0.01


def test_no_point_lies_below_the_bound(risk):
    rng = np.random.default_rng(3)
    tangent = risk.tangent(np.zeros(risk.d), np.zeros(K))
    found = risk.verify(np.zeros(risk.d), tangent.b, tangent.plane.witness)
    for size in np.geomspace(1e-9, 1.0, 20):
        w = size * rng.normal(size=risk.d)
        shift = size * rng.normal(size=K) * risk.objective.intercept
        assert found.lower_bound <= objective(risk, w, tangent.b + shift)
