"""Proximal Newton steps against other people's optima, and against a plain text of one step."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from scipy.special import expit
from sklearn.linear_model import Lasso

from contracts.problems import PARAMETERS, by_weights, examples
from contracts.turning import Turning
from stepless import L1, LOSSES, ElasticNet, LinearClassifier, LinearRegressor, Source, Stopping
from stepless.design import Dense
from stepless.minimization import minimize
from stepless.objective import (
    Box,
    FactoredElasticNet,
    Free,
    GroupsL2,
    GroupsLInf,
    Huber,
    HyperbolicEntropy,
    Logistic,
    Nonnegative,
    Objective,
    Poisson,
    Regularizer,
    Squared,
    SquaredHinge,
    SquaredL2,
    Zero,
)
from stepless.result import Onward
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS
from stepless.solvers.auto import choose
from stepless.solvers.batch import quadratic_model, working_set

FACTORED = FactoredElasticNet(0.01, [0.0, *np.linspace(0.1, 2.0, 19)])
gram = Source.gram
SMOOTH = ["logistic", "squared", "squared_hinge", "huber", "poisson", "smoothed_hinge"]


def solved(loss, penalty, data, domain=Free(), intercept=True, gap=1e-9):
    """The result on (X, y, s)."""
    risk = LinearRisk(Objective(loss, penalty, domain, intercept), Source(*data, threads=1))
    return minimize(risk, SOLVERS["proximal-newton"](), Stopping(gap=gap, passes=100))


def losses_and_slopes(name, z, y):
    """The losses in plain numpy, as scipy's solver needs them."""
    r = z - y
    if name == "logistic":
        return np.logaddexp(0.0, -y * z), -y * expit(-y * z)
    if name == "squared":
        return 0.5 * r**2, r
    if name == "squared_hinge":
        short = np.maximum(0.0, 1.0 - y * z)
        return short**2, -2.0 * y * short
    if name == "huber":
        far = np.abs(r) > 1.0
        return np.where(far, np.abs(r) - 0.5, 0.5 * r**2), np.clip(r, -1.0, 1.0)
    if name == "poisson":
        constant = np.where(y > 0.0, y * np.log(np.maximum(y, 1.0)) - y, 0.0)
        return np.exp(z) - y * z + constant, np.exp(z) - y
    gamma = PARAMETERS["smoothed_hinge"]["gamma"]
    return np.logaddexp(0.0, gamma * (1.0 - y * z)) / gamma, -y * expit(gamma * (1.0 - y * z))


def scipys_optimum(name, data, shares, domain, intercept):
    """The least Σ α_j|w_j| + β_j w_j²/2 + R, w = u − v with u, v ≥ 0, by L-BFGS-B."""
    X, y, s = data
    m, d = X.shape
    s = np.ones(m) if s is None else s / s.mean()
    alpha, beta = (np.broadcast_to(share, d) for share in shares)

    def function(x):
        w, b = x[:d] - x[d : 2 * d], x[2 * d]
        value, slope = losses_and_slopes(name, X @ w + b, y)
        g = X.T @ (s * slope) / m + beta * w
        sizes = x[:d] + x[d : 2 * d]
        total = s @ value / m + alpha @ sizes + 0.5 * (beta * w) @ w
        return total, np.concatenate([g + alpha, alpha - g, [s @ slope / m]])

    low, high = domain.interval()
    ends = [(0.0, max(high, 0.0))] * d + [(0.0, max(-low, 0.0))] * d
    ends.append((None, None) if intercept else (0.0, 0.0))
    ends = [(a, None if b == math.inf else b) for a, b in ends]
    options = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 50}
    x = np.zeros(2 * d + 1)
    for _ in range(5):
        x = scipy_minimize(function, x, jac=True, method="L-BFGS-B", bounds=ends, options=options).x
    return function(x)[0]


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", [L1(0.03), ElasticNet(0.02, 0.7)], ids=str)
def test_it_reaches_the_optimum_of_another_solver(loss, penalty):
    for given, dense, domain, intercept in by_weights(loss):
        kind = LOSSES[loss](**PARAMETERS.get(loss, {}))
        found = solved(kind, penalty, given, domain, intercept)
        case = dense[0].shape, domain, intercept, found.rel_gap
        assert found.stopped_by == "gap", case
        best = scipys_optimum(loss, dense, penalty.elastic_shares, domain, intercept)
        assert found.objective <= best * (1.0 + 1.1e-9), case
        assert found.lower_bound <= best, case


@pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
def test_features_with_factors_some_of_them_0(loss):
    kinds = product([(60, 5), (20, 25)], [Free(), Box(-0.3, 0.5), Nonnegative()], [False, True])
    for n, (size, domain, intercept) in enumerate(kinds):
        X, y = examples(loss, n, *size)
        factors = np.random.default_rng(n).uniform(0.1, 4.0, size=size[1])
        factors[[1, 3]] = 0.0
        ratio = (1.0, 0.6)[n // 2 % 2]
        penalty = FactoredElasticNet(0.05, factors, ratio)
        kind = LOSSES[loss](**PARAMETERS.get(loss, {}))
        given = X if n % 3 else sparse.csr_matrix(X)
        found = solved(kind, penalty, (given, y, None), domain, intercept, gap=1e-8)
        case = size, domain, intercept, found.rel_gap
        assert found.stopped_by == "gap", case
        shares = 0.05 * ratio * factors, 0.05 * (1.0 - ratio) * factors
        best = scipys_optimum(loss, (X, y, None), shares, domain, intercept)
        assert found.objective <= best * (1.0 + 1.1e-8), case
        assert found.lower_bound <= best, case


def test_factors_rescale_the_columns_of_a_lasso():
    X, y = examples("squared", 3, 80, 12)
    factors = np.geomspace(0.1, 10.0, 12)
    found = solved(Squared(), FactoredElasticNet(0.1, factors), (X, y, None), gap=1e-12)
    lasso = Lasso(alpha=0.1, tol=1e-14, max_iter=100_000).fit(X / factors, y)
    np.testing.assert_allclose(found.w * factors, lasso.coef_, atol=1e-5)


def test_a_gap_without_a_curvature_beside_a_factor_of_0_is_not_certified():
    X, y = examples("logistic", 3, 60, 4)
    penalty = FactoredElasticNet(0.1, [0.0, 1.0, 1.0, 1.0])
    with pytest.warns(UserWarning, match="a gap beside 1 features with the factor 0 is certified"):
        LinearClassifier("hinge", penalty=penalty, solver="adagrad", passes=2).fit(X, y)
    joint = LinearClassifier("logistic", penalty=penalty, multi_class="joint", passes=2)
    with pytest.warns(UserWarning, match="no gap is certified: 3 weights have the factor 0"):
        joint.fit(X, np.arange(60) % 3)
    assert joint.lower_bound_ == 0.0


@pytest.mark.parametrize(
    "penalty",
    [L1(0.01), ElasticNet(0.01, 0.5), FACTORED, HyperbolicEntropy(0.05), SquaredL2(0.05)],
    ids=str,
)
@pytest.mark.parametrize("intercept", [False, True])
def test_columns_and_hessian_give_the_same_steps(penalty, intercept, monkeypatch):
    data = (*examples("logistic", 1, 60, 20), None)
    both = []
    for few, most in ((500, 2000), (0, 0)):
        monkeypatch.setattr(quadratic_model, "FEW", few)
        monkeypatch.setattr(quadratic_model, "_ENTRIES", most)
        monkeypatch.setattr(quadratic_model, "_DENSE", most)
        for X in (data[0], sparse.csr_matrix(data[0])):
            found = solved(Logistic(), penalty, (X, *data[1:]), intercept=intercept, gap=1e-10)
            assert found.stopped_by == "gap"
            both.append(found)
    for found in both[1:]:
        np.testing.assert_allclose(found.w, both[0].w, atol=1e-4)


def test_working_sets_grow_until_they_hold_the_support(monkeypatch):
    monkeypatch.setattr(working_set, "_FEWEST", 5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = np.where(X[:, :30] @ rng.normal(size=30) > 0.0, 1.0, -1.0)
    found = solved(Logistic(), L1(0.01), (X, y, None))
    assert found.stopped_by == "gap"
    assert len(found.trace) > 3
    assert 20 < np.count_nonzero(found.w) < 150
    monkeypatch.setattr(working_set, "_FEWEST", 400)
    whole = solved(Logistic(), L1(0.01), (X, y, None))
    np.testing.assert_allclose(found.w, whole.w, atol=1e-4)
    np.testing.assert_array_equal(abs(found.w) > 1e-4, abs(whole.w) > 1e-4)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_penalty_that_leaves_nothing_ends_at_once(loss, intercept):
    X, y = examples(loss, 2, 50, 6)
    kind = LOSSES[loss](**PARAMETERS.get(loss, {}))
    risk = LinearRisk(Objective(kind, L1(1.0), intercept=intercept), Source(X, y))
    start = 0.0
    if intercept:
        start = risk.cut_at_zero(0.0).b
    slope = losses_and_slopes(loss, np.full(50, start), y)[1]
    top = float(np.abs(X.T @ slope).max()) / 50
    found = solved(kind, L1(1.0001 * top), (X, y, None), intercept=intercept)
    assert not found.w.any()
    assert len(found.trace) == 1
    assert solved(kind, L1(0.95 * top), (X, y, None), intercept=intercept).w.any()


def awkward():
    """Shapes that are easily forgotten."""
    X, y = examples("logistic", 7, 40, 6)
    X[:, 3], X[:, 5] = X[:, 2], 0.0
    yield "duplicate columns, and one of zeros", X, y
    X, y = examples("logistic", 8, 40, 5)
    yield "scales", X * np.array([1.0, 1e4, 1e-3, 1.0, 1.0]), y
    X, _ = examples("logistic", 9, 60, 5)
    yield "separable", X, np.where(X[:, 0] > 0.0, 1.0, -1.0)
    X, _ = examples("logistic", 10, 300, 5)
    yield "rare positives", X, np.where(np.arange(300) < 2, 1.0, -1.0)
    X, y = examples("logistic", 11, 50, 1)
    yield "one feature", X, y
    X, y = examples("logistic", 12, 40, 5)
    yield "float32", X.astype(np.float32), y
    yield "few examples", *examples("logistic", 13, 5, 40)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Huber(0.3), Squared()], ids=repr)
