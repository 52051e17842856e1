"""The transcribed games against clarabel and the printed theorems, and the players against them."""

import math
from itertools import pairwise

import numpy as np
import pytest

from stepless import L1, Box, L1Ball, L2Ball, Simplex
from stepless.games.costs.saddle import Saddle
from stepless.games.players import (
    FTPL,
    FTRL,
    IFTRL,
    OGD,
    OMD,
    ONS,
    AdaGrad,
    Adaptive,
    BanditMirrorProx,
    BanditOnePoint,
    BanditTwoPoint,
    CompositeMirrorProx,
    ExponentiatedGradient,
    Hedge,
    MirrorProx,
    Proximal,
    SaddleMirrorProx,
    SoftConstraints,
    StrictlyConvexMirrorProx,
)

from . import games

BALL, BOX, SIMPLEX, CROSS = ("ball", 1.0), ("box", -0.4, 0.6), ("simplex",), ("cross", 1.0)
DOMAINS = {"ball": L2Ball(1.0), "box": Box(-0.4, 0.6), "simplex": Simplex(), "cross": L1Ball(1.0)}
UNIT_BALL = (BALL, ("box", -0.5, 0.5))  # of up to 4 dimensions: sets within the unit ball, with 0
ROUNDS = 24
SEEDS = range(12)


