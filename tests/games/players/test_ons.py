"""ONS: its steps by clarabel, its curvature by brute force, its regret under MAH Th. 2.14."""

import lzma
import math
import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from games import rounds
from games.argmin import argmin
from games.rounds import played, worst
from stepless import L1, Box, L2Ball, Simplex
from stepless.games.costs import Growth, Linear, Quadratic
from stepless.games.players.ons import ONS
from stepless.objective import Nonnegative

DOMAINS = [Simplex(), L2Ball(2.0), Box(-1.0, 0.5)]
DATA = Path(os.environ.get("STEPLESS_DATA", Path(__file__).parents[4] / "shared" / "data"))


def growth(rng, d, w, t):
    return Growth(np.exp(0.3 * rng.normal(size=d)))


def crash(rng, d, w, t):
    """What is held most is lost, or pays fifty times, against the next."""
    r = np.ones(d)
    r[np.argmax(w)] = 0.01 if t % 3 else 50.0
    return Growth(r)


def centred(domain, g):
    return g - g.mean() if isinstance(domain, Simplex) else g


@pytest.mark.parametrize(
    ("domain", "opponent"),
    [
        *product(DOMAINS, [rounds.random, rounds.drifting_bowls]),
        (Simplex(), growth),
        (Simplex(3.0), growth),
    ],
)
def test_update_is_the_argmin(domain, opponent):
    d, player = 5, ONS()
    run, costs, _ = played(player, domain, d, opponent, rounds=25)
    A, M = np.zeros((d, d)), np.zeros((d, d))
    corners = _corners(domain, d)
    for t, (w, g, f) in enumerate(zip(run.plays[:-1], run.gradients[:-1], costs, strict=False)):
        g = centred(domain, g)
        beta = f.strength / (g @ g)
        if f.exp_concavity:
            a = f.exp_concavity * max(g @ (w - u) for u in corners)
            beta = f.exp_concavity * 2.0 * (a - math.log(1.0 + a)) / a**2
        M += beta * np.outer(g, g)
        A = M + sum(player.added[: t + 1]) * np.eye(d)
        np.testing.assert_allclose(player.duals[t], g @ np.linalg.solve(A, g), rtol=1e-8)
        np.testing.assert_allclose(player.added[t] * player.square, player.duals[t], rtol=1e-6)
        v = argmin(domain, g - A @ w, H=A)
        np.testing.assert_allclose(run.plays[t + 1], v, atol=1e-8 * max(1.0, np.abs(v).max()))


def _corners(domain, d):
    if isinstance(domain, Simplex):
        return domain.bound * np.eye(d)
    return np.zeros((1, d))


def test_curvature_is_the_largest_that_holds():
    rng = np.random.default_rng(0)
    player = ONS().enter(Simplex(), 4)
    for _ in range(50):
        player.w = rng.dirichlet(np.full(4, 0.5))
        f = Growth(np.exp(rng.normal(size=4)))
        g = f.gradient(player.w)
        beta = player.curvature(g, f)
        u = np.vstack([np.eye(4), rng.dirichlet(np.full(4, 0.3), size=200)])
        z = (u - player.w) @ g
        above = np.array([f.value(v) for v in u]) - f.value(player.w) - z - 0.5 * beta * z**2
        assert above.min() >= -1e-12
        assert above[z.argmin()] == pytest.approx(0.0, abs=1e-11)  # prices: exp(−f) is linear


def test_small_widths_lose_no_digits():
    player = ONS().enter(Simplex(), 2)
    for size in 10.0 ** np.arange(-12.0, 0.0, 0.1):
        f = Growth([1.0 + size, 1.0 - size])
        a = size
        assert player.curvature(f.gradient(player.w), f) == pytest.approx(
            1.0 - 2 * a / 3 + a**2 / 2 - 2 * a**3 / 5 + a**4 / 3 - 2 * a**5 / 7, rel=1e-10 + a**5
        )


def test_given_concavity_replaces_the_costs_own():
    f = Linear([1.0, -1.0])
    assert ONS().enter(Simplex(), 2).curvature(f.c, f) == 0.0
    assert ONS(exp_concavity=0.5).enter(Simplex(), 2).curvature(f.c, f) > 0.3


