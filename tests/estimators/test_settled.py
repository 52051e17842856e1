"""Bounds on the optimum, compared with optima of independent solvers."""

import math

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from scipy.special import expit, log_softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.preprocessing import StandardScaler

from stepless import LinearClassifier, LinearRegressor, load_model, save_model
from stepless.report import Summary, describe

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of coarse gaps, nothing learned
NEAR = 1e-5  # how far from the optimum the others' answers may be, in predictions


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


# -- the others ------------------------------------------------------------------------------------


def best_two(loss, X, signs, p, alpha, intercept):
    """Weights and intercept of two classes, for example weights p that add up to 1."""
    X, signs, p = X[p > 0.0], signs[p > 0.0], p[p > 0.0]
    m, d = X.shape
    Z = np.column_stack([X, np.ones((m, int(intercept)))])
    ridge = np.array([alpha] * d + [0.0] * intercept)
    if loss == "hinge":  # of (w, b, ξ): ξ_i ≥ 0, ξ_i ≥ 1 − y_i z_i
        P = sparse.diags(np.concatenate([ridge, np.zeros(m)])).tocsc()
        rows = [[-signs[:, None] * Z, -np.eye(m)], [0.0 * Z, -np.eye(m)]]
        q = np.concatenate([0.0 * ridge, p])
        x = _conic(P, q, sparse.csc_matrix(np.block(rows)), np.repeat([-1.0, 0.0], m))
    else:
        x = _newton(loss, signs[:, None] * Z, p, ridge)
    return x[:d], x[d] if intercept else 0.0


def _conic(P, q, A, b):
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones = [clarabel.NonnegativeConeT(len(b))]
    return np.array(clarabel.DefaultSolver(P, q, A, b, cones, settings).solve().x)


def _newton(loss, Z, p, ridge):
    def oracle(z):
        """Loss, slope and curvature at the margins."""
        if loss == "logistic":
            return np.logaddexp(0.0, -z), -expit(-z), expit(z) * expit(-z)
        short = np.maximum(0.0, 1.0 - z)
        return short**2, -2.0 * short, 2.0 * (short > 0.0)

    def value(v):
        return 0.5 * ridge @ (v * v) + p @ oracle(Z @ v)[0]

    v = np.zeros(Z.shape[1])
    for _ in range(200):
        _, a, c = oracle(Z @ v)
        H = np.diag(ridge) + Z.T * (p * c) @ Z + 1e-14 * np.eye(len(v))
        move, step = np.linalg.solve(H, ridge * v + Z.T @ (p * a)), 1.0
        while step > 1e-9 and value(v - step * move) > value(v):
            step *= 0.5
        v = v - step * move
    return v


def best_joint(loss, X, y, K, alpha):
    """A matrix of weights, one row per class, without intercepts."""
    m, d = X.shape
    if loss == "logistic":

        def oracle(v):
            W = v.reshape(K, d)
            q = log_softmax(X @ W.T, axis=1)
            a = (np.exp(q) - np.eye(K)[y]) / m
            return 0.5 * alpha * v @ v - q[np.arange(m), y].mean(), (alpha * W + a.T @ X).ravel()

        options = {"maxiter": 10_000, "ftol": 0.0, "gtol": 1e-10}
        return scipy_minimize(oracle, np.zeros(K * d), jac=True, options=options).x.reshape(K, d)
    # ξ_i ≥ 1 − z_y + z_c for all c but y, ξ_i ≥ 0
    rows, ends = [], []
    for i in range(m):
        for c in range(K):
            row = np.zeros(K * d + m)
            row[K * d + i] = -1.0
            if c != y[i]:
                row[c * d : (c + 1) * d] = X[i]
                row[y[i] * d : (y[i] + 1) * d] = -X[i]
            rows.append(row)
            ends.append(0.0 if c == y[i] else -1.0)
    P = sparse.diags(np.repeat([alpha, 0.0], [K * d, m])).tocsc()
    q = np.repeat([0.0, 1.0 / m], [K * d, m])
    return _conic(P, q, sparse.csc_matrix(np.array(rows)), np.array(ends))[: K * d].reshape(K, d)


# -- two classes -----------------------------------------------------------------------------------