def rounds_of(seed, d=3, T=ROUNDS, curved=True, against=True):
    """Random, steady, flipping, sparse, zero, or (seed 3 mod 6) chosen against the play."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal(d)
    base /= np.linalg.norm(base)

    def slope(t, w):
        kind = seed % 6
        if kind == 1:
            return base
        if kind == 2:
            return base * (-1) ** (t // (1 + seed % 4))
        if kind == 3 and against:
            return w / np.linalg.norm(w) if np.linalg.norm(w) > 1e-9 else base
        if kind == 4:
            return np.eye(d)[t % d] * (t % 5 > 0)
        v = rng.standard_normal(d)
        return v / np.linalg.norm(v)

    def one(t):
        M = rng.standard_normal((d, d))
        H = M @ M.T / np.linalg.norm(M @ M.T, 2)

        def cost(w):
            c = slope(t, w)
            return games.Quadratic(H, c) if curved and t % 3 else games.Linear(c)

        return cost

    return [one(t) for t in range(T)]


def gradients(run):
    return np.array([f.gradient(w) for f, w in zip(run.f, run.w, strict=True)])


def squares(run):
    return np.sum(gradients(run) ** 2, axis=1)


def follow(player, domain, rounds, d, **game):
    """Play the rounds; return the plays."""
    player.enter(domain, d, **game)
    plays = []
    for round_ in rounds:
        w = player.play()
        plays.append(np.array(w))
        player.observe(games.shown(round_, w))
    return np.array(plays)


def inverse(heights, of_zero=0.0):
    heights = np.array(heights)
    return np.divide(1.0, heights, where=heights > 0.0, out=np.full(heights.size, of_zero))


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


# ------------------------------------------------------------------------------------ the argmin


@pytest.mark.parametrize(
    ("S", "l1"), [(S, 0.0) for S in (BALL, BOX, SIMPLEX, CROSS)] + [(BALL, 0.7), (BOX, 0.7)]
)
def test_argmin_satisfies_its_variational_inequality(S, l1):
    rng = np.random.default_rng(5)
    for _ in range(10):
        M = rng.standard_normal((3, 3))
        H, c = M @ M.T + 0.05 * np.eye(3), 2.0 * rng.standard_normal(3)
        w = games.argmin(H, c, S, l1)
        for _ in range(20):
            v = games.project(rng.standard_normal(3), S)
            rise = (H @ w + c) @ (v - w) + l1 * (np.abs(v).sum() - np.abs(w).sum())
            assert rise >= -1e-10


def test_entropy_argmin_is_clarabels():
    rng = np.random.default_rng(6)
    for _ in range(10):
        c, z = rng.standard_normal(4), rng.dirichlet(np.ones(4))
        same(games.entropy_argmin(c, z), games.entropy_argmin_by_clarabel(c, z), 1e-5)


# -------------------------------------------------------------------- theorems that hold, mended


@pytest.mark.parametrize("seed", SEEDS)
def test_ogd_theorem_2_8_and_2_9(seed):
    rounds, d = rounds_of(seed), 3
    R, alpha = 2.0, 0.5
    steps = R / np.sqrt(np.arange(1, ROUNDS + 1))
    run = games.ogd(rounds, BALL, np.zeros(d), steps)
    u = games.best_fixed(run.f, BALL, d)
    assert games.regret(run, u) <= R**2 / (2 * steps[-1]) + 0.5 * steps @ squares(run) + 1e-9
    run = games.ogd(rounds, BALL, np.zeros(d), np.full(ROUNDS, 0.3))
    u = games.best_fixed(run.f, BALL, d)
    assert games.regret(run, u) <= u @ u / 0.6 + 0.15 * squares(run).sum() + 1e-9  # (2.5)

    def strong(round_):
        def cost(w):
            f = games.shown(round_, w)
            return games.Quadratic(getattr(f, "H", 0.0) + alpha * np.eye(d), f.c)

        return cost

    heights = alpha * np.arange(1, ROUNDS + 1)
    run = games.ogd([strong(r) for r in rounds], BALL, np.zeros(d), 1 / heights)
    u = games.best_fixed(run.f, BALL, d)
    tight = 0.5 * np.sum(squares(run) / heights)
    assert games.regret(run, u) <= tight + 1e-9
    assert tight <= squares(run).max() / (2 * alpha) * (1 + math.log(ROUNDS))  # (2.6)


@pytest.mark.parametrize("seed", SEEDS)
def test_ftrl_theorem_2_12_with_half_of_its_second_term(seed):
    eta = 0.3
    run = games.ftrl(rounds_of(seed), BALL, 3, eta)
    u = games.best_fixed(run.f, BALL, 3)
    assert games.regret(run, u) <= u @ u / (2 * eta) + eta / 2 * squares(run).sum() + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_iftrl_lemma_5_15(seed):
    for S, eta in zip(UNIT_BALL, (1.0, 0.3), strict=True):
        run = games.iftrl(rounds_of(seed), S, 3, 1.0, eta)
        u = games.best_fixed(run.f, S, 3)
        variation = games.extended_variation(run.f, run.z)
        assert games.regret(run, u) <= u @ u / (2 * eta) + eta / 2 * variation + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_mirror_prox_theorem_5_5_and_its_simplified_form(seed):
    mirror, eta = games.Euclidean(BALL, 3), 1 / math.sqrt(8)
    for algorithm in (games.omp, games.simplified_omp):
        run = algorithm(rounds_of(seed), mirror, 1.0, eta)
        u = games.best_fixed(run.f, BALL, 3)
        variation = games.extended_variation(run.f, np.vstack([mirror.first, run.w]))
        assert games.regret(run, u) <= u @ u / (2 * eta) + 2 * eta * variation + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_composite_mirror_prox_corollary_6_2(seed):
    mirror, eta, l1 = games.Euclidean(BALL, 3), 0.3, 0.2
    run = games.simplified_omp(rounds_of(seed), mirror, 1.0, eta, l1, projected=True)
    u = games.best_fixed(run.f, BALL, 3, l1)
    penalties = l1 * (np.abs(run.w).sum() - ROUNDS * np.abs(u).sum())
    variation = games.extended_variation(run.f, np.vstack([mirror.first, run.w]))
    assert games.regret(run, u) + penalties <= u @ u / (2 * eta) + 2 * eta * variation + 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_costs_and_experts_corollary_5_7_and_5_9(seed):
    rounds = rounds_of(seed, curved=False, against=False)
    costs = [games.shown(r, np.zeros(3)) for r in rounds]
    plain = games.extended_variation(costs, [None] * ROUNDS)
    run = games.omp(costs, games.Euclidean(BALL, 3), 1.0, 1 / math.sqrt(2 * plain))
    assert games.regret(run, games.best_fixed(costs, BALL, 3)) <= math.sqrt(2 * plain) + 1e-9
    widest = games.extended_variation(costs, [None] * ROUNDS, lambda g: np.abs(g).max())
    eta = math.sqrt(2 * math.log(3) / widest)  # the print's lacks the 2: its proof then gives 1.5
    run = games.omp(costs, games.Entropy(3), 1.0, eta)
    best = games.best_fixed(costs, SIMPLEX, 3)
    assert games.regret(run, best) <= math.sqrt(2 * widest * math.log(3)) + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_strictly_convex_corollary_5_12(seed):
    d, strength, G = 3, 0.5, 2.0
    rounds = [
        lambda w, r=r: games.Quadratic(
            getattr(r(w), "H", 0.0) * 0.5 + strength * np.eye(d), 0.5 * r(w).c
        )
        for r in rounds_of(seed, against=False)
    ]
    beta, L = strength / (2 * G**2), 1.0  # (5.17) forgets the 1/2
    run = games.strictly_convex_omp(rounds, BALL, d, beta, 1 + beta * G**2)
    assert squares(run).max() <= G**2
    u = games.best_fixed(run.f, BALL, d)
    variation = games.extended_variation(run.f, np.vstack([np.zeros(d), run.w]))
    most = 8 * d / beta * math.log(max(16 * d * L**2, beta * variation))
    assert games.regret(run, u) <= (1 + beta * G**2) / 2 + most


@pytest.mark.parametrize("seed", range(8))
def test_bandit_mirror_prox_theorem_5_13_and_its_estimate(seed):
    d, G, L, T = 2, 2.0, 1.0, 80
    rounds = rounds_of(seed, d, T, against=False)
    costs = [games.shown(r, np.zeros(d)) for r in rounds]

    def farthest(f, g):  # max over the ball of |f - g|, no less
        H = getattr(f, "H", np.zeros((d, d))) - getattr(g, "H", np.zeros((d, d)))
        return 0.5 * np.linalg.norm(H, 2) + np.linalg.norm(f.c - g.c)

    none = games.Linear(np.zeros(d))
    variation = sum(farthest(f, g) ** 2 for f, g in pairwise([none, *costs]))  # (5.24) squared
    most = max(math.sqrt(2) * G, math.sqrt(variation))
    delta = math.sqrt(4 * d * most / ((math.sqrt(d) * L + 2 * G) * T))
    assert delta < 1
    eta = delta / (4 * d) * min(1 / math.sqrt(2), G / math.sqrt(variation))
    run = games.bandit_omp(costs, BALL, d, G / eta, G / eta, delta, delta)
    u = games.best_fixed(costs, BALL, d)
    assert games.regret(run, u) <= 4 * d / delta * most + delta * T * (
        math.sqrt(d) * L + G
    )  # (5.58)
    errors = np.linalg.norm(run.g - gradients(run), axis=1)
    assert errors.max() <= math.sqrt(d) * L * delta / 2 + 1e-12  # (5.22)


@pytest.mark.parametrize("seed", range(8))
def test_saddle_mirror_prox_theorem_6_3(seed):
    rng = np.random.default_rng(seed)
    d, m, T = 2, 2, 20
    primal, dual = games.Euclidean(BALL, d), games.Euclidean(("box", -0.5, 0.5), m)
    rounds = saddles(rng, d, m, T)
    eta = 1 / (4 * math.sqrt(2))
    run = games.saddle_omp(rounds, primal, dual, eta)
    W, U = np.vstack([primal.first, run.w]), np.vstack([dual.first, run.u])
    zero = (games.Linear(np.zeros(d)), np.zeros((m, d)), games.Linear(np.zeros(m)))
    variation = 0.0
    for t, ((f, A, p), (F, B, P)) in enumerate(pairwise([zero, *rounds])):
        variation += np.sum((F.gradient(W[t]) - f.gradient(W[t])) ** 2)
        variation += np.sum((P.gradient(U[t]) - p.gradient(U[t])) ** 2)
        variation += 1.5 * np.linalg.norm(B - A, 2) ** 2  # R_1^2 + R_2^2
    lift = sum(A @ w - p.c for (_, A, p), w in zip(rounds, run.w, strict=True))
    top = 0.5 * np.abs(lift).sum()
    top += sum(f.value(w) for (f, _, _), w in zip(rounds, run.w, strict=True))
    seen = [games.Quadratic(f.H, f.c + A.T @ u) for (f, A, _), u in zip(rounds, run.u, strict=True)]
    best = games.best_fixed(seen, BALL, d)
    bottom = sum(f.value(best) for f in seen)
    bottom -= sum(p.value(u) for (_, _, p), u in zip(rounds, run.u, strict=True))
    assert top - bottom <= (0.5 + 0.25) / eta + 4 * eta * variation + 1e-9


def saddles(rng, d, m, T):
    """Rounds of Alg. 9: f-hat 1-smooth, |A| = 1, phi-hat linear."""
    rounds = []
    for _ in range(T):
        A, M = rng.standard_normal((m, d)), rng.standard_normal((d, d))
        H = M @ M.T / np.linalg.norm(M @ M.T, 2)
        f = games.Quadratic(H, rng.standard_normal(d))
        rounds.append((f, A / np.linalg.norm(A, 2), games.Linear(rng.standard_normal(m))))
    return rounds


@pytest.mark.parametrize("seed", range(12))
def test_soft_constraints_theorem_9_19(seed):
    d, m, T = 3, 2, 60
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, d))
    A /= np.linalg.norm(A, axis=1)[:, None]
    b, D, F = np.array([0.3, 0.2]), 1.3, 2.0
    excesses = [lambda w, i=i: (A[i] @ w - b[i], A[i]) for i in range(m)]
    a = math.sqrt(m + 1 + 2 * m * D**2)
    eta, delta = 1 / (a * math.sqrt(T)), 2.0 * (m + 1)
    assert delta >= m + 1 + 2 * m * delta**2 * eta**2
    run = games.soft_constraints(
        rounds_of(seed, d, T, curved=False), BALL, excesses, np.zeros(d), eta, delta
    )
    total = sum(f.c for f in run.f)
    points = rng.standard_normal((4000, d))
    points = points / np.maximum(1.0, np.linalg.norm(points, axis=1))[:, None]
    allowed = points[(points @ A.T <= b).all(axis=1)]
    best = allowed[np.argmin(allowed @ total)]
    assert games.regret(run, best) <= a * math.sqrt(T)
    most = math.sqrt(2 * (F * T + a * math.sqrt(T)) * math.sqrt(T) * (delta / a + m * a))
    assert np.max(np.sum(run.w @ A.T - b, axis=0)) <= most


def test_zero_violation_theorem_9_24():
    d, T, F, G, D, R = 2, 10000, 0.1, 1.0, 1.2, 1.0
    b = 0.0
    for _ in range(200):  # a and b need each other
        a = 2 * R * math.sqrt(2 * G**2 + 3 * (D**2 + b**2))
        b = 2 * math.sqrt(F * (4 * G**2 * R**2 / a + a / R**2))
    eta, gamma = R**2 / (a * math.sqrt(T)), b * T**-0.25
    assert a * math.sqrt(T) <= F * T
    normal = np.array([0.6, 0.8])
    push = games.Linear(-0.5 * F * normal)  # the best allowed decision is at the constraint's edge
    w, lam, plays = np.zeros(d), 0.0, []
    for _ in range(T):  # Alg. 14 on (9.34), by a closed projection: it is many rounds
        plays.append(w)
        new = w - eta * (push.c + lam * normal)
        lam = max(0.0, lam + eta * (normal @ w - 0.2 + gamma - eta * 4 * G**2 * lam))
        w = new / max(1.0, np.linalg.norm(new))
    few = 300
    excess = [lambda w: (normal @ w - 0.2, normal)]
    run = games.soft_constraints([push] * few, BALL, excess, np.zeros(d), eta, 4 * G**2, gamma)
    same(run.w, plays[:few])
    assert np.sum(plays @ normal - 0.2) <= 0.0
    regret = np.sum(plays @ push.c) - T * push.value(0.2 * normal)
    assert regret <= a * math.sqrt(T) + b * G * T**0.75


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("full", [False, True])
def test_adagrad_theorems_6_and_8(seed, full):
    S, eta, delta, d = (BALL if full else ("box", -1.0, 1.0)), 0.7, 0.2, 3
    run = games.adagrad(rounds_of(seed), S, d, eta, delta, full)
    u, g = games.best_fixed(run.f, S, d), gradients(run)
    size = np.trace(games.root(g)) if full else np.linalg.norm(g, axis=0).sum()
    away = run.w - u
    far = np.sum(away**2, axis=1).max() if full else np.abs(away).max() ** 2
    first = delta / (2 * eta) * u @ u  # (17) forgets it
    assert games.regret(run, u) <= first + far / (2 * eta) * size + eta * size + 1e-9
    delta = 2.0  # no less than all gradients
    run = games.adagrad(rounds_of(seed), S, d, eta, delta, full, primal_dual=True)
    u, g = games.best_fixed(run.f, S, d), gradients(run)
    size = np.trace(games.root(g)) if full else np.linalg.norm(g, axis=0).sum()
    far = u @ u if full else np.abs(u).max() ** 2
    assert games.regret(run, u) <= (delta * u @ u + far * size) / eta + eta * size + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_proximal_corollary_1_and_theorem_1_of_dlf(seed):
    run = games.proximal(rounds_of(seed), BALL, np.zeros(3), 1.0, np.zeros(ROUNDS))
    u, g = games.best_fixed(run.f, BALL, 3), squares(run)
    heights = np.cumsum(run.tau)
    steps = np.divide(g, heights, where=heights > 0, out=np.zeros(ROUNDS))
    own = 0.5 * np.sum(4 * run.tau + steps)
    assert games.regret(run, u) <= own + 1e-9
    best = min(0.5 * (4 * tau + g.sum() / tau) for tau in np.geomspace(1e-3, 1e3, 400))
    assert own <= 2 * best + 1e-9


# ---------------------------------------------------------------------- what is printed and false


def test_theorem_2_8_prints_a_fixed_step():
    segment, steps = ("box", -0.5, 0.5), 1 / np.sqrt([1.0, 2.0])  # R = G = 1
    costs = [games.Linear([1.0]), games.Linear([-1.0])]
    run = games.ogd(costs, segment, [0.5], steps)
    printed = steps[-1] / 2 * 2  # at u = w_1, eta the last one
    assert games.regret(run, run.w[0]) > printed + 0.2


def test_theorem_2_11_needs_the_l1_norm_of_costs():
    d = T = 2500  # costs of the Euclidean unit ball, as the theorem says
    c = np.repeat([1.0, -1.0], d // 2) / math.sqrt(d)
    G, R = 1 / math.sqrt(d), 2.0
    eta = math.sqrt(R / (G * T))
    noise = np.random.default_rng(0).uniform(0, 1 / eta, (T, d))
    run = games.ftpl([games.Linear(c * (-1) ** t) for t in range(T)], SIMPLEX, noise)
    loss = sum(f.value(w) for f, w in zip(run.f, run.w, strict=True))
    assert loss > 1.2 * 2 * math.sqrt(R * G * T)  # every fixed expert loses 0


def test_theorem_5_6_needs_another_step_where_the_mirror_is_weakly_convex():
    alpha, T = 0.01, 20  # Phi = alpha |w|^2 / 2
    costs = [games.Linear([(-1.0) ** t]) for t in range(T)]
    variation, R = games.extended_variation(costs, [None] * T), math.sqrt(alpha)
    eta = 0.5 * min(math.sqrt(alpha / 2), R / math.sqrt(variation))
    run = games.omp(costs, games.Euclidean(BALL, 1), alpha, eta)  # (1/eta) B
    printed = 2 * R * max(math.sqrt(2) * R / math.sqrt(alpha), math.sqrt(variation))
    u = games.best_fixed(costs, BALL, 1)
    assert games.regret(run, u) > 8 * printed
    eta = 0.5 * min(alpha / math.sqrt(2), math.sqrt(alpha / variation) * R)
    run = games.omp(costs, games.Euclidean(BALL, 1), alpha, eta)
    mended = 2 * R * max(math.sqrt(2) * R / alpha, math.sqrt(variation / alpha))
    assert games.regret(run, u) <= mended


def test_equation_5_15_follows_the_worst_expert():
    costs = np.tile([1.0, 0.0], (50, 1))
    eta = math.sqrt(math.log(2))  # the variation is 1
    plays = games.experts_as_printed(costs, eta)
    assert np.sum(plays * costs) > 45.0
    run = games.omp([games.Linear(c) for c in costs], games.Entropy(2), 1.0, eta)
    assert np.sum(run.w * costs) <= math.sqrt(2 * math.log(2))


def test_exp_concavity_gives_half_of_the_printed_strictness():
    f, alpha = games.Growth([1.0]), 1.0  # -log w on [1, 1.2]: G = 1, D = 0.2
    beta = 0.5 * min(1 / (4 * 1.0 * 0.2), alpha)
    w, z = np.array([1.2]), np.array([1.0])
    inner = f.gradient(z) @ (w - z)
    above = f.value(w) - f.value(z) - inner
    assert above < beta * inner**2  # (5.16) with the printed beta is false
    assert above >= 0.5 * beta * inner**2


def test_section_5_4_5_burns_more_than_the_square_of_a_smoothness():
    T, L = 1000, 1e-6  # costs that grow slowly: <t/T e, w>; linear, so any L will do
    costs = [games.Linear([t / T]) for t in range(1, T + 1)]
    variation = games.extended_variation(costs, [None] * T)
    burnt = costs[-1].value(np.zeros(1)) - costs[-1].value(-np.ones(1))  # one restart, at 0
    assert burnt > 3 * (8 * math.sqrt(variation) + 20 * L**2)  # (5.20), K up to 20


def test_theorem_9_19_asks_too_little_of_the_horizon():
    m, G, D, R, T = 1, 10.0, 0.01, 10.0, 20
    eta = R**2 / (R * math.sqrt((m + 1) * G**2 + 2 * m * D**2) * math.sqrt(T))
    assert 2 * math.sqrt(2) * eta * (m + 1) <= 1  # the printed condition
    delta = np.geomspace(1e-6, 1e9, 4000)
    assert np.all(delta < (m + 1) * G**2 + 2 * m * delta**2 * eta**2)  # and yet no delta


def test_theorem_6_3_needs_steps_without_the_smoothness():
    d = m = 1
    primal, dual = games.Euclidean(BALL, d), games.Euclidean(BALL, m)
    L = 1e-3  # linear parts, so any L > 0 will do; Alg. 9 prints L/eta for 1/eta
    zero = games.Linear(np.zeros(1))
    rounds = [(zero, np.array([[1.0]]), games.Linear([0.5]))] * 200
    eta = 1 / (4 * math.sqrt(1 + L**2))
    variation = 2.0 + 0.25

    def gap(run):
        lift = sum(A @ w - p.c for (_, A, p), w in zip(rounds, run.w, strict=True))
        drop = sum(A.T @ u for (_, A, _), u in zip(rounds, run.u, strict=True))
        held = sum(p.value(u) for (_, _, p), u in zip(rounds, run.u, strict=True))
        return np.abs(lift).sum() + np.abs(drop).sum() + held

    bound = 1.0 / eta + 4 * eta * variation
    assert gap(games.saddle_omp(rounds, primal, dual, eta)) <= bound
    assert gap(games.saddle_omp(rounds, primal, dual, eta / L)) > 5 * bound


def test_theorem_6_of_dhs_forgets_delta():
    eta, delta, T = math.sqrt(2), 1000.0, 100
    run = games.adagrad([games.Linear([1.0])] * T, ("box", -1.0, 1.0), 1, eta, delta)
    printed = math.sqrt(2) * 2 * math.sqrt(T)  # Cor. 7, from (17)
    assert games.regret(run, np.array([-1.0])) > 3 * printed


# -------------------------------------------------------------------- the players, play by play


@pytest.mark.parametrize("kind", ["ball", "box", "simplex", "cross"])
@pytest.mark.parametrize("seed", range(4))
def test_ogd_plays_the_same(kind, seed):
    S, rounds = (
        {"ball": BALL, "box": BOX, "simplex": SIMPLEX, "cross": CROSS}[kind],
        rounds_of(seed),
    )
    player = OGD()
    plays = follow(player, DOMAINS[kind], rounds, 3)
    same(games.ogd(rounds_of(seed), S, plays[0], inverse(player.inverse_steps)).w, plays)


def test_ogd_with_a_known_slope_takes_the_printed_steps():
    plays = follow(OGD(lipschitz=2.0), L2Ball(1.0), rounds_of(5), 3)
    steps = 2.0 / (2.0 * np.sqrt(np.arange(1, ROUNDS + 1)))  # R/(G sqrt t) of Th. 2.8
    same(games.ogd(rounds_of(5), BALL, np.zeros(3), steps).w, plays)


@pytest.mark.parametrize("seed", range(4))
def test_ogd_for_strong_convexity_plays_the_same(seed):
    rounds = [games.Quadratic(0.5 * np.eye(3), r(np.zeros(3)).c) for r in rounds_of(seed)]
    plays = follow(OGD(strength=0.5), DOMAINS["box"], rounds, 3)
    same(games.ogd(rounds, BOX, plays[0], 2 / np.arange(1, ROUNDS + 1)).w, plays)


@pytest.mark.parametrize("kind", ["ball", "box", "simplex"])
def test_ftpl_plays_the_same(kind):
    S, player = {"ball": BALL, "box": BOX, "simplex": SIMPLEX}[kind], FTPL()
    rounds = rounds_of(0, curved=False)
    plays = follow(player, DOMAINS[kind], rounds, 3, seed=7)
    dice = FTPL().enter(DOMAINS[kind], 3, seed=7).rng  # after those of w_1: the print throws none
    noise = np.array([n * (dice.random(3) - 0.5) for n in player.noises])
    run = games.ftpl(rounds_of(0, curved=False), S, noise)
    same(run.w[1:], plays[1:])


@pytest.mark.parametrize("kind", ["ball", "box", "simplex"])
@pytest.mark.parametrize("seed", range(4))
def test_ftrl_plays_the_same(kind, seed):
    S, player = {"ball": BALL, "box": BOX, "simplex": SIMPLEX}[kind], FTRL(mirror="euclidean")
    plays = follow(player, DOMAINS[kind], rounds_of(seed), 3)
    steps = inverse([0.0, *player.inverse_steps[:-1]], 1.0)  # any while there is no step size
    same(games.ftrl(rounds_of(seed), S, 3, steps).w, plays)


def stabilised(mirror, w, g, before, after):
    """argmin <g, w'> + before B(w', w) + (after - before) B(w', w_1)."""
    return mirror.nearest(g / after, mirror.between(w, mirror.first, before / after))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["ball", "box", "simplex", "entropy", "eg"])
