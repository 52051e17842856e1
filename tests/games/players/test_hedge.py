"""Hedge: its textbook form, its mixability gaps at high precision, MAH Th. 2.12."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, DOMAINS, LINEAR, D, played, random, scales, worst
from stepless.games.costs import Linear
from stepless.games.players import Hedge
from stepless.objective import L2Ball, Simplex


def _textbook(costs):
    """AdaHedge of de Rooij et al. (2014), line by line with 60 digits; weights and gaps."""
    with localcontext() as context:
        context.prec = 60
        count = len(costs[0])
        L, gap = [Decimal(0)] * count, Decimal(0)
        weights, gaps = [], []
        for row in costs:
            row = [Decimal(float(c)) for c in row]
            after = [a + b for a, b in zip(L, row, strict=True)]
            if gap == 0:
                leaders = [a == min(L) for a in L]
                w = [Decimal(int(a)) / sum(leaders) for a in leaders]
                mixed = min(after) - min(L)
            else:
                eta = Decimal(count).ln() / gap
                w = [(-eta * (a - min(L))).exp() for a in L]
                w = [a / sum(w) for a in w]
                mixed = -(sum(a * (-eta * c).exp() for a, c in zip(w, row, strict=True))).ln() / eta
            gap += sum(a * c for a, c in zip(w, row, strict=True)) - mixed
            L = after
            weights.append([float(a) for a in w])
            gaps.append(float(gap))
    return np.array(weights), np.array(gaps)


@pytest.mark.parametrize("opponent", [*LINEAR])
def test_it_is_the_textbooks(opponent):
    player = Hedge()
    run, _, _ = played(player, Simplex(2.0), D, opponent, 60)
    weights, gaps = _textbook(2.0 * run.gradients)
    np.testing.assert_allclose(run.plays, 2.0 * weights, atol=1e-9)
    np.testing.assert_allclose(player.gaps, gaps, rtol=1e-9)


def test_every_decision_is_a_regularized_leader():
    player = Hedge()
    run, _, _ = played(player, Simplex(2.0), D, random, 15)
    for t in range(1, 14):
        h = player.inverse_steps[t + 1]
        leader = argmin(Simplex(2.0), 2.0 * run.gradients[: t + 1].sum(axis=0), entropy=h)
        np.testing.assert_allclose(run.plays[t + 1], leader, atol=1e-8)


def test_regret_is_within_the_bound_and_the_bound_no_triviality():
    share = -np.inf
    for opponent in (*LINEAR, *CONVEX):
        for seed in range(10):
            over, near = worst(Hedge(), DOMAINS["simplex"], D, opponent, 100, seed)
            assert over < 1e-12, opponent
            share = max(share, near)
    assert share > 0.6


@pytest.mark.parametrize("opponent", LINEAR)
def test_the_bound_is_at_most_that_of_de_rooij(opponent):
    player = Hedge()
    run, _, _ = played(player, Simplex(), D, opponent, 300)
    mean = (run.plays * run.gradients).sum(axis=1, keepdims=True)
    variance = np.cumsum((run.plays * (run.gradients - mean) ** 2).sum(axis=1))
    ranges = np.maximum.accumulate(np.ptp(run.gradients, axis=1))
    most = 2.0 * np.sqrt(variance * math.log(D)) + ranges * (4.0 / 3.0 * math.log(D) + 2.0)
    assert (player.bound(run, np.eye(D)[0]) <= most * (1.0 + 1e-12)).all()


def test_identical_costs_leave_a_constant():
    """The leader leads from the second round on, and the gaps end."""
    player = Hedge()
    played(player, Simplex(), D, lambda rng, d, w, t: Linear(np.arange(d)), 3000)
    assert player.gaps[-1] - player.gaps[100] < 1e-6


def test_all_trust_in_one_that_then_loses():
    """Its weight is 1 to the last digit, the others' underflow: the gap must not."""
    rows = [[1.0, 0.0, 1.0]] * 400 + [[0.0, 1e5, 0.0], [0.0, 1.0, 0.5], [0.3, 1.0, 0.0]]
    player = Hedge()
    run, _, _ = played(player, Simplex(), 3, lambda rng, d, w, t: Linear(rows[t]), len(rows))
    weights, gaps = _textbook(rows)
    np.testing.assert_allclose(run.plays, weights, atol=1e-9)
    np.testing.assert_allclose(player.gaps, gaps, rtol=1e-9)


def test_neither_scale_nor_a_common_cost_matters():
    def opponent(by, common):
        return lambda rng, d, w, t: Linear(by * scales(rng, d, w, t).c + common)

    once, _, _ = played(Hedge(), Simplex(), D, opponent(1.0, 0.0))
    for by, common in ((1e6, 0.0), (1e-6, 0.0), (1.0, 10.0)):
        again, _, _ = played(Hedge(), Simplex(), D, opponent(by, common))
        np.testing.assert_allclose(again.plays, once.plays, atol=1e-8)


def test_one_expert():
    player = Hedge()
    run, _, _ = played(player, Simplex(), 1, random, 10)
    np.testing.assert_array_equal(run.plays, 1.0)
    assert not player.bound(run, np.ones(1)).any()


def test_only_a_simplex_will_do():
    with pytest.raises(ValueError, match="hedge plays in a simplex, not in L2Ball; use ftrl"):
        Hedge().enter(L2Ball(1.0), 2)
