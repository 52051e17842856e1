import numpy as np
import pytest
from scipy.stats import beta

from games.argmin import argmin
from games.bandit_rounds import corners, expected
from games.rounds import steady
from stepless.games import Game
from stepless.games.costs import Linear, Quadratic
from stepless.games.players import BanditOnePoint
from stepless.objective import Box, L2Ball, Simplex

DRAWS = 20_000


def estimates(player, value, draws=DRAWS):
    """Estimates of one state, from many directions."""
    kept, found = player.sum, []
    for _ in range(draws):
        player.prepare()
        player.sum = kept
        player.t += 1
        found.append(player.estimate(np.array([value(player.points)])))
        player.t -= 1
    return np.array(found)


def agree(found, wanted):
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - wanted) <= 4.5 * error).all()
    assert error.max() < 0.15 * np.linalg.norm(wanted)  # a wrong factor would show


def begun(domain, d):
    player = BanditOnePoint().enter(domain, d)
    for c in np.random.default_rng(1).normal(size=(30, d)):
        player.observe([10.0 + c @ player.play()])
    return player


def test_estimate_is_the_gradient_of_the_smoothed_quadratic():
    player = begun(L2Ball(1.0), 3)
    cost = Quadratic([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]], [2.0, -2.0, 0.5], 9.0)
    agree(estimates(player, cost.value), cost.gradient(player.z))


def test_estimate_is_the_gradient_of_the_smoothed_kink():
    player, a = begun(L2Ball(1.0), 4), np.array([3.0, 0.0, 0.0, 0.0])
    player.z = np.array([0.1, 0.2, 0.0, -0.1])
    below = beta(2.5, 2.5).cdf((1.0 - 0.1 / player.delta) / 2.0)  # v_1 < −0.1/δ in the unit ball
    assert 0.01 < below < 0.49
    found = estimates(player, lambda w: abs(a @ w) + 9.0)
    agree(found, a * (1.0 - 2.0 * below))


def test_estimate_in_a_simplex_is_the_gradient_along_it():
    player, c = begun(Simplex(2.0), 4), np.array([4.0, -3.0, 1.0, 2.0])
    found = estimates(player, lambda w: c @ w)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-9)
    agree(found, c - c.mean())


@pytest.mark.parametrize("domain", [L2Ball(1.0), Box(-0.2, 0.6), Simplex(2.0)], ids=repr)
def test_steps_are_argmins_over_the_shrunk_domain(domain):
    player, rng = BanditOnePoint().enter(domain, 3), np.random.default_rng(3)
    squares, sums = 0.0, []
    for t in range(1, 13):
        z, s, share, delta = player.z, player.s, player.share, player.delta
        np.testing.assert_allclose(player.play(), z + delta * s, atol=1e-15)
        assert np.isclose(np.linalg.norm(s), 1.0)
        value = rng.normal()
        player.observe([value])
        k = 2 if isinstance(domain, Simplex) else 3
        g = k / delta * (value - np.mean(sums)) * s if t > 1 else np.zeros(3)
        sums.append(value)
        np.testing.assert_allclose(player.g, g, atol=1e-9)
        squares += g @ g
        if t == 1:
            np.testing.assert_array_equal(player.z, z)
            continue
        h, keep = np.sqrt(2.0 * squares) / player.diameter, 1.0 - share
        x = argmin(domain, keep * (g + h * (share * player.interior_point - z)), H=h * keep**2)
        np.testing.assert_allclose(
            player.z, player.interior_point + keep * (x - player.interior_point), atol=1e-8
        )


def test_bound_is_no_triviality():
    _, _, regret, bound = expected(
        BanditOnePoint, L2Ball(1.0), 2, steady, 2000, 4, corners(L2Ball(1.0), 2)
    )
    assert bound[2, -1] < 2.5 * 2000
    assert regret.max(axis=0)[-1] > 0.05 * bound.max(axis=0)[-1]


def test_bound_grows_as_in_the_theorem():
    ledger = Game(BanditOnePoint(lipschitz=1.0, spread=1.0), L2Ball(1.0)).run(
        [Linear([(-1.0) ** (t // 3), 0.0]) for t in range(16_000)]
    )
    slope = np.log(ledger.bound[-1] / ledger.bound[999]) / np.log(16.0)
    assert 0.70 < slope < 0.80
    C, D, k, r = 1.0, 2.0, 2, 1.0
    assert ledger.bound[-1] < 2.5 * np.sqrt(k * C * D * (1.0 + D / r)) * 16_000**0.75


def test_what_all_costs_have_in_common_does_not_matter():
    costs = np.random.default_rng(7).normal(size=(80, 3))
    plays = [
        Game(BanditOnePoint(), L2Ball(1.0)).run([Quadratic(0.0, c, k) for c in costs]).plays
        for k in (0.0, 1000.0)
    ]
    np.testing.assert_allclose(*plays, atol=1e-7)
