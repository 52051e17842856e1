"""Intervals of sums of kernels, against fractions and 200 bits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import sparse

from stepless import KernelClassifier
from stepless.certificates import Certifier
from stepless.data import gram as gram_module
from stepless.data.gram import Gram
from stepless.kernels import Gaussian, Kernel, LinearKernel, Polynomial
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic, Objective, Squared, SquaredL2
from stepless.proof import expansions
from stepless.proof.witness import Slopes
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers import Bundle
from stepless.solvers.batch.kernel_newton import KernelNewton
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.stopping import Stopping

mp = mpmath.mp.clone()
mp.prec = 200

KERNELS = {
    "gaussian": Gaussian(0.5),
    "cubic": Polynomial(3, 0.3, 1.0),
    "far": Polynomial(20, 1e-6, 2.0),
    "linear": LinearKernel(),
}
LOSSES = {"hinge": Hinge(), "logistic": Logistic(), "squared": Squared()}


def real(number):
    number = Fraction(float(number)) if not isinstance(number, Fraction) else number
    return mp.mpf(number.numerator) / number.denominator


def kernel_of(kernel, x, u):
    product = sum(Fraction(a) * Fraction(b) for a, b in zip(x, u, strict=True))
    if isinstance(kernel, LinearKernel):
        return real(product)
    if isinstance(kernel, Polynomial):
        return real((Fraction(kernel.gamma) * product + Fraction(kernel.offset)) ** kernel.degree)
    far = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, u, strict=True))
    return mp.exp(real(-Fraction(kernel.gamma) * far))


class Exact:
    """A problem with all its kernels, to 200 bits."""

    def __init__(self, risk):
        self.risk, self.m = risk, risk.m
        X = risk.gram.X
        X = (X.toarray() if sparse.issparse(X) else X).tolist()
        self.K = [[kernel_of(risk.gram.kernel, x, u) for u in X] for x in X]
        self.y, self.s = risk.y, [real(s) for s in risk.s]
        self.strength, self.loss = real(risk.objective.strength), risk.objective.loss

    def times(self, v):
        return [mp.fsum(k * vj for k, vj in zip(row, v, strict=True)) for row in self.K]

    def value(self, z, y):
        match self.loss:
            case Hinge():
                return max(mp.mpf(0), 1 - y * z)
            case Logistic():
                return mp.log1p(mp.exp(-y * z))
            case _:
                return (z - y) ** 2 / 2

    def conjugate(self, a, y):
        match self.loss:
            case Hinge():
                assert -1 <= a * y <= 0
                return a * y
            case Logistic():
                p = -a * y
                assert -1e-15 <= p <= 1 + 1e-15  # rounded, of a blend
                p = min(max(p, mp.mpf(0)), mp.mpf(1))
                return sum((q * mp.log(q) for q in (p, 1 - p) if q > 0), mp.mpf(0))
            case _:
                return a * a / 2 + a * y

    def objective(self, c, b):
        c = [real(v) for v in c]
        f = self.times(c)
        penalty = self.strength / 2 * mp.fsum(ci * fi for ci, fi in zip(c, f, strict=True))
        return penalty + self.mean(c, b)

    def mean(self, c, b):
        each = zip(self.s, self.times(c), self.y, strict=True)
        return mp.fsum(s * self.value(fi + real(b), y) for s, fi, y in each) / self.m

    def dual(self, slopes):
        a = [real(v) for v in slopes]
        if self.risk.objective.intercept:
            sides = [
                mp.fsum(s * abs(v) for s, v in zip(self.s, a, strict=True) if v * sign > 0)
                for sign in (1, -1)
            ]
            least = min(sides)
            a = [v * (least / sides[0 if v > 0 else 1] if v else 0) for v in a]
        each = list(zip(self.s, a, self.y, strict=True))
        offset = mp.fsum(s * self.conjugate(v, y) for s, v, y in each) / self.m
        v = [s * ai / self.m for s, ai, _ in each]
        square = mp.fsum(vi * ki for vi, ki in zip(v, self.times(v), strict=True))
        return -offset - square / (2 * self.strength)


def problem(kernel, loss, *, intercept=True, shift=0.0, scale=1.0, layout=np.asarray, m=10):
    rng = np.random.default_rng(0)
    X = scale * (rng.normal(size=(m, 2)) + shift)
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = rng.uniform(0.1, 2.0, m)
    s[-1] = 0.0
    objective = Objective(LOSSES[loss], SquaredL2(0.05), intercept=intercept)
    return KernelRisk(objective, Gram(KERNELS[kernel], layout(X)), y, s)


def witnesses(risk, rng):
    """Slopes at some coefficients, a blend of such, and others."""
    planes = []
    for size in (0.0, 1.0):
        planes.append(risk.tangent(size * rng.normal(size=risk.m), 0.3).plane.witness)
    inside = -risk.y * rng.random(risk.m)
    inside[rng.random(risk.m) < 0.2] = 0.0
    others = Slopes(risk._at_origin.source.split(inside))
    planes = [one for one in planes if one is not None]  # in a run that diverges
    blend = Slopes.blend([0.6 / len(planes)] * len(planes) + [0.4], [*planes, others])
    return [*planes, blend, others]


CASES = [
    dict(),
    dict(intercept=False),
    dict(scale=1e-6),
    dict(scale=30.0),
    dict(layout=sparse.csr_array),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_interval_against_200_bits(kernel, loss, case):
    risk = problem(kernel, loss, **case)
    exact, rng = Exact(risk), np.random.default_rng(1)
    largest, rounding = max(1.0, float(risk.gram.diagonal.max())), risk.gram.rounding
    for size in (0.0, 1.0, 100.0):
        c, b = size * rng.normal(size=risk.m) / largest, rng.normal() * risk.objective.intercept
        truth = exact.objective(c, b)
        for witness in witnesses(risk, rng):
            found = risk.verify(c, b, witness)
            size = float(np.abs(c).sum())
            off = rounding * size * (3.0 + float(np.abs(risk.y).max()) + 200.0 * size)
            assert truth <= found.objective <= truth * (1 + mp.mpf("1e-12")) + off
            proved = exact.dual(witness.slopes.whole)
            assert found.lower_bound <= max(proved, 0)
            slack = mp.mpf("1e-13") + 2.0 * rounding / exact.strength
            assert found.lower_bound >= min(proved - slack, truth)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_rows_far_from_0_cost_tightness_not_truth(kernel):
    for shift in (1e3, 2.0**20, 2.0**36):
        risk = problem(kernel, "logistic", shift=shift)
        exact, rng = Exact(risk), np.random.default_rng(2)
        c = rng.normal(size=risk.m) / max(1.0, float(risk.gram.diagonal.max()))
        for witness in witnesses(risk, rng):
            found = risk.verify(c, 0.1, witness)
            assert exact.objective(c, 0.1) <= found.objective
            assert found.lower_bound <= max(exact.dual(witness.slopes.whole), 0)


def test_predictions_are_as_rough_as_kernels():
    """The risk alone: the penalty's part of it would do for both."""
    rng = np.random.default_rng(7)
    for shift in (1e5, 1e6, 1e7):
        risk = problem("gaussian", "squared", shift=shift)
        exact = Exact(risk)
        for _ in range(5):
            c = rng.normal(size=risk.m)
            f, _ = expansions.predictions(risk.gram, c, c)
            given = risk.objective, risk.gram, risk._at_origin.source, c, f, 0.3
            truth = exact.mean([real(v) for v in c], 0.3)
            assert truth <= expansions.risk_from_above(*given)


