"""Solvers of one projection: the papers' lines in plain numpy, their theorems, their counts."""

import math
import pickle

import clarabel
import numpy as np
import pytest
from scipy import sparse

from grids import grid
from stepless import (
    Box,
    L1Ball,
    L2Ball,
    LinearRisk,
    LpBall,
    Objective,
    Polytope,
    Source,
    Spectrahedron,
    SquaredL2,
    Stopping,
    Zero,
    check_solver,
)
from stepless.compiled import one_projection as kernel
from stepless.compiled.one_projection import PrimalDual, Smoothed
from stepless.compiled.shuffle import shuffle
from stepless.design import Outer
from stepless.minimization import minimize
from stepless.objective import L1, Free, Hinge, Logistic, Poisson, Simplex, Softmax, Squared
from stepless.solvers import SGDPD, SGDST, SOLVERS

NAMES = ["sgd-pd", "sgd-st"]


def problem(loss, penalty, domain, *, m=60, d=4, seed=0, intercept=False, layout=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) / 2.0
    z = X @ rng.normal(size=d) + 0.3 * rng.normal(size=m)
    y = z if isinstance(loss, Squared) else np.where(z > 0.0, 1.0, -1.0)
    return (
        LinearRisk(Objective(loss, penalty, domain, intercept), Source(layout(X), y, threads=1)),
        X,
        y,
    )


# -- the papers, line by line ----------------------------------------------------------------------


def slope(loss, z, y):
    match loss:
        case Hinge():
            return -y if y * z < 1.0 else 0.0
        case Logistic():
            return -y / (1.0 + math.exp(y * z))
        case Squared():
            return z - y


def l1(w, R=0.5):
    return np.abs(w).sum() - R, np.sign(w)


def polytope(w):
    heights = A @ w - b
    return heights.max(), A[heights.argmax()]


def psd(w, R=1.0):
    n = math.isqrt(w.size)
    X = w.reshape(n, n)
    values, vectors = np.linalg.eigh((X + X.T) / 2)
    if (np.trace(X) - R) / math.sqrt(n) > -values[0]:
        return (np.trace(X) - R) / math.sqrt(n), np.eye(n).ravel() / math.sqrt(n)
    return -values[0], -np.outer(vectors[:, 0], vectors[:, 0]).ravel()


A = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0], [-1.0, 0.0, 0.0, 0.0]])
A = np.vstack([A / np.linalg.norm(A, axis=1, keepdims=True), np.eye(4), -np.eye(4)])
b = np.r_[0.1, 0.05, 0.0, np.full(8, 0.5)]
DOMAINS = {
    "l1": (L1Ball(0.5), l1),
    "polytope": (Polytope.of(A, b), polytope),
    "psd": (Spectrahedron(1.0), psd),
}


def algorithm_12(X, y, order, loss, ridge, c, eta, gamma):
    """MAH Alg. 12 as printed: unit ball, λ with the same η. Iterates and multipliers."""
    w, lam, iterates, multipliers = np.zeros(X.shape[1]), 0.0, [], []
    for i in order:
        iterates.append(w.copy())
        multipliers.append(lam)
        value, gradient = c(w)
        g = slope(loss, X[i] @ w, y[i]) * X[i] + ridge * w
        moved = w - eta * (g + lam * gradient)
        lam = max((1.0 - gamma * eta) * lam + eta * value, 0.0)
        w = moved / max(np.linalg.norm(moved), 1.0)
    return np.array(iterates), np.array(multipliers)


def algorithm_13(X, y, order, loss, ridge, c, ceiling, gamma):
    """MAH Alg. 13 as printed, with β the strength of the ridge."""
    w, iterates = np.zeros(X.shape[1]), []
    for t, i in enumerate(order, 1):
        iterates.append(w.copy())
        value, gradient = c(w)
        weight = 1.0 / (1.0 + math.exp(-ceiling * value / gamma))
        g = slope(loss, X[i] @ w, y[i]) * X[i] + ridge * w
        moved = w - (g + weight * ceiling * gradient) / (2.0 * ridge * t)
        w = moved / max(np.linalg.norm(moved), 1.0)
    return np.array(iterates)


def symmetric(X):
    """Matrices of an example a row: the paper's iterates stay symmetric then, as ours do."""
    n = math.isqrt(X.shape[1])
    return np.array([(row.reshape(n, n) + row.reshape(n, n).T).ravel() / 2 for row in X])


