"""PGS, EMGD, MixedGrad, ClippedSGD and the smoothed hinge against brute force and their theorems."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from . import clipped, mixed, pgs, smoothed

LOGISTIC = (
    lambda z, y: float(np.logaddexp(0.0, -y * z)),
    lambda z, y: -y / (1 + math.exp(y * z)),
)
HINGE = (lambda z, y: max(0.0, 1 - y * z), lambda z, y: -y if y * z < 1 else 0.0)
ABSOLUTE = (lambda z, y: abs(z - y), lambda z, y: math.copysign(1.0, z - y))
SQUARED = (lambda z, y: 0.5 * (z - y) ** 2, lambda z, y: z - y)


def sample(seed, m=12, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    return X / np.max(np.linalg.norm(X, axis=1)), np.where(rng.random(m) < 0.5, 1.0, -1.0)


def batches(seed, m, T, k):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, m, k) for _ in range(T)]


# ------------------------------------------------------------------------------------------- PGS


@pytest.mark.parametrize("p", [1.2, 1.5, 1.8, 2.0])
@pytest.mark.parametrize("B", [math.inf, 0.4])
def test_mirror_is_the_argmax(p, B):
    rng = np.random.default_rng(int(10 * p))
    for _ in range(5):
        u = rng.standard_normal(4)
        w = pgs.squared_norm_mirror(u, p, B)
        assert pgs.norm(w, p) <= B * (1 + 1e-12)
        found = pgs.squared_norm_argmax(u, p, B)
        np.testing.assert_allclose(w, found, atol=2e-5)
        if math.isinf(B):  # nabla r (nabla r* (u)) = u
            back = pgs.norm(w, p) ** (2 - p) * np.abs(w) ** (p - 1) * np.sign(w) / (p - 1)
            np.testing.assert_allclose(back, u, rtol=1e-10)


def test_printed_line_6_leaves_the_ball():
    p, q, B = 1.5, 3.0, 1.0
    w = pgs.squared_norm_mirror(np.array([4.0, 3.0, -2.0]), p)
    assert pgs.norm(B / pgs.norm(w, q) * w, p) > 1.2 * B
    assert pgs.norm(pgs.squared_norm_mirror(np.array([4.0, 3.0, -2.0]), p, B), p) <= B * (1 + 1e-12)


def test_hyperbolic_mirror_inverts_the_gradient():
    w, beta, h = np.array([0.5, -2.0, 1e-3]), 0.1, 1e-6
    slope = [
        (pgs.hyperbolic_entropy(w + h * e, beta) - pgs.hyperbolic_entropy(w - h * e, beta))
        / (2 * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(slope, np.arcsinh(w / beta), atol=1e-8)
    np.testing.assert_allclose(pgs.hyperbolic_entropy_mirror(np.arcsinh(w / beta), beta), w)


def optimum(X, y, loss, sigma, r, s=None):
    rows = np.arange(len(X))

    def F(w):
        return sigma * r(w) + pgs.value_of_batch(X, y, loss, rows, w, s)

    w = minimize(F, np.full(X.shape[1], 1e-3), method="BFGS", options={"gtol": 1e-9}).x
    return minimize(F, w, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x, F


@pytest.mark.parametrize("p", [1.5, 2.0])
def test_pgs_converges_with_weights(p):
    X, y = sample(1)
    s = np.random.default_rng(2).random(len(X)) + 0.5
    sigma = 0.3
    best, F = optimum(X, y, LOGISTIC, sigma, lambda w: pgs.squared_norm(w, p), s)
    iterates, thetas = pgs.pgs(X, y, LOGISTIC, [np.arange(len(X))] * 1500, sigma, p, s=s)
    assert F(iterates[-1]) - F(best) < 1e-5
    assert iterates.shape == thetas.shape == (1501, 3)


def test_pgs_hyperbolic_converges():
    X, y = sample(3)
    sigma, beta = 0.3, 0.5
    best, F = optimum(X, y, LOGISTIC, sigma, lambda w: pgs.hyperbolic_entropy(w, beta))
    iterates, _ = pgs.pgs_hyperbolic(X, y, LOGISTIC, [np.arange(len(X))] * 1500, sigma, beta)
    assert F(iterates[-1]) - F(best) < 1e-5


@pytest.mark.parametrize(("loss", "p"), [(HINGE, 2.0), (LOGISTIC, 1.5), (ABSOLUTE, 1.3)])
def test_regret_of_pgs_is_below_lemma_1(loss, p):
    X, y = sample(4)
    sigma = 0.05
    best, _ = optimum(X, y, loss, sigma, lambda w: pgs.squared_norm(w, p))
    for seed in range(20):
        order = batches(seed, len(X), 30, 2)
        iterates, thetas = pgs.pgs(X, y, loss, order, sigma, p)
        bound = pgs.lemma_1(thetas, sigma, p)
        for u in (best, np.zeros(3), iterates[-1]):
            assert pgs.regret(X, y, loss, order, sigma, iterates, u, p) <= bound + 1e-12


def test_pgs_lands_below_theorem_1():
    X, y = sample(5)
    sigma, T = 0.05, 60
    best, F = optimum(X, y, HINGE, sigma, lambda w: pgs.squared_norm(w, 2.0))
    excess = []
    for seed in range(50):
        iterates, _ = pgs.pgs(X, y, HINGE, batches(seed, len(X), T, 1), sigma)
        excess.append(np.mean([F(w) for w in iterates[:-1]]) - F(best))
    L = np.max(np.linalg.norm(X, axis=1))
    assert np.mean(excess) <= pgs.theorem_1(L, sigma, T)


def test_printed_lemma_1_fails():
    X, y, order = np.ones((1, 1)), np.array([0.01]), [np.array([0])]
    iterates, thetas = pgs.pgs(X, y, ABSOLUTE, order, 1.0)
    run = (X, y, ABSOLUTE, order, 1.0, iterates, np.array([0.01]))
    assert pgs.regret(*run, shift=0) > 0.61 > pgs.lemma_1(thetas, 1.0) == 0.5
    assert pgs.regret(*run) <= 0.5


def test_squared_loss_has_its_optimum_in_the_ball():
    X, _ = sample(6)
    y = np.random.default_rng(6).standard_normal(len(X))
    for sigma in (1e-3, 0.1, 10.0):
        B = pgs.ball_of_squared_loss(y, sigma, 1.5, half=True)
        best, F = optimum(X, y, SQUARED, sigma, lambda w: pgs.squared_norm(w, 1.5))
        assert pgs.norm(best, 1.5) <= B
    order = batches(1, len(X), 3000, 4)
    iterates, _ = pgs.pgs(X, y, SQUARED, order, sigma, 1.5, B)
    assert F(np.mean(iterates[1500:], axis=0)) - F(best) < 1e-4


# --------------------------------------------------------------------------------- EMGD, MixedGrad


def test_two_balls_against_dykstra():
    rng = np.random.default_rng(7)
    both = 0
    for _ in range(60):
        R, Delta = rng.uniform(0.5, 2, 2)
        centre = rng.standard_normal(3)
        centre *= rng.uniform(0.1, 0.95) * (R + Delta) / np.linalg.norm(centre)
        v = 3 * rng.standard_normal(3)
        w = mixed.nearest_in_two_balls(v, np.zeros(3), R, centre, Delta)
        check = mixed.dykstra(
            v,
            [
                lambda x, R=R: mixed.nearest_in_ball(x, np.zeros(3), R),
                lambda x, c=centre, D=Delta: mixed.nearest_in_ball(x, c, D),
            ],
            rounds=400,
        )
        assert np.linalg.norm(w) <= R + 1e-12
        assert np.linalg.norm(w - centre) <= Delta + 1e-12
        assert np.linalg.norm(v - w) <= np.linalg.norm(v - check) + 1e-9
        np.testing.assert_allclose(w, check, atol=2e-3)
        both += np.linalg.norm(w) > R - 1e-9 and np.linalg.norm(w - centre) > Delta - 1e-9
    assert both > 10


def ridge_problem(seed, n=6, d=2, lam=0.5):
    """(X, y, best, F, L): logistic, |x| <= 1, so L = 1/4 + lam."""
    X, y = sample(seed, n, d)
    found = minimize(lambda w: mixed.objective(X, y, LOGISTIC, lam, w), np.zeros(d), tol=1e-12)
    return X, y, found.x, lambda w: mixed.objective(X, y, LOGISTIC, lam, w), 0.25 + lam


def test_emgd_stays_below_theorem_8_1():
    lam, m, delta = 1.0, 3, 0.5
    for seed in range(50):
        X, y, best, F, L = ridge_problem(seed, lam=lam)
        T = mixed.theorem_8_1_epoch(L, lam, delta)
        Delta = mixed.theorem_8_1_radius(F(np.zeros(2)) - F(best), lam)
        assert np.linalg.norm(best) <= Delta
        epochs = batches(seed, len(X), m, T)
        run = mixed.emgd(X, y, LOGISTIC, lam, epochs, mixed.theorem_8_1_eta(L, T), Delta)
        for k in range(m + 1):
            gap, distance = mixed.theorem_8_1(lam, Delta, k)
            assert F(run.centres[k]) - F(best) <= gap + 1e-12
            assert np.sum((run.centres[k] - best) ** 2) <= distance
        np.testing.assert_allclose(run.radii, Delta / 2 ** (np.arange(m) / 2))
        for k in range(m):
            assert len(run.iterates[k]) == T + 1
            steps = np.linalg.norm(run.iterates[k] - run.centres[k], axis=1)
            assert np.max(steps) <= run.radii[k] * (1 + 1e-12)
            np.testing.assert_allclose(np.mean(run.iterates[k], axis=0), run.centres[k + 1])


def test_emgd_converges_linearly_also_when_the_domain_binds():
    X, y, best, F, L = ridge_problem(3, lam=0.3)
    R = 0.6 * np.linalg.norm(best)
    inside = minimize(
        F,
        0.5 * best,
        constraints=[{"type": "ineq", "fun": lambda w: R**2 - w @ w}],
        options={"ftol": 1e-15},
    ).x
    for domain, target in ((mixed.whole_space, best), (mixed.ball_domain(R), inside)):
        epochs = batches(1, len(X), 14, 300)
        run = mixed.emgd(X, y, LOGISTIC, 0.3, epochs, 1 / (2 * L), 2.0, domain)
        assert F(run.centres[-1]) - F(target) < 3e-6
        assert np.linalg.norm(run.centres[-1] - target) < 1e-2
    assert np.linalg.norm(run.centres[-1]) <= R * (1 + 1e-12)


def test_an_epoch_of_emgd_by_hand():
    """Two steps; weights 1.5 and 0.5."""
    X, y, s = np.array([[1.0], [0.5]]), np.array([1.0, -1.0]), np.array([1.5, 0.5])
    run = mixed.emgd(X, y, SQUARED, 0.1, [np.array([0, 1])], 0.2, 10.0, s=s)
    full = 0.5 * (1.5 * -1.0 * 1.0 + 0.5 * 1.0 * 0.5)  # mean of s_i (0 - y_i) x_i
    second = 0.0 - 0.2 * full
    third = second - 0.2 * (full + 0.5 * (0.5 * second) * 0.5 + 0.1 * second)
    np.testing.assert_allclose(run.iterates[0].ravel(), [0.0, second, third])
    np.testing.assert_allclose(run.centres[1], (second + third) / 3)


def test_ridge_step_shrinks_then_projects():
    rng = np.random.default_rng(8)
    for _ in range(10):
        g, w, centre = rng.standard_normal((3, 3))
        eta, lam, radius = 0.7, 0.4, 0.5
        found = minimize(
            lambda v, g=g, w=w: g @ v + lam / 2 * v @ v + (v - w) @ (v - w) / (2 * eta),
            centre,
            constraints=[{"type": "ineq", "fun": lambda v, c=centre: 0.25 - (v - c) @ (v - c)}],
            options={"ftol": 1e-15},
        ).x
        step = mixed.ridge_step(lam)(g, w, eta, centre, radius)
        np.testing.assert_allclose(step, found, atol=1e-6)


def test_l1_step_is_clarabels_and_is_not_prox_then_project():
    rng = np.random.default_rng(9)
    apart = 0.0
    for _ in range(20):
        g, w, centre = rng.standard_normal((3, 3))
        w = mixed.nearest_in_ball(w, centre, 0.5)
        exact = mixed.l1_step(0.8)(g, w, 0.7, centre, 0.5)
        direct = mixed.l1_step_direct(0.8)(g, w, 0.7, centre, 0.5)
        np.testing.assert_allclose(exact, direct, atol=1e-6)
        naive = mixed.nearest_in_ball(mixed.soft(w - 0.7 * g, 0.56), centre, 0.5)
        apart = max(apart, np.linalg.norm(naive - exact))
        at_zero = mixed.l1_step(0.8)(g, w, 0.7, np.zeros(3), 0.5)
        naive = mixed.nearest_in_ball(mixed.soft(w - 0.7 * g, 0.56), np.zeros(3), 0.5)
        np.testing.assert_allclose(at_zero, naive, atol=1e-10)
    assert apart > 0.05


def test_proximal_emgd_stays_below_theorem_8_1():
    """Omega = (lam/2)|w|^2 + alpha|w|_1, L of the losses alone; by the multiplier of the ball."""
    lam, alpha, L, m = 0.25, 0.05, 0.25, 2

    def step(g, w, eta, centre, radius):
        inner = mixed.l1_step(alpha)  # with the quadratic folded into the proximal term
        scale = 1 / eta + lam
        return inner(g + w * lam, w, 1 / scale, centre, radius)

    for seed in range(4):
        X, y = sample(seed, 6, 2)

        def F(w, X=X, y=y):
            return mixed.objective(X, y, LOGISTIC, lam, w) + alpha * np.sum(np.abs(w))

        options = {"xatol": 1e-11, "fatol": 1e-15, "maxiter": 5000}
        best = minimize(F, np.zeros(2), method="Nelder-Mead", options=options).x
        T = mixed.theorem_8_1_epoch(L, lam, 0.5)
        Delta = mixed.theorem_8_1_radius(max(F(np.zeros(2)) - F(best), 1e-3), lam)
        epochs = batches(seed, 6, m, T)
        run = mixed.emgd_proximal(X, y, LOGISTIC, step, epochs, mixed.theorem_8_1_eta(L, T), Delta)
        for k in range(m + 1):
            gap, distance = mixed.theorem_8_1(lam, Delta, k)
            assert F(run.centres[k]) - F(best) <= gap + 1e-12
            assert np.sum((run.centres[k] - best) ** 2) <= distance + 1e-12


def test_proximal_emgd_equals_emgd_for_ridge_in_the_limit_of_small_steps():
    X, y, best, F, L = ridge_problem(2)
    epochs = batches(2, len(X), 12, 300)
    run = mixed.emgd_proximal(X, y, LOGISTIC, mixed.ridge_step(0.5), epochs, 1 / (2 * L), 2.0)
    assert F(run.centres[-1]) - F(best) < 1e-6


def quadratic_run(m, lam, T, eta):
    """MixedGrad on (w - 1)^2/2, n = 1: nothing is random."""
    X, y = np.ones((1, 1)), np.ones(1)
    epochs = [np.zeros(T_k, dtype=int) for T_k in mixed.epoch_lengths(T, m)]
    return mixed.mixed_grad(X, y, SQUARED, epochs, lam, eta, 1.0, domain=mixed.ball_domain(1.0))


def test_theorem_7_1_is_false():
    """wbar_{k+1} <= min(u_k, wbar_k + Delta_k) for every T and eta < 1/17: far from 1."""
    run = quadratic_run(6, 16.0, 12, 1 / 20)
    reach = 0.0
    for k in range(6):
        reach = min(1 / (1 + 16 / 2**k), reach + 0.5**k)
        assert run.centres[k + 1, 0] <= reach
    assert 0.5 * (reach - 1) ** 2 > 0.16 > 2 * mixed.theorem_7_1(1.0, 1.0, 6)


def test_mixed_grad_converges_for_small_regularization():
    """theorem_7_1_mended's lam_1 = mu/2, with fewer steps."""
    run = quadratic_run(6, 0.5, 40, 0.5)
    for k in range(1, 7):
        w = run.centres[k, 0]
        assert abs(w - 1) <= 1.5 * 0.5 ** (k - 1)
        assert 0.5 * (w - 1) ** 2 <= mixed.theorem_7_1_mended(1.0, 1.0, k)


