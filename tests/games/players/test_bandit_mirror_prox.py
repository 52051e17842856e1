import numpy as np
import pytest

from games.argmin import argmin
from games.bandit_rounds import regrets
from games.rounds import DOMAINS, LINEAR, D, drifting_bowls, random, steady
from stepless.games import Game
from stepless.games.costs import Quadratic
from stepless.games.players import BanditMirrorProx, Run
from stepless.objective import Box, L2Ball, Simplex


def bowls_against(rng, d, w, t):
    """A bowl around the point opposite to the decision."""
    return Quadratic.around(-w / max(np.linalg.norm(w), 1e-3), 3.0)


@pytest.mark.parametrize("domain", [L2Ball(1.0), Simplex(2.0)], ids=repr)
def test_estimate_is_within_5_22(domain):
    rng = np.random.default_rng(1)
    player = BanditMirrorProx().enter(domain, 4)
    k = 3 if isinstance(domain, Simplex) else 4
    for _ in range(100):
        A = rng.normal(size=(4, 4))
        cost = Quadratic(A.T @ A, rng.normal(size=4))
        w, delta = player.play()[0], player.delta
        player.observe(cost)
        slope = cost.gradient(w)
        if isinstance(domain, Simplex):
            slope = slope - slope.mean()
        off = np.linalg.norm(player.g - slope)
        assert off <= 0.5 * np.sqrt(k) * cost.smoothness * delta + 1e-9


def test_5_22_is_attained_by_a_round_bowl():
    player = BanditMirrorProx().enter(L2Ball(1.0), 4)
    cost = Quadratic.around(np.ones(4), 3.0)
    player.observe(cost)
    off = np.linalg.norm(player.g - cost.gradient(np.zeros(4)))
    assert np.isclose(off, 0.5 * np.sqrt(4) * 3.0 * 0.5)  # δ_1 = ½


@pytest.mark.parametrize("domain", [L2Ball(1.0), Box(-0.2, 0.6), Simplex(2.0)], ids=repr)
def test_points_are_the_argmins_of_algorithm_6(domain):
    player, rng = BanditMirrorProx().enter(domain, 3), np.random.default_rng(3)
    center = player.z
    z, g, h, squares = center, np.zeros(3), 0.0, 0.0

    def nearest(g, h, share):
        keep = 1.0 - share
        x = argmin(domain, keep * (g + h * (share * center - z)), H=h * keep**2)
        return center + keep * (x - center)

    for t in range(1, 13):
        cost = Quadratic.around(rng.normal(size=3), 1.0 + t % 3)
        if h > 0.0:
            np.testing.assert_allclose(player.w, nearest(g, h, 0.5 / t), atol=1e-8)  # step 4
        player.observe(cost)
        squares += np.sum((player.g - g) ** 2)
        g, h = player.g, np.sqrt(2.0 * squares) / player.diameter
        z = nearest(g, h, 0.5 / t)  # step 6
        np.testing.assert_allclose(player.z, z, atol=1e-8)


@pytest.mark.parametrize("name", DOMAINS)
def test_regret_is_within_the_bound(name):
    for opponent in (*LINEAR, drifting_bowls, bowls_against):
        for seed in range(3):
            regret, bound, losses = regrets(
                BanditMirrorProx(), DOMAINS[name], D, opponent, 60, seed
            )
            size = np.cumsum(np.abs(losses)) + np.abs(bound)
            assert ((regret - bound) <= 1e-10 * size).all(), (opponent.__name__, seed)


def test_error_of_the_estimates_counts():
    """Bowls whose difference quotients are 0: the player stays, and each round loses by (5.22)."""
    d, T, losses = 400, 50, []
    player = BanditMirrorProx().enter(L2Ball(1.0), d)
    u = 1e-3 * np.ones(d) / np.sqrt(d)
    plays, G = [], 0.0
    for _ in range(T):
        cost = Quadratic(1.0, -(player.w + 0.5 * player.delta))
        G = max(G, np.linalg.norm(cost.c) + 1.0)
        plays.append(player.w)
        losses.append(cost.value(player.w) - cost.value(u))
        player.observe(cost)
        assert np.abs(player.g).max() < 1e-9
    player.lipschitz, player.smoothness = G, 1.0
    run = Run(np.array(plays), np.zeros((T, d)))
    regret, bound = np.cumsum(losses), player.bound(run, u)
    assert (regret <= bound + 1e-12).all()
    player.smoothness = 0.0
    assert regret[-1] > player.bound(run, u)[-1]


def test_bound_is_sharp():
    shares = []
    for opponent in LINEAR:
        regret, bound, _ = regrets(BanditMirrorProx(), L2Ball(1.0), 3, opponent, 300)
        shares.append((regret[:, -1] / bound[:, -1]).max())
    assert max(shares) > 0.8
    assert np.median(shares) > 0.3


def test_costs_that_stay_the_same_leave_a_logarithm():
    u = np.array([0.6, -0.8])
    costs = [Quadratic.around(2.0 * u)] * 8000
    ledger = Game(BanditMirrorProx(lipschitz=3.0, smoothness=1.0), L2Ball(1.0)).run(costs)
    assert ledger.holds
    # twice as many rounds, log 2 more, in the regret and in the bound
    grown = np.diff(ledger.bound[[999, 1999, 3999, 7999]])
    assert (grown < 1.3 * grown[0]).all()
    assert grown[-1] < 6.0
    assert np.diff(ledger.regret[[999, 1999, 3999, 7999]]).max() < 2.0


def test_both_constants_are_needed():
    costs = [steady(None, 2, None, 0)] * 3
    for given in ({"lipschitz": 1.0}, {"smoothness": 1.0}):
        assert np.isinf(Game(BanditMirrorProx(**given), L2Ball(1.0)).run(costs).bound).all()


def test_no_dice():
    costs = [random(np.random.default_rng(t), 3, None, t) for t in range(30)]
    plays = [Game(BanditMirrorProx(), Simplex(), seed=s).run(costs).plays for s in (0, 1)]
    np.testing.assert_array_equal(*plays)
