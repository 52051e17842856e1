import numpy as np
import pytest

from stepless import SOLVERS, Box, L1Ball, LinearRisk, Objective, Source, SquaredL2, Stopping, Zero
from stepless.minimization import minimize
from stepless.objective import L1, Free, Hinge, Logistic
from stepless.risks.oracle_risk import OffsetRisk, OracleRisk
from stepless.solvers import Accelerated, Bundle, BundleLinesearch, Newton, ProximalBundle

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + 0.5
y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=60) > 0.3, 1.0, -1.0)


class MeanHinge(OffsetRisk):
    """The hinge, as if it were no sum."""

    def __init__(self, strength, intercept):
        super().__init__(X.shape[1], SquaredL2(strength), m=len(y), intercept=intercept)

    def section(self, w):
        z = X @ w

        class Along:
            def cut(self, b):
                margins = 1.0 - y * (z + b)
                return np.maximum(margins, 0.0).mean(), -(y * (margins > 0.0)).mean()

            def gradient(self, b):
                return -((y * (1.0 - y * (z + b) > 0.0)) @ X) / len(y)

        return Along()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "kind", [Bundle, ProximalBundle, BundleLinesearch], ids=lambda kind: kind.name
)
def test_a_whole_risk_has_the_optimum_of_the_sum_that_it_is(kind, intercept):
    known = LinearRisk(Objective(Hinge(), SquaredL2(0.05), intercept=intercept), Source(X, y))
    optimum = minimize(known, SOLVERS["interior-point"](), Stopping(gap=1e-9))
    found = minimize(MeanHinge(0.05, intercept), kind(), Stopping(gap=1e-3, passes=2000))
    assert found.stopped_by == "gap"
    assert found.lower_bound <= optimum.objective
    assert optimum.lower_bound <= found.objective <= optimum.objective * 1.0011


def test_bounds_are_below_every_point():
    risk = MeanHinge(0.01, True)
    result = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-6, passes=300))
    for _ in range(200):
        w, b = result.w + rng.normal(size=4) * 0.01, result.b + 0.01 * rng.normal()
        assert risk.objective.penalty(w) + risk.value(w, b) >= result.lower_bound


def test_planes_are_kept_under_another_penalty_and_refused_for_another_risk():
    risk = MeanHinge(0.05, True)
    first = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-4))
    weaker = risk.under(SquaredL2(0.03))
    warm = minimize(weaker, SOLVERS["bundle"](), Stopping(gap=1e-4), start=first)
    cold = minimize(weaker, SOLVERS["bundle"](), Stopping(gap=1e-4))
    assert len(warm.trace) < len(cold.trace)
    assert warm.lower_bound <= cold.objective
    with pytest.raises(ValueError, match="goes on from a result on the same examples"):
        minimize(MeanHinge(0.03, True), SOLVERS["bundle"](), Stopping(), start=first)


def test_solvers_of_sums_refuse_it():
    with pytest.raises(ValueError, match="'newton' needs a risk that is a sum over examples"):
        minimize(MeanHinge(0.1, False), Newton(), Stopping())


def test_a_risk_that_falls_without_end_in_its_intercept_proves_nothing():
    class OneClass(MeanHinge):
        def section(self, w):
            class Along:
                def cut(self, b):
                    return float(np.exp(-min(b, 700.0))), -float(np.exp(-min(b, 700.0)))

                def gradient(self, b):
                    return np.zeros(4)

            return Along()

    tangent = OneClass(0.1, True).tangent(np.zeros(4), 0.0)
    assert tangent.plane.offset <= 0.0
    assert not tangent.plane.a.any()


def test_without_a_value_and_gradient_there_is_no_risk():
    with pytest.raises(TypeError, match="value_and_gradient"):
        OracleRisk(2, SquaredL2(1.0))