def test_mended_constants_meet_the_epoch_bound():
    for kappa in (1.0, 3.0, 100.0):
        for m, delta in ((1, 0.6), (4, 0.1), (20, 1e-6)):
            c = mixed.mended_constants(kappa, 1.0, 1.0, m, delta)
            for k in range(m):
                lam, T, eta, Delta = c.lam / 2**k, c.T * 4**k, c.eta / 2**k, 1 / 2**k
                bound = mixed.mixed_grad_epoch_bound(kappa, lam, T, eta, delta / m, Delta)
                assert bound <= lam * Delta**2 / 32
    for m in (1, 5, 12):  # the same for the paper's own constants: Th. 7.2's first half
        c = mixed.theorem_7_1_constants(1.0, 1.0, m, math.exp(-4.5))
        for k in range(m):
            lam, T, eta, Delta = c.lam / 2**k, c.T * 4**k, c.eta / 2**k, 1 / 2**k
            bound = mixed.mixed_grad_epoch_bound(1.0, lam, T, eta, math.exp(-4.5) / m, Delta)
            assert bound <= lam * Delta**2 / 32


def test_mixed_grad_keeps_its_balls_and_means():
    X, y = sample(11, 6, 2)
    epochs = [np.random.default_rng(k).integers(0, 6, T) for k, T in enumerate((5, 20, 80))]
    run = mixed.mixed_grad(X, y, LOGISTIC, epochs, 0.2, 0.8, 0.3, domain=mixed.ball_domain(0.35))
    np.testing.assert_allclose(run.radii, [0.3, 0.15, 0.075])
    for k in range(3):
        steps = np.linalg.norm(run.iterates[k] - run.centres[k], axis=1)
        assert np.max(steps) <= run.radii[k] * (1 + 1e-12)
        assert np.max(np.linalg.norm(run.iterates[k], axis=1)) <= 0.35 * (1 + 1e-12)
        np.testing.assert_allclose(np.mean(run.iterates[k], axis=0), run.centres[k + 1])