def test_awkward_shapes(loss, intercept):
    for name, X, y in awkward():
        for layout in (np.asarray, sparse.csr_matrix):
            for penalty in (L1(1e-3), ElasticNet(1e-3, 0.5)):
                data = layout(X), y, None
                found = solved(loss, penalty, data, intercept=intercept, gap=1e-7)
                assert found.stopped_by == "gap", (name, penalty, found.rel_gap)
    found = solved(loss, L1(1e-3), (*next(awkward())[1:], None), intercept=intercept)
    assert found.w[5] == 0.0


def test_counts_that_are_large_and_targets_that_are_far():
    X, y = examples("poisson", 3, 60, 4)
    assert solved(Poisson(), L1(0.1), (X, 1000.0 * y, None)).stopped_by == "gap"
    X, y = examples("huber", 3, 60, 4)
    far = solved(Huber(1.0), L1(1e-3), (X, 1e4 + 100.0 * y, None), gap=1e-7)
    assert far.stopped_by == "gap"


class Cubic(Regularizer):
    """A user's penalty: Σ |w|³/3, with a corner nowhere and no closed form but the prox."""

    alpha: float = 0.1

    def value(self, wj):
        return self.alpha * abs(wj) ** 3 / 3.0

    def prox(self, wj, step):
        k = step * self.alpha
        return math.copysign((math.sqrt(1.0 + 4.0 * k * abs(wj)) - 1.0) / (2.0 * k), wj)

    def conjugate(self, uj):
        return 2.0 / 3.0 * abs(uj) ** 1.5 / math.sqrt(self.alpha)

    def conjugate_gradient(self, uj):
        return math.copysign(math.sqrt(abs(uj) / self.alpha), uj)


def test_a_penalty_of_ones_own():
    X, y = examples("logistic", 4, 60, 5)
    found = solved(Logistic(), Cubic(0.1), (X, y, None), intercept=False)
    assert found.stopped_by == "gap"

    def function(w):
        value, slope = losses_and_slopes("logistic", X @ w, y)
        return value.mean() + 0.1 * (np.abs(w) ** 3).sum() / 3.0, X.T @ slope / 60 + 0.1 * w * abs(
            w
        )

    best = scipy_minimize(function, np.zeros(5), jac=True, options={"gtol": 1e-10})
    assert found.objective == pytest.approx(best.fun, rel=1e-8)


