"""Settled labels and weights, where the optimum is known in a closed form."""

import math

import numpy as np
import pytest
from scipy import sparse

from stepless.data import Column, Source
from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Hinge,
    L2Ball,
    Logistic,
    Objective,
    Poisson,
    Squared,
    SquaredL2,
    Zero,
)
from stepless.proof.settled import certain_zeros, radius_of, score_ranges, settled
from stepless.proof.sums import verify


def test_no_smaller_radius_would_be_true():
    """Where all margins are violated, J is a parabola: the gap is (λ/2)‖w − w*‖²."""
    rng = np.random.default_rng(0)
    X, y = 1e-2 * rng.normal(size=(50, 4)), np.repeat([-1.0, 1.0], 25)
    objective = Objective(Hinge(), SquaredL2(0.5), intercept=False)
    best = X.T @ y / 50 / 0.5
    for far in (1e-6, 1e-3, 1.0):
        w = best + far * rng.normal(size=4)
        found = verify(objective, Source(X, y), w, 0.0, Column([-y]))
        reach = settled(objective, Source(X, y), w, 0.0, found.gap)
        away = float(np.linalg.norm(w - best))
        assert away <= reach.radius <= 1.001 * away + 1e-7
        assert reach.intercept == (0.0, 0.0)


def test_scores_reach_as_far_as_the_weights_do():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(200, 5)), rng.normal(size=5)
    for A in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        source = Source(A, np.zeros(200))
        low, high = score_ranges(source, w, 0.1, (0.25, 0.5))
        length = np.linalg.norm(X, axis=1)
        np.testing.assert_allclose(low, X @ w + 0.25 - 0.1 * length, rtol=0, atol=1e-5)
        np.testing.assert_allclose(high, X @ w + 0.5 + 0.1 * length, rtol=0, atol=1e-5)
    toward = X / np.linalg.norm(X, axis=1)[:, None]
    low, high = score_ranges(Source(X, np.zeros(200)), w, 0.1, (0.0, 0.0))
    assert (low <= np.sum(X * (w - 0.1 * toward), axis=1)).all()
    assert (high >= np.sum(X * (w + 0.1 * toward), axis=1)).all()


@pytest.mark.parametrize("far", [0.0, 1e-9, 1e-3, 10.0])
def test_medians_and_means_are_in_their_range(far):
    """Weights of 0 are the best where features are; then b* is a weighted median, a mean, a log."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        m = int(rng.integers(2, 30))
        y, s = rng.integers(0, 9, m).astype(float), rng.integers(1, 4, m).astype(float)
        source = Source(np.zeros((m, 2)), y, s)
        mean = float(s @ y / s.sum())
        copies = np.sort(np.repeat(y, s.astype(int)))
        medians = copies[(copies.size - 1) // 2], copies[copies.size // 2]
        cases = [(Squared(), (mean, mean)), (Absolute(), medians)]
        if y.any():
            cases.append((Poisson(), (math.log(mean),) * 2))
        for loss, (least, most) in cases:
            objective = Objective(loss, SquaredL2(0.1))
            at = 0.5 * (least + most) + far * rng.normal()
            low, high = settled(objective, source, np.zeros(2), at, 0.0).intercept
            if math.isfinite(low):  # it is not looked for if at = 0 settles no sign
                slack = 1e-12 * (1.0 + abs(at))
                assert low <= min(least, at) + slack
                assert high >= max(most, at) - slack
                assert high - low <= 2.0 * (most - least) + 3.0 * abs(at - least) + 1e-9
            assert math.isfinite(low) or at == 0.0


def test_the_range_is_of_all_weights_that_are_so_near():
    """Targets move with a feature: other weights within the radius have other medians."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(101, 3)) + np.array([2.0, 0.0, -5.0])
    y, w, radius = X @ [1.0, 2.0, 3.0] + rng.normal(size=101), np.array([1.0, 2.0, 3.0]), 0.05
    objective = Objective(Absolute(), SquaredL2(0.1))
    gap = 0.5 * 0.1 * radius**2
    b = float(np.median(y - X @ w))
    low, high = settled(objective, Source(X, y), w, b, gap).intercept
    for _ in range(200):
        step = rng.normal(size=3)
        other = float(np.median(y - X @ (w + radius * step / np.linalg.norm(step))))
        assert low <= other <= high
    away = radius * np.array([2.0, 0.0, -5.0]) / math.sqrt(29.0)
    assert low <= np.median(y - X @ (w + away)) < np.median(y - X @ (w - away)) <= high
    assert high - low < 8 * radius * np.sqrt((X * X).sum(axis=1).mean())