def test_omd_and_exponentiated_gradients_play_the_same(kind, seed):
    mirror, domain, name = mirror_of("entropy" if kind == "eg" else kind)
    player = ExponentiatedGradient() if kind == "eg" else OMD(name)
    rounds = rounds_of(seed, against=False)
    costs = [r(np.zeros(3)) for r in rounds]
    plays = follow(player, domain, costs, 3)
    heights = [0.0, *player.inverse_steps]
    w = mirror.first
    for t, f in enumerate(costs):
        same(plays[t], w)
        w = stabilised(mirror, w, f.gradient(w), heights[t], heights[t + 1])


def test_omd_of_the_paper_is_played_while_the_height_stays():
    """Zero gradients do not raise the inverse step size: then the paper's update and the player's agree."""
    costs = [games.Linear([1.0, -2.0, 0.5])] + [games.Linear(np.zeros(3))] * 5
    player = OMD()
    plays = follow(player, Simplex(), costs, 3)
    run = games.omd(costs, games.Entropy(3), np.full(6, 1 / player.inverse_steps[0]))
    same(run.w, plays)


@pytest.mark.parametrize("seed", range(4))
def test_hedge_plays_the_same(seed):
    player = Hedge()
    plays = follow(player, Simplex(), rounds_of(seed), 3)
    run = games.hedge(
        rounds_of(seed), 3, inverse(player.inverse_steps, 1e9)
    )  # 0: the leaders share
    same(run.w, plays)


