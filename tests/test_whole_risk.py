import numpy as np
import pytest

from stepless import SOLVERS, Objective, Risk, Source, SquaredL2, Stopping
from stepless.minimize import minimize
from stepless.objective import Hinge
from stepless.solvers import LBFGS, TANGENTS_ONLY, Newton
from stepless.whole_risk import OffsetRisk, WholeRisk

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
    "kind", [kind for kind in TANGENTS_ONLY if kind is not LBFGS], ids=lambda kind: kind.name
)
def test_a_whole_risk_has_the_optimum_of_the_sum_that_it_is(kind, intercept):
    known = Risk(Objective(Hinge(), SquaredL2(0.05), intercept=intercept), Source(X, y))
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
        WholeRisk(2, SquaredL2(1.0))
