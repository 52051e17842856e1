"""Newton steps with the lasso of rows, against scikit-learn's coordinate descent."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import MultiTaskLasso

from stepless import Checkpoint, LinearClassifier
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import L1, Huber, Objective, Poisson, RowsL2, Squared, SumOverOutputs
from stepless.risks.joint_risk import risk_of
from stepless.solvers import RowNewton
from stepless.solvers.batch.accelerated import Accelerated
from stepless.solvers.batch.row_newton import RowModel
from stepless.stopping import Stopping

M, D, K = 80, 300, 4


def made(share, *, loss=Squared(), free=True, layout=np.asarray, weights=False, offset=0.0):
    """More features than examples, correlated, at a share of the critical strength."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, D)) + 0.7 * rng.normal(size=(M, 1)) + offset
    X[:, 7] = 3.0  # without a variance
    X[:, 8] = 0.0
    if layout is not np.asarray:
        X[rng.random(X.shape) < 0.8] = 0.0
    Y = X[:, 10:15] @ rng.normal(size=(5, K)) + rng.normal(size=(M, K)) + np.arange(K)
    s = rng.uniform(0.2, 2.0, M) if weights else None
    objective = Objective(SumOverOutputs(loss, K), RowsL2(1.0), intercept=free)
    risk = risk_of(objective, Source(layout(X), Y, s, threads=1))
    top = objective.regularizer.critical_strength(
        risk.tangent(np.zeros(risk.d), 0.0).plane.a.reshape(-1, K)
    )
    objective = Objective(SumOverOutputs(loss, K), RowsL2(share * top), intercept=free)
    return risk_of(objective, risk.source), X, Y


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("share", [0.3, 0.03])
def test_it_reaches_the_optimum_of_coordinate_descent(share, free):
    risk, X, Y = made(share, free=free)
    alpha = risk.objective.regularizer.alpha
    found = minimize(risk, RowNewton(), Stopping(gap=1e-9, passes=60))
    theirs = MultiTaskLasso(alpha=alpha, fit_intercept=free, tol=1e-12, max_iter=10**6).fit(X, Y)
    best = ((Y - theirs.predict(X)) ** 2).sum() / (2 * M)
    best += alpha * np.linalg.norm(theirs.coef_, axis=0).sum()
    assert found.stopped_by == "gap"
    assert found.lower_bound <= best * (1 + 1e-12)
    assert found.objective == pytest.approx(best, rel=1e-8)
    W = found.w.reshape(D, K)
    np.testing.assert_allclose(W, theirs.coef_.T, atol=1e-4)
    np.testing.assert_array_equal(W.any(axis=1), theirs.coef_.any(axis=0))
    assert not W[8].any()
    assert not (free and W[7].any())


CASES = {
    "weights": {"weights": True},
    "sparse": {"layout": sparse.csr_array},
    "far from 0": {"offset": 1e4},
    "another loss": {"loss": Huber(0.5)},
}


@pytest.mark.parametrize("name", CASES)
def test_it_agrees_with_the_accelerated_gradient_in_fewer_passes(name):
    risk, _, _ = made(0.1, **CASES[name])
    found = minimize(risk, RowNewton(), Stopping(gap=1e-6, passes=150))
    other = minimize(risk, Accelerated(), Stopping(gap=1e-3, passes=2000))
    assert found.stopped_by == "gap"
    assert found.objective >= other.lower_bound
    assert other.objective >= found.lower_bound
    assert len(found.trace) < len(other.trace)
    heights = [event.objective for event in found.trace]
    assert heights == sorted(heights, reverse=True)


def test_a_pickled_state_goes_on_identically():
    risk, _, _ = made(0.1)
    solver, rng = RowNewton(), np.random.default_rng(0)
    state = solver.start(risk, np.zeros(risk.d), np.zeros(K))
    for _ in range(3):
        solver.step(risk, state, rng)
    twin = pickle.loads(pickle.dumps(state))
    one, other = (solver.step(risk, at, rng) for at in (state, twin))
    np.testing.assert_array_equal(one.w, other.w)
    assert one.lower_bound == other.lower_bound


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path):
    path, limits = tmp_path / "run.ck", Stopping(gap=0.0, passes=6)
    whole = minimize(made(0.1)[0], RowNewton(), limits)
    minimize(made(0.1)[0], RowNewton(), Stopping(0.0, 3), watchers=[Checkpoint(path)])
    again = [Checkpoint(path, resume=True)]
    resumed = minimize(made(0.1)[0], RowNewton(), limits, watchers=again)
    np.testing.assert_array_equal(resumed.w, whole.w)
    assert resumed.lower_bound == whole.lower_bound