@pytest.mark.parametrize("kind", ["ball", "box", "simplex"])
@pytest.mark.parametrize("seed", range(3))
def test_ons_plays_the_same(kind, seed):
    S, player = {"ball": BALL, "box": BOX, "simplex": SIMPLEX}[kind], ONS(exp_concavity=0.5)
    curvatures = []
    ask = player.curvature
    player.curvature = lambda g, cost: curvatures.append(ask(g, cost)) or curvatures[-1]
    costs = [r(np.zeros(3)) for r in rounds_of(seed, against=False)]
    costs = within([f if f.c.any() else games.Linear([1.0, 0.0, 0.0]) for f in costs], kind)
    plays = follow(player, DOMAINS[kind], costs, 3)
    run = games.ons(costs, S, plays[0], curvatures, np.cumsum(player.added))
    same(run.w, plays)


class Centred:
    """A cost whose gradient has mean 0, which over a simplex is as much a subgradient.

    Players may take the mean away themselves; then it is the same game for both.
    """

    def __init__(self, f):
        self.f = f

    def value(self, w):
        return self.f.value(w)

    def gradient(self, w):
        g = self.f.gradient(w)
        return g - g.mean()


def within(costs, kind):
    return [Centred(f) for f in costs] if kind == "simplex" else costs