def test_one_long_row_may_decide_the_intercept():
    """The others are 0, and balanced: the median is y₀ − ⟨w, x₀⟩, which moves by radius·‖x₀‖."""
    X, y = np.zeros((101, 1)), np.repeat([30.0, -1000.0, 1000.0], [1, 50, 50])
    X[0], radius = 10.0, 0.05
    objective, gap = Objective(Absolute(), SquaredL2(0.1)), 0.5 * 0.1 * radius**2
    low, high = settled(objective, Source(X, y), np.ones(1), 20.0, gap).intercept
    assert 18.0 <= low <= 20.0 - 10.0 * radius
    assert 20.0 + 10.0 * radius <= high <= 22.0


def test_what_the_gap_does_not_tell():
    rng = np.random.default_rng(4)
    source = Source(rng.normal(size=(20, 2)), np.repeat([-1.0, 1.0], 10))
    w, everywhere = np.array([0.1, 0.2]), (-math.inf, math.inf)
    for penalty in (Zero(), L1(0.1), ElasticNet(0.1, 0.5)):
        found = settled(Objective(Hinge(), penalty), source, w, 0.1, 1e-6)
        assert (found.radius, found.intercept) == (math.inf, everywhere)
    ridge = SquaredL2(0.1)
    assert radius_of(Objective(Hinge(), ridge, L2Ball(1.0)), 1e-6) == math.inf
    assert radius_of(Objective(Hinge(), ridge, Box(-1.0, 1.0)), 1e-6) < 0.01
    assert radius_of(Objective(Hinge(), SquaredL2(1e100)), 1e-300) > 0.0
    found = settled(Objective(Hinge(), ridge), source, w, 0.1, math.inf)
    assert (found.radius, found.intercept) == (math.inf, everywhere)
    found = settled(Objective(Hinge(), SquaredL2(1e-8)), source, w, 0.1, 1e-3)
    assert 400 < found.radius < 500
    assert found.intercept == everywhere


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_no_smaller_reach_of_slopes_would_be_true(share):
    """Targets along the one feature, whose weight is next to 0: the dual is a parabola."""
    rng = np.random.default_rng(5)
    m, best = 40, 1e-9
    x, s = rng.normal(size=m), rng.uniform(0.5, 2.0, m)
    source = Source(x[:, None], 3.0 * x, s)
    alpha = (3.0 - best) * float(source.s @ (x * x)) / m
    objective = Objective(Squared(), L1(alpha), intercept=False)
    slopes = (1.0 - share) * (best - 3.0) * x
    found = verify(objective, source, np.array([best]), 0.0, Column([slopes]))
    assert found.steepness == pytest.approx([(1.0 - share) * alpha])
    assert not certain_zeros(objective, source, found.steepness, found.gap).any()
    assert certain_zeros(objective, source, found.steepness, 0.9 * found.gap).all()


def test_weights_that_are_0_for_sure():
    """Orthogonal features: the lasso's weights are known."""
    rng = np.random.default_rng(6)
    m, d, alpha = 64, 16, 0.2
    X = np.linalg.qr(rng.normal(size=(m, d)))[0] * math.sqrt(m)
    y = X @ rng.normal(scale=0.3, size=d) + rng.normal(size=m)
    c = X.T @ y / m
    best = np.sign(c) * np.maximum(np.abs(c) - alpha, 0.0)
    objective, source = Objective(Squared(), L1(alpha), intercept=False), Source(X, y)
    counts = []
    for far in (0.3, 0.1, 1e-2, 1e-4, 1e-8):
        w = best + far * rng.normal(size=d) * (best != 0.0)
        found = verify(objective, source, w, 0.0, Column([X @ w - y]))
        sure = certain_zeros(objective, source, found.steepness, found.gap)
        assert not best[sure].any()
        counts.append(int(sure.sum()))
    assert counts[-1] == np.sum(best == 0.0) > 3


def test_a_bound_of_zero_is_no_plane_s():
    """That no loss is negative proves a bound that slopes do not: these tell nothing then."""
    X, y = np.array([[1.0], [2.0]]), np.array([1.0, -1.0])
    objective = Objective(Logistic(), L1(0.1), intercept=False)
    wild = Column([np.array([-1.0, 0.0])])
    found = verify(objective, Source(X, y), np.zeros(1), 0.0, wild)
    assert found.lower_bound == 0.0
    assert found.steepness is None
