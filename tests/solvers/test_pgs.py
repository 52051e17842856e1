"""The primal gradient solver against its transcription, an argmax, and its lemma."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize

from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    ElasticNet,
    Hinge,
    HyperbolicEntropy,
    L2Ball,
    Logistic,
    LpBall,
    Objective,
    Squared,
    SquaredL2,
    SquaredLp,
)
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import PGS
from stepless.solvers.online.pgs import gradient_of
from stepless.solvers.online.tangents import finding_of_pass
from stepless.stopping import Stopping
from transcriptions import pgs as paper

LOSSES = {
    "logistic": (
        Logistic(),
        (lambda z, y: math.log1p(math.exp(-y * z)), lambda z, y: -y / (1.0 + math.exp(y * z))),
    ),
    "hinge": (
        Hinge(),
        (lambda z, y: max(0.0, 1.0 - y * z), lambda z, y: -y if y * z < 1.0 else 0.0),
    ),
    "squared": (Squared(), (lambda z, y: 0.5 * (z - y) ** 2, lambda z, y: z - y)),
}
RNG = np.random.default_rng(0)


def examples(seed, m=40, d=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.5)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=m) > 0, 1.0, -1.0)
    s = rng.choice([0.5, 1.0, 2.0], m)
    return X, y, s / s.mean()


def risk_of(X, y, s, loss, penalty, layout="sparse", **options):
    objective = Objective(loss, penalty, intercept=False, **options)
    return LinearRisk(objective, Source(sparse.csr_matrix(X) if layout == "sparse" else X, y, s))


def runs(solver, risk, orders):
    """The weights after each of these passes."""
    state, points = solver.start(risk, np.zeros(risk.d), 0.0), []
    for order in orders:
        solver.walk(risk, state, order.astype(np.uint32), np.random.default_rng(0))
        points.append(solver.weights(risk.objective, state)[0].ravel())
    return state, points


def batches(orders, k):
    return [order[at : at + k] for order in orders for at in range(0, len(order), k)]


def ball(risk, alpha, p):
    return math.sqrt(2.0 * (p - 1.0) * risk.value(np.zeros(risk.d), 0.0) / alpha)


@pytest.mark.parametrize("k", [1, 6])
@pytest.mark.parametrize("p", [2.0, 1.8, 1.2])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_passes_are_the_transcriptions(loss, p, k):
    X, y, s = examples(1)
    ours, theirs = LOSSES[loss]
    alpha = 0.05
    penalty = SquaredL2(alpha) if p == 2.0 else SquaredLp(alpha, p)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(len(y)) for _ in range(4)]
    risk = risk_of(X, y, s, ours, penalty)
    _, points = runs(PGS(batch=k), risk, orders)
    B, parts = ball(risk, alpha, p), batches(orders, k)
    iterates, _ = paper.pgs(X, y, theirs, parts, alpha, p, B, s)
    rounds = len(parts) // 4
    np.testing.assert_allclose(points, iterates[rounds::rounds], rtol=1e-10, atol=1e-13)


def test_a_small_ball_is_kept():
    X, y, s = examples(2)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(len(y)) for _ in range(3)]
    for p, penalty, domain in [
        (2.0, SquaredL2(0.01), L2Ball(0.5)),
        (1.5, SquaredLp(0.01, 1.5), LpBall(0.5, 1.5)),
    ]:
        risk = risk_of(X, y, s, Hinge(), penalty, domain=domain)
        _, points = runs(PGS(batch=3), risk, orders)
        parts = batches(orders, 3)
        iterates, _ = paper.pgs(X, y, LOSSES["hinge"][1], parts, 0.01, p, 0.5, s)
        rounds = len(parts) // 3
        np.testing.assert_allclose(points, iterates[rounds::rounds], rtol=1e-10, atol=1e-13)
        assert np.sum(np.abs(points[0]) ** p) ** (1 / p) <= 0.5 * (1 + 1e-12)


@pytest.mark.parametrize("p", [2.0, 1.5])
def test_averages_are_those_of_the_iterates(p):
    X, y, s = examples(3)
    alpha = 0.05
    penalty = SquaredL2(alpha) if p == 2.0 else SquaredLp(alpha, p)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(len(y)) for _ in range(4)]
    risk = risk_of(X, y, s, Logistic(), penalty)
    parts = batches(orders, 3)
    iterates, _ = paper.pgs(X, y, LOSSES["logistic"][1], parts, alpha, p, ball(risk, alpha, p), s)
    rounds = len(parts) // 4
    _, averages = runs(PGS("average", 3), risk, orders)
    for k, point in enumerate(averages, start=1):
        np.testing.assert_allclose(
            point, iterates[: k * rounds].mean(axis=0), rtol=1e-9, atol=1e-12
        )
    _, suffixes = runs(PGS("suffix", 3), risk, orders)
    np.testing.assert_allclose(
        suffixes[3], iterates[rounds : 4 * rounds].mean(axis=0), rtol=1e-9, atol=1e-12
    )
    _, drawn = runs(PGS("random", 3), risk, orders)
    assert min(np.abs(iterates - drawn[0]).max(axis=1)) < 1e-10


def test_hyperbolic_entropy_is_the_transcriptions():
    X, y, s = examples(4)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(len(y)) for _ in range(3)]
    risk = risk_of(X, y, s, Logistic(), HyperbolicEntropy(0.8, 0.3))
    _, points = runs(PGS(), risk, orders)
    iterates, _ = paper.pgs_hyperbolic(X, y, LOSSES["logistic"][1], batches(orders, 1), 0.8, 0.3, s)
    np.testing.assert_allclose(points, iterates[len(y) :: len(y)], rtol=1e-10, atol=1e-13)


def test_weights_are_the_argmax():
    X, y, s = examples(5)
    risk = risk_of(X, y, s, Logistic(), SquaredLp(0.1, 1.5))
    state, points = runs(PGS(batch=4), risk, [np.arange(len(y))])
    theta = state.kept[:, 0] / 11.0  # ten rounds
    penalty = risk.objective.regularizer

    def less(w):
        return penalty.total(w.reshape(-1, 1)) - theta @ w

    found = scipy_minimize(less, points[0] * 1.1 + 0.01, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(points[0], found.x, atol=1e-5)
    assert less(points[0]) <= found.fun + 1e-12


@pytest.mark.parametrize("p", [2.0, 1.5])
def test_regret_is_below_the_lemma(p, monkeypatch):
    X, y, s = examples(6)
    alpha = 0.02
    penalty = SquaredL2(alpha) if p == 2.0 else SquaredLp(alpha, p)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(len(y)) for _ in range(5)]
    risk = risk_of(X, y, s, Hinge(), penalty)
    # the pass's own losses: Σ c_t(w_{t−1})
    solver = PGS(batch=1)
    state = solver.start(risk, np.zeros(risk.d), 0.0)
    parts = batches(orders, 1)
    B = ball(risk, alpha, p)
    iterates, thetas = paper.pgs(X, y, LOSSES["hinge"][1], parts, alpha, p, B, s)
    u = minimize(risk, PGS(), Stopping(gap=0.0, passes=200)).w
    regret = paper.regret(X, y, LOSSES["hinge"][1], parts, alpha, iterates, u, p, s)
    assert regret <= paper.lemma_1(thetas, alpha, p)
    seen = []  # the predictions of passes

    def watched(risk, w, b, order, scores):
        seen.append(scores)
        return finding_of_pass(risk, w, b, order, scores)

    monkeypatch.setattr("stepless.solvers.online.pass_solver.finding_of_pass", watched)
    total = 0.0
    for order in orders:
        solver.walk(risk, state, order.astype(np.uint32), rng)
        z = seen[-1]
        total += s[order] @ [Hinge().value(*at) for at in zip(z, y[order], strict=True)]
    losses = sum(
        paper.value_of_batch(X, y, LOSSES["hinge"][1], rows, iterates[t], s)
        for t, rows in enumerate(parts)
    )
    np.testing.assert_allclose(total, losses, rtol=1e-10)


@pytest.mark.parametrize("penalty", [SquaredLp(0.1, 1.5), ElasticNet(0.1, 0.3)])
def test_it_comes_near_the_optimum_and_the_bound_below_it(penalty):
    X, y, s = examples(7, m=200)
    risk = risk_of(X, y, s, Logistic(), penalty)
    iterate = "suffix" if isinstance(penalty, SquaredLp) else "last"
    result = minimize(risk, PGS(iterate), Stopping(gap=0.0, passes=400))

    def objective(w):
        return risk.objective.penalty(w) + risk.value(w, 0.0)

    found = scipy_minimize(objective, result.w, method="Nelder-Mead", options={"maxiter": 20000})
    assert result.lower_bound <= found.fun + 1e-9
    assert result.objective <= found.fun * 1.003


def test_exponents_near_1_do_not_overflow():
    X, y, s = examples(8)
    risk = risk_of(1e4 * X, y, s, Hinge(), SquaredLp(1e-4, 1.01))
    result = minimize(risk, PGS(batch=1), Stopping(gap=0.0, passes=20))
    assert np.isfinite(result.w).all()
    assert math.isfinite(result.lower_bound)


@pytest.mark.parametrize(
    "penalty",
    [SquaredL2(0.3), SquaredLp(0.3, 1.4), ElasticNet(0.3, 0.4), HyperbolicEntropy(0.3, 0.5)],
)
def test_a_start_is_where_it_starts(penalty):
    w = np.array([0.4, -0.2, 0.7, 0.1])
    np.testing.assert_allclose(
        penalty.conjugate_weights(gradient_of(penalty, w).reshape(-1, 1)).ravel(), w, rtol=1e-9
    )


def test_the_batch_comes_from_the_density():
    X = sparse.random(5000, 400, density=0.01, random_state=0, format="csr")
    y = np.where(np.arange(5000) % 2 == 0, 1.0, -1.0)
    of_p = LinearRisk(Objective(Logistic(), SquaredLp(0.1, 1.8)), Source(X, y))
    assert PGS()._batch(of_p) == 50  # d/nnz = 100, but a pass has a hundred rounds
    assert PGS()._batch(LinearRisk(Objective(Logistic(), SquaredL2(0.1)), Source(X, y))) == 1


def test_what_it_lacks():
    assert "smooth conjugate" in PGS().lacks(Objective(Logistic(), L1(1.0)))
    assert "average" in PGS("average").lacks(Objective(Logistic(), HyperbolicEntropy(1.0, 1.0)))
    other = Objective(Logistic(), SquaredL2(1.0), LpBall(1.0, 1.5))
    assert "ball" in PGS().lacks(other)
    with pytest.raises(ValueError, match="at least one example"):
        PGS(batch=0)


def test_it_never_offers_less_than_nothing():
    X, y, s = examples(9)
    risk = risk_of(1e6 * X, y, s, Squared(), HyperbolicEntropy(1e-4, 1.0))
    result = minimize(risk, PGS(), Stopping(gap=0.0, passes=2))
    assert result.objective <= risk.value(np.zeros(risk.d), 0.0) * (1.0 + 1e-13)
