"""A ball's part of a domain, and a smaller copy of one, against somebody else's solver."""

import math
import pickle

import numpy as np
import pytest

from mirrors.conic import Programme, nearest_in
from stepless import Intersection, LinearClassifier, Shrunk, check_constraint, check_domain
from stepless.objective import (
    Box,
    Free,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
    Simplex,
)

UNIFORM = np.full(4, 0.25)
A = np.vstack([[1.0, 1.0, 0.0, -1.0], [0.3, -1.0, 1.0, 0.2], np.eye(4), -np.eye(4)])
POLYTOPE = Polytope.of(A, [0.3, 0.2, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5])
DOMAINS = [
    Intersection(0.7, Simplex(1.0)),
    Intersection(0.501, Simplex(1.0)),
    Intersection(1e-5, Box(-1e-5, 2e-5)),
    Intersection(1e3, Nonnegative()),
    Intersection(0.6, POLYTOPE),
    Shrunk(Simplex(1.0), 0.2, UNIFORM),
    Shrunk(LpBall(1.0, 1.5), 0.5, UNIFORM),
    Shrunk(Intersection(0.7, Simplex(1.0)), 0.3, UNIFORM),
    Intersection(0.3, Shrunk(L1Ball(1.0), 0.2, np.zeros(4))),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_contracts(domain):
    check_domain(domain)
    if domain.offers("excess", "outward"):
        check_constraint(domain)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_projections_and_minima_are_those_of_a_cone_programme(domain):
    rng = np.random.default_rng(0)
    unit = domain.reach()
    for size in (0.5, 3.0, 100.0):
        w, g = rng.normal(size=4) * size * unit, rng.normal(size=4)
        v = w.copy()
        domain.project(v)
        # in units of the domain; theirs is as near as √(their tolerance)
        theirs = unit * nearest_in(scaled(domain, unit), w / unit, np.eye(4))
        np.testing.assert_allclose(v, theirs, atol=1e-5 * unit)
        margin = 1e-10 * unit * np.linalg.norm(w - v) + 1e-14 * unit**2
        assert (w - v) @ v >= -domain.floor(v - w) - margin
        programme = Programme(4)
        programme.linear(range(4), g)
        programme.within(scaled(domain, unit))
        lowest = unit * g @ programme.solve()
        assert domain.floor(g) == pytest.approx(lowest, abs=1e-6 * unit)
        domain.vertex(g, v)
        assert domain.floor(g) <= g @ v
        assert g @ v == pytest.approx(domain.floor(g), abs=1e-9 * unit)


def scaled(domain, unit):
    """The same set in another unit, where a cone programme is at its best."""
    match domain:
        case Intersection(bound=bound, domain=inner):
            return Intersection(bound / unit, scaled(inner, unit))
        case Shrunk(domain=inner, share=share, center=center):
            return Shrunk(scaled(inner, unit), share, center / unit)
        case Polytope():
            return Polytope(domain.A, domain.b / unit)
        case Box(low=low, high=high):
            return Box(low / unit, high / unit)
        case Nonnegative():
            return domain
        case LpBall(bound=bound, p=p):
            return LpBall(bound / unit, p)
    return type(domain)(domain.bound / unit)


def test_a_ball_of_everything_is_a_ball():
    rng = np.random.default_rng(0)
    for w in rng.normal(size=(10, 6)):
        ours, theirs = w.copy(), w.copy()
        Intersection(1.3, Free()).project(ours)
        L2Ball(1.3).project(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    assert Intersection(2.0, Free()).floor(np.array([3.0, 4.0])) == pytest.approx(-10.0)
    assert Intersection(2.0, L2Ball(1.0)).radius() == 1.0


def test_they_compare_and_travel():
    for domain in DOMAINS:
        assert pickle.loads(pickle.dumps(domain)) == domain
        assert hash(pickle.loads(pickle.dumps(domain))) == hash(domain)
    assert Shrunk(Simplex(1.0), 0.1, UNIFORM) != Shrunk(Simplex(1.0), 0.1, [1, 0, 0, 0])
    assert Shrunk(Simplex(1.0), 0.1, UNIFORM) != Shrunk(Simplex(1.0), 0.2, UNIFORM)


def test_what_they_offer_is_what_their_domain_offers():
    assert Intersection(1.0, Box()).offers("excess", "outward", "vertex")
    assert not Intersection(1.0, Simplex()).offers("excess")
    assert not Intersection(1.0, Box()).offers("project_in")
    assert Shrunk(Simplex(1.0), 0.1, UNIFORM).offers("project_in", "vertex")
    assert not Shrunk(POLYTOPE, 0.1, np.zeros(4)).offers("project_in")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Intersection(0.0, Simplex()), "positive radius, not 0"),
        (lambda: Intersection(1.0, 2.0), r"needs a domain, such as Simplex\(1\.0\), not 2\.0"),
        (lambda: Intersection(0.4, Simplex()).admit(4), r"as short as 0\.4; a radius above 0\.5"),
        (lambda: Shrunk(Simplex(), 1.0, UNIFORM), "a share from 0 to below 1, not 1"),
        (lambda: Shrunk(Simplex(), 0.1, [1.0, 1.0]), "must be one of the domain's points"),
        (lambda: Shrunk(Simplex(), 0.1, [math.nan]), "finite number for each weight"),
        (lambda: Shrunk(3.0, 0.1, [0.0]), "only a domain can be shrunk"),
        (lambda: Shrunk(Simplex(), 0.1, UNIFORM).admit(3), "one of 4 weights, but there are 3"),
    ],
)
def test_impossible_ones_get_one_clear_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("solver", ["accelerated", "frank-wolfe"])
def test_a_fit_within_a_ball_and_a_simplex_is_certified(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, 0.2, 0.0, 0.0] + 0.3 * rng.normal(size=60) > 0
    clf = LinearClassifier(
        "logistic", penalty="none", domain=Intersection(0.8, Simplex(1.0)), solver=solver, gap=1e-4
    ).fit(X, y)
    assert clf.rel_gap_ <= 1e-4
    assert np.linalg.norm(clf.coef_) <= 0.8 * (1 + 1e-12)
