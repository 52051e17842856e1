import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from games.argmin import argmin
from stepless.games import Linear, Quadratic
from stepless.games.costs import Growth, Saddle
from stepless.objective import Box, Hinge, L2Ball, Nonnegative, Simplex


def bent(rng, m):
    B = rng.normal(size=(m, m))
    return Quadratic(B @ B.T + np.eye(m), rng.normal(size=m), 0.3)


@pytest.mark.parametrize("over", [Box(-0.5, 1.0), L2Ball(0.7), Simplex(1.0)], ids=repr)
def test_value_is_the_maximum(over):
    rng = np.random.default_rng(0)
    A, w = rng.normal(size=(3, 4)), rng.normal(size=4)
    for phi in (None, Linear(rng.normal(size=3)), Quadratic(2.0, rng.normal(size=3)), bent(rng, 3)):
        cost = Saddle(A, over, Quadratic.around(np.ones(4)), phi)
        c, H = cost.concave()
        u = argmin(over, c - A @ w, H=0.0 if H is None else H)
        phi_u = 0.0 if phi is None else phi.value(u)
        expected = Quadratic.around(np.ones(4)).value(w) + A @ w @ u - phi_u
        assert cost.value(w) == pytest.approx(expected, abs=1e-8)
        np.testing.assert_allclose(cost.gradient(w), approx_fprime(w, cost.value, 1e-7), atol=2e-5)


def test_hinge():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, w, y = rng.normal(size=3), rng.normal(size=3), rng.choice([-1.0, 1.0])
        cost = Saddle([-y * x], Box(0.0, 1.0), phi=Linear([-1.0]))
        assert cost.value(w) == pytest.approx(Hinge().value(float(x @ w), y), abs=1e-14)


def test_smoothness():
    A = np.array([[2.0, 0.0]])
    assert math.isinf(Saddle(A, Box(0.0, 1.0)).smoothness)
    phi = Quadratic(0.5, [0.0])
    assert Saddle(A, Box(0.0, 1.0), Quadratic(3.0, [0.0, 0.0]), phi).smoothness == 3.0 + 4.0 / 0.5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"A": [1.0, 2.0], "over": Box(0.0, 1.0)}, "matrix"),
        ({"A": [[1.0, math.nan]], "over": Box(0.0, 1.0)}, "matrix"),
        ({"A": [[1.0, 2.0]], "over": Nonnegative()}, "bounded"),
        ({"A": [[1.0, 2.0]], "over": Box(0.0, 1.0), "f": Linear([1.0])}, "does not fit"),
        ({"A": [[1.0]], "over": Box(0.0, 1.0), "phi": Quadratic(0.0, [1.0])}, "singular"),
        ({"A": [[1.0]], "over": Box(0.0, 1.0), "phi": Growth([1.0])}, "Linear or Quadratic"),
    ],
)
def test_parts_that_do_not_fit(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Saddle(**given)
