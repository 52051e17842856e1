"""The transcriptions against the papers' own theorems, and against brute force."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from . import batch, online

HINGE = batch.scalar_loss("hinge")
LINEAR = (lambda z, y: y * z, lambda z, y: y)
STRENGTHS = (1.0, 1e-2, 1e-4)


def classes(seed, m, d, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = np.where(X @ rng.standard_normal(d) + noise * rng.standard_normal(m) > 0, 1.0, -1.0)
    return X, y


def largest(X):
    return float(np.linalg.norm(X, axis=1).max())


# ------------------------------------------------------------------------------------- streams


def stream(kind):
    """(X, y, order) of a game."""
    rng = np.random.default_rng(7)
    if kind == "random":
        X, y = classes(1, 40, 4)
        return X, y, rng.integers(0, 40, 120)
    if kind == "separable":
        X, y = classes(2, 40, 4, noise=0.0)
        return X, y, rng.integers(0, 40, 120)
    if kind == "alternating":  # the same point, its label turned every round
        X = np.array([[1.0, 0.5], [1.0, 0.5]])
        return X, np.array([1.0, -1.0]), np.arange(120) % 2
    if kind == "blocks":  # what was learned in the first half is wrong in the second
        X, y = classes(3, 20, 3, noise=0.0)
        order = np.concatenate([rng.integers(0, 20, 60), 20 + rng.integers(0, 20, 60)])
        return np.vstack([X, X]), np.concatenate([y, -y]), order
    raise ValueError(kind)


KINDS = ("random", "separable", "alternating", "blocks")


def worst_case(play, X, y, rounds):
    """An order whose every next example is the one of most loss under `play(order)`'s last w."""
    order = []
    for _ in range(rounds):
        w = play(np.array(order, dtype=int))[0][-1]
        order.append(int(np.argmax([HINGE[0](x @ w, t) for x, t in zip(X, y, strict=True)])))
    return np.array(order)


def comparators(X, y, order, lam, radius):
    """Good u with |u| <= radius: 0, and the optima for lam and for more, projected."""
    counts = np.bincount(order, minlength=len(y)).astype(float)
    found = [np.zeros(X.shape[1])]
    for strength in lam * 10.0 ** np.arange(0, 4):
        _, u, _ = batch.optimum(X, y, "hinge", strength, s=counts)
        found.append(online.project(u, radius)[0])
    return found


def worst_regret(X, y, order, lam, iterates, rivals, size=1):
    return max(online.regret(X, y, HINGE, lam, order, iterates, u, batch=size) for u in rivals)


def game(method, lam, G, rho):
    """order -> (iterates, S), and the bound of its theorem as a function of S."""
    if method == "projected_subgradient":
        return (
            lambda X, y, o, k=1: online.projected_subgradient(X, y, HINGE, lam, o, k, rho),
            lambda S: online.lemma_1(G, lam, len(S)),
        )
    if method == "adaptive":
        return (
            lambda X, y, o, k=1: online.adaptive(X, y, HINGE, lam, o, G, rho, k, rho),
            lambda S: online.adaptive_bound(G, lam, rho, len(S)),
        )
    if method == "proximal":
        return (
            lambda X, y, o, k=1: online.proximal(X, y, HINGE, lam, o, G, rho, k, rho),
            lambda S: online.theorem_1(G, lam, rho, len(S)),
        )
    if method == "proximal_bound":
        return (
            lambda X, y, o, k=1: online.proximal_bound(X, y, HINGE, lam, o, G, rho, k, rho),
            lambda S: online.corollary_1(G, lam, online.taus(S, lam), rho),
        )
    raise ValueError(method)


METHODS = ("projected_subgradient", "adaptive", "proximal", "proximal_bound")