@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("seed", range(4))
def test_iftrl_plays_the_same(kind, seed):
    S, L, player = {"ball": BALL, "box": BOX}[kind], 1.0, IFTRL("euclidean", 1.0, 6.0)
    plays = follow(player, DOMAINS[kind], rounds_of(seed), 3)
    assert len(set(player.inverse_steps)) == 1
    same(games.iftrl(rounds_of(seed), S, 3, L, L / player.inverse_steps[0]).w, plays)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["ball", "box", "simplex", "entropy"])
@pytest.mark.parametrize("update", ["projected", "simplified"])
def test_mirror_prox_plays_the_same(kind, seed, update):
    L, V = 1.0, 5.0
    mirror, domain, name = mirror_of(kind)
    player = MirrorProx(name, L, V, update)
    plays = follow(player, domain, rounds_of(seed), 3)
    height = player.iterates.inverse_steps[0]
    algorithm = games.omp if update == "projected" else games.simplified_omp
    same(algorithm(rounds_of(seed), mirror, L, L / height).w, plays)


def mirror_of(kind):
    """The mirror of the transcription, the domain, and the mirror's name."""
    if kind == "entropy":
        return games.Entropy(3), Simplex(), "entropy"
    S = {"ball": BALL, "box": BOX, "simplex": SIMPLEX}[kind]
    return games.Euclidean(S, 3), DOMAINS[kind], "euclidean"


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
@pytest.mark.parametrize("kind", ["ball", "box", "entropy"])
def test_mirror_prox_with_heights_that_grow_plays_the_same(kind, seed):
    """Alg. 5, where z is drawn to z_0 in the dual by as much as the inverse step size grows."""
    mirror, domain, name = mirror_of(kind)
    player = MirrorProx(name)
    plays = follow(player, domain, rounds_of(seed), 3)
    heights = player.iterates.inverse_steps
    z, g = mirror.first, np.zeros(3)
    for t, round_ in enumerate(rounds_of(seed)):
        h = heights[t]
        w = mirror.nearest(g / h, z) if h > 0.0 else mirror.first
        same(plays[t], w)
        if h > 0.0:
            g = games.shown(round_, w).gradient(w)
            z = mirror.nearest(g / h, z)
            if t + 1 < ROUNDS:
                z = mirror.between(z, mirror.first, h / heights[t + 1])


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
@pytest.mark.parametrize("kind", ["ball", "box", "entropy"])
def test_iftrl_with_heights_that_grow_plays_the_same(kind, seed):
    """Alg. 3, the leader's problem having the next inverse step size."""
    mirror, domain, name = mirror_of(kind)
    player = IFTRL(name)
    plays = follow(player, domain, rounds_of(seed), 3)
    heights = player.inverse_steps
    w = z = mirror.first
    total = np.zeros(3)
    for t, round_ in enumerate(rounds_of(seed)):
        same(plays[t], w)
        f = games.shown(round_, w)
        total = total + f.gradient(z)
        if heights[t] > 0.0 and t + 1 < ROUNDS:
            h = heights[t + 1]
            z = mirror.nearest(total / h, mirror.first)
            w = mirror.nearest(f.gradient(z) / h, z)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["ball", "box"])
