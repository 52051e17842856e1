"""Nearest points of polytopes to those that are far away."""

import numpy as np
import pytest
from scipy.optimize import linprog

from stepless.mirrors import Euclidean
from stepless.mirrors.roots import falling_root
from stepless.objective import Box, Polytope


@pytest.mark.parametrize("size", [1e4, 1e8, 1e16, 1e30])
def test_far_away_it_is_the_lowest_corner(size):
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(6, 4))
        A, b = np.vstack([A, -A]), rng.uniform(0.5, 1.5, size=12)
        c = rng.normal(size=4)
        w = Euclidean(Polytope.of(A, b), 4).nearest(-size * c)
        corner = linprog(c, A, b, bounds=(None, None)).x
        assert (A @ w <= b + 1e-12).all()
        # ½‖w + size·c‖² is lower than at the corner: c·w is, but for ‖·‖²/(2 size)
        assert c @ w <= c @ corner + 10.0 / size + 1e-12


def test_a_box_of_inequalities_is_a_box():
    rng = np.random.default_rng(1)
    box = Polytope.of(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6))
    for size in 10.0 ** np.arange(0, 17, 2):
        theta = size * rng.normal(size=3)
        theta[0] = 0.5
        w = Euclidean(box, 3).nearest(theta)
        right = Euclidean(Box(-1.0, 1.0), 3).nearest(theta)
        np.testing.assert_allclose(w[1:], right[1:], atol=1e-13)
        assert abs(w[0] - 0.5) <= 1e-13 * size


def test_a_root_that_rounding_has_passed():
    assert falling_root(lambda x: -1e-17 - x, 0.0, 1.0) == 0.0
