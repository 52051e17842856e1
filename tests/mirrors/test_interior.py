"""Points deep inside, and the balls around them."""

import numpy as np
import pytest

from mirrors.test_maps import polytope
from stepless.mirrors import interior
from stepless.objective import (
    Box,
    Free,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
    PSDCone,
    Shrunk,
    Simplex,
)

D = 5
CENTER = np.full(D, 0.2)
DOMAINS = [  # and the largest radius there is, where it is known
    (L2Ball(3.0), 3.0),
    (L1Ball(2.0), 2.0 / np.sqrt(5)),
    (LpBall(2.0, 1.5), 2.0 * 5 ** (0.5 - 1 / 1.5)),
    (Box(-1.0, 3.0), 2.0),
    (Nonnegative(), 1.0),
    (Simplex(2.0), 2.0 / np.sqrt(20)),
    (polytope(), None),
    (Intersection(0.5, Simplex(1.0)), np.sqrt(0.25 - 0.2)),
    (Intersection(9.0, Simplex(1.0)), 1.0 / np.sqrt(20)),
    (Intersection(2.0, Nonnegative()), 2.0 / (1 + np.sqrt(5))),
    (Intersection(1.0, Box(-1.0, 3.0)), None),
    (Intersection(2.0, Free()), 2.0),
    (Intersection(0.7, polytope()), None),
    (Shrunk(Simplex(1.0), 0.5, CENTER), 0.5 / np.sqrt(20)),
]


@pytest.mark.parametrize(("domain", "largest"), DOMAINS, ids=[repr(S) for S, _ in DOMAINS])
def test_the_ball_lies_inside(domain, largest):
    rng = np.random.default_rng(0)
    c, r, basis = interior(domain, D)
    assert r > 0.02
    if largest is not None:
        assert r == pytest.approx(largest, rel=1e-9)
    axes = np.eye(D) if basis is None else basis
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-14)
    corners = rng.choice([-1.0, 1.0], size=(20, D))
    for v in [*rng.normal(size=(50, D)), *corners, *np.eye(D), *-np.eye(D)]:
        v = axes @ (axes.T @ v)
        w = c + r * v / np.linalg.norm(v)
        near = w.copy()
        domain.project(near)
        np.testing.assert_allclose(near, w, atol=1e-13)


def test_simplices_extend_in_all_directions_but_one():
    c, _, basis = interior(Intersection(0.9, Simplex(3.0)), 30)
    assert basis.shape == (30, 29)
    np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(c, 0.1)


@pytest.mark.parametrize(
    ("domain", "sentence"),
    [
        (Polytope.of([[1.0, 0.0]], [1.0]), "without end has no center"),
        (Polytope.of([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -1, 1, 1]), "the polytope is flat"),
        (Intersection(np.sqrt(0.5), Simplex(1.0)), "leaves no room in Simplex"),
        (PSDCone(), "no point inside PSDCone is known"),
    ],
)
def test_what_has_no_inside_is_said_in_a_sentence(domain, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        interior(domain, 4 if isinstance(domain, PSDCone) else 2)
    assert "\n" not in str(caught.value)