@pytest.mark.parametrize(
    ("name", "loss", "layout"),
    grid(DOMAINS, [Hinge(), Logistic()], [np.asarray, sparse.csr_matrix], every=3),
)
def test_the_kernel_is_the_papers(name, loss, layout):
    domain, c = DOMAINS[name]
    _, X, y = problem(loss, Zero(), domain)
    X = symmetric(X) if name == "psd" else X
    risk = LinearRisk(Objective(loss, Zero(), domain, False), Source(layout(X), y, threads=1))
    order = np.random.default_rng(1).permutation(60).astype(np.uint32)
    for rule in (PrimalDual(0.2, 0.2, 0.4), Smoothed(0.3, 2.0, 0.1)):
        ridge = 0.1 if isinstance(rule, PrimalDual) else 0.3
        w, total, motion = np.zeros(4), np.zeros(4), np.zeros(9)
        setting = (ridge, 1.0, 0.0)
        kernel.descend(risk.problem, domain, (rule, *setting), order, w, total, motion)
        if isinstance(rule, PrimalDual):
            iterates, multipliers = algorithm_12(X, y, order, loss, ridge, c, 0.2, 0.4)
            assert multipliers.max() > 0.0
            assert motion[kernel.MULTIPLIERS] == pytest.approx(multipliers.sum(), abs=1e-10)
        else:
            iterates = algorithm_13(X, y, order, loss, ridge, c, 2.0, 0.1)
        np.testing.assert_allclose(total, iterates.sum(axis=0), atol=1e-10)
        assert motion[kernel.EXCESSES] == pytest.approx(sum(c(v)[0] ** 2 for v in iterates))


@pytest.mark.parametrize("name", ["l1", "polytope"])
def test_a_run_of_known_length_is_the_papers(name):
    """SGD-PD in other units than a unit ball is Alg. 12 in those units: nothing else."""
    domain, c = DOMAINS[name]
    risk, X, y = problem(Hinge(), Zero(), domain)
    solver, T = SGDPD(rounds=150), 150
    state = solver.start(risk, np.zeros(4), 0.0)
    scale, rng, order = state.scale, np.random.default_rng(3), np.zeros(0, dtype=np.uint32)
    findings = [solver.step(risk, state, rng) for _ in range(3)]
    rng = np.random.default_rng(3)
    for _ in range(3):
        part = np.arange(60, dtype=np.uint32)
        shuffle(part, rng.integers(2**64, dtype=np.uint64))
        order = np.concatenate([order, part])
    r, kappa = scale.ball, scale.gradient / scale.slant
    G1, G2, C2 = r * scale.gradient, kappa * r * scale.slant, kappa * scale.excess
    gamma = G2**2 / math.sqrt((G1**2 + C2**2) * T)  # Th. 9.7

    def scaled(u):
        value, gradient = c(r * u)
        return kappa * value, kappa * r * gradient

    iterates, _ = algorithm_12(
        r * X, y, order[:T], Hinge(), 0.0, scaled, gamma / (2 * G2**2), gamma
    )
    mean = r * iterates.mean(axis=0)
    domain.project(mean)
    np.testing.assert_allclose(findings[-1].w, mean, atol=1e-10)
    assert [f.finished for f in findings] == [False, False, True]
    assert state.projections == 1
    assert not findings[0].w.any()  # until then the start is all there is


# -- theorems --------------------------------------------------------------------------------------


def optimum(X, y, loss, ridge, domain):
    """J* over the ℓ₁ ball, by an independent solver (hinge only)."""
    assert isinstance(loss, Hinge)
    m, d = X.shape
    # w, hinge slacks, |w|
    P = sparse.block_diag([ridge * np.eye(d), np.zeros((m, m)), np.zeros((d, d))]).tocsc()
    q = np.r_[np.zeros(d), np.full(m, 1.0 / m), np.zeros(d)]
    blank = np.zeros
    rows = np.vstack(
        [
            np.hstack([-(y[:, None] * X), -np.eye(m), blank((m, d))]),
            np.hstack([blank((m, d)), -np.eye(m), blank((m, d))]),
            np.hstack([np.eye(d), blank((d, m)), -np.eye(d)]),
            np.hstack([-np.eye(d), blank((d, m)), -np.eye(d)]),
            np.hstack([blank((1, d)), blank((1, m)), np.ones((1, d))]),
        ]
    )
    right = np.r_[-np.ones(m), blank(m), blank(2 * d), domain.bound]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(right.size)]
    return clarabel.DefaultSolver(P, q, sparse.csc_matrix(rows), right, cones, settings).solve()


