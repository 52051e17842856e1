"""The elastic net with a factor for each feature: as a value, by its contract, and what it refuses."""

import math
import pickle

import numpy as np
import pytest

from stepless import LinearRegressor, check_regularizer
from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    FactoredElasticNet,
    L2Ball,
    Logistic,
    Nonnegative,
    Objective,
    Softmax,
)

FACTORS = (1.0, 0.25, 3.0, 0.0, 1e-3)


@pytest.mark.parametrize("ratio", [1.0, 0.4, 0.0])
@pytest.mark.parametrize("factors", [FACTORS, (1.0, 0.25, 3.0, 2.0, 1e-3)], ids=str)
def test_contract(ratio, factors):
    for alpha in (0.1, 7.0):
        check_regularizer(FactoredElasticNet(alpha, factors, ratio))


def test_it_is_a_value():
    a, b = FactoredElasticNet(0.5, [1, 0, 2]), FactoredElasticNet(0.5, np.array([1.0, 0.0, 2.0]))
    assert a == b == pickle.loads(pickle.dumps(a))
    assert hash(a) == hash(b)
    assert a != FactoredElasticNet(0.5, [1, 0, 3])
    assert a != FactoredElasticNet(0.5, [1, 0, 2], 0.5)
    assert a.with_strength(2.0) == FactoredElasticNet(2.0, [1, 0, 2])
    assert repr(a) == "<FactoredElasticNet(alpha=0.5, ratio=1.0): 3 factors from 0 to 2>"
    with pytest.raises(ValueError, match="read-only"):
        a.factors[0] = 1.0


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_with_equal_factors_it_is_an_elastic_net(ratio):
    rng = np.random.default_rng(0)
    a, b = FactoredElasticNet(0.2, [0.5] * 4, ratio), ElasticNet(0.1, ratio)
    w, steps = rng.normal(size=(4, 2)), rng.uniform(0.1, 9.0, size=(4, 2))
    assert a.total(w) == pytest.approx(b.total(w), rel=1e-14)
    for slopes in (w, 0.01 * w):
        for ceiling in (0.0, 1.0, math.inf):
            assert a.floor(slopes, ceiling) == pytest.approx(b.floor(slopes, ceiling), rel=1e-12)
    v = w.copy()
    a.shrink(v, steps)
    b.shrink(w, steps)
    np.testing.assert_allclose(v, w, rtol=1e-14)


def test_beside_a_slope_without_a_penalty_nothing_is_below():
    penalty = FactoredElasticNet(1.0, [1.0, 0.0], 0.5)
    assert penalty.floor(np.array([[0.1], [0.0]]), 1.0) == 0.0
    assert penalty.floor(np.array([[0.1], [1e-300]]), 1.0) == -math.inf
    assert penalty.critical_strength(np.array([[0.1], [1e-300]])) == math.inf


@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("low", [-0.3, 0.0])
def test_least_in_a_box_against_a_grid(ratio, low):
    rng, v = np.random.default_rng(1), np.linspace(low, 0.7, 100_001)
    objective = Objective(Logistic(), FactoredElasticNet(0.5, FACTORS, ratio), Box(low, 0.7))
    for _ in range(5):
        a = rng.normal(size=5)
        size = 0.5 * np.outer(FACTORS, ratio * np.abs(v) + 0.5 * (1.0 - ratio) * v * v)
        best = float((size + np.outer(a, v)).min(axis=1).sum())
        assert objective.least(a, np.zeros(5), 9.0) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, [1, 1]), "alpha must be positive, not 0"),
        ((1.0, [1, 1], 1.5), "share must lie between 0 and 1"),
        ((1.0, [1, -2]), "not negative, but that of feature 1 is -2; drop a feature"),
        ((1.0, [math.nan, 1]), "finite and not negative, but that of feature 0 is nan"),
        ((1.0, [1, math.inf]), "finite and not negative, but that of feature 1 is inf"),
        ((1.0, [0, 0]), "one at least must be positive; or say penalty='none'"),
        ((1.0, []), "one at least must be positive"),
        ((1.0, [[1, 1]]), "a feature needs one factor, not an array of shape"),
        ((1.0, "many"), "factors must be numbers, one for each feature, not 'many'"),
    ],
)
def test_impossible_factors_get_one_clear_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        FactoredElasticNet(*arguments)


def test_factors_of_other_features_are_refused():
    penalty = FactoredElasticNet(1.0, [1, 2])
    for method in (penalty.total, lambda w: penalty.shrink(w, w)):
        with pytest.raises(ValueError, match="as many factors as there are features"):
            method(np.ones((3, 1)))
    model = LinearRegressor(penalty=penalty)
    with pytest.raises(ValueError, match="has 2 factors, but there are 3 features; give one"):
        model.fit(np.eye(3), [1.0, 2.0, 3.0])
    assert not hasattr(model, "coef_")


def test_domains():
    penalty = FactoredElasticNet(1.0, [1, 2])
    with pytest.raises(ValueError, match="no solver knows FactoredElasticNet in L2Ball; use dom"):
        Objective(Logistic(), penalty, L2Ball(1.0))
    bare = FactoredElasticNet(1.0, [0, 1, 0])
    for domain, slopes, named in [
        (Box(), [1.0, 1.0, 0.0], []),
        (Nonnegative(), [-1.0, -1.0, 1.0], [0]),
        (Nonnegative(), [1.0, 1.0, 0.0], [2]),
    ]:
        found = Objective(Logistic(), bare, domain).unpenalized(np.array(slopes))
        assert found.tolist() == named
    assert Objective(Logistic(), bare).unpenalized(np.ones(3)).tolist() == [0, 2]
    assert Objective(Softmax(2), bare).unpenalized(np.ones(6)).tolist() == [0, 1, 4, 5]
    assert not Objective(Logistic(), L1()).unpenalized(np.ones(3)).size
