"""Exponentiated gradients: the closed form, clarabel's argmin, and MAH Th. 2.13."""

import math

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, DOMAINS, LINEAR, D, played, random, worst
from stepless.games.costs import Growth, Linear
from stepless.games.players import ExponentiatedGradient
from stepless.objective import L2Ball, Simplex


def test_every_step_multiplies():
    player = ExponentiatedGradient()
    run, _, _ = played(player, Simplex(2.0), D, random, 60)
    before = 0.0
    for t in range(59):
        h = player.inverse_steps[t]
        w = run.plays[t] ** (before / h) * np.exp(-run.gradients[t] / (2.0 * h))
        np.testing.assert_allclose(run.plays[t + 1], 2.0 * w / w.sum(), rtol=1e-10)
        before = h


def test_every_step_minimises_the_entropy_and_the_cost():
    player = ExponentiatedGradient()
    run, _, _ = played(player, Simplex(2.0), D, random, 12)
    before = 0.0
    for t in range(11):
        h, M = player.inverse_steps[t], 2.0
        linear = run.gradients[t] - before * M * np.log(run.plays[t])
        linear = linear - (h - before) * M * np.log(run.plays[0])
        step = argmin(Simplex(2.0), linear, entropy=h * M)
        np.testing.assert_allclose(run.plays[t + 1], step, atol=1e-8)
        before = h


def test_the_height_is_made_of_ranges():
    player = ExponentiatedGradient()
    run, _, _ = played(player, Simplex(2.0), D, random, 60)
    energy = np.cumsum(np.ptp(run.gradients, axis=1) ** 2)
    np.testing.assert_allclose(player.inverse_steps, np.sqrt(energy / (4.0 * 4.0 * math.log(D))))


def test_regret_is_within_the_bound_and_the_bound_no_triviality():
    share = -np.inf
    for opponent in (*LINEAR, *CONVEX):
        for seed in range(10):
            over, near = worst(ExponentiatedGradient(), DOMAINS["simplex"], D, opponent, 100, seed)
            assert over < 1e-12, opponent
            share = max(share, near)
    assert share > 0.5


def test_neither_scale_nor_a_common_cost_matters():
    def opponent(by, common):
        return lambda rng, d, w, t: Linear(by * rng.normal(size=d) + common)

    once, _, _ = played(ExponentiatedGradient(), Simplex(), D, opponent(1.0, 0.0))
    for by, common in ((1e6, 0.0), (1e-6, 0.0), (1.0, 1000.0)):
        again, _, _ = played(ExponentiatedGradient(), Simplex(), D, opponent(by, common))
        np.testing.assert_allclose(again.plays, once.plays, atol=1e-9)


def test_a_weight_that_underflowed_comes_back():
    player = ExponentiatedGradient().enter(Simplex(), 2)
    player.map.value_range = 1e6  # a rule that is too bold: 0 comes soon
    for _ in range(5):
        player.observe([1.0, 0.0])
    assert player.play()[0] == 0.0
    for _ in range(10):
        player.observe([0.0, 1.0])
    assert player.play()[0] > 0.9


def test_a_portfolio_follows_the_better_asset():
    days = [Growth([1.02, 1.0]), Growth([1.0, 1.01])]
    run, _, _ = played(ExponentiatedGradient(), Simplex(), 2, lambda rng, d, w, t: days[t % 2], 400)
    assert run.plays[-1, 0] > 0.8


def test_only_a_simplex_will_do():
    with pytest.raises(ValueError, match="eg plays in a simplex, not in L2Ball; use omd"):
        ExponentiatedGradient().enter(L2Ball(1.0), 2)