@pytest.mark.parametrize("lam", STRENGTHS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_regret_is_under_its_bound(method, kind, lam):
    X, y, order = stream(kind)
    for rho in {min(2.0, 1 / math.sqrt(lam)), 1 / math.sqrt(lam)}:
        G = largest(X) + lam * rho
        play, bound = game(method, lam, G, rho)
        rivals = comparators(X, y, order, lam, rho)
        for size in (1, 5):
            iterates, S = play(X, y, order, size)
            assert len(iterates) == len(S) + 1 == len(order) // size + 1
            assert np.linalg.norm(iterates, axis=1).max() <= rho * (1 + 1e-12)
            assert worst_regret(X, y, order, lam, iterates, rivals, size) <= bound(S) * (1 + 1e-9)


@pytest.mark.parametrize("lam", STRENGTHS)
@pytest.mark.parametrize("method", METHODS)
def test_regret_is_under_its_bound_against_an_adversary(method, lam):
    X, y = classes(4, 6, 2, noise=0.0)
    X, y = np.vstack([X, X]), np.concatenate([y, -y])
    rho = min(2.0, 1 / math.sqrt(lam))
    G = largest(X) + lam * rho
    play, bound = game(method, lam, G, rho)
    if method == "proximal_bound":  # its tau_1 depends on T, so every prefix is another run
        tau = online.best_tau(G, lam, rho, 60)
        order = worst_case(lambda o: _fixed_tau(X, y, lam, o, tau, rho), X, y, 60)
    else:
        order = worst_case(lambda o: play(X, y, o), X, y, 60)
    iterates, S = play(X, y, order)
    rivals = comparators(X, y, order, lam, rho)
    assert worst_regret(X, y, order, lam, iterates, rivals) <= bound(S) * (1 + 1e-9)


def _fixed_tau(X, y, lam, order, tau, rho):
    w, iterates = np.zeros(X.shape[1]), [np.zeros(X.shape[1])]
    for t, i in enumerate(order, start=1):
        g = lam * w + HINGE[1](X[i] @ w, y[i]) * X[i]
        w, _ = online.project(w - g / (lam * t + tau), rho)
        iterates.append(w)
    return np.array(iterates), None


def test_lemma_1_is_tight():
    """A linear game with |g_t| = 1 in every round, for which (2) holds with equality."""
    lam, T = 0.1, 30
    w, slopes = 0.0, []
    for t in range(1, T + 1):
        g = 1.0 if t % 2 else -1.0
        slopes.append(g - lam * w)  # g_t = lam w_t + slope of the loss
        w -= g / (lam * t)
    iterates, _ = online.projected_subgradient(
        np.ones((T, 1)), np.array(slopes), LINEAR, lam, np.arange(T)
    )
    u = iterates[-1]  # the minimiser of sum f_t, for linear losses
    regret = online.regret(np.ones((T, 1)), slopes, LINEAR, lam, np.arange(T), iterates, u)
    assert regret == pytest.approx(online.lemma_1(1.0, lam, T), rel=1e-12)


# ------------------------------------------------------------------- online, by other equations


@pytest.mark.parametrize("lam", [0.0, 1e-3, 1.0])
def test_linear_losses_have_closed_forms(lam):
    rng = np.random.default_rng(0)
    X, y, order = rng.standard_normal((30, 3)), rng.standard_normal(30), rng.permutation(30)
    G, rho = 5.0, 2.0
    sums = np.cumsum((y[:, None] * X)[order], axis=0)
    if lam > 0:  # follow the leader
        iterates, S = online.projected_subgradient(X, y, LINEAR, lam, order)
        np.testing.assert_allclose(iterates[1:], -sums / (lam * np.arange(1, 31))[:, None])
    iterates, S = online.adaptive(X, y, LINEAR, lam, order, G, rho)  # follow the regularised leader
    np.testing.assert_allclose(iterates[1:], -sums / S[:, None])
    iterates, S = online.proximal(X, y, LINEAR, lam, order, G, rho)  # the leader of (3)
    tau = online.taus(S, lam)
    pulled = np.cumsum(tau[:, None] * iterates[:-1], axis=0)
    np.testing.assert_allclose(iterates[1:], (pulled - sums) / S[:, None])


@pytest.mark.parametrize("lam", [0.0, 1e-3, 1.0])
def test_tau_balances_the_two_terms_of_the_bound(lam):
    X, y, order = stream("random")
    G, rho = 3.0, 0.7
    _, S = online.proximal(X, y, HINGE, lam, order, G, rho, radius=rho)
    np.testing.assert_allclose(2 * online.taus(S, lam) * rho**2, G**2 / (2 * S), rtol=1e-6)
    _, S = online.adaptive(X, y, HINGE, lam, order, G, rho, radius=rho)
    np.testing.assert_allclose(1.5 * online.taus(S, lam) * rho**2, G**2 / S, rtol=1e-6)


def test_G_may_be_a_function():
    X, y, order = stream("random")
    iterates, S = online.proximal(X, y, HINGE, 1e-2, order, lambda t, g: np.linalg.norm(g), 1.0)
    norms = [
        np.linalg.norm(online.subgradient_of_round(X, y, HINGE, 1e-2, [i], w))
        for i, w in zip(order, iterates, strict=False)
    ]
    balanced = 4 * online.taus(S, 1e-2) * S
    np.testing.assert_allclose(balanced, np.square(norms), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 1e-9, 1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("T", [1, 2, 50, 1000])
def test_best_tau_minimises_theorem_2(lam, T):
    G, rho = 3.0, 2.0
    tau = online.best_tau(G, lam, rho, T)
    least = online.theorem_2(tau, G, lam, rho, T) if lam + tau > 0 else math.inf
    slack = 1e-6 if lam == 1e-9 else 1e-12  # log((T + x)/(1 + x))/lam cancels
    for other in np.geomspace(1e-3, 1e4, 400):
        assert least <= online.theorem_2(other, G, lam, rho, T) * (1 + slack)
    assert online.theorem_1(G, lam, rho, T) <= least * (1 + slack)  # Th. 2
    assert online.theorem_1(G, lam, rho, T) <= 4 * rho * G * math.sqrt(T) * (1 + 1e-12)  # Cor. 3
    if lam == 0:
        assert online.theorem_1(G, lam, rho, T) == pytest.approx(4 * rho * G * math.sqrt(T))
    order = np.arange(T) % 3
    _, S = online.proximal_bound(np.eye(3), np.ones(3), HINGE, lam, order, G, rho, radius=rho)
    np.testing.assert_allclose(S, lam * np.arange(1, T + 1) + tau, rtol=1e-14)


def test_averages():
    iterates = np.arange(12.0).reshape(6, 2)  # T = 5
    np.testing.assert_allclose(online.uniform_average(iterates), [4, 5])
    np.testing.assert_allclose(online.suffix_average(iterates, 0.5), [6, 7])  # w_3, w_4, w_5
    np.testing.assert_allclose(online.suffix_average(iterates, 0.2), [8, 9])


def test_chunks_may_end_short():
    assert [list(c) for c in online.chunks([3, 1, 2, 0, 5], 2)] == [[3, 1], [2, 0], [5]]


# ------------------------------------------------------------------------------------ optimistic


@pytest.mark.parametrize("lam", [0.9, 1e-2, 1e-4])
@pytest.mark.parametrize("kind", KINDS)
def test_every_phase_of_the_optimistic_solver_is_under_corollary_1(kind, lam):
    X, y, order = stream(kind)
    G = largest(X) + math.sqrt(lam)
    iterates, S, rho = online.optimistic(X, y, HINGE, lam, order, G)
    assert len(S) == len(order)
    assert len(rho) == len(iterates) == len(S) + 1
    norms = np.linalg.norm(iterates, axis=1)
    assert norms.max() <= (1 + 1e-12) / math.sqrt(lam)
    assert rho[0] == min(1.0, 1 / math.sqrt(lam))
    grew = norms[1:] >= rho[:-1]
    np.testing.assert_allclose(rho[1:], rho[:-1] * np.where(grew, math.sqrt(2), 1.0))
    starts = np.concatenate([[0], 1 + np.flatnonzero(grew), [len(S)]])
    for start, stop in pairwise(starts):
        if start == stop:
            continue
        tau = online.taus(S[start:stop], lam)
        np.testing.assert_allclose(tau * S[start:stop], (G / rho[start]) ** 2 / 4, rtol=1e-6)
        # w is kept, and may lie beyond the new rho: 2R of Cor. 1 is then the true distance
        R = max(rho[start], 0.5 * (rho[start] + norms[start:stop].max()))
        bound = online.corollary_1(G, lam, tau, R)
        part = order[start:stop]
        played = iterates[start : stop + 1]
        rivals = comparators(X, y, part, lam, rho[start])
        assert worst_regret(X, y, part, lam, played, rivals) <= bound * (1 + 1e-9)


def test_optimistic_stops_after_a_phase_without_increase():
    X, y = classes(5, 30, 3)
    X = X / largest(X)
    lam, accuracy, failure = 0.5, 0.2, 0.9
    G = 1 + math.sqrt(lam)
    order = np.random.default_rng(0).integers(0, 30, 20000)
    iterates, S, rho = online.optimistic(X, y, HINGE, lam, order, G, 1, accuracy, failure)
    last = int(np.sum(rho[:-1] == rho[-1]))
    assert len(S) < len(order)
    assert last == online.phase_length(G, lam, rho[-1], accuracy, failure)
    assert np.all(
        np.linalg.norm(iterates[-last:], axis=1) < rho[-1] - math.sqrt(2 * accuracy / lam)
    )
    assert rho[-1] <= math.sqrt(2) * 2 / math.sqrt(lam)
    J = batch.optimum(X, y, "hinge", lam)[0]
    value = online.risk_of_round(X, y, HINGE, lam, range(30), online.uniform_average(iterates))
    assert value - J <= accuracy


def test_phase_length_is_the_smallest():
    for G, lam, rho, accuracy, failure in [(2, 0.1, 1, 0.1, 1), (3, 1e-6, 2, 0.5, 0.5)]:
        inner = failure / (3 - math.log2(lam))

        def least(T, G=G, lam=lam, rho=rho, inner=inner):
            return min(G**2 * (1 + math.log(T)) / (inner * lam * T), 4 * rho * G / inner / T**0.5)

        T = online.phase_length(G, lam, rho, accuracy, failure)
        assert least(T) <= accuracy < least(T - 1)
    assert online.phase_length(2, 0.1, 1, 0.0, 1.0) == math.inf


# ------------------------------------------------------------------------------- bundle methods

RISKS = [
    ("hinge", 1.0, 25),
    ("hinge", 1e-2, 90),
    ("squared_hinge", 1e-2, 60),
    ("logistic", 1e-2, 40),
    ("absolute", 1e-1, 60),
]


@pytest.mark.parametrize(("name", "lam", "steps"), RISKS)
def test_bmrm_closes_in_on_the_optimum(name, lam, steps):
    X, y = classes(6, 40, 4)
    oracle = batch.risk_oracle(X, y, batch.scalar_loss(name))
    iterates, J, J_t, epsilon = batch.bmrm(oracle, lam, 4, steps)
    best, w, _ = batch.optimum(X, y, name, lam)
    assert len(iterates) == len(J) == len(J_t) == len(epsilon) == steps + 1
    assert np.all(np.diff(epsilon) <= 1e-12)
    assert np.all(np.diff(J_t) >= -1e-12)
    assert np.all(J_t <= best + 1e-12)
    assert np.all(epsilon >= np.minimum.accumulate(J) - best - 1e-12)
    assert epsilon[-1] <= 1e-7
    np.testing.assert_allclose(
        iterates[np.argmin(J)], w, atol=math.sqrt(2 * max(epsilon[-1], 1e-14) / lam)
    )


@pytest.mark.parametrize(("name", "lam", "steps"), RISKS)
def test_bmrm_is_no_slower_than_theorem_5(name, lam, steps):
    X, y = classes(6, 40, 4)
    oracle = batch.risk_oracle(X, y, batch.scalar_loss(name))
    iterates, J, _, epsilon = batch.bmrm(oracle, lam, 4, steps)
    G = max(np.linalg.norm(oracle(w)[1]) for w in iterates)
    for target in (0.3, 0.1):
        allowed = math.log2(max(1.0, lam * J[0] / G**2)) + 8 * G**2 / (lam * target) + 4  # (13)
        reached = np.flatnonzero(epsilon <= target)
        assert reached.size
        assert reached[0] <= allowed


@pytest.mark.parametrize(("name", "lam", "steps"), RISKS)
def test_linesearch_bounds_the_optimum_from_below(name, lam, steps):
    X, y = classes(6, 40, 4)
    oracle = batch.risk_oracle(X, y, batch.scalar_loss(name))
    iterates, D, gamma = batch.bmrm_linesearch(oracle, lam, 4, 3 * steps)
    best, _, _ = batch.optimum(X, y, name, lam)
    assert max(D) <= best + 1e-12
    assert np.all(np.diff(D) >= -1e-12)  # each step is a line search in the dual
    assert np.all(gamma >= -1e-12)
    J = np.array([0.5 * lam * w @ w + oracle(w)[0] for w in iterates])
    np.testing.assert_allclose(gamma, J - D, atol=1e-12)
    assert J.min() - D[-1] <= 0.2 * gamma[0]


@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4, 1e-6])
def test_linesearch_step_is_the_best_of_its_line(lam):
    """(15) against a fine search of the dual along ((1 - eta) alpha, eta), all planes kept."""
    X, y = classes(6, 40, 4)
    oracle = batch.risk_oracle(X, y, HINGE)
    iterates, D, _ = batch.bmrm_linesearch(oracle, lam, 4, 8)
    A, b, alpha = np.zeros((4, 1)), np.zeros(1), np.ones(1)
    for t in range(8):
        np.testing.assert_allclose(iterates[t], -A @ alpha / lam, atol=1e-9 / lam)
        R, a = oracle(iterates[t])
        A, b = np.column_stack([A, a]), np.append(b, R - a @ iterates[t])
        old, new = np.append(alpha, 0.0), np.append(0.0 * alpha, 1.0)
        along = [
            b @ v - (A @ v) @ (A @ v) / (2 * lam)
            for v in ((1 - eta) * old + eta * new for eta in np.linspace(0, 1, 1001))
        ]
        assert D[t + 1] >= max(along) - 1e-10 * max(1.0, abs(D[t + 1]))
        difference = A @ (new - old)
        slope = b @ (new - old) - (A @ old) @ difference / lam
        eta = min(1.0, lam * slope / (difference @ difference))
        alpha = (1 - eta) * old + eta * new