# ------------------------------------------------------------------------------------- ClippedSGD


def test_clipped_sgd_stays_below_theorem_3_2():
    alpha = beta = R = 1.0
    m, delta, target, best, shrink = 2, 0.5, 0.01, 0.9, 0.7
    plan = clipped.schedule(alpha, beta, 1, R, target, m, delta, shrink)
    a, b = clipped.theorem_3_5(alpha, beta, 1, plan.T, plan.xi, plan.s, delta / m)
    assert a <= shrink
    assert b == pytest.approx(2 * 0.25 / beta)
    rng = np.random.default_rng(12)
    X = rng.choice([-1.0, 1.0], size=(m * plan.T, 1))
    noise = 0.1 * rng.choice([-1.0, 1.0], size=m * plan.T)
    stages = np.split(np.arange(m * plan.T), m)
    run = clipped.clipped_sgd(
        X, X[:, 0] * best + noise, SQUARED, stages, plan.eta, R, target, beta, plan.xi, shrink, 0.25
    )
    for k in range(m + 1):
        risk = 0.5 * (run.centres[k, 0] - best) ** 2 + 0.5 * 0.1**2
        assert risk <= clipped.theorem_3_2(beta, R, target, k, shrink)
        assert abs(run.centres[k, 0] - best) <= run.radii[k]
        assert run.radii[k] ** 2 == pytest.approx(
            shrink**k * R**2 + 0.5 * target * (1 - shrink**k) / (1 - shrink)
        )