def test_a_classifier_has_one_output():
    model = LinearClassifier("logistic", penalty="l1", solver="row-newton")
    with pytest.raises(ValueError, match="is for several outputs with penalty='l1/l2'; use"):
        model.fit(np.eye(4), [0, 1, 0, 1])


def test_at_the_critical_strength_there_are_no_weights():
    risk, _, _ = made(1.0 + 1e-9)
    found = minimize(risk, RowNewton(), Stopping(gap=1e-9, passes=3))
    assert found.stopped_by == "gap"
    assert not found.w.any()


@pytest.mark.parametrize(
    ("loss", "penalty", "sentence"),
    [
        (Squared(), L1(0.1), "is for several outputs with penalty='l1/l2'"),
        (Poisson(), RowsL2(0.1), "needs a loss of bounded curvature"),
    ],
)
def test_what_it_lacks(loss, penalty, sentence):
    assert sentence in RowNewton().lacks(Objective(SumOverOutputs(loss, 2), penalty))


def test_the_first_look_bounds_by_slopes_that_are_scaled_to_the_strength():
    risk, _, Y = made(0.25, free=False)
    found = RowNewton().step(
        risk, RowNewton().start(risk, np.zeros(risk.d), 0.0), np.random.default_rng(0)
    )
    # θ = ¼ of the slopes −Y: −Σ (½θ²y² − θy²)/m
    assert found.lower_bound == pytest.approx((0.25 - 0.5 * 0.25**2) * (Y**2).sum() / M)
    assert found.lower_bound <= risk.verify(found.w, found.b, found.claim).lower_bound * (1 + 1e-9)


@pytest.mark.parametrize("free", [True, False])
def test_the_model_of_least_squares_is_exact(free):
    risk, _, _ = made(0.1, free=free, weights=True, offset=10.0)
    rng, rows = np.random.default_rng(1), np.arange(10, 40)
    W, V = (np.zeros((D, K)) for _ in range(2))
    W[rows], V[rows] = rng.normal(size=(2, rows.size, K))
    here, there = (risk.tangent(part.ravel(), np.zeros(K)) for part in (W, V))
    G = here.plane.a.reshape(D, K)[rows]
    model = replace(RowModel.of(risk, rows), W=W[rows], G=G)
    rise = model.height(V[rows]) - model.height(W[rows])
    rise -= model.penalty(V[rows]) - model.penalty(W[rows])
    assert rise == pytest.approx(there.value - here.value, rel=1e-9)
    slopes = G + model.product(V[rows] - W[rows])
    np.testing.assert_allclose(slopes, there.plane.a.reshape(D, K)[rows], rtol=1e-6, atol=1e-6)


def test_a_newton_step_beyond_a_rows_corner_ends_there():
    risk, _, _ = made(0.3)
    rows = np.array([10, 11, 20])
    model = RowModel.of(risk, rows)
    G = risk.tangent(np.zeros(risk.d), np.zeros(K)).plane.a.reshape(D, K)[rows]
    model = replace(model, G=G * np.array([[2.0], [2.0], [0.0]]))
    V = model.swept(model.W, 5)
    V[2] = 1e-3
    found, _ = model.newton_step(V)
    assert not found[2].any()
    assert found[:2].any(axis=1).all()


def test_where_newton_steps_are_short_sweeps_go_on():
    """Far more features than examples, weakly penalised: rows end at 0 one by one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 150)) * 10 ** rng.uniform(-2.0, 2.0, 150)
    Y = 3.0 * rng.normal(size=(4, 3))
    objective = Objective(SumOverOutputs(Squared(), 3), RowsL2(0.1), intercept=False)
    risk = risk_of(objective, Source(X, Y, threads=1))
    found = minimize(risk, RowNewton(), Stopping(gap=1e-6, passes=40))
    assert found.stopped_by == "gap"
