"""Follow the regularized leader: its decisions by clarabel, its regret under MAH Th. 2.12."""

import numpy as np
import pytest

from games.argmin import leader
from games.rounds import CONVEX, DOMAINS, GEOMETRIES, LINEAR, D, played, random, scales, worst
from stepless.games.costs import Linear
from stepless.games.players import FTRL
from stepless.objective import L1, Simplex


@pytest.mark.parametrize(("name", "mirror"), GEOMETRIES)
def test_every_decision_is_the_regularized_leader(name, mirror):
    player = FTRL(mirror)
    run, _, _ = played(player, DOMAINS[name], D, random, 15)
    for t in range(14):
        h = player.inverse_steps[t]
        best = leader(DOMAINS[name], run.gradients[: t + 1].sum(axis=0), player.map, h)
        np.testing.assert_allclose(run.plays[t + 1], best, atol=1e-8)


@pytest.mark.parametrize(("name", "mirror"), GEOMETRIES)
def test_the_height_balances_the_bound(name, mirror):
    player = FTRL(mirror)
    run, _, _ = played(player, DOMAINS[name], D, random, 30)
    g = run.gradients
    if name == "simplex":
        g = g - g.mean(axis=1, keepdims=True)
    energy = np.cumsum([player.map.dual_square(row) for row in g])
    np.testing.assert_allclose(player.inverse_steps, np.sqrt(energy / player.map.value_range))


@pytest.mark.parametrize(("name", "mirror"), GEOMETRIES)
def test_regret_is_within_the_bound_and_the_bound_no_triviality(name, mirror):
    share = -np.inf
    for opponent in (*LINEAR, *CONVEX):
        for seed in range(3):
            over, near = worst(FTRL(mirror), DOMAINS[name], D, opponent, 80, seed)
            assert over < 1e-12, opponent
            share = max(share, near)
    assert share > 0.4


def test_the_bound_grows_as_the_root_of_the_squares():
    """Also where costs become a thousand times larger: Σ‖g‖²/(2h_{s−1}) alone would not."""
    for opponent in (*LINEAR,):
        player = FTRL()
        run, _, _ = played(player, DOMAINS["ball"], D, opponent, 400)
        energy = np.sqrt(np.cumsum((run.gradients**2).sum(axis=1)) * player.map.value_range)
        u = np.zeros(D)
        u[0] = 1.5
        assert (player.bound(run, u) <= 4.0 * energy + 1e-300).all()


def test_the_scale_of_costs_does_not_matter():
    def scaled(by):
        return lambda rng, d, w, t: Linear(by * scales(rng, d, w, t).c)

    for name in ("ball", "simplex"):
        once, _, _ = played(FTRL(), DOMAINS[name], D, scaled(1.0))
        again, _, _ = played(FTRL(), DOMAINS[name], D, scaled(2.0**20))
        np.testing.assert_array_equal(again.plays, once.plays)
        again, _, _ = played(FTRL(), DOMAINS[name], D, scaled(1e6))
        np.testing.assert_allclose(again.plays, once.plays, atol=1e-9)


def test_a_domain_of_one_point():
    run, _, _ = played(FTRL(), Simplex(1.0), 1, random, 10)
    np.testing.assert_array_equal(run.plays, 1.0)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="ftrl takes no penalty"):
        FTRL().enter(Simplex(), 2, penalty=L1(0.1))
    with pytest.raises(ValueError, match="entropy"):
        FTRL("entropy").enter(DOMAINS["ball"], D)
