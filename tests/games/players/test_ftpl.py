"""Follow the perturbed leader: its expected regret under MAH Th. 2.11 as mended."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from games.rounds import DOMAINS, OBLIVIOUS, D, flips, kinks, played, random
from stepless.games.costs import ExampleLoss, Linear
from stepless.games.players import FTPL
from stepless.objective import Absolute, Box, L2Ball, Simplex


def _vertex(name, c):
    """By linprog, or by geometry."""
    if name == "ball":
        return -1.5 * c / np.linalg.norm(c)
    eye, ones = np.eye(D), np.ones((1, D))
    given = {
        "box": {"bounds": (-1.0, 2.0)},
        "simplex": {"A_eq": ones, "b_eq": [2.0]},
        "polytope": {
            "A_ub": DOMAINS["polytope"].A,
            "b_ub": DOMAINS["polytope"].b,
            "bounds": (None, None),
        },
    }
    if name == "l1":
        split = linprog(np.concatenate([c, -c]), A_ub=np.ones((1, 2 * D)), b_ub=[1.3]).x
        return np.hstack([eye, -eye]) @ split
    return linprog(c, **given[name]).x


@pytest.mark.parametrize("name", DOMAINS)
def test_every_decision_leads_the_perturbed_costs(name):
    player = FTPL()
    run, _, _ = played(player, DOMAINS[name], D, random, 12, seed=3)
    dice = np.random.default_rng(3).spawn(1)[0]
    noises, total = [1.0, *player.noises], np.zeros(D)
    for t in range(12):
        c = total + noises[t] * (dice.random(D) - 0.5)
        np.testing.assert_allclose(run.plays[t], _vertex(name, c), atol=1e-7)
        g = run.gradients[t]
        total = total + (g - g.mean() if name == "simplex" else g)


@pytest.mark.parametrize("name", DOMAINS)
def test_the_noise_is_made_of_sizes_and_ranges(name):
    domain = DOMAINS[name]
    player = FTPL()
    run, _, _ = played(player, domain, D, random, 12)
    energy = 0.0
    for t, g in enumerate(run.gradients):
        if name == "simplex":
            g = g - g.mean()
        range_ = g @ (_vertex(name, -g) - _vertex(name, g))
        energy += np.abs(g).sum() * range_
        assert math.isclose(player.noises[t] ** 2 * player.kappa, energy, rel_tol=1e-6)


@pytest.mark.parametrize("name", DOMAINS)
def test_kappa_is_above_the_mean_width(name):
    player = FTPL().enter(DOMAINS[name], D)
    dice = np.random.default_rng(0).random((500, D)) - 0.5
    tops = [-DOMAINS[name].floor(-xi) for xi in dice]
    assert np.mean(tops) <= player.kappa + 4.0 * np.std(tops) / math.sqrt(500)
    assert player.kappa <= (4.0 if name == "polytope" else 1.5) * np.mean(tops)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("opponent", OBLIVIOUS)
def test_the_mean_regret_is_within_the_bound(name, opponent):
    domain, rounds, games = DOMAINS[name], 60, 40
    rng = np.random.default_rng(1)
    rows = [opponent(rng, D, np.zeros(D), t) for t in range(rounds)]
    u = _vertex(name, sum(f.c for f in rows) + 1e-9)
    regrets = []
    for seed in range(games):
        player = FTPL()
        run, _, losses = played(player, domain, D, lambda rng, d, w, t: rows[t], rounds, seed)
        regrets.append(np.cumsum(losses - np.array([f.value(u) for f in rows])))
    mean, spread = np.mean(regrets, axis=0), np.std(regrets, axis=0) / math.sqrt(games)
    assert (mean <= player.bound(run, u) + 4.0 * spread + 1e-9).all()


def test_the_bound_is_no_triviality():
    """Costs that turn just after the leader has: a quarter of the bound is met."""
    regrets = []
    for seed in range(30):
        player = FTPL()
        run, _, losses = played(player, Box(-1.0, 1.0), 1, flips, 400, seed)
        regrets.append(losses.sum() + abs(run.gradients.sum()))
    assert np.mean(regrets) > 0.1 * player.bound(run, np.ones(1))[-1]


def test_the_bound_grows_as_a_root():
    player = FTPL()
    run, _, _ = played(player, Simplex(), D, random, 4000)
    bound = player.bound(run, np.eye(D)[0])
    assert bound[-1] < 2.2 * bound[999]
    most = 2.0 * np.sqrt(player.kappa * player.energy)  # without what unknown sizes cost
    assert most <= bound[-1] < 1.1 * most


def test_costs_that_are_not_linear_have_no_bound():
    """|w| over [−1, 1]: each vertex costs 1, and 0 costs nothing."""
    cost = ExampleLoss(Absolute(), [1.0], 0.0)
    player = FTPL()
    run, _, losses = played(player, Box(-1.0, 1.0), 1, lambda rng, d, w, t: cost, 50)
    assert losses.sum() == 50.0
    assert np.isinf(player.bound(run, np.zeros(1))).all()
    player = FTPL()
    run, _, _ = played(
        player, Simplex(), D, lambda rng, d, w, t: (random if t < 5 else kinks)(rng, d, w, t), 9
    )
    np.testing.assert_array_equal(np.isinf(player.bound(run, np.eye(D)[0])), np.arange(9) >= 5)


def test_the_same_seed_is_the_same_game_and_the_scale_does_not_matter():
    def scaled(by):
        return lambda rng, d, w, t: Linear(by * rng.normal(size=d))

    once, _, _ = played(FTPL(), L2Ball(1.0), D, scaled(1.0), seed=7)
    again, _, _ = played(FTPL(), L2Ball(1.0), D, scaled(1.0), seed=7)
    np.testing.assert_array_equal(again.plays, once.plays)
    again, _, _ = played(FTPL(), L2Ball(1.0), D, scaled(1e6), seed=7)
    np.testing.assert_allclose(again.plays, once.plays, atol=1e-9)


def test_costs_of_the_same_seed_are_not_the_players_dice():
    """Else the costs would be what it has thrown, and its expected regret −T/10."""
    rows = np.random.default_rng(0).uniform(size=(2000, 30))
    _, _, losses = played(FTPL(), Simplex(), 30, lambda rng, d, w, t: Linear(rows[t]), 2000)
    assert losses.sum() - rows.sum(axis=0).min() > 0.0
