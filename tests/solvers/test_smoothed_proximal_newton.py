"""Proximal Newton steps on smoothed losses, against the optima of cone programmes."""

import math

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from contracts.problems import PARAMETERS, by_weights, examples
from stepless import L1, LOSSES, ElasticNet, GroupsL2, LinearRegressor, Source, Stopping
from stepless.minimization import minimize
from stepless.objective import Box, Free, Hinge, Loss, Objective, Zero
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS
from stepless.solvers.auto import choose
from stepless.solvers.batch.newton_step import Predictions

CORNERED = ["hinge", "absolute", "quantile", "epsilon_insensitive"]


def solved(loss, penalty, data, domain=Free(), intercept=True, gap=1e-6, passes=100):
    """The result on (X, y, s)."""
    risk = LinearRisk(Objective(loss, penalty, domain, intercept), Source(*data, threads=1))
    solver = SOLVERS["smoothed-proximal-newton"](gap)
    return minimize(risk, solver, Stopping(gap=gap, passes=passes))


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
    for given, dense, domain, intercept in by_weights(loss):
        kind = LOSSES[loss](**PARAMETERS.get(loss, {}))
        found = solved(kind, penalty, given, domain, intercept)
        case = dense[0].shape, domain, intercept, found.rel_gap
        assert found.stopped_by == "gap", case
        best = programmes_optimum(loss, dense, penalty.elastic_shares, domain, intercept)
        assert found.objective <= best * (1.0 + 1.1e-6) + 1e-9, case
        assert found.lower_bound <= best + 1e-9, case


def grouped_optimum(name, data, alpha, size):
    """The least α Σ‖w_g‖₂ + R for groups of consecutive features, by clarabel, in (w, r, t, b)."""
    X, y = data
    m, d = X.shape
    count = d // size
    q = np.concatenate([np.zeros(d), np.full(count, alpha), np.full(m, 1.0 / m), [0.0]])
    rows, most = [], []
    for slope, height in zip(*pieces(name, y), strict=True):
        parts = slope[:, None] * X, np.zeros((m, count)), -np.eye(m), slope[:, None]
        rows.append(np.hstack(parts))
        most.append(-height)
    for g in range(count):  # (r_g, w_g) in a second-order cone
        cone = np.zeros((1 + size, q.size))
        cone[0, d + g] = -1.0
        cone[1:, g * size : (g + 1) * size] = -np.eye(size)
        rows.append(cone)
        most.append(np.zeros(1 + size))
    cones = [clarabel.NonnegativeConeT(2 * m)] + [clarabel.SecondOrderConeT(1 + size)] * count
    A, h = sparse.csc_matrix(np.vstack(rows)), np.concatenate(most)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sparse.csc_matrix((q.size, q.size))
    found = clarabel.DefaultSolver(P, q, A, h, cones, settings).solve()
    assert "Solved" in str(found.status), found.status
    return found.obj_val


