"""Weights in a ball, beside clarabel's second-order cone."""

import clarabel
import numpy as np
import pytest
from scipy import sparse

from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Hinge, L2Ball, Objective, SquaredL2, Zero
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping


def cone_optimum(X, y, strength, radius, intercept):
    """min (λ/2)|w|² + mean ξ, ξ ≥ 1 − y(Xw + b), ξ ≥ 0, |w| ≤ R, in variables (w, b, ξ)."""
    m, d = X.shape
    P = sparse.diags([strength] * d + [0.0] * (m + 1)).tocsc()
    q = np.r_[np.zeros(d + 1), np.full(m, 1 / m)]
    Z = np.c_[X, np.full(m, float(intercept))] * y[:, None]
    A = np.block(
        [
            [-Z, -np.eye(m)],
            [np.zeros((m, d + 1)), -np.eye(m)],
            [np.zeros((1, d + 1 + m))],
            [-np.eye(d), np.zeros((d, 1 + m))],
        ]
    )
    b = np.r_[-np.ones(m), np.zeros(m), radius, np.zeros(d)]
    cones = [clarabel.NonnegativeConeT(2 * m), clarabel.SecondOrderConeT(d + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = 1e-10
    return clarabel.DefaultSolver(P, q, sparse.csc_matrix(A), b, cones, settings).solve().obj_val


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("strength", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("radius", [0.1, 1.0, 30.0])
def test_solvers_respect_the_ball_and_reach_its_optimum(radius, strength, intercept):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 4))
    y = np.where(X @ rng.normal(size=4) + rng.normal(size=30) > 0, 1.0, -1.0)
    best = cone_optimum(X, y, strength, radius, intercept)
    objective = Objective(
        Hinge(), SquaredL2(strength) if strength else Zero(), L2Ball(radius), intercept
    )
    risk = LinearRisk(objective, Source(X, y, threads=1))
    for name, make in SOLVERS.items():
        solver = make()
        if solver.lacks(objective) is not None:
            continue
        exact = name == "bundle"
        stopping = Stopping(gap=1e-4 if exact else 0.0, passes=1000 if exact else 100)
        result = minimize(risk, solver, stopping)
        assert np.linalg.norm(result.w) <= radius * (1 + 1e-9), name
        assert result.lower_bound <= best + 1e-7, name
        assert result.objective >= best - 1e-7, name
        if exact:
            assert result.stopped_by == "gap", (name, result.rel_gap)
        elif name == "proximal":
            assert result.objective <= 1.1 * best + 0.01, name


def test_a_start_outside_the_ball_is_brought_in():
    X, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    risk = LinearRisk(Objective(Hinge(), Zero(), L2Ball(0.5), False), Source(X, y, threads=1))
    start = np.array([9.0, -9.0, 9.0]), 0.0
    for name in ("bundle", "proximal", "adaptive"):
        result = minimize(risk, SOLVERS[name](), Stopping(gap=0.0, passes=20), start=start)
        assert np.linalg.norm(result.w) <= 0.5 * (1 + 1e-12), name
        assert result.objective >= 1 - 0.5 / np.sqrt(3) - 1e-9, name  # the optimum, by symmetry
    np.testing.assert_array_equal(start[0], [9.0, -9.0, 9.0])
