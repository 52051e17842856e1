"""The certificate of a sum of kernels is never false."""

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize

from stepless.certificates import planes
from stepless.certificates.kernel_planes import KernelPlanes
from stepless.data.gram import Gram
from stepless.kernels import Gaussian, LinearKernel, Polynomial
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic, Objective, SquaredL2
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.stopping import Stopping

KERNELS = {"gaussian": Gaussian(0.5), "polynomial": Polynomial(2, 0.3), "linear": LinearKernel()}


def examples(seed, m=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    y = np.where(np.linalg.norm(X, axis=1) + 0.4 * rng.normal(size=m) > 1.2, 1.0, -1.0)
    s = rng.choice([0.5, 1.0, 3.0], m)
    return X, y, s / s.mean()


def svm_optimum(K, y, s, alpha, intercept):
    """(α/2) cᵀKc + Σ s_i ξ_i/m by clarabel; its value at a point, not what it claims."""
    m = len(y)
    jitter = 1e-12 * np.eye(m)
    P = sparse.block_diag(
        [alpha * (K + jitter), sparse.csc_matrix((1, 1)), sparse.csc_matrix((m, m))]
    )
    q = np.concatenate([np.zeros(m + 1), s / m])
    margins = sparse.hstack([-y[:, None] * K, -y[:, None] * intercept, -sparse.eye(m)])
    positive = sparse.hstack([sparse.csc_matrix((m, m + 1)), -sparse.eye(m)])
    A = sparse.csc_matrix(sparse.vstack([margins, positive]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(2 * m)]
    bounds = np.concatenate([-np.ones(m), np.zeros(m)])
    x = clarabel.DefaultSolver(sparse.triu(P).tocsc(), q, A, bounds, cones, settings).solve().x
    c, b = np.array(x[:m]), x[m] * intercept
    return 0.5 * alpha * c @ K @ c + np.mean(s * np.maximum(0.0, 1.0 - y * (K @ c + b)))


def logistic_optimum(K, y, s, alpha, intercept):
    """By L-BFGS on the principal components, in which the penalty is a sum of squares."""
    sizes, axes = np.linalg.eigh(K)
    Z = axes * np.sqrt(np.maximum(sizes, 0.0))
    m = len(y)

    def value(x):
        w, b = x[:m], x[m] * intercept
        z = y * (Z @ w + b)
        slopes = -s * y / (1.0 + np.exp(z)) / m
        gradient = np.append(alpha * w + Z.T @ slopes, intercept * slopes.sum())
        return 0.5 * alpha * w @ w + np.mean(s * np.logaddexp(0.0, -z)), gradient

    options = {"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9}
    return scipy_minimize(value, np.zeros(m + 1), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("budget", [None, 4])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("loss", "optimum"), [(Hinge(), svm_optimum), (Logistic(), logistic_optimum)]
)
def test_the_optimum_lies_between_the_bounds(loss, optimum, kernel, budget):
    for seed, alpha, intercept in [(0, 1e-1, True), (1, 1e-2, False), (2, 1e-3, True)]:
        X, y, s = examples(seed)
        gram = Gram(KERNELS[kernel], X)
        known = optimum(gram.table, y, s, alpha, intercept)
        risk = KernelRisk(Objective(loss, SquaredL2(alpha), intercept=intercept), gram, y, s)
        result = minimize(risk, KernelPGS(budget), Stopping(gap=1e-6, passes=60))
        lower, upper = result.trace.lower_bound, result.trace.objective
        assert (lower <= known * (1 + 1e-7)).all()
        assert (upper >= known * (1 - 1e-5)).all()  # how close the reference came
        assert (np.diff(lower) >= -1e-9).all()  # the last is proved, those before are claimed
        assert lower[-1] > 0.9 * known  # it proves something
        if budget is None:
            assert upper[-1] <= 1.02 * known
        b, c = result.b, result.w
        value = risk.penalty(c) + risk.value(c, b)
        assert value == pytest.approx(result.objective, rel=1e-9)


def test_a_full_bundle_does_not_fall(monkeypatch):
    X, y, s = examples(3)
    objective = Objective(Hinge(), SquaredL2(1e-2))
    risk = KernelRisk(objective, Gram(Gaussian(0.5), X), y, s)
    known = svm_optimum(risk.gram.table, y, s, 1e-2, True)
    monkeypatch.setattr(planes, "_MOST_PLANES", 8)
    bundle, solver = KernelPlanes(risk.gram), KernelPGS()
    state, rng, last = solver.start(risk), np.random.default_rng(0), 0.0
    for _ in range(40):
        found = solver.step(risk, state, rng)
        bundle.add(risk.tangent(found.w, found.b).plane)
        assert bundle.size <= 8
        bound, w = bundle.lower_bound(objective)
        assert last * (1 - 1e-9) <= bound <= known * (1 + 1e-7)
        last = bound
    n = bundle.size
    np.testing.assert_allclose(
        bundle._gram[:n, :n], bundle.A @ risk.gram.table @ bundle.A.T, rtol=1e-9, atol=1e-14
    )
    assert risk.penalty(w) + risk.tangent(w, 0.0).value >= known * (1 - 1e-7)
    assert last > 0.8 * known


def test_rounding_is_taken_off():
    """Kernels of rows far from 0 are rough; so is what they prove."""
    X, y, s = examples(4)
    objective = Objective(Hinge(), SquaredL2(1e-2))
    bounds = []
    for shift in (0.0, 1e5):
        risk = KernelRisk(objective, Gram(Gaussian(0.5), X + shift), y, s)
        result = minimize(risk, KernelPGS(), Stopping(gap=0.0, passes=30))
        bounds.append(result.lower_bound)
    known = svm_optimum(Gram(Gaussian(0.5), X).table, y, s, 1e-2, True)
    assert bounds[1] < bounds[0] - 1e-5
    assert max(bounds) <= known * (1 + 1e-7)
