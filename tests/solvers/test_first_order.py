"""Deterministic methods of the first order: against plain numpy, other people's solvers, theorems."""

import itertools
import math
import pickle

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_iris
from sklearn.linear_model import ElasticNet as SklearnElasticNet, Lasso, LogisticRegression

from stepless import LinearClassifier, LinearRisk, Objective, Source, Stopping
from stepless.certificates import Certifier
from stepless.minimization import minimize
from stepless.mirrors import Entropy, Euclidean, PNorm, UnboundedEntropy
from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Free,
    GroupsL2,
    Hinge,
    L1Ball,
    L2Ball,
    Logistic,
    LpBall,
    Nonnegative,
    Poisson,
    RowsL2,
    Simplex,
    Softmax,
    Spectrahedron,
    Squared,
    SquaredL2,
    Zero,
)
from stepless.risks.joint_risk import JointRisk
from stepless.risks.oracle_risk import OracleRisk
from stepless.solvers import Accelerated, FrankWolfe, Gradient, MirrorDescent, MirrorProx, Newton
from stepless.solvers.batch.mirror_steps import MirrorSteps
from stepless.solvers.batch.smoothness import FeatureMetric

SMOOTH = [Gradient(), Accelerated(), MirrorProx()]
RNG = np.random.default_rng(0)


