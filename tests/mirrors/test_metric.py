"""Projections in the metric of a matrix."""

import numpy as np
import pytest

from mirrors.conic import nearest_in
from mirrors.test_maps import polytope
from stepless.compiled import proximal_step
from stepless.mirrors import project_metric
from stepless.objective import (
    Box,
    Constraint,
    Free,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Shrunk,
    Simplex,
    Spectrahedron,
)

D = 5
DOMAINS = [
    Free(),
    Simplex(1.5),
    Box(-0.3, 0.5),
    Nonnegative(),
    polytope(),
    L2Ball(0.7),
    L1Ball(0.6),
    LpBall(0.6, 1.3),
    Intersection(0.6, Simplex(1.0)),
    Intersection(0.5, L1Ball(0.6)),
    Shrunk(Box(-0.3, 0.5), 0.2, np.full(D, 0.1)),
]


def metric(rng, d, condition):
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    H = (Q * np.geomspace(1.0, condition, d)) @ Q.T
    return 0.5 * (H + H.T)


def beyond(domain, v, w, H):
    """How much farther than at v ⟨H(v − w), ·⟩ falls in the domain, relative to the metric."""
    g = H @ (v - w)
    g[np.abs(g) < 1e-14 * np.linalg.norm(H) * np.linalg.norm(w)] = 0.0  # rounding
    return (g @ v - domain.floor_within(g, 10.0)) / (np.linalg.norm(H) * (1.0 + np.linalg.norm(w)))


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_projections_are_nearest(domain):
    rng = np.random.default_rng(0)
    for condition in (1.0, 1e2, 1e5):
        for size in (0.3, 5.0):
            H, w = metric(rng, D, condition), size * rng.normal(size=D)
            kept = w.copy()
            v = project_metric(domain, w, H)
            np.testing.assert_array_equal(w, kept)
            # theirs is as near as √(their tolerance), which curved sets let show
            np.testing.assert_allclose(v, nearest_in(domain, w, H), atol=5e-5)
            assert beyond(domain, v, w, H) <= 1e-11
            again = v.copy()
            domain.project(again)
            np.testing.assert_allclose(again, v, atol=1e-14)
            np.testing.assert_allclose(project_metric(domain, v, H), v, atol=1e-12)


@pytest.mark.parametrize("domain", [Simplex(1.0), L2Ball(0.4), L1Ball(0.6), Box()], ids=repr)
def test_diagonal_metrics_are_a_special_case(domain):
    rng = np.random.default_rng(1)
    for _ in range(10):
        w, h = 2.0 * rng.normal(size=D), 10.0 ** rng.uniform(-2, 2, size=D)
        v = w.copy()
        proximal_step.enter(domain, v, h)
        np.testing.assert_allclose(project_metric(domain, w, np.diag(h)), v, atol=1e-10)


@pytest.mark.parametrize("domain", [Simplex(1.0), L2Ball(0.4)], ids=repr)
def test_a_game_of_thirty_weights(domain):
    """The metrics that online Newton steps make: much steeper in some directions than in others."""
    rng = np.random.default_rng(2)
    H, w = 1e-3 * np.eye(30), np.zeros(30)
    for _ in range(60):
        g = rng.normal(size=30) * np.exp(2.0 * rng.normal(size=30))
        H += np.outer(g, g)
        y = w - 5.0 * np.linalg.solve(H, g)
        w = project_metric(domain, y, H)
        assert beyond(domain, w, y, H) <= 1e-11


def test_a_constraint_of_ones_own():
    class Ellipse(Constraint):
        def excess(self, w):
            return w[0] ** 2 + 4.0 * w[1] ** 2 - 1.0

        def outward(self, w, g):
            g[0], g[1] = 2.0 * w[0], 8.0 * w[1]
            return self.excess(w)

        def radius(self):
            return 1.0

    H, w = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([2.0, 1.0])
    v = project_metric(Ellipse(), w, H)
    assert abs(Ellipse().excess(v)) <= 1e-9
    pull, normal = H @ (w - v), np.array([2.0 * v[0], 8.0 * v[1]])
    assert pull @ normal == pytest.approx(np.linalg.norm(pull) * np.linalg.norm(normal), rel=1e-9)


def test_what_is_not_known_is_said_in_a_sentence():
    with pytest.raises(ValueError, match="nearest point of Spectrahedron in the metric") as caught:
        project_metric(Spectrahedron(1.0), np.ones(4), np.eye(4))
    assert "\n" not in str(caught.value)


def test_the_l1_ball_in_bad_metrics_from_far_away():
    """The first-order gap, in units of the pull, with weights that leave the path and ties."""
    rng = np.random.default_rng(7)
    for trial in range(300):
        d = int(rng.integers(1, 9))
        Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
        H = (Q * np.geomspace(1.0, 10.0 ** rng.uniform(0, 6), d)) @ Q.T
        w = rng.normal(size=d) * 10.0 ** rng.uniform(0, 6)
        if trial % 3 == 0:
            H, w = np.round(4.0 * H) / 4.0 + 4.0 * d * np.eye(d), np.round(w)
        H = (H + H.T) / 2.0
        v = project_metric(L1Ball(1.0), w, H)
        r = H @ (v - w)
        if np.abs(w).sum() > 1.0:
            assert np.abs(v).sum() <= 1.0 + 1e-13
            assert r @ v + np.abs(r).max() <= 1e-12 * np.abs(H @ w).max()
