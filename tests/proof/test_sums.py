"""Intervals hold J(w) and D(witness), both evaluated in exact arithmetic."""

import math

import numpy as np
import pytest

from proof import errors
from proof.arithmetic import exact, mp
from proof.exact import conjugate, dual, least, level, objective
from proof.judged import judge, run
from stepless.data import Column, Source
from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Entropy,
    Free,
    Hinge,
    Huber,
    HyperbolicEntropy,
    L1Ball,
    L2Ball,
    Logistic,
    Loss,
    Objective,
    Poisson,
    Quantile,
    Squared,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.proof import sums
from stepless.proof.products import COMPENSATED, PLAIN
from stepless.proof.tangent_conjugate import TangentConjugate
from stepless.rounding import UNIT

LOSSES = {
    "hinge": Hinge(),
    "logistic": Logistic(),
    "squared": Squared(),
    "quantile": Quantile(0.1),
    "huber": Huber(0.5),
    "poisson": Poisson(),
}


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("seed", range(8))
def test_what_a_run_proves_is_true(seed, loss, penalty):
    judgement = judge(*run(seed, loss=loss, penalty=penalty, domain="free", solvers=("bundle",)))
    assert judgement.faults == []


@pytest.mark.parametrize("arithmetic", [PLAIN, COMPENSATED])
@pytest.mark.parametrize("penalty", [SquaredL2(1e-3), L1(1e-2)])
@pytest.mark.parametrize("offset", [0.0, 2.0**36])
@pytest.mark.parametrize("name", LOSSES)
def test_slopes_of_anybody_prove_something_true(name, offset, penalty, arithmetic):
    """Random weights and slopes: the verifier is told nothing by a solver."""
    rng, loss = np.random.default_rng(0), LOSSES[name]
    m, d = 15, 3
    X = rng.normal(size=(m, d)) + offset * np.array([1.0, 0.0, 0.0])
    w = rng.normal(size=d) * np.array([2.0**-36 if offset else 1.0, 1.0, 1.0])
    y = {"signs": np.sign(rng.normal(size=m)), "counts": rng.poisson(2.0, m) * 1.0}.get(
        loss.targets, rng.normal(size=m)
    )
    source = Source(X, y, rng.random(m))
    for intercept in (True, False):
        J = Objective(loss, penalty, intercept=intercept)
        b = 0.3 if intercept else 0.0
        z = source.predictions(w, b)
        slopes = np.array([loss.slope(p, t) for p, t in zip(z, y, strict=True)]) * rng.random(m)
        given = sums.levelled(J, source, source.split(slopes))
        read = arithmetic.read(source, w, b, given.slopes)
        highest = sums.penalty_from_above(J, w) + sums.risk_from_above(
            loss, source, read[0], arithmetic
        )
        lowest, steepness = sums.lower_bound(J, source, w, given, read, highest, arithmetic)
        s = [exact(si) for si in source.s]
        true = objective(loss, penalty, X, y, s, w, b)
        assert true <= highest <= float(true) * (1.0 + 1e-8) + 1e-12
        # the verifier's ridge needs no ceiling
        ceiling = exact(highest if isinstance(penalty, L1) else 1e300)
        height = dual(loss, penalty, J.domain, X, y, s, slopes, intercept, ceiling)
        assert lowest <= height
        zero = objective(loss, penalty, X, y, s, np.zeros(d), b)
        assert -given.offset <= zero
        a = [exact(ai) for ai in slopes]
        a = level(a, s) if intercept else a
        for j in range(d):
            g = abs(sum(si * ai * exact(xi) for si, ai, xi in zip(s, a, X[:, j], strict=True)) / m)
            assert g <= exact(steepness[j])
            assert arithmetic is PLAIN or offset or steepness[j] <= float(g) * (1.0 + 1e-8) + 1e-12
        if arithmetic is COMPENSATED and not offset:
            assert lowest >= float(height) - 1e-12 * max(1.0, abs(float(height)))


