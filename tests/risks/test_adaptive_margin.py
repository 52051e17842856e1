"""The ν-trick: its oracle, its optimum and its certificate, beside linear programmes and clarabel."""

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from stepless import SOLVERS, Source, Stopping
from stepless.minimization import minimize
from stepless.risks.adaptive_margin import AdaptiveMargin


def examples(seed, m=40, d=3, spread=0.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, -1.0, 1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(m, d)) + np.outer(y, np.ones(d)) + spread
    s = rng.choice([0.5, 1.0, 3.0], m)
    return X, y, s


def by_sorting(parts, w):
    """Minus the mean of the worst margins, of each class with an intercept."""
    X, y, c, _, intercept = parts
    total = 0.0
    for side in (y > 0, y < 0) if intercept else (y != 0,):
        margins, costs = (y * (X @ w))[side], c[side]
        order = np.argsort(margins)
        before = np.cumsum(costs[order]) - costs[order]
        total -= np.clip(1.0 - before, 0.0, costs[order]) @ margins[order]
    return total


def by_programme(parts, w):
    """min over ρ and b of −kρ + Σ c_i max(0, ρ − y_i(z_i + b))."""
    X, y, c, k, intercept = parts
    m = len(y)
    costs = np.concatenate([[-k, 0.0], c])
    rows = np.column_stack([np.ones(m), -y * intercept, -np.eye(m)])
    bounds = [(None, None)] * 2 + [(0, None)] * m
    return linprog(costs, A_ub=rows, b_ub=y * (X @ w), bounds=bounds, method="highs").fun


def problem(X, y, s, nu, intercept):
    k = 2.0 if intercept else 1.0
    return X, y, s / s.sum() * k / nu, k, float(intercept)


def optimum(parts):
    """½‖w‖² − kρ + Σ c_i ξ_i by clarabel; its value at a point, not what it claims."""
    X, y, c, k, intercept = parts
    m, d = X.shape
    P = sparse.block_diag([sparse.eye(d), sparse.csc_matrix((2 + m, 2 + m))]).tocsc()
    q = np.concatenate([np.zeros(d), [-k, 0.0], c])
    margins = sparse.hstack(
        [-y[:, None] * X, np.ones((m, 1)), -y[:, None] * intercept, -sparse.eye(m)]
    )
    positive = sparse.hstack([sparse.csc_matrix((m, d + 2)), -sparse.eye(m)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = sparse.vstack([margins, positive]).tocsc()
    x = (
        clarabel.DefaultSolver(
            P, q, A, np.zeros(2 * m), [clarabel.NonnegativeConeT(2 * m)], settings
        )
        .solve()
        .x
    )
    w = np.array(x[:d])
    return 0.5 * w @ w + by_sorting(parts, w)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_oracle_is_the_best_margin_and_intercept(intercept, form):
    for seed in range(6):
        X, y, s = examples(seed)
        nu = [0.05, 0.3, 0.5][seed % 3]
        risk = AdaptiveMargin(Source(form(X), y, s), nu, intercept=intercept)
        parts = problem(X, y, s, nu, intercept)
        w = np.random.default_rng(seed).normal(size=3)
        known = by_sorting(parts, w)
        assert by_programme(parts, w) == pytest.approx(known, abs=1e-5)
        value, a = risk.value_and_gradient(w - risk.centre)
        assert value - risk.centre @ w == pytest.approx(known, abs=1e-9)
        margin = risk.margin(w)  # one of perhaps several that are best
        hinges = np.maximum(0.0, margin.rho - y * (X @ w + margin.b))
        assert -parts[3] * margin.rho + parts[2] @ hinges == pytest.approx(known, abs=1e-9)
        steps = 1e-6 * np.eye(3)
        v = w - risk.centre
        slopes = [(risk.value(v + e, 0.0) - risk.value(v - e, 0.0)) / 2e-6 for e in steps]
        np.testing.assert_allclose(a, slopes, atol=1e-6)


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle", "bundle-linesearch"])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_optimum_lies_between_the_bounds(intercept, solver):
    for seed in range(4):
        X, y, s = examples(seed, spread=[0.0, 0.0, 30.0, 0.0][seed])
        nu = [0.5, 0.2, 0.4, 0.02][seed]  # the last one: classes that overlap
        risk = AdaptiveMargin(Source(X, y, s), nu, intercept=intercept)
        known = optimum(problem(X, y, s, nu, intercept)) + risk.at_zero
        result = minimize(risk, SOLVERS[solver](), Stopping(gap=1e-8, passes=60))
        lower, upper = result.trace.lower_bound, result.trace.objective
        assert (lower <= known * (1 + 1e-8)).all()
        assert (upper >= known * (1 - 1e-7)).all()
        if solver != "bundle-linesearch":
            assert upper[-1] == pytest.approx(known, rel=1e-5)
            assert lower[-1] == pytest.approx(known, rel=1e-5)


def test_examples_far_away_prove_less_but_nothing_false():
    """With an intercept no shift changes the problem: it is that of the examples as they were."""
    for seed in range(6):
        X, y, s = examples(seed)
        X = np.round(X * 2**12) / 2**12  # so that shifted features are exact
        near = AdaptiveMargin(Source(X, y, s), 0.4, intercept=True)
        known = optimum(problem(X, y, s, 0.4, True)) + near.at_zero
        far = Source(X + 2.0**36 * np.array([1.0, -1.0, 1.0]), y, s)
        risk = AdaptiveMargin(far, 0.4, intercept=True)
        for solver in ("bundle", "proximal-bundle"):
            trace = minimize(risk, SOLVERS[solver](), Stopping(gap=0.0, passes=50)).trace
            assert max(trace.lower_bound) <= known * (1 + 1e-8)
            assert min(trace.objective) >= known * (1 - 1e-8)


def test_shares_that_make_no_sense_are_refused():
    X, y, _ = examples(0)
    with pytest.raises(ValueError, match=r"nu must be a number, not '0\.1'"):
        AdaptiveMargin(Source(X, y), "0.1", intercept=False)
    with pytest.raises(ValueError, match=r"nu must be positive and at most 1, not 1\.5"):
        AdaptiveMargin(Source(X, y), 1.5, intercept=False)
    with pytest.raises(ValueError, match=r"at most 0\.7, twice the share of the smaller class"):
        AdaptiveMargin(Source(X, y), 0.9, intercept=True)