def rare_events(printed):
    """y = 1 once in ten, else 0; (beta/2)(w - y)^2 with beta = 0.01, best w = 0.1."""
    beta, target = 0.01, 0.5 * 0.01 * 0.09
    loss = (lambda z, y: 0.5 * beta * (z - y) ** 2, lambda z, y: beta * (z - y))
    y = np.tile(np.eye(10)[0], 200)
    stages = [np.arange(len(y))] * 20
    return clipped.clipped_sgd(
        np.ones((len(y), 1)), y, loss, stages, 1.0, 1.0, target, beta, 16.0, 0.5, 0.25, printed
    )


def test_printed_radius_loses_the_optimum():
    run = rare_events(printed=True)
    assert np.any(np.abs(run.centres[:, 0] - 0.1) > 1.5 * run.radii)
    run = rare_events(printed=False)
    assert np.all(np.abs(run.centres[:, 0] - 0.1) <= run.radii)
    assert abs(run.centres[-1, 0] - 0.1) < 0.02


def test_clipping_is_by_coordinate_and_the_mean_is_of_T():
    X, y = np.array([[1.0, 0.1]]), np.array([5.0])
    run = clipped.clipped_sgd(X, y, SQUARED, [np.array([0, 0])], 0.1, 1.0, 0.1, 1.0, 1.0, 0.5, 0.2)
    second = 0.1 * np.array([2.0, 0.5])  # limit 2 xi beta Delta = 2
    np.testing.assert_allclose(run.iterates[0][1], second)
    np.testing.assert_allclose(run.centres[1], second / 2)
    assert len(run.iterates[0]) == 3