def test_it_refuses_what_it_cannot_do():
    solver = SOLVERS["proximal-newton"]()
    assert "curvature" in solver.lacks(Objective(LOSSES["hinge"](), L1(0.1)))
    assert "box" in solver.lacks(Objective(Squared(), Zero()))
    assert solver.lacks(Objective(Squared(), Zero(), Box(-1.0, 1.0))) is None


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("intercept", [False, True])
def test_along_a_path_it_is_as_good_as_from_nothing(loss, intercept, monkeypatch):
    monkeypatch.setattr(working_set, "_FEWEST", 5)  # sets must change on the way
    solver, stopping = SOLVERS["proximal-newton"](), Stopping(gap=1e-8, passes=50)
    X, y = examples("logistic", 6, 80, 40)
    for layout in (np.asarray, sparse.csr_matrix):
        source, last = Source(layout(X), y, threads=1), None
        for alpha in np.geomspace(0.2, 0.01, 8):
            risk = LinearRisk(Objective(loss, L1(alpha), intercept=intercept), source)
            cold = minimize(risk, solver, stopping)
            warm = minimize(risk, solver, stopping, start=last and Onward(last))
            assert warm.stopped_by == cold.stopped_by == "gap"
            assert warm.lower_bound <= cold.objective
            assert cold.lower_bound <= warm.objective
            if last is not None:  # which was not changed
                again = minimize(risk, solver, stopping, start=Onward(last))
                np.testing.assert_array_equal(again.w, warm.w)
            last = warm
        assert np.count_nonzero(last.w) > 5


def test_what_a_new_domain_excludes_is_no_start():
    X, y = examples("logistic", 5, 100, 10)
    source, solver, stopping = Source(X, y), SOLVERS["proximal-newton"](), Stopping(gap=1e-8)
    objective = Objective(Logistic(), L1(0.01))
    free = minimize(LinearRisk(objective, source), solver, stopping)
    boxed = LinearRisk(replace(objective, domain=Box(-0.1, 0.1)), source)
    found = minimize(boxed, solver, stopping, start=free)
    assert abs(free.w).max() > 0.1 >= abs(found.w).max()
    assert found.stopped_by == "gap"
    assert found.objective == pytest.approx(minimize(boxed, solver, stopping).objective, rel=1e-7)


def test_it_goes_on_at_another_strength():
    X, y = examples("logistic", 5, 100, 30)
    source = Source(X, y)
    risks = [LinearRisk(Objective(Logistic(), L1(a)), source) for a in (0.02, 0.01)]
    solver, stopping = SOLVERS["proximal-newton"](), Stopping(gap=1e-8, passes=50)
    first = minimize(risks[0], solver, stopping)
    warm = minimize(risks[1], solver, stopping, start=first)
    cold = minimize(risks[1], solver, stopping)
    assert warm.stopped_by == cold.stopped_by == "gap"
    np.testing.assert_allclose(warm.w, cold.w, rtol=1e-3, atol=1e-5)


def test_one_step_is_that_of_a_plain_text():
    """One Newton step on all features, its model minimised by 2000 proximal gradient steps."""
    X, y = examples("logistic", 6, 50, 4)
    alpha, w = 0.01, np.zeros(4)
    slope, c = -y / 2.0, np.full(50, 0.25)
    g, H = X.T @ slope / 50, X.T * c @ X / 50
    v, step = w.copy(), 1.0 / np.linalg.norm(H, 2)
    for _ in range(2000):
        u = v - step * (g + H @ (v - w))
        v = np.sign(u) * np.maximum(np.abs(u) - step * alpha, 0.0)
    objective = Objective(Logistic(), L1(alpha), intercept=False)
    source = Source(X, y)
    given = objective, source, source.split(c / 50), np.zeros(4)
    model = quadratic_model.QuadraticModel.of(*given, often=False)
    model.enough = 1e-14
    found, promise = model.minimum(w, g)
    np.testing.assert_allclose(found, v, rtol=1e-7, atol=1e-10)
    gained = -(g @ v + 0.5 * v @ H @ v + alpha * np.abs(v).sum())
    assert promise == pytest.approx(gained, rel=1e-9)