@pytest.mark.parametrize("loss", ["hinge", "absolute", "quantile"])
def test_groups_reach_the_optimum_of_another_solver(loss):
    X, y = examples(loss, 3, 60, 12)
    penalty = GroupsL2.of(0.08, np.arange(12) // 3)
    found = solved(LOSSES[loss](**PARAMETERS.get(loss, {})), penalty, (X, y, None))
    best = grouped_optimum(loss, (X, y), 0.08, 3)
    assert found.stopped_by == "gap"
    assert found.objective == pytest.approx(best, rel=2e-6)
    assert found.lower_bound <= best * (1.0 + 1e-7)
    lengths = np.linalg.norm(found.w.reshape(4, 3), axis=1)
    assert (lengths > 0.0).any()
    chosen = choose(LinearRisk(Objective(Hinge(), penalty), Source(X, np.sign(y))), 1e-3)
    assert chosen.name.startswith("smoothed-proximal-newton")


class Crooked(Loss):
    """A user's loss: |z − y| + max(0, z − y − 1), with no slope but the plain one."""

    def value(self, z, y):
        return abs(z - y) + max(0.0, z - y - 1.0)

    def slope(self, z, y):
        return (1.0 if z > y else -1.0) + (1.0 if z - y > 1.0 else 0.0)

    def lipschitz(self):
        return 2.0


def test_a_loss_of_ones_own():
    X, y = examples("absolute", 4, 60, 5)
    m, d = X.shape
    found = solved(Crooked(), L1(0.1), (X, y, None), gap=1e-6)
    assert found.stopped_by == "gap"
    # w = u − v, b = p − q, t ≥ each of −r, r, 2r − 1
    cost = np.concatenate([np.full(2 * d, 0.1), np.zeros(2), np.full(m, 1.0 / m)])
    one = np.hstack([X, -X, np.ones((m, 1)), -np.ones((m, 1))])
    rows = np.vstack([np.hstack([k * one, -np.eye(m)]) for k in (-1.0, 1.0, 2.0)])
    most = np.concatenate([-y, y, 2.0 * y + 1.0])
    best = linprog(cost, A_ub=rows, b_ub=most).fun
    assert found.objective == pytest.approx(best, rel=2e-6)
    assert found.lower_bound <= best + 1e-9


@pytest.mark.parametrize("loss", CORNERED)
@pytest.mark.parametrize("intercept", [False, True])
def test_no_step_claims_more_than_the_optimum(loss, intercept):
    X, y = examples(loss, 5, 60, 8)
    X[:, 1], X[:, 2] = X[:, 0], 0.0
    X = X * np.geomspace(1e-3, 1e3, 8)
    penalty, kind = L1(0.01), LOSSES[loss](**PARAMETERS.get(loss, {}))
    best = programmes_optimum(loss, (X, y, None), (0.01, 0.0), Free(), intercept)
    risk = LinearRisk(Objective(kind, penalty, intercept=intercept), Source(X, y))
    solver, rng = SOLVERS["smoothed-proximal-newton"](1e-8), np.random.default_rng(0)
    state = solver.start(risk, np.zeros(8), 0.0)
    highest = -math.inf
    for _ in range(40):
        found = solver.step(risk, state, rng)
        assert found.lower_bound <= best * (1.0 + 1e-9), loss
        assert found.objective >= best * (1.0 - 1e-9), loss
        assert found.objective == pytest.approx(
            risk.penalty(found.w) + risk.value(found.w, found.b)
        )
        highest = max(highest, found.lower_bound)
    assert highest >= best * (1.0 - 1e-5), loss


def test_predictions_keep_their_offset():
    X, y = examples("absolute", 6, 30, 4)
    source, offset = Source(X, y), np.linspace(-1.0, 1.0, 30)
    kept = Predictions.of(source, np.ones(4), 0.5)
    kept.offset = source.split(offset)
    kept.renew(source, np.ones(4), 0.5)
    np.testing.assert_allclose(kept.p.whole, X.sum(axis=1) + 0.5 + offset)


def test_targets_that_a_constant_fits():
    X, _ = examples("absolute", 7, 30, 4)
    found = solved(LOSSES["absolute"](), L1(0.1), (X, np.full(30, 2.5), None))
    assert not found.w.any()
    assert found.objective < 1e-12


def test_it_refuses_what_it_cannot_do():
    solver = SOLVERS["smoothed-proximal-newton"]()
    assert "proximal-newton" in solver.lacks(Objective(LOSSES["logistic"](), L1(0.1)))
    assert "box" in solver.lacks(Objective(LOSSES["hinge"](), Zero()))
    assert solver.lacks(Objective(LOSSES["hinge"](), Zero(), Box(-1.0, 1.0))) is None
    with pytest.raises(ValueError, match="aim"):
        SOLVERS["smoothed-proximal-newton"](-1.0)


def test_auto_takes_it_for_sparse_weights():
    X, y = examples("absolute", 8, 40, 3)
    for penalty in ("l1", "elasticnet(0.5)"):
        model = LinearRegressor("quantile(0.9)", penalty=penalty, alpha=0.05, gap=1e-6).fit(X, y)
        assert model.solver_ == "smoothed-proximal-newton"
        assert model.rel_gap_ <= 1e-6
