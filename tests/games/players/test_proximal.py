"""Proximal: its steps by clarabel, its regret under DLF Th. 1, 2."""

import numpy as np
import pytest

from games import rounds
from games.argmin import argmin
from games.rounds import played, worst
from stepless import L1, Box, L2Ball, Simplex
from stepless.games.costs import Linear
from stepless.games.players.proximal import Proximal, balancing_curvature
from transcriptions import online

DOMAINS = [Simplex(), L2Ball(2.0), Box(-1.0, 0.5)]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("opponent", [rounds.random, rounds.drifting_bowls])
def test_update_is_the_argmin(domain, opponent):
    player = Proximal()
    run, costs, _ = played(player, domain, 5, opponent, rounds=20)
    rho, S = 0.5 * player.diameter, 0.0
    for t, (w, g, f) in enumerate(zip(run.plays[:-1], run.gradients[:-1], costs, strict=False)):
        if isinstance(domain, Simplex):
            g = g - g.mean()
        S += f.strength
        tau = 0.5 * (-S + np.sqrt(S**2 + g @ g / rho**2))  # DLF Alg. 2
        S += tau
        assert player.added[t] == pytest.approx(tau, rel=1e-9, abs=1e-14)
        v = argmin(domain, g - S * w, H=S)
        np.testing.assert_allclose(run.plays[t + 1], v, atol=1e-8)


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_second_strategy_is_that_of_theorem_2(strength):
    G, T, rho = 3.0, 60, 2.0

    def steep(rng, d, w, t):
        return Linear(G * np.eye(d)[t % d])

    player = Proximal(strength, lipschitz=G, horizon=T)
    played(player, L2Ball(rho), 3, steep, rounds=T)
    assert player.theorem == "DLF Theorem 2"
    assert player.added[0] == pytest.approx(online.best_tau(G, strength, rho, T), rel=1e-3)
    assert player.added[1:] == [0.0] * (T - 1)
    most = 0.5 * (4.0 * rho**2 * sum(player.added) + sum(player.steps))
    assert most <= online.theorem_2_best(G, strength, rho, T) * (1.0 + 1e-6)


@pytest.mark.parametrize("strength", [0.0, 0.5])
@pytest.mark.parametrize("opponent", [rounds.random, rounds.scales, rounds.drifting_bowls])
def test_balance_is_within_twice_the_best_of_hindsight(strength, opponent):
    rho, T = 2.0, 80
    player = Proximal(strength)
    run, _, _ = played(player, L2Ball(rho), 4, opponent, rounds=T)
    lengths = np.linalg.norm(run.gradients, axis=1)
    allowed = online.corollary_1(lengths, strength, player.added, rho)
    assert allowed <= online.theorem_1(lengths, strength, rho, T) * (1.0 + 1e-9)
    for u in rounds.rivals(L2Ball(rho), 4, run):
        assert player.bound(run, u)[-1] <= allowed * (1.0 + 1e-9)


@pytest.mark.parametrize("domain", [*DOMAINS, Simplex(3.0)])
@pytest.mark.parametrize("opponent", [*rounds.LINEAR, *rounds.CONVEX])
def test_regret_is_within_the_bound(domain, opponent):
    for seed, player in enumerate(
        [Proximal(), Proximal(radius=0.1), Proximal(lipschitz=1.0, horizon=40)]
    ):
        assert worst(player, domain, 4, opponent, seed=seed)[0] <= 1e-10


def test_bound_is_sharp():
    assert worst(Proximal(), L2Ball(1.0), 4, rounds.growing)[1] > 0.4
    assert worst(Proximal(), Simplex(), 4, rounds.against)[1] > 0.2


def test_strength_is_the_costs_own_or_given():
    played(own := Proximal(), L2Ball(1.0), 2, rounds.drifting_bowls, rounds=10)
    played(none := Proximal(0.0), L2Ball(1.0), 2, rounds.drifting_bowls, rounds=10)
    assert own.inverse_step > 1.5 * none.inverse_step
    assert sum(own.added) < sum(none.added)


def test_curvature_does_not_cancel():
    # τ(S + τ) = c/4, of which ½(−S + √(S² + c)) would leave nothing
    assert balancing_curvature(1e9, 1.0) == pytest.approx(0.25e-9, rel=1e-12)
    assert balancing_curvature(0.0, 4.0) == 1.0
    assert balancing_curvature(0.0, 0.0) == 0.0


def test_refusals():
    with pytest.raises(ValueError, match="strength must be at least 0"):
        Proximal(-1.0)
    with pytest.raises(ValueError, match="radius must be positive"):
        Proximal(radius=0.0)
    with pytest.raises(ValueError, match="of use together"):
        Proximal(horizon=10)
    with pytest.raises(ValueError, match="proximal takes no penalty"):
        Proximal().enter(Simplex(), 2, penalty=L1(1.0))