def test_composite_mirror_prox_plays_the_same(kind, seed):
    S, L, l1 = {"ball": BALL, "box": BOX}[kind], 1.0, 0.2
    player = CompositeMirrorProx("euclidean", L, 5.0)
    plays = follow(player, DOMAINS[kind], rounds_of(seed), 3, penalty=L1(l1))
    eta = L / player.iterates.inverse_steps[0]
    mirror = games.Euclidean(S, 3)
    same(games.simplified_omp(rounds_of(seed), mirror, L, eta, l1, projected=True).w, plays)


@pytest.mark.parametrize("seed", range(4))
def test_saddle_mirror_prox_plays_the_same(seed):
    d, m, over = 2, 2, Box(-0.5, 0.5)
    rounds = saddles(np.random.default_rng(seed), d, m, ROUNDS)
    player = SaddleMirrorProx("euclidean", 2.0, 9.0)
    costs = [Saddle(A, over, own(f), own(phi)) for f, A, phi in rounds]
    plays = follow(player, L2Ball(1.0), costs, d)
    mirrors = games.Euclidean(BALL, d), games.Euclidean(("box", -0.5, 0.5), m)
    run = games.saddle_omp(rounds, *mirrors, 1 / player.iterates.inverse_steps[0])
    same(run.w, plays)


