"""Squared ℓ_p norms and entropies: proxes, conjugates and floors against other people's solvers."""

import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, brentq, minimize
from scipy.special import wrightomega

from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    Entropy,
    Free,
    Hinge,
    HyperbolicEntropy,
    L1Ball,
    Nonnegative,
    Objective,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.objective.regularizers.entropy import relative_entropy, wright_omega

CURVED = [
    SquaredL2(0.7),
    ElasticNet(0.7, 0.4),
    SquaredLp(0.7, 1.2),
    SquaredLp(0.7, 1.8),
    Entropy(0.7, 0.4),
    HyperbolicEntropy(0.7, 0.4),
]


# -- the prox of a squared norm --------------------------------------------------------------------


@pytest.mark.parametrize("p", [1.05, 1.3, 1.5, 1.9, 2.0])
def test_shrink_is_the_minimiser(p):
    rng = np.random.default_rng(0)
    for seed in range(5):
        w = rng.normal(size=(4, 2))
        steps = 10.0 ** rng.uniform(-1.0, 1.0, size=w.shape)
        omega = SquaredLp(0.5, p)

        def height(v, omega=omega, w=w, steps=steps):
            return (
                omega.total(v.reshape(w.shape)) + np.sum((v - w.ravel()) ** 2 / steps.ravel()) / 2
            )

        omega.shrink(v := w.copy(), steps)
        found = minimize(height, v.ravel() + 0.01 * rng.normal(size=v.size), method="Nelder-Mead",
                         options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20000, "maxfev": 20000})  # fmt: skip
        assert height(v.ravel()) <= found.fun + 1e-12
        if seed == 0 and p >= 1.5:
            np.testing.assert_allclose(v.ravel(), found.x, atol=1e-3)


@pytest.mark.parametrize("p", [1.1, 1.5, 1.9, 2.0])
def test_shrink_is_exact_whatever_the_sizes(p):
    rng = np.random.default_rng(1)
    for _ in range(40):
        w = rng.normal(size=(5, 2)) * 10.0 ** rng.uniform(-5.0, 5.0)
        w[rng.integers(5)] = 0.0
        steps, alpha = 10.0 ** rng.uniform(-4.0, 4.0, size=w.shape), 10.0 ** rng.uniform(-6.0, 3.0)
        SquaredLp(alpha, p).shrink(v := w.copy(), steps)
        n = np.sum((np.abs(v) / np.abs(v).max()) ** p) ** (1.0 / p) * np.abs(v).max()
        slope = alpha / (p - 1.0) * n * (np.abs(v) / n) ** (p - 1.0)
        seen = np.abs(v) > 1e-250
        rest = (np.abs(v) + steps * slope - np.abs(w))[seen]
        assert (np.abs(rest) <= 3e-14 * np.abs(w[seen])).all()
        assert (v * w >= 0.0).all()
        assert (v[w == 0.0] == 0.0).all()


def test_shrink_at_extremes():
    for p in (1.001, 1.5, 2.0):
        for w, step in [(0.0, 1.0), (1e-300, 1.0), (1e200, 1e-100), (1.0, 1e-300), (1.0, 1e300)]:
            v = np.array([[w], [-0.5 * w], [0.0]])
            SquaredLp(1.0, p).shrink(v, np.full((3, 1), step))
            assert np.isfinite(v).all()
            assert 0.0 <= v[0, 0] <= w * (1.0 + 1e-15)
            assert v[1, 0] <= 0.0 == v[2, 0]
    v = np.array([[math.nan], [1.0]])
    SquaredLp(1.0, 1.5).shrink(v, np.ones((2, 1)))
    assert math.isnan(v[0, 0])


def test_a_single_weight_meets_the_ridge():
    """Of one weight all norms are its size: α w²/(2(p − 1))."""
    for p in (1.2, 1.7, 2.0):
        SquaredLp(0.3, p).shrink(v := np.array([[2.5]]), np.array([[0.8]]))
        assert v[0, 0] == pytest.approx(2.5 / (1.0 + 0.8 * 0.3 / (p - 1.0)), rel=1e-14)


# -- proxes of entropies ---------------------------------------------------------------------------


def test_lamberts_function_of_an_exponential():
    t = np.concatenate([np.linspace(-60.0, 60.0, 3001), np.geomspace(1.0, 1e300, 100)])
    mine = np.array([wright_omega(x) for x in t])
    np.testing.assert_allclose(mine, wrightomega(t), rtol=2e-14)
    assert wright_omega(-1000.0) == 0.0


