"""Intervals of joint losses, against fractions and 200 bits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import sparse

from stepless.certificates import Certifier
from stepless.data import Column, Source
from stepless.objective import L1, Box, Free, MulticlassHinge, Objective, Softmax, SquaredL2
from stepless.proof import distributions, joint
from stepless.proof.witness import Slopes
from stepless.risks.joint_risk import JointRisk

mp = mpmath.mp.clone()
mp.prec = 200

LOSSES = {"hinge": MulticlassHinge, "softmax": Softmax}


def real(number):
    number = Fraction(number)
    return mp.mpf(number.numerator) / number.denominator


def fractions(array):
    return np.array([Fraction(float(v)) for v in np.ravel(array)], dtype=object).reshape(
        np.shape(array)
    )


def entropy(q):
    return -real(q) * mp.log(real(q)) if q > 0 else mp.mpf(0)


class Exact:
    """A problem of a ridge, in fractions."""

    def __init__(self, risk):
        self.risk, self.K = risk, risk.K
        X, y, s = risk.source.whole
        X = (
            X.array
            if hasattr(X, "array")
            else sparse.csr_array((X.data, X.indices, X.indptr), X.shape).toarray()
        )
        self.X, self.s, self.y = fractions(X), fractions(s), y.astype(int)
        self.m = len(self.y)
        self.strength = Fraction(risk.objective.strength)
        self.softmax = isinstance(risk.loss, Softmax)

    def loss(self, z, own):
        z = z - z[own]
        if self.softmax:
            return mp.log1p(sum(mp.exp(real(v)) for c, v in enumerate(z) if c != own))
        return real(max([0] + [v + 1 for c, v in enumerate(z) if c != own]))

    def objective(self, w, b):
        W = fractions(w)
        return real(self.strength * (W * W).sum() / 2) + self.mean(w, b)

    def mean(self, w, b):
        Z = self.X.dot(fractions(w).reshape(-1, self.K)) + fractions(np.broadcast_to(b, self.K))
        each = zip(self.s, Z, self.y, strict=True)
        return sum(real(s) * self.loss(z, y) for s, z, y in each if s) / self.m

    def base(self, p, own):
        left = 1 - sum(q for c, q in enumerate(p) if c != own)
        assert left >= 0
        if not self.softmax:
            return real(1 - left)
        return sum((entropy(q) for c, q in enumerate(p) if c != own), entropy(left))

    def distributions(self, slopes):
        """Return the admissible part of slopes: those of other classes, scaled down if they exceed 1."""
        p = fractions(np.maximum(slopes, 0.0))
        counted = np.array([((self.y == c) & (self.s > 0)).any() for c in range(self.K)])
        for i, own in enumerate(self.y):
            p[i, own] = Fraction(0)
            if self.risk.objective.intercept:
                p[i, ~counted] = Fraction(0)
            total = p[i].sum()
            if total > 1:
                p[i] = p[i] / total
            p[i, own] = 1 - p[i].sum()
        return p

    def dual(self, slopes):
        """The bound that slopes prove, levelled by the least share that does."""
        p, own = self.distributions(slopes), fractions(np.eye(self.K)[self.y])
        offset = sum(real(s) * self.base(q, y) for s, q, y in zip(self.s, p, self.y, strict=True))
        if self.risk.objective.intercept:
            tilt, counts = self.s.dot(p - own), self.s.dot(own)
            room = max(t / n for t, n in zip(tilt, counts, strict=True) if n)
            if room > 0:
                share = room / (1 + room)
                Q = (counts - tilt * ((1 - share) / share)) / counts.sum()
                assert min(Q) >= 0
                assert sum(Q) == 1
                p = (1 - share) * p + share * Q
                offset = real(1 - share) * offset + real(share) * sum(
                    real(n) * self.base(Q, c) for c, n in enumerate(counts) if n
                )
            assert not any(self.s.dot(p - own))
        g = self.X.T.dot((p - own) * self.s[:, None]) / self.m
        return offset / self.m - real((g * g).sum() / (2 * self.strength))


def problem(name, *, K=3, intercept=True, scale=1.0, offset=0.0, layout=np.asarray, seed=0, m=12):
    rng = np.random.default_rng([seed, K])
    X = scale * (rng.normal(size=(m, 3)) + offset * np.array([1.0, 0.0, -0.5]))
    y, s = rng.integers(0, K, m), rng.uniform(0.1, 2.0, m)
    y[:K] = np.arange(K)
    s[-1] = 0.0
    objective = Objective(LOSSES[name](K), SquaredL2(0.05 * scale**2), intercept=intercept)
    return JointRisk(objective, Source(layout(X), y.astype(float), s, threads=1))


def solved(risk, passes=40):
    """Weights, intercepts and a witness after some planes."""
    certifier = Certifier(risk.objective, risk.d, risk.planes())
    w, best = np.zeros(risk.d), (math.inf, None, None)
    for _ in range(passes):
        tangent = risk.tangent(w, 0.0)
        best = min(best, (risk.penalty(w) + tangent.value, w, tangent.b), key=lambda one: one[0])
        w = certifier.learn(tangent.plane, best[0])
    return best[1], best[2], certifier.witness(), certifier.lower_bound


def random_slopes(risk, rng):
    """Some that are no slopes among them."""
    p = rng.dirichlet(np.full(risk.K, 0.3), risk.m)
    a = p - np.eye(risk.K)[risk.source.y.astype(int)]
    a[0] *= 3.0
    a[1] = -a[1]
    a[2] = 1e-310
    a[3] = 1.0
    return a


CASES = [
    dict(K=2),
    dict(intercept=False),
    dict(),
    dict(K=5),
    dict(offset=2.0**12),
    dict(offset=2.0**36),
    dict(offset=2.0**36, intercept=False),
    dict(scale=1e-24),
    dict(scale=1e30, K=4),
    dict(layout=sparse.csr_array),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_the_objective_is_above_the_truth_and_next_to_it(name, case):
    risk = problem(name, **case)
    exact, rng = Exact(risk), np.random.default_rng(1)
    size = 1.0 / case.get("scale", 1.0)
    for far in (0.0, 1.0, 30.0, 1e3):
        w = far * size * rng.normal(size=risk.d)
        b = rng.normal(size=risk.K) if risk.objective.intercept else np.zeros(risk.K)
        truth = exact.objective(w, b)
        found = risk.verify(w, b, None).objective
        assert truth <= found <= truth * (1 + mp.mpf("1e-13"))


@pytest.mark.parametrize("far", [1.0, 40.0, 300.0])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_next_to_nothing_keep_their_digits(name, far):
    """All examples are on the right side, and 2³⁶ times as far from 0 as from each other."""
    offset = 2.0**36 * np.array([1.0, -0.5, 0.25])
    source = Source(offset + np.eye(3), np.arange(3.0), np.array([1.0, 0.3, 2.0]), threads=1)
    risk = JointRisk(Objective(LOSSES[name](3), SquaredL2(1e-3)), source)
    w, b = far * np.eye(3).ravel() + 2.0**-40, -far * offset
    truth = Exact(risk).mean(w, b)
    found = joint.risk_from_above(risk.objective, source, w, b)
    assert truth <= found <= truth * (1 + mp.mpf("1e-12")) + mp.mpf("1e-15") * (name == "hinge")


@pytest.mark.parametrize("name", LOSSES)
def test_outputs_that_rise_together(name):
    """Predictions of 10¹³, differences of 1."""
    risk = problem(name, offset=2.0**36)
    exact, rng = Exact(risk), np.random.default_rng(9)
    for _ in range(10):
        W = 100.0 * rng.normal(size=(3, 1)) + 1e-11 * rng.normal(size=(3, 3))
        truth, found = (of(W.ravel(), np.ones(3)) for of in (exact.mean, mean_of(risk)))
        assert truth <= found <= truth * (1 + mp.mpf("1e-12"))


def test_differences_are_rounded_up():
    """e⁻⁶⁰⁰ changes by hundreds of roundings where its exponent does by one."""
    rng = np.random.default_rng(10)
    for _ in range(30):
        source = Source(rng.normal(size=(1, 3)), np.zeros(1), threads=1)
        risk = JointRisk(Objective(Softmax(2), SquaredL2(1.0), intercept=False), source)
        w = np.outer(source.X.array[0], [1.0, -1.0])
        w *= rng.uniform(250.0, 300.0) / float(source.X.array[0] @ w[:, 0])
        truth = Exact(risk).mean(w, 0.0)
        assert truth <= mean_of(risk)(w.ravel(), np.zeros(2)) <= truth * (1 + mp.mpf("1e-11"))


def mean_of(risk):
    return lambda w, b: joint.risk_from_above(risk.objective, risk.source, w, b)


def test_the_rest_is_a_distribution_whatever_rounding_left_of_sums():
    rng = np.random.default_rng(11)
    for tilted in (0.0, 1e-30, 1e-9, 0.5):
        counts = rng.uniform(0.1, 30.0, size=4)
        tilt = tilted * rng.normal(size=4)
        tilt -= tilt.mean()
        precision = 1e-26
        pairs = (np.stack([part, np.zeros(4)], axis=1) for part in (tilt, counts))
        rest = joint.LevellingMixture.of(*pairs, precision)
        ratio = (1 - Fraction(rest.share)) / Fraction(rest.share)
        assert sum(Fraction(q) for q in rest.rounded) == 1
        for _ in range(20):
            t, n = fractions(tilt), fractions(counts)
            t = t + fractions(rng.choice([-1.0, 1.0], 4)) * Fraction(precision) * n.sum()
            Q = (n - t * ratio) / n.sum()
            assert min(Q) >= 0
            assert all((1 - Fraction(rest.missed)) * fractions(rest.rounded) <= Q)
        assert tilted < 1e-6 or rest.missed < 1e-12


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_the_bound_is_what_the_witness_proves(name, case):
    risk = problem(name, **case)
    exact, rng = Exact(risk), np.random.default_rng(2)
    w, b, witness, claimed = solved(risk)
    truth = exact.objective(w, b)
    mixed = Slopes.blend([0.9, 0.1], [witness, Slopes(Column([random_slopes(risk, rng)]))])
    for slopes in (witness.slopes.whole, mixed.slopes.whole, random_slopes(risk, rng)):
        found, at_zero = joint.lower_bound(risk.objective, risk.source, Column([slopes]), math.inf)
        proved = exact.dual(slopes)
        assert found <= proved <= truth
        assert at_zero <= exact.objective(np.zeros(risk.d), b)
        # features that are 2³⁶ times what tells them apart: the slopes' own last digits count
        assert found >= proved - mp.mpf("1e-13") * (abs(proved) + 1)
    interval = risk.verify(w, b, witness)
    assert interval.lower_bound <= exact.dual(witness.slopes.whole)
    if "offset" not in case:
        assert interval.gap <= 1e-2 * interval.objective
        assert interval.lower_bound == pytest.approx(claimed, rel=1e-6)


def test_slopes_that_tilt_much_are_made_level():
    """All of one class: the rest has all the others'."""
    for name in LOSSES:
        risk = problem(name, K=4)
        exact = Exact(risk)
        for c in range(4):
            slopes = np.tile(np.eye(4)[c], (risk.m, 1)) * np.linspace(0.0, 1.0, risk.m)[:, None]
            found, _ = joint.lower_bound(risk.objective, risk.source, Column([slopes]), math.inf)
            proved = exact.dual(slopes)
            assert found <= proved
            assert found >= proved - mp.mpf("1e-12")