def own(f):
    """The house's cost."""
    from stepless.games import Linear, Quadratic

    return Quadratic(f.H, f.c) if hasattr(f, "H") else Linear(f.c)


@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("seed", range(3))
def test_strictly_convex_mirror_prox_plays_the_same(kind, seed):
    S, beta = {"ball": BALL, "box": BOX}[kind], 0.3
    player = StrictlyConvexMirrorProx(curvature=beta)
    plays = follow(player, DOMAINS[kind], rounds_of(seed), 3)
    run = games.strictly_convex_omp(rounds_of(seed), S, 3, player.strict, player.inverse_steps)
    same(run.w, plays)


BANDIT = {"ball": (BALL, L2Ball(1.0)), "box": (("box", -0.5, 0.5), Box(-0.5, 0.5))}


def bandit(player, domain, rounds, d):
    """Play by values; return where the player asked, its directions, deltas and shares."""
    player.enter(domain, d, seed=3)
    points, told = [], []
    for round_ in rounds:
        at = np.array(player.play())
        points.append(at)
        told.append((getattr(player, "s", None), player.delta, player.share))
        f = games.shown(round_, np.atleast_2d(at)[0])
        player.observe(np.array([f.value(w) for w in np.atleast_2d(at)]))
    return np.array(points), told


