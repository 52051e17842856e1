"""Adaptive: its steps by clarabel, its regret under Bartlett et al. and DLF footnote 3."""

import numpy as np
import pytest

from games import rounds
from games.argmin import argmin
from games.rounds import played, worst
from stepless import L1, Box, L2Ball, Simplex
from stepless.games.players.adaptive import Adaptive
from stepless.objective import Polytope
from transcriptions import online

DOMAINS = [Simplex(), L2Ball(2.0), Box(-1.0, 0.5)]
REACHES = [np.sqrt(0.8), 2.0, np.sqrt(5.0)]


@pytest.mark.parametrize(("domain", "rho"), list(zip(DOMAINS, REACHES, strict=True)))
@pytest.mark.parametrize("opponent", [rounds.random, rounds.drifting_bowls])
def test_update_is_the_argmin(domain, rho, opponent):
    player = Adaptive()
    run, costs, _ = played(player, domain, 5, opponent, rounds=20)
    first, S = run.plays[0], 0.0
    for t, (w, g, f) in enumerate(zip(run.plays[:-1], run.gradients[:-1], costs, strict=False)):
        if isinstance(domain, Simplex):
            g = g - g.mean()
        S += f.strength
        tau = 0.5 * (-S + np.sqrt(S**2 + 8.0 * (g @ g) / (3.0 * rho**2)))
        S += tau
        assert player.added[t] == pytest.approx(tau, rel=1e-9, abs=1e-14)
        v = argmin(domain, g + tau * (w - first) - S * w, H=S)
        np.testing.assert_allclose(run.plays[t + 1], v, atol=1e-8)


@pytest.mark.parametrize("strength", [0.0, 0.5])
@pytest.mark.parametrize("opponent", [rounds.random, rounds.scales, rounds.drifting_bowls])
def test_bound_is_within_the_footnote(strength, opponent):
    rho, T = 2.0, 80
    player = Adaptive(strength)
    run, _, _ = played(player, L2Ball(rho), 4, opponent, rounds=T)
    lengths = np.linalg.norm(run.gradients, axis=1)
    allowed = online.adaptive_bound(lengths, strength, rho, T)
    for u in rounds.rivals(L2Ball(rho), 4, run):
        assert player.bound(run, u)[-1] <= allowed * (1.0 + 1e-9)


@pytest.mark.parametrize("domain", [*DOMAINS, Simplex(3.0)])
@pytest.mark.parametrize("opponent", [*rounds.LINEAR, *rounds.CONVEX])
def test_regret_is_within_the_bound(domain, opponent):
    for seed in range(3):
        assert worst(Adaptive(), domain, 4, opponent, seed=seed)[0] <= 1e-10


def test_bound_is_sharp():
    assert worst(Adaptive(), L2Ball(1.0), 4, rounds.growing)[1] > 0.4
    assert worst(Adaptive(), Simplex(), 4, rounds.against)[1] > 0.2


def test_far_from_the_origin():
    square = Polytope.of([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [3.0, -1.0, 3.0, -1.0])
    player = Adaptive().enter(square, 2)
    np.testing.assert_allclose(player.first, [1.0, 1.0])
    assert player.reach >= 2.0 * np.sqrt(2.0)
    assert worst(player, square, 2, rounds.against)[0] <= 1e-10


def test_refusals():
    with pytest.raises(ValueError, match="strength must be at least 0"):
        Adaptive(-1.0)
    with pytest.raises(ValueError, match="adaptive takes no penalty"):
        Adaptive().enter(Simplex(), 2, penalty=L1(1.0))