def examples(seed=0, m=40, d=6, spread=1.0):
    """Features of different sizes, real targets and signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * np.geomspace(1.0, spread, d) + rng.normal(size=d)
    z = X @ (rng.normal(size=d) / np.geomspace(1.0, spread, d)) + 0.5 * rng.normal(size=m)
    return X, z, np.where(z > np.median(z), 1.0, -1.0)


def risk_of(penalty, domain=Free(), loss=Squared(), intercept=True, **shape):
    X, z, signs = examples(**shape)
    y = z if isinstance(loss, Squared | Absolute) else signs
    return LinearRisk(Objective(loss, penalty, domain, intercept), Source(X, y, threads=1))


def run(solver, risk, steps, w=None):
    state = solver.start(risk, np.zeros(risk.d) if w is None else w, 0.0)
    return [solver.step(risk, state, RNG) for _ in range(steps)], state


class Plain:
    """Least squares or logistic regression in numpy, as the textbook has it."""

    def __init__(self, risk):
        X, self.y = risk.source.X.array, risk.source.y
        self.X, self.m, self.risk = np.asarray(X), risk.m, risk
        self.free = risk.objective.intercept
        centre = self.X.mean(axis=0) if self.free else 0.0
        self.h = ((self.X - centre) ** 2).mean(axis=0)
        self.rounding = (self.m + 16) * 2.0**-53

    def __call__(self, w):
        """min_b R(w, b), and its gradient."""
        z = self.X @ w
        if isinstance(self.risk.objective.loss, Squared):
            b = (self.y - z).mean() if self.free else 0.0
            r = z + b - self.y
            return 0.5 * (r @ r) / self.m, self.X.T @ r / self.m
        assert not self.free
        p = 1.0 / (1.0 + np.exp(self.y * z))
        return np.logaddexp(0.0, -self.y * z).mean(), -self.X.T @ (self.y * p) / self.m

    def admits(self, L, w, v):
        """Whether the bound held, and L for the next time."""
        (here, g), (there, _) = self(w), self(v)
        at, slack = (v - w) @ (self.h * (v - w)), self.rounding * here
        if there - here - g @ (v - w) > L / 2 * at + slack:
            return False, 2.0 * L
        return True, 0.95 * L if L / 2 * at > slack else L

    def prox(self, w, g, L):
        """argmin ⟨g, v⟩ + Ω(v) + (L/2)‖v − w‖², of the elastic net."""
        penalty = self.risk.objective.regularizer
        lasso, ridge = penalty.alpha * penalty.ratio, penalty.alpha * (1 - penalty.ratio)
        u = L * self.h * w - g
        return np.sign(u) * np.maximum(np.abs(u) - lasso, 0.0) / (L * self.h + ridge)

    def first(self, w):
        value, g = self(w)
        return (g @ (g / self.h)) / (2 * value)


def same(findings, points, tight=1e-10):
    for finding, w in zip(findings, points, strict=True):
        np.testing.assert_allclose(finding.w, w, rtol=tight, atol=tight)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize(("loss", "intercept"), [(Squared(), True), (Logistic(), False)])
def test_gradient_iterates(loss, intercept, ratio):
    risk = risk_of(ElasticNet(0.05, ratio), loss=loss, intercept=intercept)
    plain, w = Plain(risk), np.zeros(risk.d)
    points, L = [w], plain.first(w)
    for _ in range(30):
        holds = False
        while not holds:
            v = plain.prox(w, plain(w)[1], L)
            holds, L = plain.admits(L, w, v)
        w = v
        points.append(w)
    same(run(Gradient(), risk, 31)[0], points)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize(("loss", "intercept"), [(Squared(), True), (Logistic(), False)])
def test_accelerated_iterates(loss, intercept, ratio):
    risk = risk_of(ElasticNet(0.02, ratio), loss=loss, intercept=intercept, spread=3.0)
    plain, w = Plain(risk), np.zeros(risk.d)
    mu = 0.02 * (1 - ratio) / plain.h.max()
    points, before, t, L, last, restarts = [], w, 0.0, plain.first(w), 1.0, 0
    for _ in range(60):
        if t == 0.0:
            now, z = 1.0, w
        else:
            if mu == 0.0:  # MAH §2.3.2.2 mended, as it stands in every textbook
                now = (1 + math.sqrt(1 + 4 * t**2 * L / last)) / 2
                z = w + (t - 1) / now * (w - before)
            else:  # (L_k + μ)t² − (L_k + μ − μt_k²)t − (L + μ)t_k² = 0
                now = max(np.roots([last + mu, mu * t**2 - last - mu, -(L + mu) * t**2]).real)
                ahead, share = before + t * (w - before), mu / L * (now - 1)
                z = ((now - 1) * w + (1 - share) * ahead + share * w) / now
        holds = False
        while not holds:
            used = L
            v = plain.prox(z, plain(z)[1], L)
            holds, L = plain.admits(L, z, v)
        before, w, t, last = w, v, now, used
        if (z - v) @ (plain.h * (v - before)) > 0.0:
            t, restarts = 0.0, restarts + 1
        points.append(w)
    assert restarts >= 1
    # later on, a test that both sides pass at a hair's breadth may part them by a rounding
    found = run(Accelerated(), risk, 60)[0]
    same(found[:20], points[:20], 1e-9)
    same(found, points, 1e-5)


def test_mirror_descent_iterates():
    risk = risk_of(SquaredL2(0.1), Simplex(2.0), intercept=False)
    plain, w = Plain(risk), np.full(risk.d, 2.0 / risk.d)
    points, origin, total, reach = [], w, 0.0, 0.0
    for _ in range(30):
        points.append(w)
        value, g = plain(w)
        value, g = value + 0.05 * w @ w, g + 0.1 * w
        square = 2.0 * np.abs(g).max() ** 2
        total += square
        away = (w * np.log(w / origin)).sum()
        reach = max(reach or value / math.sqrt(square), math.sqrt(2 * away))
        w = w * np.exp(-reach / math.sqrt(total) * g)
        w *= 2.0 / w.sum()
    same(run(MirrorDescent(), risk, 30)[0], points)


def test_mirror_prox_iterates():
    risk = risk_of(Zero(), Simplex(2.0), intercept=False)
    plain, w, R = Plain(risk), np.full(6, 2.0 / 6), 2.0

    def move(w, g, step):
        v = w * np.exp(-step * g)
        return v * (R / v.sum())

    def apart(v, w):
        return (v * np.log(v / w)).sum()

    value, g = plain(w)
    points, step = [], 2.0 * value / (R * np.abs(g).max() ** 2)
    for _ in range(30):
        value, g = plain(w)
        while True:
            z = move(w, g, step)
            v = move(w, plain(z)[1], step)
            near = apart(z, w) + apart(v, z)
            slack = plain.rounding * step * value
            if step * (plain(z)[1] - g) @ (z - v) <= near + slack:
                break
            step /= 2.0
        step *= 1.1 if near > slack else 1.0
        w = v
        points.append(z)
    same(run(MirrorProx(), risk, 30)[0], points, 1e-9)


@pytest.mark.parametrize("domain", [Simplex(2.0), L1Ball(2.0), L2Ball(1.0), Box(-0.5, 0.5)])
def test_frank_wolfe_iterates(domain):
    """With the vertices of a polytope written out, and their shares in w carried along."""
    ridge = 0.1
    risk = risk_of(SquaredL2(ridge), domain, intercept=False)
    plain, d = Plain(risk), risk.d
    w = np.zeros(d)
    domain.project(w)
    points, L, aways = [w], plain.first(w), 0
    for _ in range(40):
        g = plain(w)[1] + ridge * w
        if isinstance(domain, L2Ball):
            u = -g / np.linalg.norm(g)
        elif isinstance(domain, Box):
            u = -0.5 * np.sign(g)
        else:
            corners = np.eye(d) * 2.0
            if isinstance(domain, L1Ball):
                corners = np.vstack([corners, -corners])
            u = min(corners, key=lambda corner: g @ corner)
        direction, longest = u - w, 1.0
        if isinstance(domain, Simplex | L1Ball):
            shares = np.array([max(w @ c, 0.0) / 4.0 for c in corners])
            if isinstance(domain, L1Ball):
                corners, shares = np.vstack([corners, np.zeros(d)]), np.append(shares, 0.0)
                shares[-1] = 1.0 - shares.sum()
            used = [k for k in range(len(shares)) if shares[k] > 1e-15]
            worst = max(used, key=lambda k: g @ corners[k])
            away = w - corners[worst]
            if -g @ away > -g @ direction and shares[worst] < 1.0:
                direction, aways = away, aways + 1
                longest = shares[worst] / (1.0 - shares[worst])
        holds = False
        while not holds:
            bend = L * direction @ (plain.h * direction) + ridge * direction @ direction
            v = w + min(longest, -g @ direction / bend) * direction
            holds, L = plain.admits(L, w, v)
        w = np.where(np.abs(v) < 1e-14, 0.0, v)
        points.append(w)
    assert aways > 0 or not isinstance(domain, Simplex | L1Ball)
    same(run(FrankWolfe(), risk, 41)[0], points, 1e-8)


@pytest.mark.parametrize("solver", SMOOTH, ids=lambda s: s.name)
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_lasso_and_elastic_net_are_scikit_learns(solver, ratio):
    risk = risk_of(ElasticNet(0.1, ratio), m=80, d=12, spread=5.0)
    X, y = np.asarray(risk.source.X.array), risk.source.y
    setting = {"alpha": 0.1, "tol": 1e-14, "max_iter": 100_000}
    model = Lasso(**setting) if ratio == 1.0 else SklearnElasticNet(l1_ratio=ratio, **setting)
    model.fit(X, y)
    best = risk.objective.penalty(model.coef_) + risk.value(model.coef_, model.intercept_)
    result = minimize(risk, solver, Stopping(gap=1e-7, passes=3000))
    assert result.stopped_by == "gap"
    assert result.lower_bound <= best * (1 + 1e-10)
    assert best * (1 - 1e-10) <= result.objective <= best * (1 + 1.1e-7)
    if solver.name != "mirror-prox":
        np.testing.assert_array_equal(result.w != 0, np.abs(model.coef_) > 1e-9)


def test_sparse_logistic_regression_is_scikit_learns():
    risk = risk_of(L1(0.02), loss=Logistic(), m=80, d=12)
    X, y = np.asarray(risk.source.X.array), risk.source.y
    model = LogisticRegression(
        C=1 / (0.02 * 80), l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=100_000
    ).fit(X, y)
    w, b = model.coef_.ravel(), float(model.intercept_[0])
    best = risk.objective.penalty(w) + risk.value(w, b)
    result = minimize(risk, Accelerated(), Stopping(gap=1e-8, passes=2000))
    assert result.stopped_by == "gap"
    assert best * (1 - 1e-9) <= result.objective <= best * (1 + 2e-8)
    np.testing.assert_allclose(result.w, w, atol=1e-3)


def group_lasso(X, y, groups, alpha):
    """min ‖Xw − y‖²/(2m) + αΣt_g, ‖w_g‖ ≤ t_g, by clarabel."""
    m, d = X.shape
    names = np.unique(groups)
    P = sparse.block_diag([X.T @ X / m, sparse.csc_matrix((names.size, names.size))], "csc")
    q = np.concatenate([-X.T @ y / m, np.full(names.size, alpha)])
    rows, cones = [], []
    for k, name in enumerate(names):
        members = np.flatnonzero(groups == name)
        rows += [d + k, *members]
        cones.append(clarabel.SecondOrderConeT(1 + members.size))
    A = -sparse.eye(d + names.size, format="csr")[rows].tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel = False, 1e-12, 1e-12
    answer = clarabel.DefaultSolver(
        sparse.triu(P).tocsc(), q, A, np.zeros(len(rows)), cones, settings
    ).solve()
    return answer.obj_val + y @ y / (2 * m)


@pytest.mark.parametrize("solver", SMOOTH, ids=lambda s: s.name)
def test_group_lasso_is_clarabels(solver):
    groups = np.arange(12) % 4
    risk = risk_of(GroupsL2.of(0.3, groups), intercept=False, m=80, d=12)
    best = group_lasso(np.asarray(risk.source.X.array), risk.source.y, groups, 0.3)
    result = minimize(risk, solver, Stopping(gap=1e-7, passes=2000))
    assert result.stopped_by == "gap"
    assert best * (1 - 1e-9) <= result.objective <= best * (1 + 1.1e-7)


def test_joint_losses_come_for_free():
    X, y = load_iris(return_X_y=True)
    source = Source(X, y.astype(float), threads=1)
    risk = JointRisk(Objective(Softmax(3), L1(0.01)), source)
    model = LogisticRegression(
        C=1 / (0.01 * 150), l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100_000
    ).fit(X, y)
    w = np.ascontiguousarray(model.coef_.T).ravel()
    best = risk.objective.penalty(w) + risk.value(w, model.intercept_)
    for solver in (*SMOOTH, MirrorDescent()):
        result = minimize(risk, solver, Stopping(gap=1e-6, passes=150))
        assert result.lower_bound <= best * (1 + 1e-9)
        loose = {"accelerated": 1e-4, "gradient": 0.2, "mirror-prox": 0.2}
        assert result.objective <= best * (1 + loose.get(solver.name, 1.0)), solver.name
    rows = JointRisk(Objective(Softmax(3), RowsL2(0.05)), source)
    result = minimize(rows, Accelerated(), Stopping(gap=1e-6, passes=1000))
    assert result.stopped_by == "gap"
    kept = (result.w.reshape(4, 3) != 0.0).sum(axis=1)
    assert set(kept) == {0, 3}  # a feature is kept for all classes, or for none


@pytest.mark.parametrize("solver", SMOOTH, ids=lambda s: s.name)
def test_poisson_is_smooth_enough(solver):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    y = rng.poisson(np.exp(X @ np.array([1.0, -0.5, 0.0, 0.3]) + 1.0)).astype(float)
    risk = LinearRisk(Objective(Poisson(), SquaredL2(1e-2)), Source(X, y, threads=1))
    best = minimize(risk, Newton(), Stopping(gap=1e-9, passes=100)).objective
    result = minimize(risk, solver, Stopping(gap=1e-6, passes=500))
    assert result.stopped_by == "gap"
    assert result.objective <= best * (1 + 1.1e-6)


PAIRS = [
    (L1(0.05), Free()),
    (ElasticNet(0.1, 0.5), Box(-0.2, 0.4)),
    (L1(0.05), L2Ball(0.5)),
    (L1(0.05), L1Ball(0.7)),
    (SquaredL2(0.1), Simplex(1.5)),
    (L1(0.1), Nonnegative()),
    (Zero(), L1Ball(0.7)),
    (Zero(), Box(-0.2, 0.3)),
    (SquaredL2(0.1), L1Ball(0.7)),
    (SquaredL2(0.1), LpBall(0.7, 1.5)),
    (SquaredL2(0.1), Spectrahedron(0.7)),
]


@pytest.mark.parametrize(("penalty", "domain"), PAIRS, ids=str)
def test_all_agree_and_no_bound_is_above_an_objective(penalty, domain):
    solvers = [Gradient(), Accelerated(), MirrorProx(), MirrorDescent(), FrankWolfe()]
    for loss, intercept in ((Squared(), True), (Logistic(), False)):
        risk = risk_of(penalty, domain, loss, intercept, seed=3, spread=3.0, d=4)
        fitting = [solver for solver in solvers if solver.lacks(risk.objective) is None]
        assert len(fitting) >= 4
        results = {s.name: minimize(risk, s, Stopping(gap=1e-6, passes=150)) for s in fitting}
        lowest = min(result.objective for result in results.values())
        for name, result in results.items():
            inside = result.w.copy()
            domain.project(inside)
            np.testing.assert_allclose(inside, result.w, rtol=1e-9, atol=1e-12, err_msg=name)
            assert result.lower_bound <= lowest * (1 + 1e-12), name
            loose = {"mirror-descent": 0.2, "mirror-prox": 1e-2, "frank-wolfe": 1e-2}
            assert result.objective <= lowest * (1 + loose.get(name, 1e-5)), name
        assert results["accelerated"].objective <= lowest * (1 + 1e-7)


def test_a_restart_is_followed_by_descent():
    risk = risk_of(L1(1e-4), spread=100.0)
    solver = Accelerated()
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    restarts, before = 0, math.inf
    for _ in range(400):
        restarted = state.t == 0.0
        objective = solver.step(risk, state, RNG).objective
        if restarted:
            restarts += 1
            assert objective <= before * (1 + 1e-13)
        before = objective
    assert restarts >= 3


def test_gradient_never_rises_and_momentum_pays():
    X, y, _ = examples(m=100, d=8)
    X = np.cumsum(X, axis=1)  # neighbours are alike
    risk = LinearRisk(Objective(Squared(), L1(1e-4)), Source(X, y, threads=1))
    heights = [f.objective for f in run(Gradient(), risk, 200)[0]]
    assert (np.diff(heights) <= 1e-12 * heights[0]).all()
    passes = [
        minimize(risk, s, Stopping(gap=1e-4, passes=5000)) for s in (Gradient(), Accelerated())
    ]
    assert all(result.stopped_by == "gap" for result in passes)
    assert len(passes[1].trace) < len(passes[0].trace) / 2


def test_units_of_features_do_not_matter():
    risk = risk_of(Zero(), intercept=True)
    units = np.geomspace(1e-6, 1e6, risk.d)
    X = np.asarray(risk.source.X.array)
    other = LinearRisk(risk.objective, Source(X * units, risk.source.y, threads=1))
    for solver in (Gradient(), Accelerated(), MirrorDescent(), MirrorProx()):
        here, there = (run(solver, r, 20)[0][-1] for r in (risk, other))
        np.testing.assert_allclose(there.w * units, here.w, rtol=1e-6, atol=1e-9)


def textbook(domain=Free()):
    """Least squares without a penalty, a point near its minimum (the theorems hold for any)."""
    risk = risk_of(Zero(), domain, intercept=False, m=60, d=8, spread=10.0)
    best = minimize(risk, Accelerated(), Stopping(gap=0.0, passes=100))
    return risk, best.w, best.objective, FeatureMetric.of(risk)


def largest(solver, risk, steps):
    """Objectives of a run, and the largest L that a step was taken with."""
    state, L, objectives = solver.start(risk, np.zeros(risk.d), 0.0), 0.0, []
    for _ in range(steps):
        objectives.append(solver.step(risk, state, RNG).objective)
        L = max(L, state.smoothness.L / 0.95)
    return np.array(objectives), L


def test_the_rate_of_gradient_descent():
    risk, w, best, metric = textbook()
    objectives, L = largest(Gradient(), risk, 200)
    T = np.arange(1, 200)
    assert (objectives[1:] - best <= L * metric.square(w) / (2 * T) + 1e-12).all()


def test_the_rate_of_nesterovs_method():
    risk, w, best, metric = textbook()
    objectives, L = largest(Accelerated(), risk, 200)
    T = np.arange(1, 201)
    assert (objectives - best <= 2 * L * metric.square(w) / (T + 1) ** 2 + 1e-12).all()


def test_the_rate_of_frank_wolfe():
    for domain in (L1Ball(1.0), L2Ball(1.0), Box(-0.3, 0.3)):
        risk, _, best, metric = textbook(domain)
        objectives, L = largest(FrankWolfe(), risk, 200)
        reach = {L1Ball: 1.0, L2Ball: 1.0, Box: 0.3 * math.sqrt(risk.d)}[type(domain)]
        diameter = 4.0 * reach**2 * metric.h.max()
        T = np.arange(1, 201)
        assert (objectives - best <= 2 * L * diameter / (T + 1) + 1e-12).all()


def test_the_rate_of_mirror_prox():
    risk, w, best, metric = textbook()
    solver = MirrorProx()
    state, lowest, total = solver.start(risk, np.zeros(risk.d), 0.0), math.inf, 0.0
    for _ in range(200):
        lowest = min(lowest, solver.step(risk, state, RNG).objective)
        total += state.step / 1.1  # at least: it grows after all steps but the last, tiny ones
        assert lowest - best <= 0.5 * metric.square(w) / total + 1e-12


@pytest.mark.parametrize("domain", [Free(), Simplex(2.0), L1Ball(2.0)], ids=str)
def test_the_rate_of_mirror_descent(domain):
    risk = risk_of(Zero(), domain, Absolute(), intercept=False)
    best = minimize(risk, MirrorDescent("euclidean"), Stopping(gap=1e-6, passes=300))
    solver = MirrorDescent()
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    lowest, farthest = math.inf, 0.0
    for T in range(1, 300):
        farthest = max(farthest, state.steps.mirror.divergence(best.w, state.w))
        lowest = min(lowest, solver.step(risk, state, RNG).objective)
        bound = (farthest / state.reach + state.reach) * math.sqrt(state.steepness) / T
        assert lowest - best.objective <= bound


VERTICES = [
    (L1Ball(0.7), [s * 0.7 * e for e in np.eye(4) for s in (1.0, -1.0)]),
    (Simplex(0.7), list(0.7 * np.eye(4))),
    (Box(-0.2, 0.5), [np.array(v) for v in itertools.product((-0.2, 0.5), repeat=4)]),
]


@pytest.mark.parametrize(("domain", "vertices"), VERTICES, ids=lambda v: str(v)[:8])
@pytest.mark.parametrize("penalty", [Zero(), SquaredL2(0.3)], ids=str)
def test_frank_wolfes_gap_is_that_over_all_vertices(domain, vertices, penalty):
    risk = risk_of(penalty, domain, Logistic(), d=4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = rng.dirichlet(np.ones(len(vertices))) @ np.array(vertices)
        tangent = risk.tangent(w, 0.0)
        g = tangent.plane.a + risk.objective.strength * w
        gap = max(g @ (w - u) for u in vertices)
        value = risk.objective.penalty(w) + tangent.value
        certifier = Certifier(risk.objective, risk.d)
        certifier.learn(tangent.plane, value)
        assert certifier.lower_bound >= value - gap - 1e-9


def numerical(function, w, bounds, sum_, equal):
    """A minimum by SLSQP, of positive and negative parts where signs are free."""
    kind = "eq" if equal else "ineq"
    limits = [] if sum_ is None else [{"type": kind, "fun": lambda v: sum_ - v.sum()}]
    options = {"ftol": 1e-14, "maxiter": 1000}
    return scipy_minimize(
        function, w, bounds=bounds, constraints=limits, method="SLSQP", options=options
    ).fun


@pytest.mark.parametrize("penalty", [Zero(), L1(0.2)], ids=str)
@pytest.mark.parametrize("domain", [Free(), L1Ball(1.0), Simplex(1.5), Nonnegative()], ids=str)
def test_mirror_steps_are_minima(penalty, domain):
    if isinstance(domain, Simplex) and isinstance(penalty, L1):
        return  # refused: it is the same all over a simplex
    rng, d = np.random.default_rng(0), 5
    alpha = penalty.alpha if isinstance(penalty, L1) else 0.0
    for _ in range(6):
        w, g, step = 0.3 * rng.normal(size=d), rng.normal(size=d), rng.uniform(0.1, 0.9)
        if isinstance(domain, Free | L1Ball):
            q = 2.0 * math.log(20)
            mirror = PNorm(domain, d, q / (q - 1.0))
        else:
            simplex = isinstance(domain, Simplex)
            mirror = Entropy(domain, d) if simplex else UnboundedEntropy(domain, d, 0.2)
        w = mirror.inside(w)
        v = mirror.move(w, g, step, penalty)

        def goal(v, w=w, g=g, step=step, mirror=mirror):
            return step * (g @ v + alpha * np.abs(v).sum()) + mirror.divergence(v, w)

        if isinstance(domain, Free | L1Ball):
            assert np.abs(v).sum() <= getattr(domain, "bound", math.inf) * (1 + 1e-15)

            def parts(v, goal=goal):
                return goal(v[:d] - v[d:])

            start = np.concatenate([np.maximum(w, 0), np.maximum(-w, 0)]) + 1e-3
            start /= max(1.0, start.sum())
            least = numerical(
                parts, start, [(0, 10)] * 2 * d, getattr(domain, "bound", 100.0), False
            )
        else:
            bound = getattr(domain, "bound", None)
            least = numerical(goal, w, [(1e-12, 10)] * d, bound, True)
        assert goal(v) <= least + 1e-9
        assert goal(v) >= least - 1e-5  # theirs may be a little outside


def test_euclidean_steps_are_minima():
    risk = risk_of(ElasticNet(0.2, 0.5), Box(-0.2, 0.3), intercept=False)
    mirror = Euclidean(risk.objective.domain, risk.d, FeatureMetric.of(risk).h)
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, g = mirror.inside(rng.normal(size=risk.d)), rng.normal(size=risk.d)
        v = mirror.move(w, g, 0.3, risk.objective.regularizer)

        def goal(v, w=w, g=g):
            return 0.3 * (g @ v + risk.objective.penalty(v)) + mirror.divergence(v, w)

        for _ in range(200):
            near = np.clip(v + rng.normal(size=risk.d) * 10.0 ** rng.uniform(-4, 0), -0.2, 0.3)
            assert goal(v) <= goal(near)


@pytest.mark.parametrize("penalty", [Zero(), L1(0.2)], ids=str)
def test_steps_in_a_p_norm_ball_are_minima(penalty):
    risk = risk_of(penalty, LpBall(0.5, 1.4), intercept=False)
    steps, rng = MirrorSteps.of(risk, None), np.random.default_rng(0)
    mirror = steps.mirror
    assert isinstance(mirror, PNorm)
    assert mirror.p == pytest.approx(1.4)
    for _ in range(5):
        w, g = mirror.inside(rng.normal(size=risk.d)), 3.0 * rng.normal(size=risk.d)
        v = steps.move(w, g, 0.3)

        def goal(v, w=w, g=g):
            return 0.3 * (g @ v + risk.objective.penalty(v)) + mirror.divergence(v, w)

        for _ in range(200):
            near = v + rng.normal(size=risk.d) * 10.0 ** rng.uniform(-4, 0)
            risk.objective.domain.project(near)
            assert goal(v) <= goal(near) + 1e-12


def test_the_p_norms_map_and_its_inverse():
    mirror = PNorm(Free(), 50)
    w = np.random.default_rng(0).normal(size=50)
    np.testing.assert_allclose(mirror.nearest(mirror.dual(w)), w, rtol=1e-10)
    assert mirror.p == pytest.approx(2 * math.log(50) / (2 * math.log(50) - 1))
    np.testing.assert_array_equal(mirror.dual(np.zeros(50)), 0.0)


@pytest.mark.parametrize(
    ("solver", "objective", "sentence"),
    [
        (Accelerated(), Objective(Hinge(), L1(1.0)), "needs a smooth loss, and Hinge"),
        (Gradient(), Objective(Absolute(), L1(1.0)), "use solver='auto'"),
        (MirrorProx(), Objective(Hinge(), L1(1.0)), "needs a smooth loss"),
        (FrankWolfe(), Objective(Logistic(), Zero()), "needs a bounded domain"),
        (FrankWolfe(), Objective(Logistic(), Zero(), Nonnegative()), "needs a bounded domain"),
        (FrankWolfe(), Objective(Logistic(), L1(1.0), L1Ball()), "knows the penalties l2 and none"),
        (FrankWolfe(), Objective(Hinge(), Zero(), L1Ball()), "needs a smooth loss"),
        (MirrorDescent("entropy"), Objective(Hinge(), L1(1.0)), "weights that are not negative"),
        (MirrorDescent("p-norm"), Objective(Hinge(), Zero(), Box()), "does not know Box"),
        (MirrorDescent("p-norm"), Objective(Hinge(), RowsL2(1.0)), "mirror='euclidean'"),
    ],
)
def test_what_is_lacking_is_said_in_a_sentence(solver, objective, sentence):
    lack = solver.lacks(objective)
    assert sentence in lack
    assert "use " in lack
    assert "\n" not in lack


def test_what_is_not_lacking():
    assert MirrorDescent().lacks(Objective(Hinge(), RowsL2(1.0))) is None
    assert Accelerated().lacks(Objective(Poisson(), GroupsL2.of(1.0, [0, 0, 1]))) is None


@pytest.mark.parametrize("solver", [MirrorDescent("entropy"), FrankWolfe()], ids=lambda s: s.name)
def test_states_of_every_geometry_are_plain_data(solver):
    risk = risk_of(Zero(), Simplex(1.0))
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    for _ in range(3):
        solver.step(risk, state, RNG)
    copied = pickle.loads(pickle.dumps(state))
    for _ in range(3):
        here, there = (solver.step(risk, s, RNG) for s in (state, copied))
        np.testing.assert_array_equal(here.w, there.w)


def test_a_start_from_elsewhere():
    risk = risk_of(Zero(), Simplex(1.0))
    best = minimize(risk, Accelerated(), Stopping(gap=1e-9, passes=500))
    for solver in (Gradient(), Accelerated(), MirrorProx(), MirrorDescent(), FrankWolfe()):
        cold = minimize(risk, solver, Stopping(gap=0.0, passes=3))
        warm = minimize(risk, solver, Stopping(gap=0.0, passes=3), start=(best.w, best.b))
        assert warm.objective <= min(cold.objective, best.objective * (1 + 1e-12))


def test_the_estimator_takes_them():
    X, _, y = examples(m=60)
    for name in ("gradient", "accelerated", "mirror-prox"):
        clf = LinearClassifier("logistic", penalty="l1", alpha=0.01, solver=name).fit(X, y)
        assert clf.rel_gap_ <= 1e-3
        assert clf.solver_ == name


def test_a_step_in_a_simplex_from_weights_that_have_become_0():
    """The steepest slope is that of a weight of 0: what is left shares the rest."""
    v = Entropy(Simplex(2.0), 3).move(np.array([0.0, 1.5, 0.5]), np.array([-1e4, 0.0, 0.0]), 1.0)
    np.testing.assert_allclose(v, [0.0, 1.5, 0.5])


class Corner(OracleRisk):
    """The larger of w and 0, which has a slope of 1 at 0 too."""

    def value_and_gradient(self, w):
        return max(w[0], 0.0), np.ones(1) * (w[0] >= 0.0)


def test_mirror_descent_stays_where_the_objective_is_0():
    found = minimize(Corner(1, SquaredL2(1.0)), MirrorDescent(), Stopping(gap=0.0, passes=3))
    assert found.w.tolist() == [0.0]
    assert found.lower_bound == 0.0 <= found.objective <= 1e-15
