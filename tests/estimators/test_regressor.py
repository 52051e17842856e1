import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, PoissonRegressor, QuantileRegressor, Ridge

from contracts.problems import OF_ONE_OUTPUT
from stepless import SOLVERS, LinearRegressor
from stepless.objective import Absolute, Objective, SquaredL2


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 20 * X, y / 100


def test_squared_is_ridge(diabetes):
    X, y = diabetes
    ours = LinearRegressor("squared", alpha=1e-2, gap=1e-8).fit(X, y)
    ridge = Ridge(alpha=1e-2 * len(y)).fit(X, y)
    np.testing.assert_allclose(ours.coef_, ridge.coef_, atol=1e-4)
    assert ours.intercept_ == pytest.approx(ridge.intercept_, abs=1e-4)
    best = 0.5 * np.mean((ridge.predict(X) - y) ** 2) + 0.005 * ridge.coef_ @ ridge.coef_
    assert ours.lower_bound_ <= best <= ours.objective_ * (1 + 1e-12)


def test_poisson_is_scikit_learns(diabetes):
    X, y = diabetes
    ours = LinearRegressor("poisson", alpha=1e-2, gap=1e-7).fit(X, y)
    theirs = PoissonRegressor(alpha=1e-2, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-2)
    assert (ours.predict(X) > 0).all()


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
def test_quantile_is_scikit_learns(diabetes, tau):
    X, y = diabetes
    ours = LinearRegressor(f"quantile({tau})", alpha=1e-8, gap=1e-4).fit(X, y)
    theirs = QuantileRegressor(quantile=tau, alpha=0).fit(X, y)
    r = y - theirs.predict(X)
    best = np.maximum(tau * r, (tau - 1) * r).mean()
    assert ours.objective_ == pytest.approx(best, rel=2e-4)
    assert (y <= ours.predict(X)).mean() == pytest.approx(tau, abs=0.03)


def test_huber_resists_outliers(diabetes):
    X, y = diabetes
    y = y.copy()
    y[::40] += 50.0
    robust = LinearRegressor("huber(0.5)", alpha=1e-3).fit(X, y)
    theirs = HuberRegressor(alpha=0.0, max_iter=1000).fit(X, y)
    assert np.corrcoef(robust.coef_, theirs.coef_)[0, 1] > 0.95
    plain = LinearRegressor("squared", alpha=1e-3).fit(X, y)
    clean = np.arange(len(y)) % 40 != 0
    assert robust.score(X[clean], y[clean]) > plain.score(X[clean], y[clean])


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@pytest.mark.parametrize("loss", ["absolute", "epsilon_insensitive(0.2)", "huber", "squared"])
def test_scale_of_the_targets_does_not_matter(diabetes, loss):
    X, y = diabetes
    for scale in (1e-6, 1e6):
        fit = LinearRegressor(loss, alpha=1e-2, passes=3000).fit(X, scale * y)
        # all of 1e-6·y may lie within ε: then the objective is 0 but for rounding
        assert fit.rel_gap_ <= 1e-3 or fit.objective_ <= 1e-15, (loss, scale)


# without `subgradient`, whose first step of 1/λ no ball holds back, and those that begin at 0
STRANGERS = ("subgradient", "adagrad", "rda", "fobos", "passive-aggressive", "arow")


@pytest.mark.parametrize("solver", ["auto", *(s for s in OF_ONE_OUTPUT if s not in STRANGERS)])
def test_targets_that_the_intercept_fits_alone(solver):
    X = np.random.default_rng(0).normal(size=(20, 2))
    chosen = SOLVERS["bundle" if solver == "auto" else solver]()
    smooth = chosen.lacks(Objective(Absolute(), SquaredL2(1e-4))) is not None
    loss, passes = "squared" if smooth else "absolute", 5
    if solver in ("auto", "interior-point"):
        passes = 15  # it comes from far inside
    for design in (X, 0 * X):
        domain = "ball" if solver == "frank-wolfe" else "free"
        model = LinearRegressor(loss, solver=solver, passes=passes, domain=domain)
        fit = model.fit(design, np.full(20, 7.0))
        assert fit.predict(design) == pytest.approx(7.0, abs=1e-3)
        assert fit.objective_ <= 1e-5  # of 7: an online solver leaves its last steps in it


def test_partial_fit_learns(diabetes):
    X, y = diabetes
    model = LinearRegressor("absolute", alpha=1e-4, solver="proximal")
    for _ in range(20):
        for lo in range(0, len(y), 50):
            model.partial_fit(sparse.csr_matrix(X[lo : lo + 50]), y[lo : lo + 50])
    assert model.score(X, y) > 0.4
    assert model.gap_ == np.inf


@pytest.mark.parametrize(
    ("loss", "y", "sentence"),
    [
        ("poisson", [1.0, -2.0, 3.0], "Poisson needs targets ≥ 0, but y is -2 at example 1"),
        ("poisson", [0.0, 0.0, 0.0], "Poisson needs at least one target above 0"),
        ("squared", [1.0, np.nan, 3.0], "y holds nan at example 1: it must hold finite numbers"),
        ("squared", [1.0, 1e60, 3.0], "y is 1e+60 at example 1"),
        ("hinge", [1.0, 2.0, 3.0], "Hinge is no loss for a LinearRegressor: choose one of squared"),
        ("quantile(2)", [1.0, 2.0, 3.0], "tau must lie between 0 and 1, not 2"),
        ("quantil", [1.0, 2.0, 3.0], "did you mean 'quantile'?"),
    ],
)
def test_bad_targets(loss, y, sentence):
    with pytest.raises(ValueError, match=r"^") as caught:
        LinearRegressor(loss).fit(np.eye(3), np.array(y))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("value", [3.0, 0.1, -100.0])
@pytest.mark.parametrize("loss", ["squared", "huber", "absolute", "quantile(0.9)", "poisson"])
def test_a_target_that_is_always_the_same_is_met_at_once_and_without_a_warning(loss, value):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = LinearRegressor(loss).fit(X, np.full(30, abs(value) if loss == "poisson" else value))
    assert model.stopped_by_ == "rounding"
    assert model.n_passes_ < 100
    assert model.lower_bound_ == 0.0 < model.objective_ < 1e-7
    np.testing.assert_allclose(model.predict(X), abs(value) if loss == "poisson" else value)


def test_a_small_signal_on_a_large_constant_is_not_taken_for_rounding():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = 1e6 + 0.1 * X[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding hides the gap
        model = LinearRegressor(alpha=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, [0.1, 0.0, 0.0], atol=1e-6)


def test_a_prediction_is_the_fits_whatever_the_loss_is_set_to_afterwards():
    X, y = np.eye(3), np.array([1.0, 2.0, 3.0])
    counts = LinearRegressor("poisson", alpha=1e-2).fit(X, y)
    expected = counts.predict(X)
    np.testing.assert_array_equal(counts.set_params(loss="squared").predict(X), expected)


def test_poisson_goes_to_a_bundle_solver():
    with pytest.raises(ValueError, match="Poisson is neither; use a bundle solver"):
        LinearRegressor("poisson", solver="proximal").fit(np.eye(3), np.array([1.0, 2.0, 3.0]))