class MeanLogistic(OracleRisk):
    """The logistic loss, as if it were no sum; `off` spoils its gradient, `bend` its convexity."""

    smooth = True

    def __init__(self, regularizer, domain=None, off=1.0, bend=0.0):
        super().__init__(X.shape[1], regularizer, domain, m=len(y))
        self.off, self.bend = off, bend

    def curvatures(self):
        return (X * X).mean(axis=0) / 4.0

    def value_and_gradient(self, w):
        z = y * (X @ w)
        a = -(y / (1.0 + np.exp(z))) @ X / len(y)
        wave, slope = self.bend * np.sin(3.0 * w[0]) ** 2, 3.0 * self.bend * np.sin(6.0 * w[0])
        a[0] += slope
        return float(np.logaddexp(0.0, -z).mean()) + wave, self.off * a


@pytest.mark.parametrize(
    ("name", "regularizer", "domain"),
    [
        ("lbfgs", SquaredL2(0.01), None),
        ("accelerated", SquaredL2(0.01), None),
        ("accelerated", L1(0.02), None),
        ("accelerated", L1(0.02), Box(-0.3, 0.5)),
        ("gradient", SquaredL2(0.01), Box(-0.3, 0.5)),
        ("mirror-prox", Zero(), L1Ball(1.0)),
        ("frank-wolfe", Zero(), L1Ball(1.0)),
    ],
)
def test_smooth_whole_risks_have_the_optimum_of_the_sum_that_they_are(name, regularizer, domain):
    objective = Objective(Logistic(), regularizer, domain or Free(), intercept=False)
    known = minimize(
        LinearRisk(objective, Source(X, y)), Accelerated(), Stopping(1e-6, passes=3000)
    )
    whole = MeanLogistic(regularizer, domain)
    found = minimize(whole, SOLVERS[name](), Stopping(gap=1e-4, passes=3000))
    assert (known.stopped_by, found.stopped_by) == ("gap", "gap")
    assert known.lower_bound <= found.objective <= known.objective * 1.0002
    assert found.lower_bound <= known.objective


@pytest.mark.parametrize("name", ["accelerated", "lbfgs"])
def test_what_is_not_smooth_is_refused_by_solvers_that_need_it(name):
    with pytest.raises(ValueError, match=f"'{name}' needs a risk that is smooth"):
        minimize(MeanHinge(0.1, False), SOLVERS[name](), Stopping())


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("bundle", {"off": 1.5}),
        ("bundle", {"off": -1.0}),
        ("bundle", {"bend": 0.1}),
        ("proximal-bundle", {"off": 1.5}),
        ("lbfgs", {"off": 1.5}),
        ("lbfgs", {"bend": 0.5}),
        ("accelerated", {"off": 1.5}),
    ],
)
def test_a_wrong_oracle_is_caught_and_named(name, wrong):
    risk = MeanLogistic(SquaredL2(0.01), **wrong)
    risk.found_right = True  # by a look at other weights than those of the run
    with pytest.raises(ValueError, match=r"R is not convex, or its gradient of call \d+ is none"):
        minimize(risk, SOLVERS[name](), Stopping(gap=1e-9, passes=30), start=(np.full(4, 0.4), 0.0))


def test_a_gradient_that_is_no_number_is_named():
    with pytest.raises(ValueError, match="a gradient not finite"):
        minimize(MeanLogistic(SquaredL2(0.01), off=np.inf), Bundle(), Stopping())


def test_data_changed_between_two_runs_are_no_contradiction():
    class Moved(OracleRisk):
        centre = 1.0

        def value_and_gradient(self, w):
            away = w - self.centre
            return 0.5 * float(away @ away), away

    risk = Moved(2, SquaredL2(0.1))
    for risk.centre in (1.0, -3.0):
        result = minimize(risk, Bundle(), Stopping(gap=1e-6, passes=200))
        np.testing.assert_allclose(result.w, risk.centre / 1.1, rtol=1e-2)


@pytest.mark.parametrize(
    "found", [1.0, (1.0,), (1.0, np.zeros(2), 0), None, (np.ones(1), np.ones(2))]
)
def test_what_is_no_value_and_gradient_is_said(found):
    class Odd(OracleRisk):
        def value_and_gradient(self, w):
            return found

    with pytest.raises(ValueError, match="value_and_gradient must give a number and a gradient"):
        minimize(Odd(2, SquaredL2(0.1)), Bundle(), Stopping(gap=1e-3))
