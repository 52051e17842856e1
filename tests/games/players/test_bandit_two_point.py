import numpy as np
import pytest

from games.argmin import argmin
from games.bandit_rounds import corners, expected
from games.rounds import against, random, steady
from stepless.games import Game
from stepless.games.costs import Linear, Quadratic
from stepless.games.players import BanditTwoPoint
from stepless.objective import Box, L2Ball, Simplex


def estimates(player, value, draws=20_000):
    found = []
    for _ in range(draws):
        player.prepare()
        found.append(player.estimate(np.array([value(v) for v in player.points])))
    return np.array(found)


def begun(domain, d):
    player = BanditTwoPoint().enter(domain, d)
    for c in np.random.default_rng(1).normal(size=(3, d)):
        player.observe(player.play() @ c)
    return player


@pytest.mark.parametrize("domain", [L2Ball(1.0), Simplex(2.0)], ids=repr)
def test_estimate_is_the_gradient_of_the_smoothed_cost(domain):
    player = begun(domain, 3)
    cost = Quadratic([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]], [2.0, -2.0, 0.5], 900.0)
    wanted = cost.gradient(player.z)
    if isinstance(domain, Simplex):
        wanted -= wanted.mean()
    found = estimates(player, cost.value)
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - wanted) <= 4.5 * error).all()
    assert error.max() < 0.02 * np.linalg.norm(wanted)


def test_estimate_is_no_longer_than_k_times_the_slope():
    player, c = begun(L2Ball(1.0), 5), np.arange(5.0)
    found = estimates(player, lambda w: c @ w, 200)
    assert np.linalg.norm(found, axis=1).max() <= 5.0 * np.linalg.norm(c) * (1.0 + 1e-9)


@pytest.mark.parametrize("domain", [L2Ball(1.0), Box(-0.2, 0.6), Simplex(2.0)], ids=repr)
def test_steps_are_argmins_over_the_shrunk_domain(domain):
    player, rng = BanditTwoPoint().enter(domain, 3), np.random.default_rng(3)
    squares = 0.0
    k = 2 if isinstance(domain, Simplex) else 3
    for t in range(1, 13):
        z, (a, b), share = player.z, player.play(), 0.5 / t
        np.testing.assert_allclose((a + b) / 2.0, z, atol=1e-15)
        np.testing.assert_array_equal(player.w, z)
        values = rng.normal(size=2)
        player.observe(values)
        g = k * (values[0] - values[1]) * (a - b) / np.sum((a - b) ** 2)
        np.testing.assert_allclose(player.g, g, rtol=1e-7, atol=1e-9)
        squares += g @ g
        h, keep = np.sqrt(2.0 * squares) / player.diameter, 1.0 - share
        x = argmin(domain, keep * (g + h * (share * player.interior_point - z)), H=h * keep**2)
        np.testing.assert_allclose(
            player.z, player.interior_point + keep * (x - player.interior_point), atol=1e-8
        )


def test_bound_is_sharp():
    shares = []
    for opponent in (random, against, steady):
        _, _, regret, bound = expected(
            BanditTwoPoint, L2Ball(1.0), 3, opponent, 200, 6, corners(L2Ball(1.0), 3)
        )
        shares.append((regret / bound)[:, -1].max())
    assert max(shares) > 0.3


def test_bound_grows_as_in_the_theorem():
    T, G, D, k = 10_000, 1.0, 2.0, 2
    ledger = Game(BanditTwoPoint(lipschitz=G), L2Ball(1.0)).run(
        [Linear([(-1.0) ** (t // 3), 0.0]) for t in range(T)]
    )
    assert ledger.bound[-1] <= np.sqrt(2.0) * k * G * D * np.sqrt(T) + np.log(T) + 20.0
    assert ledger.regret[-1] <= ledger.bound[-1]
    slope = np.log(ledger.bound[-1] / ledger.bound[99]) / np.log(100.0)
    assert 0.4 < slope < 0.55