# ---------------------------------------------------------------------------------- smoothed hinge


def psi_by_search(eta, gamma):
    def risk(z):
        return (1 + eta) / 2 * smoothed.phi(z, gamma) + (1 - eta) / 2 * smoothed.phi(-z, gamma)

    reach = 2 + 40 / gamma
    best = minimize_scalar(risk, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-11})
    return float(smoothed.phi(0.0, gamma) - best.fun)


@pytest.mark.parametrize("gamma", [0.3, 1.0, 3.0, 10.0, 50.0])
def test_psi_and_what_it_bounds(gamma):
    for eta in (-0.95, -0.2, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        exact = psi_by_search(eta, gamma)
        assert smoothed.psi(eta, gamma) == pytest.approx(exact, abs=1e-10)
        assert smoothed.psi_lower_bound(eta, gamma) <= exact + 1e-12
        assert abs(eta) <= smoothed.excess_bound(exact, gamma) + 1e-9
        assert smoothed.binary_excess(smoothed.psi(eta, gamma), gamma) == pytest.approx(abs(eta))
    assert smoothed.psi(0.5, 2000.0) == pytest.approx(0.5, abs=1e-3)
    assert smoothed.psi(1.0, gamma) == pytest.approx(float(smoothed.phi(0.0, gamma)))


def test_theorems_4_6_and_4_8_are_false_as_printed():
    assert smoothed.theorem_4_6(0.9, 10.0) > psi_by_search(0.9, 10.0) + 0.009
    assert smoothed.theorem_4_8(psi_by_search(0.1, 1.0), 1.0) < 0.1 - 0.02
    assert smoothed.theorem_4_8(psi_by_search(0.9, 10.0), 10.0) < 0.9


def test_phi_and_its_slope():
    z = np.linspace(-3, 4, 29)
    for gamma in (0.5, 5.0, 1e4):
        value = smoothed.phi(z, gamma)
        assert np.all(smoothed.hinge(z) <= value + 1e-15)
        assert np.all(value <= smoothed.hinge(z) + math.log(2) / gamma + 1e-15)
    h = 1e-5
    numeric = (smoothed.phi(z + h, 5.0) - smoothed.phi(z - h, 5.0)) / (2 * h)
    np.testing.assert_allclose(smoothed.slope(z, 5.0), numeric, atol=1e-8)


def test_gamma_balances_corollary_4_12():
    """With risk = gamma^-(1 + xi) the slowest term falls as n^-tau_1, and no beta does better."""
    for alpha in (0.7, 1.0, 3.0):
        for xi in (0.0, 1.0, 4.0):
            beta, tau, _ = smoothed.exponents(alpha, xi)

            def rate(beta, alpha=alpha, xi=xi):
                n, N = 1e30, 1e60
                low, high = (
                    smoothed.corollary_4_12(k, beta, alpha, k ** (-beta * (1 + xi))) for k in (n, N)
                )
                return -math.log(high / low) / math.log(N / n)

            assert rate(beta) == pytest.approx(tau, abs=0.02)
            assert all(rate(beta + h) <= tau + 0.005 for h in (-0.1, 0.1) if beta + h > 0)
    assert smoothed.choose_gamma(10000) == pytest.approx(100.0)
    assert smoothed.exponents() == smoothed.exponents(printed=True)