@pytest.mark.parametrize("T", [300, 3000])
def test_theorem_9_7(T):
    """In the paper's setting, examples drawn; the bound of Lemma 9.11 and Th. 9.7, in the mean."""
    domain, loss, d = L1Ball(0.5), Hinge(), 4
    risk, X, y = problem(loss, Zero(), domain)
    best = optimum(X, y, loss, 0.0, domain).obj_val
    G1 = np.linalg.norm(X, axis=1).max()  # ‖g‖ ≤ max‖x‖
    G2, C2, rho = math.sqrt(d), max(0.5, math.sqrt(d) - 0.5), 1.0
    V = G1**2 + C2**2
    gamma = G2**2 / math.sqrt(V * T)
    eta = gamma / (2 * G2**2)
    means, projected = [], []
    for seed in range(20):
        order = np.random.default_rng(seed).integers(60, size=T).astype(np.uint32)
        w, total, motion = np.zeros(d), np.zeros(d), np.zeros(9)
        rule, setting = PrimalDual(eta, eta, gamma), (0.0, 1.0, 0.0)
        kernel.descend(risk.problem, domain, (rule, *setting), order, w, total, motion)
        mean = total / T
        outside = max(domain.excess(mean), 0.0)
        C = 2.0 * (G2**2 / math.sqrt(V) + 2.0 * math.sqrt(V))
        means.append(risk.value(mean, 0.0) - best + math.sqrt(T) * outside**2 / C)
        domain.project(mean)
        projected.append(risk.value(mean, 0.0) - best)
    regret = 2.0 * math.sqrt(V / T)
    assert np.mean(means) <= regret
    apart = C * G1 / (rho**2 * math.sqrt(T)) + math.sqrt(C * regret / (rho**2 * math.sqrt(T)))
    assert -1e-9 <= np.mean(projected) <= regret + G1 * apart
    assert np.mean(projected) > 0.0  # there was something to bound


@pytest.mark.parametrize("T", [300, 3000])
def test_theorem_9_9(T):
    domain, loss, d, beta = L1Ball(0.5), Hinge(), 4, 0.5
    risk, X, y = problem(loss, SquaredL2(beta), domain)
    best = optimum(X, y, loss, beta, domain).obj_val
    G1, G2, rho = np.linalg.norm(X, axis=1).max() + beta, math.sqrt(d), 1.0
    ceiling, gamma = 1.5 * G1 / rho, math.log(T) / T
    sums, projected = [], []
    for seed in range(20):
        order = np.random.default_rng(seed).integers(60, size=T).astype(np.uint32)
        w, total, motion = np.zeros(d), np.zeros(d), np.zeros(9)
        rule, setting = Smoothed(beta, ceiling, gamma), (beta, 1.0, 0.0)
        kernel.descend(risk.problem, domain, (rule, *setting), order, w, total, motion)
        mean = total / T
        J = risk.value(mean, 0.0) + 0.5 * beta * mean @ mean
        sums.append(J + max(ceiling * domain.excess(mean), 0.0) - best)
        domain.project(mean)
        projected.append(risk.value(mean, 0.0) + 0.5 * beta * mean @ mean - best)
    bound = gamma * math.log(2.0)
    bound += (G1**2 + ceiling**2 * G2**2) * (1 + math.log(T)) / (2 * beta * T)  # Lemma 9.13
    assert np.mean(sums) <= bound
    assert -1e-9 <= np.mean(projected) <= bound * (1.0 + G1 / (ceiling * rho - G1))


# -- the solvers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("name", "loss", "domain"),
    grid(
        NAMES,
        [Hinge(), Squared()],
        [L1Ball(0.5), LpBall(0.5, 1.3), Box(-0.1, 0.3), L2Ball(0.4)],
    ),
)
def test_they_come_near_the_optimum_and_prove_it(name, loss, intercept, domain):
    risk, *_ = problem(loss, SquaredL2(0.1), domain, intercept=intercept)
    result = minimize(risk, SOLVERS[name](), Stopping(gap=0.0, passes=255))
    assert result.rel_gap <= 0.02, result.rel_gap
    assert domain.excess(result.w) <= 1e-10
    if result.stopped_by == "passes":
        assert result.state.projections == 255
        assert result.state.rounds == 128 * 60
    else:  # at a corner of a box: there the optimum is met exactly
        assert result.rel_gap <= 1e-12


