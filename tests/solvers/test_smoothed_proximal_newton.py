"""Proximal Newton steps on smoothed losses, against the optima of cone programmes."""

import math
from itertools import product

import clarabel
import numpy as np
import pytest
from scipy import sparse

from contracts.problems import PARAMETERS, examples
from stepless import L1, LOSSES, ElasticNet, Source, Stopping
from stepless.minimization import minimize
from stepless.objective import Box, Free, Nonnegative, Objective, SquaredL2, Zero
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS

SECONDS = None
CORNERED = ["hinge", "absolute", "quantile", "epsilon_insensitive"]


def solved(loss, penalty, data, domain=Free(), intercept=True, gap=1e-8, passes=150):
    """The result on (X, y, s)."""
    risk = LinearRisk(Objective(loss, penalty, domain, intercept), Source(*data, threads=1))
    solver = SOLVERS["smoothed-proximal-newton"](gap)
    return minimize(risk, solver, Stopping(gap=gap, passes=passes, seconds=SECONDS))


def pieces(name, y):
    """Slopes and heights at 0 of the linear functions whose maximum the loss is."""
    if name == "hinge":
        return (-y, 0.0 * y), (1.0 + 0.0 * y, 0.0 * y)
    if name == "epsilon_insensitive":
        epsilon = PARAMETERS[name]["epsilon"]
        slopes = 0.0 * y, 1.0 + 0.0 * y, -1.0 + 0.0 * y
        return slopes, (0.0 * y, -y - epsilon, y - epsilon)
    low = {"absolute": -1.0, "quantile": -PARAMETERS["quantile"]["tau"]}[name] + 0.0 * y
    high = {"absolute": 1.0, "quantile": 1.0 - PARAMETERS["quantile"]["tau"]}[name] + 0.0 * y
    return (low, high), (-low * y, -high * y)


def programmes_optimum(name, data, shares, domain, intercept):
    """The least α‖w‖₁ + (β/2)‖w‖² + R, by clarabel, in (w, r ≥ |w|, t ≥ each piece, b)."""
    X, y, s = data
    m, d = X.shape
    s = np.ones(m) if s is None else s / s.mean()
    alpha, beta = shares
    P = sparse.diags([beta] * d + [0.0] * (d + m + 1), format="csc")
    q = np.concatenate([np.zeros(d), np.full(d, alpha), s / m, [0.0]])
    rows, most = [], []
    for slope, height in zip(*pieces(name, y), strict=True):
        b = slope[:, None] if intercept else np.zeros((m, 1))
        rows.append(np.hstack([slope[:, None] * X, np.zeros((m, d)), -np.eye(m), b]))
        most.append(-height)
    for sign in (1.0, -1.0):
        rows.append(np.hstack([sign * np.eye(d), -np.eye(d), np.zeros((d, m + 1))]))
        most.append(np.zeros(d))
    for sign, end in zip((1.0, -1.0), domain.interval()[::-1], strict=True):
        if math.isfinite(end):
            rows.append(np.hstack([sign * np.eye(d), np.zeros((d, d + m + 1))]))
            most.append(np.full(d, sign * end))
    A, h = sparse.csc_matrix(np.vstack(rows)), np.concatenate(most)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(h.size)]
    found = clarabel.DefaultSolver(P, q, A, h, cones, settings).solve()
    assert "Solved" in str(found.status), found.status
    return found.obj_val


@pytest.mark.parametrize("loss", CORNERED)
@pytest.mark.parametrize("penalty", [L1(0.03), ElasticNet(0.02, 0.7)], ids=str)
def test_it_reaches_the_optimum_of_another_solver(loss, penalty):
    kinds = product([(40, 4), (30, 60)], [Free(), Box(-0.3, 0.5), Nonnegative()], [False, True])
    for n, (size, domain, intercept) in enumerate(kinds):
        X, y = examples(loss, n, *size)
        s = np.random.default_rng(n).choice([0.0, 0.5, 1.0, 3.0], len(y)) if n % 2 else None
        if s is not None:
            s[:2] = 1.0
        given = sparse.csr_matrix(X) if n % 3 else X
        kind = LOSSES[loss](**PARAMETERS.get(loss, {}))
        found = solved(kind, penalty, (given, y, s), domain, intercept)
        case = size, domain, intercept, found.rel_gap
        assert found.stopped_by == "gap", case
        best = programmes_optimum(loss, (X, y, s), penalty.elastic_shares, domain, intercept)
        assert found.objective <= best * (1.0 + 1.1e-8) + 1e-10, case
        assert found.lower_bound <= best + 1e-10, case