@pytest.mark.parametrize(
    ("domain", "opponent"),
    [
        *product([*DOMAINS, Simplex(3.0)], [*rounds.LINEAR, *rounds.CONVEX]),
        *product([Simplex(), Simplex(3.0)], [growth, crash]),
    ],
)
def test_regret_is_within_the_bound(domain, opponent):
    for seed in range(3):
        over, _ = worst(ONS(), domain, 4, opponent, seed=seed)
        assert over <= 1e-10


def test_bound_is_sharp():
    assert worst(ONS(), Simplex(), 4, rounds.against)[1] > 0.1
    assert worst(ONS(), L2Ball(1.0), 4, rounds.growing)[1] > 0.3


def test_ridge_is_within_twice_the_best_of_hindsight():
    d, player = 4, ONS()
    run, costs, _ = played(player, Simplex(), d, growth, rounds=200)
    G = run.gradients - run.gradients.mean(axis=1, keepdims=True)
    weights = []
    for w, g, f in zip(run.plays, G, costs, strict=True):
        player.w = w
        weights.append(player.curvature(g, f))

    def fixed(log_ridge):
        A, total = math.exp(log_ridge) * np.eye(d), math.exp(log_ridge) * player.square
        for beta, g in zip(weights, G, strict=True):
            A = A + beta * np.outer(g, g)
            total += g @ np.linalg.solve(A, g)
        return 0.5 * total

    best = minimize_scalar(fixed, bounds=(-8.0, 8.0), method="bounded").fun
    balanced = 0.5 * (sum(player.added) * player.square + sum(player.duals))
    assert best < balanced <= 2.0 * best


def test_regret_is_logarithmic_where_costs_curve():
    played(player := ONS(), Simplex(), 3, growth, rounds=4000)
    sums = np.cumsum(player.duals)
    # each fourfold adds about as much; √t would double it
    assert sums[3999] - sums[999] < 1.3 * (sums[999] - sums[249])


def test_only_the_difference_of_costs_counts_in_a_simplex():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 3))
    plays = []
    for level in (0.0, 100.0):
        player = ONS().enter(Simplex(), 3)
        for row in rows:
            player.observe(row + level)
        plays.append(player.play())
    np.testing.assert_allclose(*plays, atol=1e-10)


def test_one_corner_is_a_game_too():
    player = ONS().enter(Simplex(), 1)
    player.observe([3.0])
    np.testing.assert_array_equal(player.play(), [1.0])
    assert player.added == [0.0]


def test_strong_convexity_counts():
    played(player := ONS(), L2Ball(1.0), 2, rounds.drifting_bowls, rounds=50)
    assert np.trace(player.curved) > 0.0
    f = Quadratic.around([0.5, 0.0], 4.0)
    g = f.gradient(player.w)
    assert player.curvature(g, f) == pytest.approx(4.0 / (g @ g))


def test_wealth_on_the_old_stock_exchange():
    path = DATA / "portfolio-nyse_o.csv.xz"
    if not path.exists():
        pytest.skip("the data are not here")
    with lzma.open(path, "rt") as lines:
        prices = np.loadtxt(lines, delimiter=",", skiprows=1)
    R = np.vstack([prices[:1], prices[1:] / prices[:-1]])
    player = ONS().enter(Simplex(), R.shape[1])
    wealth = 1.0
    for r in R:
        wealth *= r @ player.play()
        player.observe(Growth(r))
    assert wealth > 36.0 > np.prod(R.mean(axis=1))


def test_refusals():
    with pytest.raises(ValueError, match="exp_concavity must be at least 0"):
        ONS(exp_concavity=-1.0)
    with pytest.raises(ValueError, match="distance must be positive"):
        ONS(distance=0.0)
    with pytest.raises(ValueError, match="ons takes no penalty"):
        ONS().enter(Simplex(), 2, penalty=L1(1.0))
    with pytest.raises(ValueError, match="ons needs a bounded domain"):
        ONS().enter(Nonnegative(), 2)