def test_losses_of_counts_next_to_their_minimum_are_not_too_low():
    """At z = log y, rounded, the loss is what that rounding leaves: not 0."""
    rng = np.random.default_rng(2)
    for y in rng.lognormal(0.0, 3.0, 40):
        source = Source(np.zeros((1, 1)), np.array([y]))
        b = math.log(y)
        true = objective(Poisson(), SquaredL2(1.0), source.X.array, source.y, None, [0.0], b)
        z, _ = COMPENSATED.read(source, np.zeros(1), b, Column([np.zeros((2, 1))]))
        assert true <= sums.risk_from_above(Poisson(), source, z, COMPENSATED) <= 1e-26 * y


@pytest.mark.parametrize("loss", [one for one in errors.LOSSES if one.outputs() == 1], ids=repr)
def test_one_example_is_rounded_up(loss):
    """A single loss and a single conjugate: nothing averages their errors out."""
    rng, J = np.random.default_rng(2), Objective(loss, SquaredL2(1.0), intercept=False)
    for _ in range(150):
        y = errors.target(loss, rng)
        z, a = errors.prediction(loss, rng, y), errors.dual_point(loss, rng, y)
        rest = z * 2.0**-54 * rng.uniform(-1.0, 1.0)  # of the prediction, beyond its last digit
        X, w = np.array([[1.0, rest]]), np.array([z, 1.0])
        source, slopes = Source(X, np.array([y])), Column([np.array([a])])
        true = objective(loss, Zero(), X, source.y, [exact(1.0)], w)
        for arithmetic in (PLAIN, COMPENSATED):
            read = arithmetic.read(source, w, 0.0, Column([np.zeros((2, 1))]))
            height = sums.risk_from_above(loss, source, read[0], arithmetic)
            # no number where counts are next to 0 and predictions are not: it is refused
            assert math.isnan(height) or true <= exact(height) + exact(1e-300)
        given = sums.levelled(J, source, slopes)
        a = sum(exact(part) for part in given.slopes.whole[:, 0])
        assert conjugate(loss, a, exact(y)) <= exact(given.offset) + exact(1e-300)


def test_counts_near_their_mean_are_rounded_up():
    """Logarithms cancel there: a value is known to less than its own digits."""
    rng, loss = np.random.default_rng(4), Poisson()
    for _ in range(150):
        y = 10.0 ** rng.uniform(-6, 6)
        w = np.array([math.log(y) + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-6, 0)])
        source = Source(np.ones((1, 1)), np.array([y]))
        true = objective(loss, Zero(), np.ones((1, 1)), source.y, [exact(1.0)], w)
        for arithmetic in (PLAIN, COMPENSATED):
            read = arithmetic.read(source, w, 0.0, Column([np.zeros((2, 1))]))
            assert true <= exact(sums.risk_from_above(loss, source, read[0], arithmetic))


def test_compensated_products_err_by_no_more_than_they_say():
    rng = np.random.default_rng(5)
    X, w, a = rng.normal(size=(30, 30)), rng.normal(size=30), rng.normal(size=(1, 30))
    z, g = COMPENSATED.read(Source(X, np.ones(30)), w, 0.0, Column([np.vstack((a, 0.0 * a))]))
    x = [[exact(xij) for xij in row] for row in X]
    for row, high, low, size in zip(x, *z.whole, strict=True):
        true = sum(xj * exact(wj) for xj, wj in zip(row, w, strict=True))
        off = abs(true - exact(high) - exact(low))
        assert off <= exact(COMPENSATED.rounding(30)) * exact(size)
    for column, gj in zip(zip(*x, strict=True), g, strict=True):
        true = sum(xi * exact(ai) for xi, ai in zip(column, a[0], strict=True))
        assert abs(true - exact(gj)) <= exact(2.0 * UNIT) * abs(true)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.7, 0.9])
def test_many_examples_add_up_as_one_does(p):
    """Equal terms, whose plain sum drifts: by more than a single one is rounded."""
    m, J = 20_000, Objective(Hinge(), SquaredL2(1.0), intercept=False)
    source = Source(np.full((m, 1), 1.0 - p), np.ones(m))
    found = sums.verify(J, source, np.ones(1), 0.0, source.split(np.zeros(m)))
    assert found.objective >= exact(0.5) + 1 - exact(1.0 - p)
    at_zero = sums.levelled(J, source, source.split(np.full(m, -p))).offset
    assert -exact(p) <= exact(at_zero) <= -exact(p) * (1 - 64 * exact(UNIT))