@pytest.mark.parametrize("name", LOSSES)
def test_a_class_without_examples(name):
    """Its intercept may be anything: no slope leads there, and none is lost for it."""
    risk = problem(name, K=4)
    y = np.where(risk.source.y == 3.0, 0.0, risk.source.y)
    y[-1] = 3.0  # of weight 0
    risk = JointRisk(risk.objective, risk.source.relabelled(y))
    rng, exact = np.random.default_rng(3), Exact(risk)
    slopes = rng.dirichlet(np.ones(4), risk.m)
    found, _ = joint.lower_bound(risk.objective, risk.source, Column([slopes]), math.inf)
    proved = exact.dual(slopes)
    assert proved - mp.mpf("1e-12") <= found <= proved
    # J falls towards what it is without the class
    w, b = np.zeros(risk.d), np.array([0.0, 0.0, 0.0, -1e6])
    assert found <= exact.objective(w, b)


@pytest.mark.parametrize("name", LOSSES)
def test_no_point_lies_below_the_bound(name):
    """Brute force: many weights, among them where descent ends."""
    for intercept in (False, True):
        risk = problem(name, intercept=intercept, seed=4)
        exact, rng = Exact(risk), np.random.default_rng(5)
        w, b, witness, _ = solved(risk, 80)
        bound = risk.verify(w, b, witness).lower_bound
        best = exact.objective(w, b)
        assert bound <= best <= bound * 1.01
        for size in np.geomspace(1e-9, 10.0, 40):
            shift = size * rng.normal(size=risk.K) * intercept
            assert bound <= exact.objective(w + size * rng.normal(size=risk.d), b + shift)