def test_the_entropy_of_weights_next_to_nothing_is_a_number():
    for w in (0.0, 5e-324, 1e-310, 1e-300):
        assert relative_entropy(w, 4e13) == pytest.approx(4e13)


def test_the_entropy_near_its_prior_is_exact():
    for excess in (1e-12, -1e-9, 1e-4, -0.0099, 0.0099, 0.0101):
        x = np.longdouble(1.0 + excess) - 1
        # its series, in extended precision
        series = sum((-1) ** k * x**k / (k * (k - 1)) for k in range(2, 40))
        assert relative_entropy(3.0 * (1.0 + excess), 3.0) == pytest.approx(
            float(3 * series), rel=1e-3 if abs(excess) < 1e-8 else 1e-9
        )


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 30.0])
@pytest.mark.parametrize("size", [1e-4, 1.0, 100.0])
def test_proxes_of_entropies_solve_their_equations(alpha, size):
    for step in (1e-3, 1.0, 1e3):
        k = step * alpha
        for w in (-3.0, -1e-3, 0.0, 0.7, 40.0):
            v = Entropy(alpha, size).prox(w, step)
            if v > 1e-280:
                off = (v + k * math.log(v / size) - w) / (1.0 + k / v)  # Newton's next step
                assert abs(off) <= 1e-13 * v * (1.0 + abs(w) / k)
            v = HyperbolicEntropy(alpha, size).prox(w, step)
            root = brentq(lambda v, w=w, k=k: v + k * math.asinh(v / size) - w, -50, 50, xtol=1e-15)
            assert v == pytest.approx(root, rel=1e-12, abs=1e-14)


# -- conjugates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("omega", CURVED, ids=repr)
def test_the_conjugate_is_a_maximum(omega):
    rng = np.random.default_rng(2)
    u = rng.normal(size=(3, 1))
    at = omega.conjugate_weights(u)
    most = omega.conjugate_total(u)
    assert np.sum(u * at) - omega.total(at) == pytest.approx(most, rel=1e-12)
    for scale in (1e-3, 0.1, 1.0):
        for _ in range(50):
            v = at + scale * rng.normal(size=u.shape)
            assert np.sum(u * v) - omega.total(v) <= most + 1e-12


@pytest.mark.parametrize("omega", CURVED, ids=repr)
def test_its_curvature_is_the_change_of_its_gradient(omega):
    u, near = np.array([0.9, -0.8, 0.35, 1.4]), 1e-6
    D, factor, r = omega.conjugate_curvature(u)
    H = np.diag(D) + factor * np.outer(r, r)
    for j, e in enumerate(np.eye(4)):
        ahead, back = omega.conjugate_weights(u + near * e), omega.conjugate_weights(u - near * e)
        np.testing.assert_allclose((ahead - back) / (2 * near), H[j], atol=1e-7)


def test_no_dual_weight_is_too_large_for_an_entropy():
    u = np.array([1e6, -1e6, 0.0])
    for omega in (Entropy(1e-3), HyperbolicEntropy(1e-3)):
        assert omega.conjugate_total(u) == math.inf == omega.conjugate(1e6)
        assert np.isfinite(omega.conjugate_weights(u)).all()
        assert np.isfinite(omega.floor(u, 2.0))  # the ceiling helps


def test_the_papers_entropy_of_both_signs_is_not_convex():
    """ZHU's Σ|w| log|w| falls from 0 on both sides: 0 is above the chord."""

    def printed(w):
        return abs(w) * math.log(abs(w)) if w else 0.0

    assert printed(0.0) > 0.5 * (printed(0.2) + printed(-0.2))
    omega = HyperbolicEntropy(1.0, 1e-3)
    assert omega.value(0.0) < 0.5 * (omega.value(0.2) + omega.value(-0.2))
    # far from 0 it is the printed one, up to what is linear: the same second differences
    for w in (5.0, 50.0):
        mine, theirs = ([f(v) for v in (w - 1, w, w + 1)] for f in (omega.value, printed))
        assert np.diff(mine, 2) == pytest.approx(np.diff(theirs, 2), rel=1e-6)


def test_it_is_the_entropies_of_both_signs_in_the_best_of_all_ways():
    omega, half = HyperbolicEntropy(0.8, 0.6), Entropy(0.8, 0.3)
    for w in (-2.0, -0.1, 0.0, 0.5, 3.0):
        found = minimize(
            lambda n, w=w: half.value(float(max(w, 0.0) + n[0])) + half.value(float(max(-w, 0.0) + n[0])),
            [0.1], bounds=[(0.0, None)], tol=1e-12,
        )  # fmt: skip
        assert found.fun == pytest.approx(omega.value(w), abs=1e-8)