def test_auto_takes_it_for_sparse_weights():
    X, y = examples("logistic", 1, 30, 3)
    for penalty in (L1(0.1), ElasticNet(0.1, 0.5)):
        risk = LinearRisk(Objective(Logistic(), penalty), Source(X, y))
        assert choose(risk, 1e-3).name == "proximal-newton, accelerated"
    model = LinearClassifier("logistic", penalty="l1", alpha=0.01, gap=1e-8).fit(X, y > 0.0)
    assert model.solver_ == "proximal-newton"
    assert model.rel_gap_ <= 1e-8
    lasso = LinearRegressor(penalty="l1", alpha=0.01, gap=1e-8).fit(X, X[:, 0])
    assert lasso.solver_ == "proximal-newton"


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("held", [0.0, 0.3])
@pytest.mark.parametrize("form", ["ColumnModel", "HessianModel"])
def test_the_minimum_of_a_face(form, held, intercept):
    X, y = examples("logistic", 0, 40, 6)
    objective = Objective(Logistic(), ElasticNet(0.1, 0.5), intercept=intercept)
    source, c = Source(X, y), np.linspace(0.1, 0.5, 40)
    kind = getattr(quadratic_model, form)
    model = kind(objective, source, source.split(c), np.full(6, 1e-3))
    w, g = np.array([1.0, -1.0, 0.0, 2.0, 0.0, -3.0]), np.linspace(-0.02, 0.03, 6)
    v = 0.5 * w
    found = model.on_face(w, g, v, model.shares, held)
    A = X - intercept * (c @ X) / c.sum()
    H = (A.T * c) @ A + 1e-3 * np.eye(6)
    corner, ridge = objective.regularizer.elastic_shares
    slopes = g + H @ (found - w) + corner * np.sign(v) + ridge * found
    slopes += held * np.diag(H) * (found - v)
    free = w != 0.0
    start = g + H @ (v - w) + corner * np.sign(v) + ridge * v
    scale = np.sqrt(np.diag(H) + ridge)[free]
    left, before = (np.linalg.norm(r[free] / scale) for r in (slopes, start))
    assert left <= (0.1 if form == "ColumnModel" else 1e-9) * before
    assert not found[~free].any()