@pytest.mark.parametrize(("penalty", "domain"), [(L1(0.02), Free()), (L1(0.02), Box(-0.2, 0.3))])
def test_other_penalties_and_domains(penalty, domain):
    risk = problem("softmax")
    risk = JointRisk(Objective(risk.loss, penalty, domain), risk.source)
    rng = np.random.default_rng(6)
    w, best = np.zeros(risk.d), math.inf
    certifier = Certifier(risk.objective, risk.d, risk.planes())
    for step in range(1, 300):
        tangent = risk.tangent(w, 0.0)
        best = min(best, risk.verify(w, tangent.b, None).objective)
        certifier.learn(tangent.plane, best)
        w = w - tangent.plane.a - 0.02 * np.sign(w)
        domain.project(w)
        w *= 1.0 - 1.0 / (step + 10.0)
    found = joint.verify(risk.objective, risk.source, w, tangent.b, certifier.witness().slopes)
    assert 0.5 * best <= found.lower_bound <= best
    for _ in range(200):
        v = w + rng.normal(size=w.size) * 10.0 ** rng.uniform(-4, 0)
        domain.project(v)
        b = tangent.b + rng.normal(size=3) * 0.1
        assert risk.penalty(v) + risk.value(v, b) >= found.lower_bound


def test_blocks_change_next_to_nothing():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(42_000, 5)), rng.integers(0, 3, 42_000).astype(float)
    objective = Objective(Softmax(3), SquaredL2(0.1))
    many = JointRisk(objective, Source(X, y, threads=2))
    assert len(many.source.blocks()) == 2
    w = 0.1 * rng.normal(size=15)
    tangent = many.tangent(w, 0.0)
    witness = tangent.plane.witness
    found = many.verify(w, tangent.b, witness)
    assert found.lower_bound == pytest.approx(
        tangent.plane.offset + objective.least(tangent.plane.a, np.zeros(15), 10.0), rel=1e-9
    )
    assert found.objective == pytest.approx(
        risk_value := many.penalty(w) + many.value(w, tangent.b), rel=1e-12
    )
    assert found.lower_bound < risk_value


