"""Every mirror map over every domain: argmins, strong convexity, ranges of values, inverses."""

import math
import pickle
from functools import cache

import numpy as np
import pytest

from mirrors.conic import least
from stepless.mirrors import Entropy, Euclidean, PNorm, mirror_of
from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    Free,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
    RowsL2,
    Shrunk,
    Simplex,
    Spectrahedron,
    SquaredL2,
)

D = 5
CENTER = np.full(D, 1.0 / D)


def polytope(seed=0):
    """One of weights ≥ 0."""
    rng = np.random.default_rng(seed)
    A = np.vstack(
        [rng.uniform(0.1, 1.0, size=(4, D)), -rng.uniform(0.1, 1.0, size=(1, D)), -np.eye(D)]
    )
    return Polytope.of(A, np.r_[np.ones(4), -0.3, np.zeros(D)])


MAPS = [
    (Euclidean, Free()),
    (Euclidean, L2Ball(0.7)),
    (Euclidean, Simplex(2.0)),
    (Euclidean, L1Ball(0.8)),
    (Euclidean, Box(-0.3, 0.9)),
    (Euclidean, Nonnegative()),
    (Euclidean, LpBall(0.9, 1.3)),
    (Euclidean, polytope()),
    (Euclidean, Intersection(0.6, Simplex(1.0))),
    (Euclidean, Intersection(0.8, Box(-0.3, 0.5))),
    (Euclidean, Shrunk(Simplex(1.0), 0.2, CENTER)),
    (Entropy, Simplex(1.0)),
    (Entropy, Simplex(30.0)),
    (Entropy, Box(0.0, 2.0)),
    (Entropy, polytope()),
    (Entropy, Intersection(0.6, Simplex(1.0))),
    (Entropy, Intersection(0.8, Nonnegative())),
    (Entropy, Intersection(1.0, Box(0.0, 0.6))),
    (Entropy, Shrunk(Simplex(1.0), 0.2, CENTER)),
    (Entropy, Shrunk(Box(0.0, 2.0), 0.2, CENTER)),
    (PNorm, Free()),
    (PNorm, Free(), 1.2),
    (PNorm, L1Ball(0.7)),
    (PNorm, LpBall(0.7, 1.3)),
    (PNorm, Simplex(2.0), 1.4),
    (PNorm, Box(-0.4, 0.2), 1.4),
    (PNorm, Box(0.0, 0.2), 1.4),
    (PNorm, Nonnegative(), 1.4),
]


@cache
def built(case):
    kind, domain, *more = case
    return kind(domain, D, *more)


@pytest.fixture(params=MAPS, ids=lambda case: f"{case[0].name}-{case[1]!r}")
def mirror(request):
    return built(request.param)


def points(mirror, rng, count=30):
    """Points of the domain: deep inside and at its border."""
    for size in np.geomspace(0.01, 30.0, count):
        w = rng.normal(size=mirror.d) * size
        mirror.domain.project(w)
        yield mirror.nearest(rng.normal(size=mirror.d) * size) if rng.random() < 0.5 else w


def size_of(domain):
    return domain.reach() if math.isfinite(domain.reach()) else 1.0


def test_nearest_points_are_minima(mirror):
    rng = np.random.default_rng(0)
    unit = size_of(mirror.domain)
    for size in (0.3, 1.0, 5.0):
        theta = size * unit * max(getattr(mirror, "mass", 1.0) / unit, 1.0) * rng.normal(size=D)
        kept = theta.copy()
        w = mirror.nearest(theta)
        np.testing.assert_array_equal(theta, kept)
        np.testing.assert_allclose(w, least(mirror, theta), atol=1e-5 * unit)
        margin = 3e-12 * (1.0 + getattr(mirror, "mass", 0.0) + np.linalg.norm(theta)) * unit
        assert slack(mirror, w, theta) <= margin
        inside = w.copy()
        mirror.domain.project(inside)
        np.testing.assert_allclose(inside, w, atol=1e-13 * (1.0 + np.linalg.norm(w)))


def slack(mirror, w, theta):
    """max_u ⟨θ − ∇Φ(w), u − w⟩ over the domain, which grows with ‖w − w*‖ at its first power."""
    with np.errstate(invalid="ignore"):
        g = mirror.dual(w) - theta
    if not math.isfinite(mirror.domain.floor(g)):
        g[np.abs(g) < 1e-13 * np.abs(theta).max()] = 0.0  # rounding
    return float(g @ w) - mirror.domain.floor(g)


def test_penalised_minima(mirror):
    rng = np.random.default_rng(1)
    unit = size_of(mirror.domain)
    for penalty, lasso, ridge in [
        (L1(0.4), 0.4, 0.0),
        (SquaredL2(0.7), 0.0, 0.7),
        (ElasticNet(1.0, 0.3), 0.3, 0.7),
    ]:
        if mirror.name == "p-norm" and ridge:
            with pytest.raises(ValueError, match="penalties l1 and none are known, not"):
                mirror.nearest(np.zeros(D), penalty, 1.0)
            continue
        theta = unit * max(getattr(mirror, "mass", 1.0) / unit, 1.0) * rng.normal(size=D)
        w = mirror.nearest(theta, penalty, 0.5)
        np.testing.assert_allclose(
            w, least(mirror, theta, 0.5 * lasso, 0.5 * ridge), atol=1e-5 * unit
        )