def two_classes(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(20, 80)), int(rng.integers(1, 8))
    X = rng.normal(size=(m, d)) + rng.choice([0.0, 3.0]) * rng.normal(size=d)
    score = (X - X.mean(axis=0)) @ rng.normal(size=d) + rng.normal(size=m) + rng.normal()
    signs = np.where(score > np.quantile(score, rng.uniform(0.2, 0.8)), 1.0, -1.0)
    s = rng.choice([0.0, 0.5, 1.0, 3.0], m) if rng.integers(2) else np.ones(m)
    s[[score.argmin(), score.argmax()]] = 1.0
    return X, signs, s, 10.0 ** rng.uniform(-3, 0), bool(rng.integers(4))


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_the_optimum_of_two_classes_is_where_it_is_said_to_be(loss):
    shares = {gap: [] for gap in (0.3, 3e-2, 1e-3, 1e-5, 1e-8)}
    for seed in range(40):
        X, signs, s, alpha, intercept = two_classes(seed)
        w, b = best_two(loss, X, signs, s / s.sum(), alpha, intercept)
        near = NEAR * (1.0 + np.abs(X).max())
        for gap, share in shares.items():
            fit = LinearClassifier(loss, alpha=alpha, gap=gap, fit_intercept=intercept)
            fit.fit(X, signs, sample_weight=s)
            assert np.linalg.norm(fit.coef_[0] - w) <= fit.coef_error_ + NEAR
            [[low, high]] = fit.intercept_range_
            assert low - near <= b <= high + near
            assert low <= fit.intercept_[0] <= high
            sure = fit.settled(X)
            assert (fit.predict(X)[sure] * (X[sure] @ w + b) > -near).all()
            share.append(sure.mean())
    means = [np.mean(share) for share in shares.values()]
    assert means == sorted(means)
    assert means[0] < 0.6
    assert means[-1] > 0.99