@pytest.mark.parametrize(("lam", "steps"), [(1.0, 60), (1e-2, 120), (1e-4, 120)])
def test_proximal_bundle(lam, steps):
    X, y = classes(6, 40, 4)
    oracle = batch.risk_oracle(X, y, HINGE)
    iterates, tau, rho = batch.proximal_bundle(oracle, lam, 4, steps)
    best, w_best, _ = batch.optimum(X, y, "hinge", lam)
    J = np.array([0.5 * lam * w @ w + oracle(w)[0] for w in iterates])
    planes = [oracle(w) for w in iterates[:-1]]
    A = np.array([a for _, a in planes]).T
    b = np.array([R - a @ w for (R, a), w in zip(planes, iterates, strict=False)])
    norms = np.linalg.norm(iterates, axis=1)
    assert rho[0] == 1
    assert len(rho) == len(iterates) == steps + 1 == len(tau) + 1
    np.testing.assert_allclose(
        rho[1:], rho[:-1] * np.where(norms[1:] >= rho[:-1], math.sqrt(2), 1.0)
    )
    # the balance of Prop. 3's two terms
    S = lam * np.arange(1, steps + 1) + np.cumsum(tau)
    G = lam * rho[:-1] + np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(2 * tau * rho[:-1] ** 2, G**2 / (2 * S), rtol=1e-6)
    # w_{t+1} is the minimiser of P'_t: no nearby point is better
    rng = np.random.default_rng(0)
    for t in (1, 5, steps):

        def proximal_model(v, t=t):
            P = 0.5 * lam * v @ v + max(0.0, np.max(A[:, :t].T @ v + b[:t]))
            return t * P + sum(
                0.5 * tau[i] * (v - iterates[i]) @ (v - iterates[i]) for i in range(t)
            )

        least = proximal_model(iterates[t])
        for size in (1e-1, 1e-3, 1e-5):
            for _ in range(20):
                v = iterates[t] + size * rng.standard_normal(4)
                assert proximal_model(v) >= least * (1 - 1e-12)
    R = max(norms[:-1].max(), np.linalg.norm(w_best))
    bound = batch.proposition_3(lam, tau, np.linalg.norm(A, axis=0), R)
    assert -1e-12 <= J[:-1].min() - best <= bound
    assert J.min() - best <= 5e-2 * J[0]
    assert batch.lower_bound(A, b, lam) <= best + 1e-12


