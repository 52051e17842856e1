"""Several columns of targets, against scikit-learn, scipy and fits of single columns."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.special import huber
from sklearn.linear_model import MultiTaskLasso, Ridge
from sklearn.metrics import r2_score

from stepless import SOLVERS, LinearRegressor, Loss, alpha_path, load_model, minimize, save_model
from stepless.checks.contract import ContractError
from stepless.data import Source
from stepless.design import Dense
from stepless.objective import FiniteSum, Objective, RowsL2, Softmax, Squared, SumOverOutputs
from stepless.report import verify
from stepless.risks.joint_risk import risk_of
from stepless.solvers.lacking import lack_of
from stepless.stopping import Stopping

M, D, K = 60, 8, 3


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, D)) * np.geomspace(0.3, 3.0, D)
    W = np.zeros((D, K))
    W[:3] = rng.normal(size=(3, K))
    return X, X @ W + rng.normal(size=(M, K)) + np.array([0.0, 10.0, -2.0])


def rows(coef):
    return np.linalg.norm(coef, axis=0).sum()


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("alpha", [0.5, 0.05])
def test_rows_are_those_of_multi_task_lasso(examples, alpha, free):
    X, Y = examples
    ours = LinearRegressor(penalty="l1/l2", alpha=alpha, gap=1e-9, fit_intercept=free).fit(X, Y)
    theirs = MultiTaskLasso(alpha=alpha, fit_intercept=free, tol=1e-12, max_iter=10**6).fit(X, Y)
    best = ((Y - theirs.predict(X)) ** 2).sum() / (2 * M) + alpha * rows(theirs.coef_)
    assert ours.stopped_by_ == "gap"
    assert ours.lower_bound_ <= best * (1 + 1e-12)
    assert ours.objective_ == pytest.approx(best, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ * np.ones(K), atol=1e-3)
    np.testing.assert_array_equal(ours.coef_.any(axis=0), theirs.coef_.any(axis=0))
    assert ours.predict(X).shape == (M, K)
    assert ours.score(X, Y) == r2_score(Y, ours.predict(X))


def test_the_ridge_is_scikit_learns_with_weights(examples):
    X, Y = examples
    s = np.random.default_rng(1).uniform(0.2, 2.0, M)
    ours = LinearRegressor("squared", alpha=0.1, gap=1e-8).fit(X, Y, s)
    theirs = Ridge(alpha=0.1 * s.sum()).fit(X, Y, s)
    best = s @ ((Y - theirs.predict(X)) ** 2).sum(axis=1) / (2 * s.sum())
    best += 0.05 * (theirs.coef_**2).sum()
    assert ours.lower_bound_ <= best * (1 + 1e-12)
    assert ours.objective_ == pytest.approx(best, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_another_loss_is_summed_over_outputs(examples):
    X, Y = examples

    def J(v):
        W, b = v[:-K].reshape(D, K), v[-K:]
        return huber(0.5, X @ W + b - Y).sum() / M + 0.05 * (W * W).sum()

    best = scipy_minimize(J, np.zeros((D + 1) * K), options={"gtol": 1e-9}).fun
    ours = LinearRegressor("huber(0.5)", alpha=0.1, gap=1e-7).fit(X, Y)
    assert ours.lower_bound_ <= best * (1 + 1e-9)
    assert ours.objective_ == pytest.approx(best, rel=1e-6)
    assert str(ours.loss_) == "Huber(delta=0.5)"


@pytest.mark.parametrize("penalty", ["l1", "elasticnet(0.3)"])
def test_a_penalty_by_weights_leaves_outputs_apart(examples, penalty):
    X, Y = examples
    settings = {"penalty": penalty, "alpha": 0.1, "gap": 1e-7}
    ours = LinearRegressor(**settings).fit(X, Y)
    each = [LinearRegressor(**settings).fit(X, y) for y in Y.T]
    low, high = (sum(getattr(one, end) for one in each) for end in ("lower_bound_", "objective_"))
    assert ours.lower_bound_ <= high
    assert low <= ours.objective_ * (1 + 1e-15)
    np.testing.assert_allclose(ours.coef_, [one.coef_ for one in each], atol=1e-2)


def test_one_column_is_a_matrix_of_one_column(examples, tmp_path):
    X, Y = examples
    one, flat = (LinearRegressor(alpha=0.1).fit(X, y) for y in (Y[:, :1], Y[:, 0]))
    assert (one.coef_.shape, one.intercept_.shape, one.predict(X).shape) == ((1, D), (1,), (M, 1))
    np.testing.assert_array_equal(one.predict(X)[:, 0], flat.predict(X))
    save_model(one, tmp_path / "model")
    assert load_model(tmp_path / "model").predict(X).shape == (M, 1)
    assert verify(one, X, Y[:, :1]).holds
    assert one.fit(X, Y[:, 0]).coef_.shape == (D,)


def test_a_model_is_verified_saved_and_loaded(examples, tmp_path):
    X, Y = examples
    model = LinearRegressor(penalty="l1/l2", alpha=0.1).fit(X, Y)
    found = verify(model, X, Y)
    assert found.holds
    assert found.lower_bound == pytest.approx(model.lower_bound_, rel=1e-9)
    save_model(model, tmp_path / "model", proof=tmp_path / "proof")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert verify(loaded, X, Y, proof=tmp_path / "proof").holds
    with pytest.raises(ValueError, match="other targets"):
        verify(loaded, X, Y[:, ::-1], proof=tmp_path / "proof")


def test_strengths_are_found_for_all_outputs(examples):
    X, Y = examples
    scaled = LinearRegressor(penalty="l1/l2").fit(X, Y).alpha_
    assert LinearRegressor(penalty="l1/l2").fit(X, 10 * Y).alpha_ == pytest.approx(10 * scaled)
    chosen = LinearRegressor(penalty="l1/l2", alpha="cv").fit(X, Y)
    path = alpha_path(X, Y, chosen.alphas_, loss="squared", penalty="l1/l2")
    top = np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max() / M
    assert chosen.alphas_[0] == pytest.approx(top)
    assert not path[0].coef.any()
    assert path[1].coef.shape == (K, D)
    assert chosen.coef_.shape == (K, D)


def test_a_warm_start_goes_on(examples):
    X, Y = examples
    model = LinearRegressor(penalty="l1/l2", alpha=0.1, warm_start=True, gap=1e-6).fit(X, Y)
    first = model.n_passes_
    assert model.fit(X, Y).n_passes_ < first


class Cosh(Loss):
    def value(self, z, y):
        return np.cosh(z - y) - 1.0

    def slope(self, z, y):
        return -np.sinh(z - y)


def test_a_users_loss_is_checked(examples):
    with pytest.raises(ContractError, match=r"Cosh\.slope"):
        LinearRegressor(Cosh(), alpha=0.1).fit(*examples)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda X, Y: LinearRegressor().partial_fit(X, Y), "y has 3 columns, which only fit"),
        (lambda X, Y: LinearRegressor(alpha="auto").fit(X, Y), "alpha='auto' does not know 3 out"),
        (lambda X, Y: LinearRegressor().fit(X, Y[:, :0]), "y has no columns"),
        (lambda X, Y: LinearRegressor(solver="newton").fit(X, Y), "does not know several outputs"),
        (lambda X, Y: LinearRegressor("poisson").fit(X, Y), "Poisson needs targets ≥ 0"),
        (lambda X, Y: LinearRegressor().fit(X, np.where(Y > 9, np.nan, Y)), "y holds nan at ex"),
        (
            lambda X, Y: LinearRegressor(warm_start=True).fit(X, Y).fit(X, Y[:, 0]),
            "columns of y: 1 here, but 3 in the last fit",
        ),
        (
            lambda X, Y: LinearRegressor().fit(X, Y).partial_fit(X, Y[:, 0]),
            "columns of y: 1 here, but 3 in the last fit",
        ),
    ],
)
def test_what_is_refused(examples, act, sentence):
    with pytest.raises(ValueError, match=sentence):
        act(*examples)


@pytest.mark.parametrize("columns", [1, 2, 4, None])
@pytest.mark.parametrize("loss", [SumOverOutputs(Squared(), 3), Squared(), Softmax(3)], ids=str)
def test_a_risk_refuses_other_columns_of_targets(loss, columns):
    """Compiled loops do not check."""
    y = np.zeros(5 if columns is None else (5, columns))
    if columns is None and not isinstance(loss, SumOverOutputs):
        assert risk_of(Objective(loss, RowsL2(0.2)), Source(np.eye(5), y)).m == 5
        return
    with pytest.raises(ValueError, match=r"needs targets that are (rows of 3 )?numbers"):
        risk_of(Objective(loss, RowsL2(0.2)), Source(np.eye(5), y))
    with pytest.raises(ValueError, match="targets of shape"):
        FiniteSum(loss, Dense.of(np.eye(5)), y, np.ones(5))


def test_equal_targets_need_no_warning(examples):
    X, Y = examples
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearRegressor().fit(X, np.ones_like(Y) * [1.0, 2.0, 3.0])
    np.testing.assert_allclose(model.predict(X), np.tile([1.0, 2.0, 3.0], (M, 1)))


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_knows_several_outputs_or_says_so(examples, name):
    X, Y = examples
    objective = Objective(SumOverOutputs(Squared(), K), RowsL2(0.2))
    risk, solver = risk_of(objective, Source(X, Y, threads=1)), SOLVERS[name]()
    if lack_of(solver, risk):
        return
    best = minimize(risk, SOLVERS["accelerated"](), Stopping(gap=1e-9, passes=1000))
    found = minimize(risk, solver, Stopping(gap=1e-6, passes=10))
    assert found.lower_bound <= best.objective
    assert best.lower_bound <= found.objective <= 1.5 * best.objective