@pytest.mark.parametrize(
    ("penalty", "domain"),
    [
        (L1(0.3), Free()),
        (ElasticNet(0.3, 0.5), Free()),
        (Entropy(0.3, 1.0), Free()),
        (HyperbolicEntropy(0.3, 1.0), Free()),
        (SquaredL2(0.3), L2Ball(1.0)),
        (SquaredL2(0.3), Box(-1.0, 0.5)),
        (Zero(), L1Ball(1.0)),
    ],
    ids=repr,
)
def test_a_minimum_is_rounded_down(penalty, domain):
    rng, J = np.random.default_rng(3), Objective(Hinge(), penalty, domain)
    for _ in range(25):
        g = rng.normal(size=int(rng.integers(1, 30))) * 10.0 ** rng.uniform(-2, 0)
        true = least(penalty, domain, [exact(gj) for gj in g], exact(0.7))
        assert exact(sums.minimum_from_below(J, g, np.zeros(g.size), 0.7)) <= true


def test_a_bound_is_of_the_domain_with_all_that_is_let_in():
    source = Source(np.array([[1.0]]), np.array([3.0]))
    J = Objective(Absolute(), Zero(), L1Ball(1.0), intercept=False)
    edge = np.array([1.0 + 0.9 * sums.OUTSIDE])
    within = sums.verify(J, source, edge, 0.0, None).objective
    found = sums.verify(J, source, np.zeros(1), 0.0, Column([np.array([-1.0])]))
    assert 2.0 - 1e-11 < found.lower_bound <= exact(3.0) - exact(edge[0]) <= within < 2.0


class Pseudo(Loss):
    """Huber's loss without corners: values and slopes, no conjugate."""

    def value(self, z, y):
        return math.sqrt(1.0 + (z - y) ** 2) - 1.0

    def slope(self, z, y):
        return (z - y) / math.sqrt(1.0 + (z - y) ** 2)

    def lipschitz(self):
        return 1.0


@pytest.mark.parametrize("a", [-1.0, -0.999999, -0.5, -1e-9, 1e-300, 0.25, 0.7, 1.0 - 1e-12])
@pytest.mark.parametrize("y", [0.0, -3.0, 1e6])
def test_a_conjugate_by_tangents_lies_above_and_close(a, y):
    found, size = TangentConjugate(Pseudo()).bracket(a, y)
    if abs(a) == 1.0:
        assert found == math.inf
        return
    true = 1.0 - math.sqrt((1.0 - a) * (1.0 + a)) + a * y
    assert true - 1e-15 * size <= found <= true + 1e-12 * size + 1e-17


class Bent(Loss):
    """max(0, z/2, 10z − 9.5): the slope in the middle is rounded up, by three units."""

    def value(self, z, y):
        return max(0.0, 0.5 * z, 10.0 * z - 9.5)

    def slope(self, z, y):
        return 10.0 if z >= 1.0 else (0.5 + 3.0 * 2.0**-53 if z >= 0.0 else 0.0)


def test_tangents_whose_slopes_are_rounded_lie_above_too():
    a = 0.5 + 2.0**-46
    true = a - 0.5  # at z = 1
    found, size = TangentConjugate(Bent()).bracket(a, 0.0)
    assert true - Bent.ulps * UNIT * size <= found <= 1.25 * true


@pytest.mark.parametrize("loss", [Absolute(), Hinge(), Pseudo()])
def test_slopes_that_make_no_sense_prove_no_more_than_that_nothing_is_negative(loss):
    rng = np.random.default_rng(1)
    source = Source(rng.normal(size=(6, 2)), np.sign(rng.normal(size=6)))
    J = Objective(loss, SquaredL2(0.1))
    for slopes in (np.full(6, np.nan), np.full(6, np.inf), np.full(6, 1e9), np.full(6, -1e9)):
        found = sums.verify(J, source, np.zeros(2), 0.0, source.split(slopes))
        assert 0.0 <= found.lower_bound <= found.objective
        assert found.lower_bound <= 1e-9