# -- floors ----------------------------------------------------------------------------------------


def least_below(omega, a, ceiling, low):
    """min Ω(w) + ⟨a, w⟩ over Ω(w) ≤ ceiling, w ≥ low, by scipy."""
    best = math.inf
    for start in (0.3, 1.0):
        limits = [NonlinearConstraint(lambda w: omega.total(w[:, None]), -math.inf, ceiling)]
        if not math.isinf(low):
            limits.append(LinearConstraint(np.eye(a.size), low, math.inf))
        found = minimize(
            lambda w: omega.total(w[:, None]) + a @ w,
            np.full(a.size, start),
            constraints=limits,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        if omega.total(found.x[:, None]) <= ceiling * (1 + 1e-7):
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("ceiling", [0.4, 1.5, 1e3])
@pytest.mark.parametrize("omega", CURVED[2:], ids=repr)
def test_floors_are_tight_below_a_ceiling(omega, ceiling):
    low = 1e-9 if omega.nonnegative else -math.inf
    for a in ([-0.9, -0.2, -1.5], [-0.4, -0.8, -0.1], [-2.5, 0.9, -1.0]):
        a = np.array(a)
        true, mine = least_below(omega, a, ceiling, low), omega.floor(a[:, None], ceiling)
        assert mine <= true + 1e-6 * (1 + abs(true))
        assert mine == pytest.approx(true, rel=1e-4)


@pytest.mark.parametrize("omega", CURVED[2:], ids=repr)
def test_floors_rise_with_the_ceiling_no_more_than_they_may(omega):
    a = np.array([[-3.0], [2.0], [-1.0]])
    heights = [omega.floor(a, ceiling) for ceiling in (1e-3, 1e-1, 1.0, 10.0, math.inf)]
    assert (np.diff(heights) <= 1e-12).all()
    assert heights[-1] == pytest.approx(-omega.conjugate_total(-a))


# -- the least of penalty and domain together ------------------------------------------------------


def sampled(objective, a, rng, count=20000):
    """Heights Ω(w) + ⟨a, w⟩ at points of the domain, on its corners and edges too."""
    w = rng.normal(size=(count, a.size)) * 10.0 ** rng.uniform(-2.0, 1.0, size=(count, 1))
    w *= rng.random(w.shape) < 0.7
    for v in w:
        objective.domain.project(v)
        if objective.regularizer.nonnegative:
            np.maximum(v, 0.0, out=v)
    return np.array([objective.penalty(v) for v in w]) + w @ a


PAIRS = [
    (Entropy(0.5, 0.4), Free()),
    (Entropy(0.5, 0.4), Nonnegative()),
    (Entropy(0.5, 0.4), Box(-0.5, 1.0)),
    (HyperbolicEntropy(0.5, 0.4), Box(-0.5, 1.0)),
    (ElasticNet(0.5, 0.4), Box(-0.5, 1.0)),
    (SquaredL2(0.5), Box(-0.5, 1.0)),
    (L1(0.5), Box(-0.5, 1.0)),
    (Zero(), Box(-0.5, 1.0)),
    (L1(0.5), L1Ball(1.5)),
    (HyperbolicEntropy(0.5, 0.4), Nonnegative()),
    (SquaredLp(0.5, 1.4), Free()),
]


@pytest.mark.parametrize(("penalty", "domain"), PAIRS, ids=repr)
def test_the_least_is_below_all_and_next_to_the_lowest(penalty, domain):
    rng = np.random.default_rng(3)
    objective = Objective(Hinge(), penalty, domain)
    for a in (np.array([-0.8, 0.3]), np.array([0.9, 1.2]), np.array([-1.4, -0.1])):
        heights = sampled(objective, a, rng, 3000)
        least = objective.least(a, np.zeros(2), math.inf)
        assert least <= heights.min() + 1e-12
        if not (isinstance(penalty, L1 | Zero) and math.isinf(least)):
            assert least >= heights.min() - 0.05 * (0.1 + abs(least))
        for _ in range(5):  # slopes that are off
            v = a + 0.1 * rng.uniform(-1.0, 1.0, size=2)
            blurred = objective.least(a, np.full(2, 0.1), math.inf)
            assert blurred <= objective.least(v, np.zeros(2), math.inf) + 1e-12
