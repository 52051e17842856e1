"""EMGD and MixedGrad against their transcription, step by step, and against their theorems."""

import math

import numpy as np
import pytest
from scipy import sparse

from stepless.compiled.mixed import Epoch
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    ElasticNet,
    L2Ball,
    Logistic,
    Nonnegative,
    Objective,
    Simplex,
    Squared,
    SquaredL2,
    Zero,
)
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import EMGD, MixedGrad
from stepless.solvers.stochastic import mixed
from stepless.solvers.stochastic.mixed import EpochPlan
from stepless.stopping import Stopping
from transcriptions import mixed as paper

LOGISTIC = (
    lambda z, y: math.log1p(math.exp(-y * z)),
    lambda z, y: -y / (1.0 + math.exp(y * z)),
)


def examples(seed, m=30, d=6, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.6)
    y = np.where(X @ rng.normal(size=d) + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    s = rng.choice([0.5, 1.0, 2.0], m) if weighted else np.ones(m)
    return X, y, s / s.mean()


def risk_of(X, y, s, penalty, layout="sparse", **options):
    objective = Objective(Logistic(), penalty, intercept=False, **options)
    return LinearRisk(objective, Source(sparse.csr_matrix(X) if layout == "sparse" else X, y, s))


def walked(risk, plan, orders, w):
    """The centres after epochs with these orders, each begun as `plan(k)` says."""
    centres = [w]
    for k, order in enumerate(orders):
        centre = mixed.Centre.at(risk, w, risk.anchor(w, 0.0))
        walk = mixed._begin_epoch(risk, centre, plan(k))
        for part in np.array_split(np.asarray(order, dtype=np.uint32), 3):  # as passes cut it
            mixed._continue_epoch(risk, centre, walk, part)
        w, _ = mixed._mean(risk, centre, walk)
        centres.append(w)
    return np.array(centres)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("radius", [0.3, 50.0])
def test_epochs_of_emgd_are_the_transcriptions(layout, radius):
    X, y, s = examples(0, weighted=True)
    orders = np.random.default_rng(1).integers(len(y), size=(4, 90))
    eta, lam = 0.4, 0.05
    run = paper.emgd(X, y, LOGISTIC, lam, orders, eta, radius, s=s)
    risk = risk_of(X, y, s, SquaredL2(lam), layout)
    centres = walked(
        risk,
        lambda k: EpochPlan(Epoch(eta, lam, radius / 2 ** (k / 2), 0.0), 90),
        orders,
        np.zeros(6),
    )
    np.testing.assert_allclose(centres, run.centres, rtol=1e-10, atol=1e-12)


def test_a_shrinkage_to_nothing_is_folded_away():
    X, y, s = examples(2)
    orders = np.random.default_rng(1).integers(len(y), size=(2, 200))
    run = paper.emgd(X, y, LOGISTIC, 3.0, orders, 0.3, 1.0, s=s)  # (1 − 0.9)^200
    centres = walked(
        risk_of(X, y, s, SquaredL2(3.0)),
        lambda k: EpochPlan(Epoch(0.3, 3.0, 1.0 / 2 ** (k / 2), 0.0), 200),
        orders,
        np.zeros(6),
    )
    np.testing.assert_allclose(centres, run.centres, rtol=1e-10, atol=1e-12)


def test_epochs_in_a_ball_are_the_transcriptions():
    X, y, s = examples(3)
    orders = np.random.default_rng(1).integers(len(y), size=(3, 60))
    run = paper.emgd(X, y, LOGISTIC, 0.05, orders, 0.4, 0.6, paper.ball_domain(0.7), s)
    centres = walked(
        risk_of(X, y, s, SquaredL2(0.05), domain=L2Ball(0.7)),
        lambda k: EpochPlan(Epoch(0.4, 0.05, 0.6 / 2 ** (k / 2), 0.0), 60),
        orders,
        np.zeros(6),
    )
    # Π on the ball around the centre, then on the domain, by one multiplier
    np.testing.assert_allclose(centres, run.centres, rtol=1e-9, atol=1e-10)


def test_composite_epochs_are_the_transcriptions():
    X, y, s = examples(4)
    orders = np.random.default_rng(1).integers(len(y), size=(3, 60))
    run = paper.emgd_proximal(X, y, LOGISTIC, paper.l1_step(0.02), orders, 0.4, 0.3, s)
    centres = walked(
        risk_of(X, y, s, L1(0.02)),
        lambda k: EpochPlan(Epoch(0.4, 0.0, 0.3 / 2 ** (k / 2), 0.0), 60),
        orders,
        np.zeros(6),
    )
    np.testing.assert_allclose(centres, run.centres, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("step", [0.02, 0.4, 3.0])
@pytest.mark.parametrize(
    "penalty", [L1(0.02), L1(0.2), ElasticNet(0.05, 0.4), ElasticNet(1e-4, 0.4)]
)
def test_lagged_weights_are_where_eager_ones_are(penalty, step):
    X, y, s = examples(9, m=60, d=12, weighted=True)
    X[:, 3:] *= np.random.default_rng(3).random((60, 9)) < 0.2  # seldom touched
    risk = risk_of(X, y, s, penalty)
    orders = np.random.default_rng(1).integers(60, size=(4, 240))
    strength, _ = mixed.parts(risk.objective)
    far = 1e3  # a ball that never binds, which lagged weights do not know
    lagged, eager = (
        walked(
            risk, lambda k, r=r: EpochPlan(Epoch(step, strength, r, 0.0), 240), orders, np.zeros(12)
        )
        for r in (math.inf, far)
    )
    np.testing.assert_allclose(lagged, eager, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("radius", [0.5, 20.0])
def test_epochs_of_mixedgrad_are_the_transcriptions(radius):
    X, y, s = examples(5, weighted=True)
    rng = np.random.default_rng(1)
    orders = [rng.integers(len(y), size=10 * 4**k) for k in range(4)]
    run = paper.mixed_grad(X, y, LOGISTIC, orders, 0.8, 0.3, radius, s=s)

    def plan(k):
        fading = 0.8 / 2**k
        return EpochPlan(Epoch(0.3 / 2**k, fading, radius / 2**k, 0.0), len(orders[k]), fading)

    centres = walked(risk_of(X, y, s, Zero()), plan, orders, np.zeros(6))
    np.testing.assert_allclose(centres, run.centres, rtol=1e-10, atol=1e-12)


def short(seed):
    """A problem whose condition allows the theorem's epochs: L/λ is 1.1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = rng.normal(size=6)
    lam = 10.0
    objective = Objective(Squared(), SquaredL2(lam), intercept=False)
    risk = LinearRisk(objective, Source(X, y, threads=1))
    w = np.linalg.solve(X.T @ X / 6 + lam * np.eye(2), X.T @ y / 6)
    return risk, lam, objective.penalty(w) + risk.value(w, 0.0)


def test_emgd_stays_below_theorem_8_1():
    delta, broken = 0.1, 0
    for seed in range(60):
        risk, lam, best = short(seed % 10)
        solver = EMGD("theory", delta)
        state = solver.start(risk, np.zeros(2), 0.0)
        radius = math.sqrt(2.0 * state.first / lam)
        rng = np.random.default_rng(seed)
        while state.epochs < 3:
            finding = solver.step(risk, state, rng)
        bound = paper.theorem_8_1(lam, radius, 3)[0]
        broken += finding.objective - best > bound
    assert broken <= 3 * delta * 60  # probability 1 − 3δ


def test_mixedgrad_stays_below_its_mended_theorem():
    solver = MixedGrad("theory")
    for seed in range(3):
        risk, lam, best = short(seed)
        state = solver.start(risk, np.zeros(2), 0.0)
        radius, beta = math.sqrt(2.0 * state.first / lam), state.steepest + lam
        first = solver.plan(risk, state)
        fading, T, step, *_ = paper.mended_constants(beta, lam, radius, 20, 0.01)
        assert (first.fading, first.rounds, first.epoch.radius) == (fading, T, radius)
        np.testing.assert_allclose(first.epoch.step, step, rtol=1e-6)
        rng = np.random.default_rng(seed)
        for _ in range(2):  # its steps would be passes of six rounds
            plan = solver.plan(risk, state)
            walk = mixed._begin_epoch(risk, state.centre, plan)
            mixed._continue_epoch(
                risk, state.centre, walk, rng.integers(6, size=plan.rounds, dtype=np.uint32)
            )
            w, _ = mixed._mean(risk, state.centre, walk)
            state.centre = mixed.Centre.at(risk, w, risk.anchor(w, 0.0))
            state.epochs += 1
        assert state.centre.objective - best <= paper.theorem_7_1_mended(lam, radius, 2)


@pytest.mark.parametrize("intercept", [False, True])
def test_emgd_converges_geometrically(intercept):
    X, y, s = examples(6, m=400, d=8)
    objective = Objective(Logistic(), SquaredL2(1e-3), intercept=intercept)
    risk = LinearRisk(objective, Source(X, y, s))
    result = minimize(risk, EMGD(), Stopping(gap=1e-8, passes=60))
    assert result.stopped_by == "gap"
    gaps = np.array([event.objective for event in result.trace]) - result.objective
    assert gaps[len(gaps) // 2] < 1e-3 * gaps[0]


@pytest.mark.parametrize(
    ("penalty", "domain"),
    [(L1(1e-2), None), (ElasticNet(1e-2, 0.5), None), (Zero(), Nonnegative())],
)
def test_emgd_certifies_other_penalties_and_domains(penalty, domain):
    X, y, s = examples(7, m=200)
    options = {} if domain is None else {"domain": domain}
    risk = risk_of(X, y, s, penalty, **options)
    result = minimize(risk, EMGD(), Stopping(gap=1e-7, passes=300))
    if domain is None:
        assert result.stopped_by == "gap"
    else:
        assert (result.w >= 0.0).all()


def test_mixedgrad_needs_no_penalty():
    X, y, s = examples(8, m=200)
    risk = risk_of(X, y, s, Zero())
    best = minimize(risk_of(X, y, s, SquaredL2(1e-9)), EMGD(), Stopping(gap=1e-9, passes=500))
    result = minimize(risk, MixedGrad(), Stopping(gap=0.0, passes=200))
    assert result.objective <= best.objective * 1.001


def test_what_they_lack():
    smooth = Objective(Logistic(), SquaredL2(1.0))
    assert "fit_intercept=False" in EMGD("theory").lacks(smooth)
    assert "fit_intercept=False" in MixedGrad("theory").lacks(smooth)
    assert "l2 only" in EMGD("theory").lacks(Objective(Logistic(), L1(1.0), intercept=False))
    with pytest.raises(ValueError, match="'practical' or 'theory'"):
        EMGD("fast")
    with pytest.raises(ValueError, match="probability"):
        EMGD("theory", 0.0)


def test_where_nothing_moves():
    y = np.array([1.0, -1.0, 1.0])
    for solver in (EMGD(), MixedGrad()):
        result = minimize(
            risk_of(np.zeros((3, 2)), y, np.ones(3), L1(0.1)), solver, Stopping(gap=0.0, passes=3)
        )
        assert (result.w == 0.0).all()


def test_a_smoothness_that_underflows_is_none():
    motion = np.zeros(9)
    motion[mixed.mixed.BEND] = 1e-200  # and squares of what it is made of are 0
    walk = mixed.EpochState(Epoch(1.0, 0.0, math.inf, 0.0), np.zeros(1), np.zeros((1, 4)), motion)
    assert mixed._observed_smoothness(walk, 2.0) == 2.0
    motion[mixed.mixed.SPREAD] = 1e-300
    assert mixed._observed_smoothness(walk, 2.0) == 2.0 * mixed._FLATTEST


@pytest.mark.parametrize("solver", [EMGD, MixedGrad])
def test_no_iterate_leaves_a_domain_that_does_not_hold_0(solver):
    """Means of an epoch's iterates count its centre; the first one was the 0 that a run begins at."""
    risk = risk_of(*examples(4), Zero(), "dense", domain=Simplex(7.0))
    state, rng = solver().start(risk, np.zeros(risk.d), 0.0), np.random.default_rng(0)
    for _ in range(8):
        w = solver().step(risk, state, rng).w
        assert w.sum() == pytest.approx(7.0, rel=1e-12)
        assert w.min() >= 0.0