def test_weights_outside_of_their_domain_have_no_objective():
    source = Source(np.ones((3, 2)), np.array([1.0, -1.0, 1.0]))
    for domain in (Box(-1.0, 1.0), L1Ball(1.0)):
        J = Objective(Hinge(), SquaredL2(0.1), domain)
        assert sums.verify(J, source, np.array([1.0, 0.0]), 0.0, None).objective < math.inf
        outside = np.array([1.0 + 1e-9, 0.0])
        assert sums.verify(J, source, outside, 0.0, None).objective == math.inf


@pytest.mark.parametrize("far", [0.003, 0.03, 0.3, 3.0])
def test_entropies_cancel_nowhere(far):
    """w log w − w + 1 of weights near 1, over all weights and in a box, beside 600 bits."""
    rng, penalty = np.random.default_rng(4), Entropy(1.0)
    for _ in range(25):
        w = np.abs(1.0 + far * rng.normal(size=5))
        y = np.array([w.sum()])
        source = Source(np.ones((1, 5)), y)
        for domain in (Free(), Box(0.0, 20.0)):
            J = Objective(Squared(), penalty, domain, intercept=False)
            found = sums.verify(J, source, w, 0.0, source.split(rng.normal(size=1) * far))
            true = objective(Squared(), penalty, np.ones((1, 5)), y, [exact(1.0)], w, 0.0)
            assert true <= exact(found.objective) <= true * (1 + mp.mpf(2) ** -44)


def test_terms_of_both_signs_of_an_entropy_round_against_the_bound():
    """Ω(w) + ⟨g, w⟩ in a box, where the sizes of g w are far above its minimum."""
    rng, penalty, box = np.random.default_rng(5), Entropy(1.0), Box(0.0, 3.0)
    J = Objective(Squared(), penalty, box, intercept=False)
    for _ in range(100):
        g = rng.uniform(0.01, 0.03) * np.array([1.0, -1.0 - rng.uniform(0.0, 0.02)])
        lowest = sums.minimum_from_below(J, g, np.zeros(2), 10.0)
        true = sum(1 - mp.e ** -exact_number(gj) for gj in g)  # at w = exp(−g)
        assert exact(lowest) <= true
        assert float(lowest) == pytest.approx(float(true), abs=1e-12)


def exact_number(number):
    return mp.mpf(float(number))


def test_a_norm_of_many_weights_is_no_lower_than_it_is():
    d, p = 1000, 1.1
    w = np.full(d, (0.98 * 2.0**-53) ** (1.0 / p))
    w[0] = 1.0
    J = Objective(Squared(), SquaredLp(1.0, p), intercept=False)
    with mp.workdps(60):
        total = sum(exact_number(wj) ** exact_number(p) for wj in w)
        true = total ** (2 / exact_number(p)) / (2 * (exact_number(p) - 1))
    assert true <= exact_number(sums.penalty_from_above(J, w))


class Rough(Loss):
    """A parabola that is told 1e-6 too high, and says so."""

    ulps = 2.0**34

    def value(self, z, y):
        return 0.5 * (z - y) ** 2 * (1.0 + 1e-6)

    def slope(self, z, y):
        return z - y


def test_the_declared_error_of_a_loss_is_that_of_its_conjugate_by_tangents():
    source = Source(np.ones((1, 1)), np.array([1.0]))
    J = Objective(Rough(), SquaredL2(1.0), intercept=False)
    found = sums.verify(J, source, np.array([0.5]), 0.0, source.split(np.array([-0.5])))
    assert found.lower_bound <= 0.25 <= found.objective


def test_slopes_whose_squares_vanish_prove_nothing():
    source = Source(np.array([[1e-163]]), np.array([1.0]))
    J = Objective(Absolute(), Zero(), L2Ball(1e300), intercept=False)
    found = sums.verify(J, source, np.zeros(1), 0.0, source.split(np.array([-1.0])))
    assert found.lower_bound < 1e-6