def test_others_add_up_to_no_more_than_1():
    rng = np.random.default_rng(8)
    for K in (2, 3, 4, 50):
        source = Source(np.zeros((200, 1)), np.zeros(200), threads=1)
        p = rng.dirichlet(np.ones(K), 200) * rng.choice([0.5, 1.0, 1.0 + 2**-52, 7.0], (200, 1))
        p[:, 0] = 0.0
        p[:100] /= p[:100].sum(axis=1, keepdims=True)
        p[0, 1] = math.inf
        p[1, 1] = math.nan
        given = Softmax(K), Column([p]), np.ones(K, dtype=bool), 64.0
        column = source.empty(after=(K,))
        source.update(column, distributions.admissible, *given)
        q = column.whole
        totals = [sum(Fraction(v) for v in row) for row in q]
        assert max(totals) <= 1
        assert min(totals[2:]) >= (0 if K == 2 else Fraction(1, 10**6))
        np.testing.assert_allclose(q[2:100], p[2:100], rtol=1e-13)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.7, 0.9])
def test_many_examples_add_up_as_one_does(p):
    """Equal terms, whose plain sum drifts: by more than a single one is rounded."""
    m, J = 20_000, Objective(MulticlassHinge(2), SquaredL2(1.0), intercept=False)
    source = Source(np.full((m, 1), 1.0 - p), np.zeros(m), threads=1)
    at_zero = joint.lower_bound(J, source, source.split(np.tile([-p, p], (m, 1))), 1.0)[1]
    assert Fraction(p) * (1 - Fraction(1, 2**46)) <= Fraction(at_zero) <= Fraction(p)
    risk = joint.risk_from_above(J, source, np.array([1.0, 0.0]), np.zeros(2))
    assert Fraction(risk) >= 1 - Fraction(1.0 - p)


def test_what_is_no_number_is_none():
    risk = problem("softmax")
    assert math.isnan(risk.verify(np.full(risk.d, math.nan), np.zeros(3), None).objective)
    assert risk.verify(np.zeros(risk.d), np.zeros(3), None).lower_bound == 0.0
