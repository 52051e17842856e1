"""Online mirror descent: its steps by clarabel, its regret under MAH Th. 2.13."""

import numpy as np
import pytest

from games.argmin import leader
from games.rounds import CONVEX, DOMAINS, GEOMETRIES, LINEAR, D, played, random, worst
from stepless.games.costs import Linear
from stepless.games.players import FTRL, OMD
from stepless.objective import Simplex


@pytest.mark.parametrize(("name", "mirror"), GEOMETRIES)
def test_every_step_minimises_what_the_docstring_says(name, mirror):
    player = OMD(mirror)
    run, _, _ = played(player, DOMAINS[name], D, random, 15)
    dual, before = player.map.dual, 0.0
    for t in range(14):
        h = player.inverse_steps[t]
        linear = run.gradients[t] - before * dual(run.plays[t])
        linear = linear - (h - before) * dual(run.plays[0])
        step = leader(DOMAINS[name], linear, player.map, h)
        np.testing.assert_allclose(run.plays[t + 1], step, atol=1e-8)
        before = h


@pytest.mark.parametrize(("name", "mirror"), GEOMETRIES)
def test_regret_is_within_the_bound_and_the_bound_no_triviality(name, mirror):
    share = -np.inf
    for opponent in (*LINEAR, *CONVEX):
        for seed in range(3):
            over, near = worst(OMD(mirror), DOMAINS[name], D, opponent, 80, seed)
            assert over < 1e-12, opponent
            share = max(share, near)
    assert share > 0.4


def test_inside_of_the_domain_it_is_the_regularized_leader():
    """No constraint binds where the entropy keeps all weights positive."""
    ours, _, _ = played(OMD("entropy"), Simplex(2.0), D, random)
    theirs, _, _ = played(FTRL("entropy"), Simplex(2.0), D, random)
    np.testing.assert_allclose(ours.plays, theirs.plays, atol=1e-12)


def test_while_the_height_stays_it_is_the_papers_update():
    player = OMD().enter(DOMAINS["ball"], D)
    player.observe(np.ones(D))
    before, h = player.play(), player.inverse_step
    g = 1e-9 * np.array([1.0, -2.0, 3.0, 0.0])  # too small to change h
    player.observe(g)
    assert player.inverse_step == h
    moved = before - g / h
    DOMAINS["ball"].project(moved)
    np.testing.assert_allclose(player.play(), moved, rtol=0.0, atol=1e-15)


def test_a_weight_that_underflowed_comes_back():
    """What was 0 to the last digit is everything after as many rounds the other way."""
    player = OMD("entropy").enter(Simplex(), 2)
    player.map.value_range = 1e6  # a rule that is too bold: 0 comes soon
    for _ in range(5):
        player.observe([1.0, 0.0])
    assert player.play()[0] == 0.0
    for _ in range(10):
        player.observe([0.0, 1.0])
    assert player.play()[0] > 0.9


def test_the_scale_of_costs_does_not_matter():
    def scaled(by):
        return lambda rng, d, w, t: Linear(by * rng.normal(size=d))

    for name in ("ball", "simplex"):
        once, _, _ = played(OMD(), DOMAINS[name], D, scaled(1.0))
        again, _, _ = played(OMD(), DOMAINS[name], D, scaled(1e6))
        np.testing.assert_allclose(again.plays, once.plays, atol=1e-9)
