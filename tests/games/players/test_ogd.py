"""Online gradient descent: its steps by clarabel, its regret under MAH Th. 2.8, 2.9, over Th. 5.1."""

import math

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, DOMAINS, LINEAR, D, drifting_bowls, played, random, worst
from stepless.games.costs import ExampleLoss, Linear
from stepless.games.players import FTRL, OGD
from stepless.objective import L1, Absolute, L2Ball


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("strength", [None, 2.0])
def test_every_step_is_a_projection(name, strength):
    domain = DOMAINS[name]
    player = OGD(strength=strength)
    run, _, _ = played(player, domain, D, random, 15)
    for t in range(14):
        h = player.inverse_steps[t]
        step = argmin(domain, run.gradients[t] - h * run.plays[t], H=h)
        np.testing.assert_allclose(run.plays[t + 1], step, atol=1e-8)


def test_the_heights_are_those_of_the_theorems():
    player = OGD()
    run, _, _ = played(player, DOMAINS["ball"], D, random, 50)
    steepest = np.maximum.accumulate(np.linalg.norm(run.gradients, axis=1))
    np.testing.assert_allclose(player.inverse_steps, steepest * np.sqrt(np.arange(1, 51)) / 3.0)
    player = OGD(lipschitz=100.0)
    played(player, DOMAINS["ball"], D, random, 50)
    np.testing.assert_allclose(player.inverse_steps, 100.0 * np.sqrt(np.arange(1, 51)) / 3.0)
    player = OGD(strength=2.0)
    played(player, DOMAINS["ball"], D, random, 50)
    np.testing.assert_allclose(player.inverse_steps, 2.0 * np.arange(1, 51))


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("strength", [None, 1.0])
def test_regret_is_within_the_bound_and_the_bound_no_triviality(name, strength):
    share = -np.inf
    for opponent in (*LINEAR, *CONVEX):
        for seed in range(4):
            over, near = worst(OGD(strength=strength), DOMAINS[name], D, opponent, 80, seed)
            assert over < 1e-12, opponent
            share = max(share, near)
    assert share > (0.8 if strength is None else 0.3)


@pytest.mark.parametrize("opponent", LINEAR)
def test_the_bound_is_at_most_the_printed_one(opponent):
    player = OGD()
    run, _, _ = played(player, DOMAINS["ball"], D, opponent)
    steepest = np.maximum.accumulate(np.linalg.norm(run.gradients, axis=1))
    t = np.arange(1, len(steepest) + 1)
    # Σ‖g‖²/h is at most D Σ G_s/√s ≤ 2 D G √t
    most = 1.5 * 3.0 * steepest * np.sqrt(t)
    for u in np.random.default_rng(0).normal(size=(5, D)):
        DOMAINS["ball"].project(u)
        assert (player.bound(run, u) <= most * (1.0 + 1e-12)).all()


def test_strongly_convex_costs_leave_a_logarithm():
    player = OGD(strength=1.0)  # the bowls have 1 to 5
    run, _, _ = played(player, DOMAINS["ball"], D, drifting_bowls, 1000)
    G = np.linalg.norm(run.gradients, axis=1).max()
    u = np.full(D, 0.3)
    t = np.arange(1, 1001)
    assert (player.bound(run, u) <= G**2 * (1.0 + np.log(t)) / 2.0).all()  # (2.6), halved
    assert player.theorem == "MAH Theorem 2.9"
    assert OGD().theorem == "MAH Theorem 2.8"


def test_the_scale_of_costs_does_not_matter():
    def scaled(by):
        return lambda rng, d, w, t: Linear(by * rng.normal(size=d))

    once, _, _ = played(OGD(), DOMAINS["simplex"], D, scaled(1.0))
    for by in (1e6, 1e-6):
        again, _, _ = played(OGD(), DOMAINS["simplex"], D, scaled(by))
        np.testing.assert_allclose(again.plays, once.plays, atol=1e-9)


def test_costs_of_nothing_move_nothing():
    player = OGD()
    run, _, _ = played(player, DOMAINS["simplex"], D, lambda rng, d, w, t: Linear(np.ones(d)), 9)
    np.testing.assert_allclose(run.plays, 0.5, atol=1e-15)
    assert not player.bound(run, np.array([2.0, 0.0, 0.0, 0.0])).any()


def _lower_bound_construction(player, rounds):
    """Th. 5.1, Case II: f until w has gone to −f, then −f until it is back; losses and the f_t."""
    player.enter(L2Ball(1.0), 1)
    losses, signs, sign = [], [], 1.0
    for _ in range(rounds):
        w = float(player.play()[0])
        if (sign > 0.0 and w <= -1.0 + 1e-9) or (sign < 0.0 and w >= 0.0):
            sign = -sign
        player.observe([sign])
        losses.append(sign * w)
        signs.append(sign)
    return np.cumsum(losses), np.array(signs)


@pytest.mark.parametrize("player", [OGD(), FTRL()])
def test_turning_costs_leave_a_regret_of_root_t(player):
    losses, signs = _lower_bound_construction(player, 10_000)
    for T in (100, 1000, 10_000):
        regret = losses[T - 1] + abs(signs[:T].sum())
        variation = 1.0 + (np.diff(signs[:T]) ** 2).sum()
        assert regret >= 0.2 * math.sqrt(T)
        assert regret >= 0.05 * min(variation, math.sqrt(T))


def test_identical_costs_with_a_kink_leave_a_regret_of_root_t():
    cost = ExampleLoss(Absolute(), [1.0], 1.0 / math.pi)
    _, _, losses = played(OGD(), L2Ball(1.0), 1, lambda rng, d, w, t: cost, 10_000)
    regret = np.cumsum(losses)  # the best decision loses nothing
    for T in (100, 1000, 10_000):
        assert 0.3 <= regret[T - 1] / math.sqrt(T) <= 3.0


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="strength must be positive, not 0"):
        OGD(strength=0.0)
    with pytest.raises(ValueError, match="lipschitz must be positive, not -1"):
        OGD(lipschitz=-1.0)
    with pytest.raises(ValueError, match="ogd takes no penalty"):
        OGD().enter(L2Ball(1.0), 2, penalty=L1(0.1))