@pytest.mark.parametrize("lam", [1.0, 1e-3, 1e-6])
def test_lower_bound_is_the_least_of_the_bundle(lam):
    X, y = classes(8, 40, 2)
    oracle = batch.risk_oracle(X, y, HINGE)
    rng = np.random.default_rng(1)
    points = [2 * rng.standard_normal(2) for _ in range(6)]
    A = np.array([oracle(w)[1] for w in points]).T
    b = np.array([oracle(w)[0] - oracle(w)[1] @ w for w in points])
    bound = batch.lower_bound(A, b, lam)

    def model(W):
        return 0.5 * lam * np.sum(W**2, axis=1) + np.maximum(0.0, (W @ A + b).max(axis=1))

    least = zoom(model, 2, 1 / math.sqrt(lam))
    assert bound == pytest.approx(least, rel=1e-6, abs=1e-12)
    assert bound <= batch.optimum(X, y, "hinge", lam)[0]
    assert batch.lower_bound(np.column_stack([A, 0 * A[:, 0]]), np.append(b, 0.0), lam) == (
        pytest.approx(bound, rel=1e-9, abs=1e-13)
    )


# --------------------------------------------------------------------------------- true optima


def mean_loss(name, Z, y, p, tau=0.3, gamma=4.0, delta=1.0, epsilon=0.1):
    """Losses once more, over arrays: Z has one column for each example."""
    r = y - Z
    margin = 1 - y * Z
    each = {
        "hinge": lambda: np.maximum(0, margin),
        "squared_hinge": lambda: np.maximum(0, margin) ** 2,
        "squared": lambda: r**2 / 2,
        "absolute": lambda: np.abs(r),
        "huber": lambda: np.where(np.abs(r) <= delta, r**2 / 2, delta * (np.abs(r) - delta / 2)),
        "epsilon_insensitive": lambda: np.maximum(0, np.abs(r) - epsilon),
        "quantile": lambda: np.maximum(tau * r, (tau - 1) * r),
        "logistic": lambda: np.logaddexp(0, -y * Z),
        "smoothed_hinge": lambda: np.logaddexp(0, gamma * margin) / gamma,
        "poisson": lambda: np.exp(Z) - y * Z + np.where(y > 0, y * np.log(np.maximum(y, 1)) - y, 0),
    }[name]()
    return each @ (p / p.sum())