@pytest.mark.parametrize("kind", ["ball", "box"])
def test_bandit_of_one_point_plays_the_same(kind):
    (S, domain), d = BANDIT[kind], 3
    player, rounds = BanditOnePoint(), rounds_of(5, d)
    points, told = bandit(player, domain, rounds, d)
    directions, deltas, shares = (np.array(x) for x in zip(*told, strict=True))
    steps = d / deltas * inverse(player.inverse_steps)
    replay = games.one_point  # the offsets are means of values that the replay itself must see
    offsets = np.zeros(ROUNDS)
    for t in range(1, ROUNDS):
        run = replay(
            rounds_of(5, d)[:t], S, directions[:t], steps[:t], deltas[:t], shares[:t], offsets[:t]
        )
        offsets[t] = np.mean([f.value(w) for f, w in zip(run.f, run.w, strict=True)])
    run = replay(rounds_of(5, d), S, directions, steps, deltas, shares, offsets)
    same(run.w[1:], points[1:])


@pytest.mark.parametrize("kind", ["ball", "box"])
def test_bandit_of_two_points_plays_the_same(kind):
    (S, domain), d = BANDIT[kind], 3
    player = BanditTwoPoint()
    points, told = bandit(player, domain, rounds_of(5, d), d)
    directions, deltas, shares = (np.array(x) for x in zip(*told, strict=True))
    run = games.two_point(
        rounds_of(5, d), S, directions, 1 / np.array(player.inverse_steps), deltas, shares
    )
    same(run.w, points.mean(axis=1))


@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("seed", range(3))
def test_bandit_mirror_prox_plays_the_same(kind, seed):
    (S, domain), d = BANDIT[kind], 3
    player = BanditMirrorProx()
    points, told = bandit(player, domain, rounds_of(seed, d), d)
    _, deltas, shares = zip(*told, strict=True)
    heights = np.array(player.inverse_steps)
    before = np.concatenate([[0.0], heights[:-1]])
    run = games.bandit_omp(rounds_of(seed, d), S, d, before, heights, shares, deltas)
    same(run.w, points[:, 0])


@pytest.mark.parametrize("zero", [False, True])
def test_soft_constraints_play_the_same(zero):
    d, G = 3, 2.5
    across, constraints = 2.0, [L1Ball(0.8), L2Ball(0.7)]
    player = SoftConstraints(zero_violation=zero, lipschitz=G, horizon=16)
    plays = follow(player, L2Ball(1.0), rounds_of(1, d, 60), d, constraints=constraints)
    assert len(player.epochs) > 1
    start = 0
    for epoch in player.epochs:  # lengths in D, costs in GD, constraints in their unit
        rows = slice(start, start + len(epoch))

        def excess(w, i, unit=epoch.unit):
            slope = np.zeros(d)
            return constraints[i].outward(across * w, slope) / unit, slope * across / unit

        def worst(w, excess=excess):
            return max((excess(w, i) for i in range(2)), key=lambda pair: pair[0])

        excesses = [worst] if zero else [lambda w, i=i: excess(w, i) for i in range(2)]
        rounds = [Scaled(r, across, epoch.steepest) for r in rounds_of(1, d, 60)[rows]]
        run = games.soft_constraints(
            rounds,
            ("ball", 1.0 / across),
            excesses,
            plays[start] / across,
            epoch.eta,
            epoch.delta,
            epoch.gamma,
            epoch.multipliers[0],
        )
        same(across * run.w, plays[rows])
        start += len(epoch)


class Scaled:
    """f(Dw)/(GD)."""

    def __init__(self, round_, D, G):
        self.f, self.D, self.G = games.shown(round_, None), D, G

    def gradient(self, w):
        return self.f.gradient(self.D * w) / self.G


@pytest.mark.parametrize("kind", ["ball", "box"])
@pytest.mark.parametrize("seed", range(4))
def test_proximal_plays_the_same(kind, seed):
    S, player = {"ball": BALL, "box": BOX}[kind], Proximal(strength=0.1)
    plays = follow(player, DOMAINS[kind], rounds_of(seed), 3)
    run = games.proximal(rounds_of(seed), S, plays[0], player.reach, np.full(ROUNDS, 0.1))
    same(run.w, plays)
    same(run.tau, player.added)


@pytest.mark.parametrize("seed", range(4))
def test_adaptive_plays_the_same(seed):
    plays = follow(Adaptive(strength=0.1), L2Ball(1.0), rounds_of(seed), 3)
    run = games.adaptive(rounds_of(seed), BALL, np.zeros(3), 1.0, np.full(ROUNDS, 0.1))
    same(run.w, plays)


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("kind", ["ball", "box", "simplex"])
@pytest.mark.parametrize("matrix", ["diagonal", "full"])
@pytest.mark.parametrize("update", ["mirror", "averaging"])
def test_adagrad_plays_the_same(kind, seed, matrix, update):
    S, eta, delta = {"ball": BALL, "box": BOX, "simplex": SIMPLEX}[kind], 0.7, 0.3
    player = AdaGrad(matrix, update, eta=eta, delta=delta)
    costs = within([r(np.zeros(3)) for r in rounds_of(seed)], kind)
    plays = follow(player, DOMAINS[kind], costs, 3)
    run = games.adagrad(costs, S, 3, eta, delta, matrix == "full", update == "averaging")
    same(run.w, plays)
