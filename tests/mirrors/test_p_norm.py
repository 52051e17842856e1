"""p-norms: nearest points by another root search, and from far away."""

import numpy as np
import pytest
from scipy.optimize import brentq

from stepless.mirrors import PNorm
from stepless.objective import L1, Box, L1Ball, Simplex


def conjugate(theta, q):
    """∇Φ*(θ)."""
    size = np.linalg.norm(theta, q)
    return np.sign(theta) * size * (np.abs(theta) / size) ** (q - 1.0) / (q - 1.0)


def root(f, low, high):
    return brentq(f, low, high, xtol=1e-300, rtol=9e-16, maxiter=1000)


def of_sum(theta, bound, q):
    t, most = theta - theta.max(), 2.0 * bound * (q - 1.0)

    def at(x):
        return conjugate(np.maximum(t + x, 0.0), q)

    return at(root(lambda x: at(x).sum() - bound, most / theta.size**2, most))


def in_box(theta, low, high, q):
    p, limits = q / (q - 1.0), np.where(theta > 0.0, high, -low)

    def at(size):
        return np.minimum(size * (np.abs(theta) / (size * (q - 1.0))) ** (q - 1.0), limits)

    top = np.linalg.norm(conjugate(theta, q), p)
    return np.copysign(
        at(root(lambda x: np.linalg.norm(at(x), p) - x, 1e-9 * top, 2.0 * top)), theta
    )


@pytest.mark.parametrize("p", [None, 1.05, 1.5, 2.0])
def test_nearest_points_are_those_of_another_search(p):
    rng = np.random.default_rng(0)
    for _ in range(50):
        d, bound = int(rng.integers(2, 40)), 10.0 ** rng.uniform(-2, 2)
        theta = 3.0 * bound * rng.normal(size=d)
        if rng.random() < 0.3:
            theta = np.round(theta / bound) * bound + 0.5 * bound  # ties
        mirror = PNorm(Simplex(bound), d, p)
        other = of_sum(theta, bound, mirror.q)
        np.testing.assert_allclose(mirror.nearest(theta), other, atol=1e-12 * bound)
        mirror = PNorm(L1Ball(bound), d, p)
        w = mirror.nearest(theta, L1(0.1 * bound), 1.0)
        if np.abs(w).sum() > bound * (1.0 - 1e-9):
            other = np.copysign(of_sum(np.abs(theta), bound, mirror.q), theta)
            np.testing.assert_allclose(w, other, atol=1e-12 * bound)
        mirror = PNorm(Box(-0.5 * bound, bound), d, p)
        w = mirror.nearest(theta)
        if np.abs(w).max() >= 0.5 * bound:
            other = in_box(theta, -0.5 * bound, bound, mirror.q)
            np.testing.assert_allclose(w, other, atol=1e-12 * bound)


def test_what_is_added_to_all_sizes_does_not_matter():
    """Outside, only differences count, which are exact however far away θ is."""
    rng = np.random.default_rng(1)
    for shift in (2.0**10, 2.0**30, 2.0**50):
        t = np.round(16.0 * rng.uniform(1.0, 4.0, size=6)) / 2.0
        signs = rng.choice([-1.0, 1.0], size=6)
        mirror = PNorm(L1Ball(1.0), 6)
        far, near = mirror.nearest(signs * (t + shift)), mirror.nearest(signs * t)
        np.testing.assert_allclose(far, near, rtol=1e-12, atol=1e-14)
        assert np.abs(far).sum() == pytest.approx(1.0, rel=1e-14)


def test_a_corner_from_very_far():
    for domain in (L1Ball(1.0), Simplex(1.0)):
        w = PNorm(domain, 3).nearest(1e60 * np.array([2.0, 1.0, -0.5]))
        np.testing.assert_array_equal(w, [1.0, 0.0, 0.0])
    w = PNorm(Box(-1.0, 2.0), 3).nearest(1e60 * np.array([2.0, 1.0, -0.5]))
    np.testing.assert_allclose(w, [2.0, 2.0, -1.0], rtol=1e-14)
