"""Several classes jointly: solvers against clarabel and scipy, the estimator against scikit-learn."""

import functools
import warnings

import clarabel
import numpy as np
import pytest
from benchmarks.soak import Tally, runs, wide
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from scipy.special import log_softmax
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from stepless import LinearClassifier
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import MulticlassHinge, Objective, Softmax, SquaredL2
from stepless.risks.joint_risk import risk_of
from stepless.solvers.batch.bundle import Bundle
from stepless.solvers.batch.bundle_linesearch import BundleLinesearch
from stepless.solvers.batch.proximal_bundle import ProximalBundle
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.fobos import FOBOS
from stepless.solvers.online.rda import RDA
from stepless.stopping import Stopping

LOSSES = {"hinge": MulticlassHinge, "softmax": Softmax}
STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
ONLINE = {
    "adagrad-rda": AdaGrad,
    "adagrad-cmd": lambda: AdaGrad("cmd"),
    "rda": RDA,
    "fobos": FOBOS,
}


class Case:
    """A joint problem with the ridge, and its minimum by somebody else's solver."""

    def __init__(self, name, strength, intercept, kind="noisy", K=3):
        rng = np.random.default_rng([K, len(kind)])
        m, d = 60, 4
        X = np.round(rng.normal(size=(m, d)), 3)
        y = (X @ rng.normal(size=(d, K)) + rng.normal(size=(m, K)) + rng.normal(size=K)).argmax(1)
        y[:K] = np.arange(K)
        if kind == "separable":
            y = np.arange(m) % K
            X *= 0.3
            X[np.arange(m), y % d] += 2.0 * (1 + y // d)
        elif kind == "rare":
            y[y == K - 1] = 0
            y[5] = K - 1
        self.name, self.X, self.y, self.K = name, X, y, K
        self.strength, self.intercept = strength, intercept
        s = rng.uniform(0.2, 2.0, m)
        self.p = s / s.sum()
        self.objective = Objective(LOSSES[name](K), SquaredL2(strength), intercept=intercept)
        self.risk = risk_of(self.objective, Source(X, y.astype(float), s, threads=1))
        w, b = (_crammer_singer if name == "hinge" else _multinomial)(self)
        self.best = self.value(w, b)

    def value(self, w, b):
        """J, from the formulas."""
        W = np.asarray(w).reshape(-1, self.K)
        return _objective(self.name, self.X, self.y, self.p, self.strength, W, b)

    def assert_true(self, result):
        slack = 1e-8 * self.best
        assert result.lower_bound <= self.best + slack, (result.lower_bound, self.best)
        assert result.objective >= self.best - slack, (result.objective, self.best)
        assert self.value(result.w, result.b) == pytest.approx(result.objective, rel=1e-10)


def _objective(name, X, y, p, strength, W, b):
    Z, rows = X @ W + b, np.arange(len(y))
    if name == "hinge":
        margins = Z + 1.0 - Z[rows, y][:, None]
        margins[rows, y] = 0.0
        losses = margins.max(axis=1)
    else:
        losses = -log_softmax(Z, axis=1)[rows, y]
    return 0.5 * strength * float((W * W).sum()) + float(p @ losses)


def _crammer_singer(case):
    """min (λ/2)‖W‖² + Σ p_i ξ_i, ξ_i ≥ 1[c ≠ y] + z_ic − z_iy, with W, b and ξ as unknowns."""
    (m, d), K = case.X.shape, case.K
    Z = np.column_stack([case.X, np.ones(m)]) if case.intercept else case.X
    n = Z.shape[1] * K
    eye = np.eye(K)
    rows = [np.kron(Z[i], eye[c] - eye[case.y[i]]) for i in range(m) for c in range(K)]
    slacks = np.kron(np.eye(m), np.ones((K, 1)))
    A = sparse.csc_matrix(np.hstack([rows, -slacks]))
    b = -(np.arange(K) != case.y[:, None]).astype(float).ravel()
    P = sparse.diags(
        np.concatenate([np.full(d * K, case.strength), np.zeros(n - d * K + m)]), format="csc"
    )
    q = np.concatenate([np.zeros(n), case.p])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    scale = 1.0 / min(1.0, case.strength)  # absolute accuracy is then relative
    solver = clarabel.DefaultSolver(
        scale * P, scale * q, A, b, [clarabel.NonnegativeConeT(m * K)], settings
    )
    x = np.array(solver.solve().x)
    return x[: d * K], x[d * K : n] if case.intercept else np.zeros(K)


def _multinomial(case):
    """L-BFGS, then Newton's method to rounding."""
    (m, d), K = case.X.shape, case.K
    Z = np.column_stack([case.X, np.ones(m)]) if case.intercept else case.X
    ridge = np.repeat([case.strength] * d + [0.0] * case.intercept, K)

    def oracle(v):
        q = log_softmax(Z @ v.reshape(-1, K), axis=1)
        a = case.p[:, None] * (np.exp(q) - np.eye(K)[case.y])
        value = 0.5 * ridge @ (v * v) - case.p @ q[np.arange(m), case.y]
        return value, ridge * v + (Z.T @ a).ravel()

    def hessian(v):
        q = np.exp(log_softmax(Z @ v.reshape(-1, K), axis=1))
        blocks = np.einsum("ic,ce->ice", q, np.eye(K)) - q[:, :, None] * q[:, None, :]
        H = np.einsum("i,ij,ik,ice->jcke", case.p, Z, Z, blocks).reshape(v.size, v.size)
        return H + np.diag(ridge)

    found = scipy_minimize(oracle, np.zeros(Z.shape[1] * K), jac=True, options={"gtol": 1e-10})
    v = found.x
    for _ in range(8):
        v = v - np.linalg.lstsq(hessian(v), oracle(v)[1], rcond=1e-13)[0]
    assert np.abs(oracle(v)[1]).max() <= 1e-10
    return v[: d * K], v[d * K :] if case.intercept else np.zeros(K)


@functools.cache
def case(*what):
    return Case(*what)


# -- solvers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["noisy", "rare", "separable"])
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", LOSSES)
def test_bundles_reach_the_optimum(name, strength, kind):
    for intercept in (False, True):
        problem = case(name, strength, intercept, kind)
        for solver in (Bundle(), ProximalBundle()) if kind == "noisy" else (ProximalBundle(),):
            result = minimize(problem.risk, solver, Stopping(gap=1e-3, passes=400))
            problem.assert_true(result)
            assert result.stopped_by == "gap", (solver.name, intercept, result.rel_gap)
            assert result.objective <= problem.best * (1 + 1.01e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_bundles_of_many_classes(name):
    problem = case(name, 1e-2, True, "noisy", 6)
    result = minimize(problem.risk, ProximalBundle(), Stopping(gap=1e-3, passes=300))
    problem.assert_true(result)
    assert result.stopped_by == "gap"


@pytest.mark.parametrize("name", LOSSES)
def test_bounds_are_true_to_the_last_digit(name):
    """Where only rounding is left, the level planes of sharp losses must still be level."""
    for strength in (1.0, 1e-2):
        problem = case(name, strength, True, "separable")
        result = minimize(problem.risk, ProximalBundle(), Stopping(gap=1e-9, passes=60))
        problem.assert_true(result)
        assert result.rel_gap <= 1e-5


# 29: bounds are false if planes are levelled by the tilt of other intercepts, a rounding away
@pytest.mark.parametrize("seed", [29, 173])
def test_joint_problems_of_the_soak(seed):
    tally, problem = Tally(), wide(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tally.judge(problem, list(runs(problem, ["bundle", "proximal-bundle"])))
    assert sum(count["runs"] for count in tally.counts.values()) == 2
    assert tally.faults == 0


@pytest.mark.parametrize("name", LOSSES)
def test_the_line_search_is_true(name):
    for strength, gap in ((1.0, 1e-2), (1e-1, 0.1), (1e-3, 1.0)):
        for intercept in (False, True):
            problem = case(name, strength, intercept)
            result = minimize(problem.risk, BundleLinesearch(), Stopping(gap=0.0, passes=40))
            problem.assert_true(result)
            assert result.rel_gap <= gap


@pytest.mark.parametrize("solver", ONLINE)
@pytest.mark.parametrize("name", LOSSES)
def test_online_solvers_come_near_the_optimum(name, solver):
    for strength in (1.0, 1e-2, 1e-4):
        for intercept in (False, True):
            problem = case(name, strength, intercept)
            result = minimize(problem.risk, ONLINE[solver](), Stopping(gap=0.0, passes=15))
            problem.assert_true(result)
            assert result.objective <= problem.best * 1.25, (strength, intercept)
            # a pass's plane of the risk at its end bounds as any other does
            assert strength < 1.0 or result.rel_gap <= 0.2, (strength, intercept)


@pytest.mark.parametrize("name", LOSSES)
def test_a_warm_start_is_no_worse(name):
    problem = case(name, 1e-2, True)
    first = minimize(problem.risk, ProximalBundle(), Stopping(gap=1e-2, passes=200))
    for start in (first, (first.w, first.b)):
        again = minimize(
            problem.risk, ProximalBundle(), Stopping(gap=1e-3, passes=200), start=start
        )
        problem.assert_true(again)
        assert again.objective <= first.objective
        assert again.trace[0].objective <= first.objective
    for solver in (AdaGrad(), AdaGrad("cmd"), RDA(), FOBOS()):
        problem.assert_true(
            minimize(problem.risk, solver, Stopping(gap=0.0, passes=5), start=(first.w, first.b))
        )


# -- the estimator ---------------------------------------------------------------------------------


def _data(name):
    X, y = (load_iris if name == "iris" else load_digits)(return_X_y=True)
    if name == "digits":
        X, y = X[:300], y[:300]
    sizes = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(sizes > 0, sizes, 1.0), y


def _score(loss, X, y, alpha, model):
    p = np.full(len(y), 1.0 / len(y))
    return _objective(loss, X, y, p, alpha, model.coef_.T, model.intercept_)


@pytest.mark.parametrize("alpha", [1e-1, 1e-2])
@pytest.mark.parametrize("data", ["iris", "digits"])
def test_joint_logistic_is_multinomial_regression(data, alpha):
    X, y = _data(data)
    clf = LinearClassifier("logistic", multi_class="joint", alpha=alpha).fit(X, y)
    theirs = LogisticRegression(C=1.0 / (alpha * len(y)), tol=1e-10, max_iter=5000).fit(X, y)
    best = _score("softmax", X, y, alpha, theirs)
    assert clf.objective_ == pytest.approx(_score("softmax", X, y, alpha, clf), rel=1e-10)
    assert clf.lower_bound_ <= best * (1 + 1e-9)
    assert clf.objective_ <= best * (1 + 1e-3)
    assert clf.objective_ >= best * (1 - 1e-6)
    assert clf.stopped_by_ == "gap"
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(p, theirs.predict_proba(X), atol=0.05)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[p.argmax(axis=1)])
    assert np.mean(clf.predict(X) == theirs.predict(X)) >= 0.98


@pytest.mark.parametrize("data", ["iris", "digits"])
def test_joint_hinge_is_that_of_crammer_and_singer(data):
    X, y = _data(data)
    alpha = 1e-1 if data == "digits" else 1e-2
    clf = LinearClassifier(multi_class="joint", alpha=alpha, fit_intercept=False).fit(X, y)
    theirs = LinearSVC(
        multi_class="crammer_singer",
        C=1.0 / (alpha * len(y)),
        tol=1e-6,
        max_iter=20000,
        fit_intercept=False,
        random_state=0,
    ).fit(X, y)
    best = _score("hinge", X, y, alpha, theirs)
    assert clf.objective_ == pytest.approx(_score("hinge", X, y, alpha, clf), rel=1e-10)
    assert clf.lower_bound_ <= best * (1 + 1e-9)
    assert clf.objective_ <= best * (1 + 1e-3)
    assert clf.stopped_by_ == "gap"
    # an intercept is free: the optimum can only be lower
    free = LinearClassifier(multi_class="joint", alpha=alpha).fit(X, y)
    assert free.lower_bound_ <= clf.objective_
    assert free.objective_ == pytest.approx(_score("hinge", X, y, alpha, free), rel=1e-10)


def test_a_class_of_weight_zero_is_none():
    X, y = _data("iris")
    y, settings = np.append(y, [3, 3]), {"multi_class": "joint", "alpha": 1e-2}
    X = np.vstack([X, X[:2]])
    one = LinearClassifier("logistic", **settings).fit(X, y, sample_weight=(y < 3).astype(float))
    other = LinearClassifier("logistic", **settings).fit(X[:-2], y[:-2])
    np.testing.assert_array_equal(one.classes_, [0, 1, 2])
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


def test_partial_fit_learns_classes_jointly():
    X, y = _data("iris")
    order = np.random.default_rng(0).permutation(len(y))
    for loss in ("hinge", "logistic"):
        clf = LinearClassifier(loss, multi_class="joint", alpha=1e-3, solver="adagrad")
        for _ in range(5):
            for part in np.array_split(order, 6):
                clf.partial_fit(X[part], y[part], classes=[0, 1, 2])
        assert clf.coef_.shape == (3, 4)
        assert clf.intercept_.shape == (3,)
        assert clf.score(X, y) >= 0.93
        assert clf.gap_ == np.inf
        before = clf.set_params(passes=20).fit(X, y).score(X, y)
        clf.partial_fit(X[:5], y[:5])  # goes on from the fitted weights
        assert clf.score(X, y) >= before - 0.05


@pytest.mark.parametrize("solver", ["auto", "adagrad"])
def test_warm_start_of_the_estimator(solver):
    X, y = _data("iris")
    clf = LinearClassifier(
        "logistic", multi_class="joint", alpha=1e-2, solver=solver, passes=40, warm_start=True
    )
    first = clf.fit(X, y).objective_
    assert clf.fit(X, y).objective_ <= first * (1 + 1e-12)
    with pytest.raises(ValueError, match="warm_start=True needs the classes"):
        clf.fit(X[y > 0], y[y > 0])


def test_two_classes_are_the_ordinary_problem():
    X, y = _data("iris")
    X, y = X[y < 2], np.array(["no", "yes"])[y[y < 2]]
    joint = LinearClassifier("logistic", multi_class="joint", alpha=1e-2).fit(X, y)
    plain = LinearClassifier("logistic", alpha=1e-2).fit(X, y)
    np.testing.assert_array_equal(joint.coef_, plain.coef_)
    assert joint.coef_.shape == (1, 4)
    assert joint.objective_ == plain.objective_
    np.testing.assert_array_equal(joint.predict(X), plain.predict(X))
    np.testing.assert_allclose(joint.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"multi_class": "both"}, "multi_class must be 'ovr' or 'joint', not 'both'"),
        (
            {"loss": "squared_hinge", "multi_class": "joint"},
            "SquaredHinge is no loss of several classes at once: choose one of hinge, logistic",
        ),
        ({"loss": Softmax(4)}, "does not fit the 3 classes"),
        ({"multi_class": "joint", "solver": "newton"}, "does not know MulticlassHinge"),
        ({"loss": "squared", "multi_class": "joint"}, "is no loss for a LinearClassifier"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(settings, sentence):
    X, y = _data("iris")
    with pytest.raises(ValueError, match=sentence) as error:
        LinearClassifier(**settings).fit(X, y)
    assert "\n" not in str(error.value)