def test_an_intercept_that_is_0_settles_nothing_at_0():
    """By symmetry b* is 0: whatever sign a coarse fit's has, an example of zeros has none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30)
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    off = 0
    for gap in (0.5, 0.1, 1e-2, 1e-4):
        for solver in ("adagrad", "bundle", "auto"):
            fit = LinearClassifier("logistic", alpha=1e-2, gap=gap, solver=solver).fit(X, y)
            off += fit.intercept_[0] != 0.0
            assert not fit.settled(np.zeros((1, 3))).any()
    assert off > 3
    assert fit.settled(X).mean() > 0.5


def test_where_the_penalty_is_next_to_nothing_nothing_is_settled():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, 0] + 2.0 * rng.normal(size=300) > 0.0, 1, 0)
    fit = LinearClassifier(alpha=1e-8).fit(X, y)
    assert 50.0 < fit.coef_error_ < 1000.0
    assert fit.intercept_range_.tolist() == [[-math.inf, math.inf]]
    assert not fit.settled(X).any()


# -- several ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_the_optimum_of_several_classes(loss, multi_class):
    first, last = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        K, d, m = int(rng.integers(3, 5)), int(rng.integers(2, 6)), 45
        y = np.arange(m) % K
        X = rng.normal(size=(K, d))[y] + rng.normal(size=(m, d))
        alpha, joint = 10.0 ** rng.uniform(-2, -0.5), multi_class == "joint"
        if joint:
            W, b = best_joint(loss, X, y, K, alpha), np.zeros(K)
        else:
            each = [
                best_two(loss, X, np.where(y == c, 1.0, -1.0), np.full(m, 1 / m), alpha, True)
                for c in range(K)
            ]
            W, b = np.array([w for w, _ in each]), np.array([b for _, b in each])
        best = X @ W.T + b
        near = NEAR * (1.0 + np.abs(X).max())
        for gap in (0.1, 1e-2, 1e-3, 1e-7):
            fit = LinearClassifier(
                loss, alpha=alpha, gap=gap, multi_class=multi_class, fit_intercept=not joint
            ).fit(X, y)
            away = np.linalg.norm(fit.coef_ - W, axis=None if joint else 1)
            assert (away <= fit.coef_error_ + NEAR).all()
            assert np.shape(fit.coef_error_) == (() if joint else (K,))
            assert (fit.intercept_range_[:, 0] <= b + near).all()
            assert (fit.intercept_range_[:, 1] >= b - near).all()
            sure, labels = fit.settled(X), fit.predict(X)
            assert (best[sure, labels[sure]] >= best[sure].max(axis=1) - near).all()
            if gap in (0.1, 1e-7):
                (first if gap == 0.1 else last).append(sure.mean())
    assert np.mean(first) < 0.8 * np.mean(last)
    assert np.mean(last) > 0.9


# -- zeros -----------------------------------------------------------------------------------------


def test_weights_that_are_certainly_0_are_0():
    counts = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 20)) + rng.normal(size=20)
        y = X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=60)
        alpha, intercept = 10.0 ** rng.uniform(-1.5, -0.5), bool(seed % 2)
        theirs = Lasso(alpha=alpha, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, y)
        for gap in (0.1, 1e-2, 1e-6):
            fit = LinearRegressor(penalty="l1", alpha=alpha, gap=gap, fit_intercept=intercept)
            sure = fit.fit(X, y).certain_zeros_
            assert sure.shape == fit.coef_.shape
            assert not np.abs(theirs.coef_[sure]).max(initial=0.0) > 1e-9
        counts.append((sure.sum(), np.sum(theirs.coef_ == 0.0)))
    found, there = np.sum(counts, axis=0)
    assert 0.9 * there < found <= there


def test_certain_zeros_of_classes(cancer):
    X, y = cancer
    fit = LinearClassifier("logistic", penalty="l1", alpha=1e-2, gap=1e-5).fit(X, y)
    m = len(y)
    theirs = LogisticRegression(
        l1_ratio=1.0, solver="saga", C=1 / (1e-2 * m), tol=1e-8, max_iter=20_000
    ).fit(X, y)
    assert fit.certain_zeros_.shape == fit.coef_.shape
    assert fit.certain_zeros_.sum() > 10
    assert not np.abs(theirs.coef_[fit.certain_zeros_]).max() > 1e-6
    hinge = LinearClassifier(penalty="l1", alpha=1e-2, gap=1e-2).fit(X, y)
    assert not hasattr(hinge, "certain_zeros_")
    assert hinge.coef_error_ == math.inf
    assert not hasattr(hinge.set_params(penalty="l2").fit(X, y), "certain_zeros_")


def test_certain_zeros_one_row_per_class():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(150, 6))])
    fit = LinearClassifier("squared_hinge", penalty="l1", alpha=0.2, gap=1e-6).fit(X, y)
    assert fit.certain_zeros_.shape == (3, 10)
    assert 5 < fit.certain_zeros_.sum() <= np.sum(np.abs(fit.coef_) < 1e-9)


# -- what is refused, kept and told ----------------------------------------------------------------


def refusal(fit, X):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fit.settled(X)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_what_is_not_known_is_refused(cancer):
    X, y = cancer
    for given in ({"penalty": "l1"}, {"penalty": "elasticnet(0.5)"}, {"domain": "ball(1)"}):
        fit = LinearClassifier(alpha=1e-2, gap=1e-1, **given).fit(X, y)
        assert fit.coef_error_ == math.inf
        assert "only the gap of penalty='l2' tells" in refusal(fit, X)
    stream = LinearClassifier(alpha=1e-2, gap=1e-2).fit(X, y).partial_fit(X, y)
    assert "stream" in refusal(stream, X)
    assert not hasattr(stream, "coef_error_")
    X, y = load_iris(return_X_y=True)
    joint = LinearClassifier("logistic", alpha=1e-2, multi_class="joint").fit(X, y)
    assert joint.coef_error_ < 1.0
    assert "joint loss's intercepts" in refusal(joint, X)
    assert not hasattr(LinearRegressor(), "settled")


def test_files_keep_it(cancer, tmp_path):
    X, y = cancer
    iris = load_iris(return_X_y=True)
    fits = [
        LinearClassifier(alpha=1e-2).fit(X, y),
        LinearClassifier("logistic", alpha=1e-2).fit(*iris),
        LinearClassifier("logistic", alpha=1e-2, multi_class="joint").fit(*iris),
        LinearClassifier("logistic", penalty="l1", alpha=1e-2).fit(X, y),
        LinearRegressor(alpha=1e-2).fit(X, y),
        LinearRegressor(penalty="l1", alpha=1e-1).fit(X, y),
    ]
    for fit in fits:
        save_model(fit, tmp_path / "model")
        again = load_model(tmp_path / "model")
        for name in ("coef_error_", "intercept_range_", "certain_zeros_"):
            assert hasattr(again, name) == hasattr(fit, name)
            mine, theirs = (np.asarray(getattr(one, name, 0.0)) for one in (fit, again))
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
    save_model(fits[0], tmp_path / "model")
    assert (load_model(tmp_path / "model").settled(X) == fits[0].settled(X)).all()
    del fits[0].coef_error_, fits[0].intercept_range_  # as older versions wrote it
    save_model(fits[0], tmp_path / "model")
    assert "older version" in refusal(load_model(tmp_path / "model"), X)


def test_it_is_told_in_words(cancer):
    X, y = cancer
    fit = LinearClassifier(alpha=1e-2).fit(X, y)
    fit.coef_error_, fit.intercept_range_ = 0.01234, np.array([[-0.0321, 0.0567]]) + fit.intercept_
    told = "its weights within 0.013 of these, its intercept at most 0.033 lower or 0.057 higher"
    assert told in describe(Summary.of(fit))
    fit = LinearClassifier("logistic", penalty="l1", alpha=1e-2, gap=1e-5).fit(X, y)
    assert f"{fit.certain_zeros_.sum()} of 30 weights are certainly 0" in describe(Summary.of(fit))
    assert "optimum" not in describe(Summary.of(LinearClassifier().partial_fit(X, y, [0, 1])))