def test_strong_convexity_range_and_norms(mirror):
    rng = np.random.default_rng(2)
    first, low = mirror.first(), mirror.value(mirror.first())
    here = list(points(mirror, rng))
    for w in here:
        assert (
            low - 1e-12 * abs(low)
            <= mirror.value(w)
            <= low + mirror.value_range * (1 + 1e-12) + 1e-12
        )
        assert mirror.divergence(w, first) <= mirror.value_range * (1 + 1e-12) + 1e-12
        g = rng.normal(size=D)
        for z in here:
            if mirror.name == "entropy" and z.min() <= 0.0:  # no gradient there
                continue
            B = mirror.divergence(w, z)
            assert mirror.square(w - z) <= 2.0 * B * (1 + 1e-9) + 1e-12
            expected = mirror.value(w) - mirror.value(z) - mirror.dual(z) @ (w - z)
            assert expected == pytest.approx(B, abs=1e-9 * (1.0 + abs(mirror.value(w))))
            assert (g @ (w - z)) ** 2 <= mirror.square(w - z) * mirror.dual_square(g) * (1 + 1e-12)


def test_dual_and_primal_are_inverse(mirror):
    rng = np.random.default_rng(3)
    w = rng.exponential(size=D) * (1.0 if mirror.name == "entropy" else rng.choice([-1.0, 1.0], D))
    np.testing.assert_allclose(mirror.primal(mirror.dual(w)), w, rtol=1e-12)
    step = 1e-6 * rng.normal(size=D)
    rise = mirror.value(w + step) - mirror.value(w - step)
    assert rise == pytest.approx(2.0 * mirror.dual(w) @ step, rel=1e-6)
    np.testing.assert_allclose(
        mirror.nearest(mirror.dual(mirror.first())), mirror.first(), atol=1e-9
    )
    mirror.first()[:] = 7.0
    assert mirror.first().max() < 7.0


def test_maps_travel_and_bear_extremes(mirror):
    again = pickle.loads(pickle.dumps(mirror))
    theta = np.array([1e5, -1e5, 0.0, 1e-5, -1e-5])
    w = mirror.nearest(theta)
    assert np.isfinite(w).all() or isinstance(mirror.domain, Free | Nonnegative)
    np.testing.assert_array_equal(again.nearest(theta), w)
    assert again.name == mirror.name


def test_the_range_of_the_usual_ones():
    assert mirror_of(None, Simplex(3.0), 10).value_range == pytest.approx(9.0 * math.log(10))
    assert mirror_of(None, L2Ball(3.0), 10).value_range == pytest.approx(4.5)
    assert mirror_of("euclidean", Simplex(1.0), 10).value_range == pytest.approx(0.5 * (1 - 0.1))
    assert mirror_of(None, L1Ball(2.0), 100).value_range == pytest.approx(
        2.0 * (2 * math.log(100) - 1)
    )
    assert mirror_of(None, Box(-1.0, 2.0), 10).value_range == pytest.approx(20.0)
    assert math.isinf(mirror_of(None, Free(), 3).value_range)


def test_hedge_is_the_entropys_nearest_point():
    w = mirror_of(None, Simplex(1.0), 4).nearest(np.array([-1000.0, 0.0, 1.0, 800.0]))
    np.testing.assert_allclose(w, [0.0, 0.0, 0.0, 1.0], atol=1e-300)


@pytest.mark.parametrize(
    ("name", "domain", "sentence"),
    [
        ("entropy", L2Ball(1.0), "does not know L2Ball; use a simplex"),
        ("entropy", Box(-1.0, 1.0), "does not know Box"),
        ("entropy", Nonnegative(), "grow without end, as in Nonnegative; use Intersection"),
        ("entropy", Polytope.of(np.eye(3), np.ones(3)), "does not know Polytope"),
        ("entropy", Polytope.of([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 1, 0]), "weight 0 of"),
        ("p-norm", Intersection(1.0, Box()), "do not know Intersection"),
        ("euclid", L2Ball(1.0), "there is no mirror 'euclid': did you mean 'euclidean'"),
        (None, Intersection(0.1, Simplex(1.0)), "no point of Simplex is as short as 0.1"),
        (None, Spectrahedron(1.0), "3 weights are no square matrix"),
    ],
)
def test_what_is_not_known_is_said_in_a_sentence(name, domain, sentence):
    d = domain.A.shape[1] if isinstance(domain, Polytope) else 3
    with pytest.raises(ValueError, match=sentence) as caught:
        mirror_of(name, domain, d)
    assert "\n" not in str(caught.value)


def test_penalties_and_exponents_that_are_not_known():
    with pytest.raises(ValueError, match="nearest point of Polytope with the penalty L1"):
        Euclidean(Polytope.of([[1.0, 1.0]], [1.0]), 2).nearest(np.ones(2), L1(1.0), 1.0)
    with pytest.raises(ValueError, match="not RowsL2"):
        Entropy(Simplex(1.0), 2).nearest(np.ones(2), RowsL2(1.0), 1.0)
    with pytest.raises(ValueError, match="needs 1 < p ≤ 2, not 3"):
        PNorm(Free(), 2, 3.0)
    with pytest.raises(ValueError, match=r"p is the ball's, not 1\.5"):
        PNorm(LpBall(1.0, 1.2), 2, 1.5)