def test_the_certificate_is_true():
    for seed in range(10):
        domain = L1Ball(0.3 + 0.1 * seed)
        risk, X, y = problem(Hinge(), SquaredL2(0.05), domain, seed=seed)
        best = optimum(X, y, Hinge(), 0.05, domain).obj_val
        for name in NAMES:
            result = minimize(risk, SOLVERS[name](), Stopping(gap=0.0, passes=40))
            assert result.lower_bound <= best * (1 + 1e-8) <= result.objective * (1 + 2e-8)
            assert result.rel_gap <= 0.2


@pytest.mark.parametrize("name", NAMES)
def test_a_start_outside_is_projected_and_counted(name):
    risk, *_ = problem(
        Hinge(),
        SquaredL2(0.1),
        Polytope.of(np.vstack([-A[:1], np.eye(4), -np.eye(4)]), np.r_[-0.2, np.ones(8)]),
    )
    solver = SOLVERS[name](rounds=60)
    state = solver.start(risk, np.zeros(4), 0.0)
    assert state.projections == 1
    finding = solver.step(risk, state, np.random.default_rng(0))
    assert state.projections == 2
    assert finding.finished
    assert risk.objective.domain.excess(finding.w) <= 1e-10


@pytest.mark.parametrize("name", NAMES)
def test_contract(name):
    check_solver(SOLVERS[name]())


@pytest.mark.parametrize("name", NAMES)
def test_a_pickled_state_goes_on_identically_in_a_matrix_domain(name):
    rng = np.random.default_rng(0)
    D, y = rng.normal(size=(40, 40)) / 6.0, np.sign(rng.normal(size=40))
    risk = LinearRisk(
        Objective(Logistic(), SquaredL2(0.1), Spectrahedron(2.0)), Source(Outer.of(D), y)
    )
    solver, rngs = SOLVERS[name](), [np.random.default_rng(5), np.random.default_rng(5)]
    state = solver.start(risk, np.zeros(1600), 0.0)
    copied = pickle.loads(pickle.dumps(state))
    for _ in range(3):
        here, there = solver.step(risk, state, rngs[0]), solver.step(risk, copied, rngs[1])
        copied = pickle.loads(pickle.dumps(copied))
        np.testing.assert_array_equal(here.w, there.w)
        assert here.b == there.b


def test_what_they_lack_is_said_with_a_remedy():
    pd, st = SGDPD(), SGDST()
    ball = L2Ball(1.0)
    assert "multi_class='ovr'" in pd.lacks(Objective(Softmax(3), Zero(), ball))
    assert "penalties l2 and none" in pd.lacks(Objective(Hinge(), L1(0.1), ball))
    assert "Simplex has not" in pd.lacks(Objective(Hinge(), Zero(), Simplex()))
    assert "penalty='l2'" in pd.lacks(Objective(Hinge(), Zero(), Free()))
    assert "Poisson is neither" in pd.lacks(Objective(Poisson(), SquaredL2(0.1), ball))
    assert "use solver='sgd-pd'" in st.lacks(Objective(Hinge(), Zero(), ball))
    assert pd.lacks(Objective(Hinge(), SquaredL2(0.1), Free())) is None
    with pytest.raises(ValueError, match="at least two rounds, not 1"):
        SGDPD(rounds=1)


def test_all_equal_to_nothing():
    risk = LinearRisk(
        Objective(Squared(), SquaredL2(0.1), L1Ball(1.0)), Source(np.zeros((5, 2)), np.zeros(5))
    )
    for name in NAMES:
        result = minimize(risk, SOLVERS[name](), Stopping(gap=1e-3, passes=3))
        assert result.objective == 0.0


def test_slopes_whose_squares_are_0_leave_a_step():
    """One class and a free intercept: the risk falls towards 0 as that grows."""
    source = Source(np.array([[2.0, -72.0]]), -np.ones(1))
    risk = LinearRisk(Objective(Logistic(), Zero(), LpBall(9.5, 1.5)), source)
    stopping = Stopping(gap=0.0, passes=3)
    result = minimize(risk, SOLVERS["sgd-pd"](), stopping)
    assert 0.0 <= result.lower_bound <= result.objective <= 1e-100