def test_more_features_than_examples_in_use_are_no_obstacle():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 1500))
    X[:, 1:] = 0.6 * X[:, :-1] + 0.8 * X[:, 1:]
    y = X[:, :5].sum(axis=1) + rng.normal(size=60)
    alpha = 1e-3 * float(np.abs(X.T @ y).max()) / 60
    found = solved(Squared(), L1(alpha), (X, y, None), intercept=False, gap=1e-6)
    assert found.stopped_by == "gap"
    assert len(found.trace) < 30
    shares = np.full(1500, alpha), np.zeros(1500)
    best = scipys_optimum("squared", (X, y, None), shares, Free(), False)
    assert found.lower_bound <= best * (1.0 + 1e-9)
    assert found.objective <= best * (1.0 + 1e-5)


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_hessian_grows_into_the_one_of_all_features(kind, intercept):
    X, y = examples("squared", 0, 60, 9)
    source = Source(kind(X), y, np.linspace(0.5, 2.0, 60))
    c, damping = source.split(np.linspace(0.1, 0.5, 60)), np.linspace(1.0, 2.0, 9)
    objective = Objective(Squared(), L1(0.1), intercept=intercept)

    def model(features, known=None):
        given = objective, source.narrowed(features), c, damping[features]
        return quadratic_model.HessianModel(*given, known)

    before, after = np.array([0, 1, 2, 4, 8]), np.array([1, 2, 3, 4, 5, 7])
    known = model(before), np.array([1, 2, 3]), np.array([0, 1, 3])
    grown, whole = model(after, known), model(after)
    np.testing.assert_allclose(grown.H, whole.H, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(grown.pull, whole.pull, rtol=1e-12, atol=1e-12)


def test_least_squares_keep_their_hessian_as_working_sets_grow(monkeypatch):
    monkeypatch.setattr(working_set, "_FEWEST", 5)
    formed = []
    monkeypatch.setattr(Source, "gram", lambda *given: formed.append(1) or gram(*given))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = X[:, :30] @ rng.normal(size=30) + rng.normal(size=200)
    found = solved(Squared(), L1(0.1), (X, y, None))
    assert found.stopped_by == "gap"
    assert len(found.trace) > 3
    assert len(formed) == 1
    reference = Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(found.w, reference.coef_, atol=1e-4)


def test_rows_beyond_memory_are_not_copied(monkeypatch):
    X, y = examples("logistic", 1, 200, 12)
    home = Turning.cut(Dense.of(X), 20, 3)
    home.large = True
    risk = LinearRisk(Objective(Logistic(), L1(0.02), intercept=True), Source(home, y))
    whole = solved(Logistic(), L1(0.02), (X, y, None))
    monkeypatch.setattr(Source, "narrowed", None)
    found = minimize(risk, SOLVERS["proximal-newton"](), Stopping(gap=1e-9, passes=100))
    assert found.stopped_by == "gap"
    assert 0 < np.count_nonzero(found.w) < 12
    np.testing.assert_allclose(found.w, whole.w, atol=1e-4)


GROUPS = np.array([2, 0, 1, 1, 2, 0, 3, 4, 4, 4, 1, 4])  # of one to four features, mixed


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("form", ["Hessian", "columns", "columns, large groups"])
def test_groups_end_where_the_optimum_is(loss, form, monkeypatch):
    """0 is a subgradient there, by plain numpy."""
    if form != "Hessian":
        for name in ("FEW", "_ENTRIES", "_DENSE"):
            monkeypatch.setattr(quadratic_model, name, 0)
    if form == "columns, large groups":
        monkeypatch.setattr(quadratic_model, "_WHOLE", 2)
    alpha, kind = 0.06, LOSSES[loss](**PARAMETERS.get(loss, {}))
    for n, intercept in enumerate((False, True)):
        X, y = examples(loss, n, 60, 12)
        X[:, GROUPS == 3] *= 0.01  # not worth its penalty
        s = np.random.default_rng(n).choice([0.5, 1.0, 3.0], 60) if n else np.ones(60)
        given = sparse.csr_matrix(X) if n else X
        found = solved(kind, GroupsL2.of(alpha, GROUPS), (given, y, s), intercept=intercept)
        assert found.stopped_by == "gap", (intercept, found.rel_gap)
        value, slope = losses_and_slopes(loss, X @ found.w + found.b, y)
        g = X.T @ (s * slope) / s.sum()
        lengths = np.array([np.linalg.norm(found.w[k == GROUPS]) for k in range(5)])
        assert found.objective == pytest.approx(s @ value / s.sum() + alpha * lengths.sum())
        assert lengths[3] == 0.0 < lengths.max()
        if intercept:
            assert abs(s @ slope) / s.sum() <= 1e-6
        for k, length in enumerate(lengths):
            here = k == GROUPS
            if length == 0.0:
                assert np.linalg.norm(g[here]) <= alpha
            else:
                np.testing.assert_allclose(g[here], -alpha * found.w[here] / length, atol=1e-4)


def test_groups_of_one_weight_are_the_lasso():
    X, y = examples("logistic", 3, 80, 12)
    data = X, y, None
    groups = solved(Logistic(), GroupsL2.of(0.03, np.arange(12)), data)
    lasso = solved(Logistic(), L1(0.03), data)
    assert groups.objective == pytest.approx(lasso.objective, rel=1e-8)
    np.testing.assert_allclose(groups.w, lasso.w, atol=1e-4)


def test_working_sets_hold_whole_groups(monkeypatch):
    monkeypatch.setattr(working_set, "_FEWEST", 12)
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(150, 240)), rng.permutation(240) // 4
    y = X[:, groups < 4] @ rng.normal(size=16) + 0.1 * rng.normal(size=150)
    penalty = GroupsL2.of(0.4, groups)
    risk = LinearRisk(Objective(Squared(), penalty), Source(X, y))
    chosen = working_set.WorkingSet.of(risk, np.zeros(240), -X.T @ y / 150, 1.0)
    assert chosen.features.size == 12
    members = np.isin(groups, groups[chosen.features])
    np.testing.assert_array_equal(np.flatnonzero(members), chosen.features)
    w = rng.normal(size=240) * members
    narrow = chosen.objective(risk.objective)
    assert narrow.penalty(w[chosen.features]) == pytest.approx(risk.penalty(w))
    found = solved(Squared(), penalty, (X, y, None))
    assert found.stopped_by == "gap"
    kept = np.unique(groups[found.w != 0.0])
    assert set(range(4)) <= set(kept)
    assert len(kept) < 30


def test_groups_that_leave_nothing_end_at_once():
    X, y = examples("squared", 2, 50, 12)
    top = GroupsL2.of(1.0, GROUPS).critical_strength(X.T @ y[:, None] / 50)
    at = {share: GroupsL2.of(share * top, GROUPS) for share in (1.0001, 0.99)}
    nothing = solved(Squared(), at[1.0001], (X, y, None), intercept=False)
    assert not nothing.w.any()
    assert len(nothing.trace) == 1
    assert solved(Squared(), at[0.99], (X, y, None), intercept=False).w.any()


def test_auto_takes_it_for_groups_of_lengths():
    X, y = examples("squared", 1, 30, 12)
    names = {
        penalty: choose(LinearRisk(Objective(Squared(), penalty), Source(X, y)), 1e-3).name
        for penalty in (GroupsL2.of(0.1, GROUPS), GroupsLInf.of(0.1, GROUPS))
    }
    assert list(names.values()) == ["proximal-newton, accelerated", "accelerated"]
    lacking = SOLVERS["proximal-newton"]().lacks(Objective(Squared(), GroupsLInf.of(0.1, GROUPS)))
    assert "GroupsL2" in lacking