def zoom(f, d, size, points=41, rounds=70):
    """Least value of a convex f of d <= 2 variables, on ever finer grids around the best point."""
    centre = np.zeros(d)
    for _ in range(rounds):
        line = np.linspace(-size, size, points)
        grid = np.stack(np.meshgrid(*[line] * d), axis=-1).reshape(-1, d) + centre
        values = f(grid)
        centre = grid[np.argmin(values)]
        size *= 0.6
    return float(values.min())


CLASSIFICATION = ("hinge", "squared_hinge", "logistic", "smoothed_hinge")
LOSSES = (
    *CLASSIFICATION,
    "squared",
    "absolute",
    "huber",
    "epsilon_insensitive",
    "quantile",
    "poisson",
)
PARAMS = {"tau": 0.3, "gamma": 4.0}


def targets(name, X, seed):
    rng = np.random.default_rng(seed)
    score = 0.7 + X @ rng.standard_normal(X.shape[1]) + 0.5 * rng.standard_normal(len(X))
    if name in CLASSIFICATION:
        return np.where(score > 0, 1.0, -1.0)
    if name == "poisson":
        return rng.poisson(np.exp(np.clip(score, -3, 2))).astype(float)
    return 2 * score


@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_optimum_against_brute_force(name, intercept, lam):
    d = 1 if intercept else 2
    rng = np.random.default_rng(11)
    X = rng.standard_normal((15, d))
    y = targets(name, X, 12)
    s = rng.integers(0, 3, 15) + 0.5

    def J(V):
        W, b = (V[:, :1], V[:, 1:]) if intercept else (V, 0.0)
        return 0.5 * lam * np.sum(W**2, axis=1) + mean_loss(name, W @ X.T + b, y, s)

    value, w, b = batch.optimum(X, y, name, lam, s=s, intercept=intercept, **PARAMS)
    found = J(np.append(w, b)[None, :] if intercept else w[None, :])[0]
    assert value == pytest.approx(found, rel=1e-11)
    assert (b != 0) == intercept
    least = zoom(J, 2, 8.0)
    assert np.abs(np.append(w, b)).max() < 8  # inside the first grid
    assert value <= least * (1 + 1e-10)
    assert value == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "name", ["squared_hinge", "squared", "huber", "logistic", "smoothed_hinge", "poisson"]
)
def test_smooth_optimum_against_scipy(name, intercept, lam):
    X = 0.5 * np.random.default_rng(21).standard_normal((80, 6))
    y = targets(name, X, 22)
    Z = np.column_stack([X, np.ones(80)]) if intercept else X
    _, slope = batch.scalar_loss(name, **PARAMS)

    def J(v):
        z = Z @ v
        g = Z.T @ np.array([slope(a, t) for a, t in zip(z, y, strict=True)]) / 80
        g[:6] += lam * v[:6]
        value = 0.5 * lam * v[:6] @ v[:6] + mean_loss(name, z[None, :], y, np.ones(80))[0]
        return value, g

    options = {"maxiter": 5000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 30}
    result = minimize(J, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B", options=options)
    value, w, b = batch.optimum(X, y, name, lam, intercept=intercept, **PARAMS)
    assert value == pytest.approx(result.fun, rel=1e-9)
    assert value <= result.fun * (1 + 1e-13)
    np.testing.assert_allclose(np.append(w, b)[: Z.shape[1]], result.x, atol=2e-4)
    assert np.abs(J(np.append(w, b)[: Z.shape[1]])[1]).max() <= 1e-11


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("shape", [(60, 20), (12, 20)])
def test_optimum_for_tiny_lam(name, shape):
    """It does not raise, so its own dual bound is within 1e-8; and J* rises with lam, concavely."""
    X = np.random.default_rng(31).standard_normal(shape)
    y = targets(name, X, 32)
    strengths = 10.0 ** -np.arange(0, 9, 2)
    values = [batch.optimum(X, y, name, lam, intercept=True, **PARAMS)[0] for lam in strengths]
    assert np.all(np.diff(values) <= 0)
    slopes = np.diff(values) / np.diff(strengths)
    assert np.all(np.diff(slopes) >= -1e-7 * np.abs(slopes[1:]))


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_are_subgradients(name):
    value, slope = batch.scalar_loss(name, **PARAMS)
    y = 1.0 if name in CLASSIFICATION else 2.0
    points = np.linspace(-3, 4, 71)
    for z in points:
        for other in points:
            assert value(other, y) >= value(z, y) + slope(z, y) * (other - z) - 1e-12
        expected = mean_loss(name, np.array([[z]]), np.array([y]), np.ones(1))[0]
        assert value(z, y) == pytest.approx(expected, abs=1e-13)


def test_optimum_raises_when_it_cannot_be_sure(monkeypatch):
    X, y = classes(6, 40, 4)
    monkeypatch.setattr(batch, "_dual_value", lambda *a: -np.inf)
    with pytest.raises(ArithmeticError):
        batch.optimum(X, y, "hinge", 1e-2)
