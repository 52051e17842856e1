"""Solvers on the coefficients of a sum of kernels: Newton's method, and bundles of inner products."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from stepless import KernelClassifier
from stepless.certificates.kernel_planes import KernelPlanes
from stepless.certificates.planes import Planes
from stepless.data import Source, gram
from stepless.data.gram import Gram
from stepless.kernels import Gaussian, LinearKernel
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic, Objective, SquaredHinge, SquaredL2
from stepless.risks.kernel_risk import KernelRisk
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Bundle, ProximalBundle
from stepless.solvers.batch.kernel_newton import KernelNewton, KernelSystem
from stepless.stopping import Stopping

BUNDLES = [Bundle(), ProximalBundle()]


def examples(seed, m=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=m) > 0.0, 1.0, -1.0)
    return X, y, rng.choice([0.0, 1.0, 3.0], m)


def by_lbfgs(loss, K, y, s, alpha, intercept):
    """The optimum on principal components, in which the penalty is a sum of squares."""
    sizes, axes = np.linalg.eigh(K)
    Z, m, s = axes * np.sqrt(np.maximum(sizes, 0.0)), len(y), s / s.mean()

    def value(x):
        w, b = x[:m], x[m] * intercept
        z = Z @ w + b
        lack = np.maximum(0.0, 1.0 - y * z)
        losses, slopes = lack**2, -2.0 * y * lack
        if isinstance(loss, Logistic):
            losses, slopes = np.logaddexp(0.0, -y * z), -y / (1.0 + np.exp(y * z))
        slopes = s * slopes / m
        gradient = np.append(alpha * w + Z.T @ slopes, intercept * slopes.sum())
        return 0.5 * alpha * w @ w + np.mean(s * losses), gradient

    options = {"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-10}
    return scipy_minimize(value, np.zeros(m + 1), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=lambda loss: type(loss).__name__)
def test_newton_reaches_the_optimum(loss, intercept):
    for seed, alpha in [(0, 1e-1), (1, 1e-3), (2, 1e-5)]:
        X, y, s = examples(seed)
        gram = Gram(Gaussian(0.5), X)
        known = by_lbfgs(loss, gram.table, y, s, alpha, intercept)
        risk = KernelRisk(Objective(loss, SquaredL2(alpha), intercept=intercept), gram, y, s)
        result = minimize(risk, KernelNewton(), Stopping(gap=1e-8, passes=60))
        assert result.stopped_by == "gap"
        assert len(result.trace) <= 25
        assert result.objective <= known * (1 + 1e-7)
        assert (result.trace.lower_bound <= known * (1 + 1e-7)).all()
        assert (np.diff(result.trace.objective) <= 1e-12).all()


@pytest.mark.parametrize("solver", BUNDLES, ids=lambda solver: solver.name)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_bundle_of_linear_kernels_is_a_bundle_of_weights(solver, intercept):
    X, y, s = examples(3)
    objective = Objective(Hinge(), SquaredL2(1e-2), intercept=intercept)
    of_kernels = KernelRisk(objective, Gram(LinearKernel(), X), y, s)
    stopping = Stopping(gap=1e-4, passes=12)
    ours = minimize(of_kernels, solver, stopping)
    known = minimize(LinearRisk(objective, Source(X, y, s)), solver, stopping)
    n = min(len(ours.trace), len(known.trace), 5)  # then rounding sets them apart
    np.testing.assert_allclose(ours.trace.objective[:n], known.trace.objective[:n], rtol=1e-6)
    np.testing.assert_allclose(ours.trace.lower_bound[:n], known.trace.lower_bound[:n], rtol=1e-6)
    np.testing.assert_allclose(X.T @ ours.w, known.w, atol=0.1)


@pytest.mark.parametrize("solver", BUNDLES, ids=lambda solver: solver.name)
def test_bundles_are_certified(solver):
    for seed, alpha, intercept in [(0, 1e-1, True), (1, 1e-2, False), (2, 1e-3, True)]:
        X, y, s = examples(seed)
        risk = KernelRisk(
            Objective(Logistic(), SquaredL2(alpha), intercept=intercept),
            Gram(Gaussian(0.5), X),
            y,
            s,
        )
        known = minimize(risk, KernelNewton(), Stopping(gap=1e-10, passes=60)).objective
        result = minimize(risk, solver, Stopping(gap=1e-4, passes=300))
        assert result.stopped_by == "gap"
        assert (result.trace.lower_bound <= known * (1 + 1e-9)).all()
        assert known * (1 - 1e-9) <= result.objective <= known * (1 + 1.1e-4)


def test_a_pickled_state_goes_on_identically():
    X, y, s = examples(4)
    risk = KernelRisk(Objective(Logistic(), SquaredL2(1e-3)), Gram(Gaussian(0.5), X), y, s)
    for solver in (*BUNDLES, KernelNewton()):
        rng = np.random.default_rng(0)
        state = solver.start(risk, np.zeros(risk.m), 0.0)
        for _ in range(5):
            solver.step(risk, state, rng)
        other = pickle.loads(pickle.dumps(state))
        for _ in range(3):
            mine, theirs = solver.step(risk, state, rng), solver.step(risk, other, rng)
            np.testing.assert_array_equal(mine.w, theirs.w)
            assert mine.lower_bound == theirs.lower_bound


def test_planes_have_their_spaces_inner_product():
    X, y, s = examples(5)
    objective = Objective(Hinge(), SquaredL2(1e-2))
    risk = KernelRisk(objective, Gram(Gaussian(0.5), X), y, s)
    planes = risk.planes(duals=2)
    assert type(planes) is KernelPlanes
    assert type(LinearRisk(objective, Source(X, y)).planes()) is Planes
    c = np.random.default_rng(0).normal(size=60)
    planes.add(risk.tangent(c, 0.0).plane)
    K = risk.gram.table
    assert planes.length(c) == pytest.approx(np.sqrt(c @ K @ c))
    np.testing.assert_allclose(planes.products(c), planes.A @ K @ c)
    assert risk.penalty(c) == pytest.approx(0.005 * c @ K @ c)


def test_the_systems_solutions_determinant_and_spread():
    X, _, _ = examples(6)
    K = Gram(Gaussian(0.5), X).table
    h = np.random.default_rng(0).random(60) * (np.arange(60) % 4 > 0)
    curved = KernelSystem(K, h, 0.1)
    v = np.random.default_rng(1).normal(size=60)
    np.testing.assert_allclose(
        curved.solve(v), np.linalg.solve(0.1 * np.eye(60) + h[:, None] * K, v), atol=1e-9
    )
    root = np.diag(np.sqrt(h))
    inner = np.eye(60) + root @ K @ root / 0.1
    assert curved.log_determinant == pytest.approx(np.linalg.slogdet(inner)[1])
    full = K[:5] @ root @ np.linalg.inv(0.1 * inner) @ root @ K[:5].T
    np.testing.assert_allclose(curved.quadratic_forms(K[:5]), np.diag(full), atol=1e-10)


def test_what_a_solver_cannot_do_is_told(monkeypatch):
    X, y, _ = examples(7)
    with pytest.raises(
        ValueError, match="'newton' needs the curvature of Hinge; use solver='bundle'"
    ):
        KernelClassifier("hinge", solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="there is no solver 'bundel': did you mean 'bundle'"):
        KernelClassifier(solver="bundel").fit(X, y)
    monkeypatch.setattr(gram, "TABLED", 50)
    with pytest.raises(
        ValueError, match=r"'bundle' needs the Gram matrix of 60 .* use solver='pgs'"
    ):
        KernelClassifier(solver="bundle").fit(X, y)


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle", "newton"])
def test_classifiers_by_every_solver(solver):
    X, y, _ = examples(8, m=150)
    clf = KernelClassifier("logistic", alpha=1e-2, solver=solver, passes=200).fit(X, y)
    other = KernelClassifier("logistic", alpha=1e-2, passes=200, budget=None).fit(X, y)
    assert clf.stopped_by_ == "gap"
    assert clf.solver_ == solver
    assert clf.objective_ == pytest.approx(other.objective_, rel=2e-3)
    assert np.mean(clf.predict(X) == other.predict(X)) > 0.95