def test_an_intercept_much_larger_than_predictions():
    """Targets are as large: what is left has all its digits."""
    few = problem("gaussian", "squared")
    y = 2.0**40 + few.y
    objective = Objective(Squared(), SquaredL2(1e-9))
    risk = KernelRisk(objective, few.gram, y, few.s)
    c = 1e-3 * np.random.default_rng(8).normal(size=risk.m)
    truth = Exact(risk).objective(c, 2.0**40)
    found = risk.verify(c, 2.0**40, None).objective
    assert truth <= found <= truth * (1 + mp.mpf("1e-6"))


@pytest.mark.parametrize("solver", [KernelNewton, KernelPGS])
def test_runs_leave_witnesses(solver):
    risk = problem("gaussian", "logistic", m=30)
    result = minimize(risk, solver(), Stopping(gap=1e-2, passes=200))
    assert result.stopped_by == "gap"
    assert isinstance(result.witness, Slopes)
    exact = Exact(risk)
    assert result.lower_bound <= exact.dual(result.witness.slopes.whole)
    assert exact.objective(result.w, result.b) <= result.objective


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_without_a_table_bounds_are_proved_too(loss, intercept, monkeypatch):
    """Kernels by blocks of rows, one row at a time here."""
    tabled = problem("gaussian", loss, intercept=intercept, m=40)
    best = minimize(tabled, Bundle(), Stopping(gap=1e-6, passes=500))
    monkeypatch.setattr(gram_module, "TABLED", 0)
    monkeypatch.setattr(gram_module, "_CHUNK", 100)
    risk = problem("gaussian", loss, intercept=intercept, m=40)
    assert risk.gram.table is None
    assert risk.unproven is None
    result = minimize(risk, KernelPGS(), Stopping(gap=0.05, passes=3000))
    assert result.stopped_by == "gap"
    assert 0.0 < result.lower_bound <= best.objective
    assert result.objective >= best.lower_bound
    # the same slopes prove the same by a table
    again = tabled.verify(result.w, result.b, result.witness)
    assert again.lower_bound == pytest.approx(result.lower_bound, rel=1e-9)
    assert again.objective == pytest.approx(result.objective, rel=1e-9)


