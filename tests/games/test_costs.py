"""Costs: their gradients, and their sums in closed form."""

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from stepless.games import ExampleLoss, Growth, Linear, Quadratic
from stepless.games.costs import CostSum, ValuesOnly, as_cost, total
from stepless.games.costs.conversion import UserCost
from stepless.objective import Hinge, Logistic, Poisson, Squared

D, T = 3, 20


def streams():
    rng = np.random.default_rng(0)
    C = rng.normal(size=(T, D))
    linear = [Linear(c) for c in C]
    quadratic = [Quadratic(np.outer(c, c), c[::-1], c[0]) for c in C]
    return {
        "linear": linear,
        "quadratic": quadratic,
        "growth": [Growth(r) for r in np.exp(C)],
        "logistic": [ExampleLoss(Logistic(), c, 1.0, 0.5) for c in C],
        "hinge": [ExampleLoss(Hinge(), c, -1.0) for c in C],
        "several": [ExampleLoss(loss, c, 1.0) for c in C for loss in (Hinge(), Squared())],
        "mixed": [f for pair in zip(linear, quadratic, strict=True) for f in pair],
        "own": [UserCost(f) for f in quadratic],
    }


@pytest.mark.parametrize("kind", streams())
def test_a_total_is_the_sum(kind):
    rng, costs = np.random.default_rng(1), streams()[kind]
    whole, plain = total(costs), CostSum(costs)
    for _ in range(5):
        w = rng.uniform(0.1, 1.0, size=D)
        W = rng.uniform(0.1, 1.0, size=(len(costs), D))
        assert whole.value(w) == pytest.approx(plain.value(w), rel=1e-12)
        np.testing.assert_allclose(whole.gradient(w), plain.gradient(w), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(whole.losses(w), plain.losses(w), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(whole.values(W), plain.values(W), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(whole.gradients(W), plain.gradients(W), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(
            whole.gradient(w), approx_fprime(w, whole.value, 1e-8), atol=1e-4
        )
        value, slopes = whole.magnitudes(w)
        # what cancels is no less than what is left of it
        assert value + slopes @ w >= abs(whole.value(w)) * (1.0 - 1e-12)
        assert (slopes >= np.abs(whole.gradient(w)) * (1.0 - 1e-12)).all()
        H = whole.hessian(w)
        if H is not None:
            numeric = np.array(
                [approx_fprime(w, lambda v, j=j: whole.gradient(v)[j], 1e-7) for j in range(D)]
            )
            np.testing.assert_allclose(H, numeric, atol=1e-3)


def test_which_totals_know_their_curvature():
    known = {
        kind
        for kind, costs in streams().items()
        if total(costs).hessian(np.full(D, 0.5)) is not None
    }
    assert known == {"linear", "quadratic", "growth", "logistic", "mixed"}


def test_what_a_stream_may_yield():
    w = np.array([1.0, 2.0])

    class Half:
        smoothness = 1.0

        def value(self, w):
            return 0.5 * w @ w

        def gradient(self, w):
            return w.tolist()

    assert as_cost([1, 2]).value(w) == 5.0
    assert as_cost((1.0, 2.0)).d == 2
    own = as_cost(Half())
    assert isinstance(own, UserCost)
    assert (own.value(w), own.smoothness, own.strength) == (2.5, 1.0, 0.0)
    assert own.gradient(w).dtype == np.float64
    assert isinstance(as_cost(lambda w: w[0]), ValuesOnly)
    with pytest.raises(TypeError, match="not int"):
        as_cost(3)
    with pytest.raises(ValueError, match=r"not of shape \(2, 2\)"):
        as_cost(np.eye(2))


def test_ruin_costs_infinitely_much():
    assert Growth([1.0, 1.0]).value(np.zeros(2)) == math.inf
    assert total([Growth([1.0, 1.0])]).value(np.zeros(2)) == math.inf


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_price_relative_is_positive(bad):
    with pytest.raises(ValueError, match="asset 1"):
        Growth([1.0, bad, 1.0])


def test_a_bowl_is_no_saddle():
    with pytest.raises(ValueError, match="convex"):
        Quadratic([[1.0, 0.0], [0.0, -1.0]], [0.0, 0.0])
    with pytest.raises(ValueError, match="symmetric"):
        Quadratic([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0])
    with pytest.raises(ValueError, match="finite numbers"):
        Quadratic([[math.nan]], [1.0])
    with pytest.raises(ValueError, match="finite numbers"):
        Quadratic(math.inf, [1.0])
    with pytest.raises(ValueError, match=r"not of shape \(1, 2\)"):
        Quadratic(1.0, [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((Hinge(), [1.0], 1.0, -1.0), "the weight of an example is at least 0, not -1"),
        ((Hinge(), [1.0], 1.0, math.nan), "the weight of an example is at least 0, not nan"),
        ((Hinge(), [[1.0]], 1.0), r"an example is one number for each weight, .*\(1, 1\)"),
        ((Hinge(), [1.0], 3.0), "Hinge needs a target of -1 or 1, not 3"),
        ((Poisson(), [1.0], -1.0), "Poisson needs a target of at least 0, not -1"),
    ],
)
def test_an_example_that_is_none(given, told):
    with pytest.raises(ValueError, match=told):
        ExampleLoss(*given)


def test_a_series_is_an_array():
    from pandas import Series

    costs = as_cost(Series([1.0, 2.0], index=["value", "gradient"]))
    assert costs.value(np.ones(2)) == 3.0