def test_no_coefficients_reach_below_the_bound():
    risk = problem("gaussian", "hinge", m=15)
    result = minimize(risk, Bundle(), Stopping(gap=1e-4, passes=500))
    exact, rng = Exact(risk), np.random.default_rng(3)
    for size in np.geomspace(1e-8, 10.0, 30):
        c = result.w + size * rng.normal(size=risk.m)
        assert exact.objective(c, result.b + size * rng.normal()) >= result.lower_bound


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_off_by_no_more_than_they_say(kernel, layout):
    rng = np.random.default_rng(4)
    for scale, shift, d in ((1.0, 0.0, 3), (1e-3, 0.0, 40), (1.0, 1e4, 3), (5.0, 1.0, 40)):
        X = scale * (rng.normal(size=(8, d)) + shift)
        gram = Gram(KERNELS[kernel], layout(X))
        most = max(
            abs(kernel_of(gram.kernel, X[i].tolist(), X[j].tolist()) - real(gram.table[i, j]))
            for i in range(8)
            for j in range(8)
        )
        assert most <= gram.rounding


def test_a_kernel_that_does_not_say_its_steepness_proves_nothing():
    class Laplacian(Kernel):
        def value(self, product, x_square, s_square):
            return math.exp(-math.sqrt(max(x_square + s_square - 2.0 * product, 0.0)))

    X, y = np.arange(12.0)[:, None], np.tile([1.0, -1.0], 6)
    risk = KernelRisk(Objective(Hinge(), SquaredL2(0.1)), Gram(Laplacian(), X), y)
    assert "does not say its steepness" in risk.unproven
    assert risk.verify(np.zeros(12), 0.0, None).lower_bound == -math.inf
    result = minimize(risk, KernelPGS(), Stopping(passes=3))
    assert result.lower_bound == -math.inf


def test_all_planes_have_witnesses():
    risk = problem("gaussian", "logistic", m=20)
    certifier = Certifier(risk.objective, risk.d, risk.planes())
    solver, rng = KernelPGS(), np.random.default_rng(5)
    state = solver.start(risk)
    for _ in range(5):
        found = solver.walk(risk, state, rng.permutation(risk.m).astype(np.uint32))
        certifier.learn(found.plane, 10.0)
    assert certifier.lower_bound > 0.0
    proved = risk.verify(found.w, found.b, certifier.witness()).lower_bound
    # conjugates are convex: slopes mixed prove more than planes mixed
    assert (
        certifier.lower_bound * (1.0 - 1e-9)
        <= proved
        <= risk.penalty(found.w) + risk.value(found.w, found.b)
    )


def test_a_classifier_of_many_examples_has_a_gap(monkeypatch):
    monkeypatch.setattr(gram_module, "TABLED", 20)
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 2))
    y = np.linalg.norm(X, axis=1) > 1.2
    model = KernelClassifier("logistic", alpha=1e-2, gamma=1.0, gap=0.1, passes=3000).fit(X, y)
    assert model.rel_gap_ <= 0.1
