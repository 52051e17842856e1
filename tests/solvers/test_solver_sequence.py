"""Solvers that take sequence, and which ones `auto` takes."""

import math

import numpy as np
import pytest

from stepless import LinearClassifier, LinearRisk, Objective, Source
from stepless.minimization import minimize
from stepless.objective import L1, Hinge, L1Ball, L2Ball, Logistic, Loss, SquaredL2, Zero
from stepless.solvers import Bundle, Finding, ProximalBundle
from stepless.solvers.auto import choose
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping


def risk(loss=Hinge(), m=60, d=3, strength=0.05, domain=None, intercept=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + rng.normal(size=m) > 0, 1.0, -1.0)
    parts = (loss, strength if not isinstance(strength, float) else SquaredL2(strength))
    more = {} if domain is None else {"domain": domain}
    return LinearRisk(Objective(*parts, intercept=intercept, **more), Source(X, y, threads=1))


class Stuck:
    """Finds one point, and never proves anything; remembers where it was started."""

    name, online = "stuck", False

    def lacks(self, objective):
        return None

    def start(self, risk, w, b):
        return {"w": w.copy(), "b": b}

    def step(self, risk, state, rng):
        return Finding(state["w"] + 1e-3, state["b"], lower_bound=-math.inf)


def test_a_stalled_solver_hands_over_and_the_result_says_so():
    sequence = SolverSequence((Stuck(), 5), (Bundle(), 100))
    result = minimize(risk(), sequence, Stopping(gap=1e-3, passes=200))
    assert result.stopped_by == "gap"
    assert result.solver == "stuck, bundle"
    assert [event.solver for event in result.trace[:6]] == ["stuck"] * 5 + ["bundle"]


def test_a_solver_on_its_way_is_not_disturbed():
    sequence = SolverSequence((Bundle(), 3), (Stuck(), 5))
    result = minimize(risk(), sequence, Stopping(gap=1e-3, passes=200))
    assert result.solver == "bundle"


def test_what_a_member_lacks_the_list_lacks():
    assert "needs a penalty" in SolverSequence((Bundle(), 1)).lacks(Objective(Hinge(), Zero()))


class Own(Loss):
    """A loss that offers neither curvature nor corners."""

    targets = "signs"

    def value(self, z, y):
        return max(0.0, 1.0 - y * z)

    def slope(self, z, y):
        return -y if y * z < 1.0 else 0.0

    def lipschitz(self):
        return 1.0


@pytest.mark.parametrize(
    ("problem", "gap", "names"),
    [
        (risk(domain=L2Ball(1.0)), 1e-3, "bundle"),
        (risk(Logistic(), strength=L1(0.1)), 1e-3, "proximal-newton, accelerated"),
        (risk(Logistic(), domain=L1Ball(1.0)), 1e-3, "accelerated"),
        (risk(strength=L1(0.1)), 1e-3, "smoothed-proximal-newton, bundle"),
        (risk(strength=Zero()), 1e-3, "interior-point"),
        (risk(Own()), 1e-3, "proximal-bundle"),
        (risk(Logistic()), 1e-3, "newton"),
        (risk(Logistic(), m=30, d=1600, strength=0.5), 1e-3, "dual-ascent, newton"),
        (risk(), 1e-3, "interior-point"),
        (risk(m=30_000, d=10), 1e-3, "dual-ascent, smoothed-newton, interior-point"),
        (risk(m=30_000, d=10), 1e-6, "dual-ascent, interior-point"),
        (risk(m=30_000, d=10, strength=1e-6), 1e-3, "smoothed-newton, interior-point"),
        (risk(m=30, d=1600, strength=0.5), 1e-3, "dual-ascent, smoothed-newton"),
    ],
)
def test_the_table(problem, gap, names):
    solver = choose(problem, gap)
    assert solver.name == names
    assert solver.lacks(problem.objective) is None


def test_every_choice_reaches_its_gap():
    for loss in (Hinge(), Logistic(), Own()):
        for problem in (risk(loss), risk(loss, m=3000, d=10), risk(loss, m=40, d=1600)):
            solver = choose(problem, 1e-3)
            result = minimize(problem, solver, Stopping(gap=1e-3, passes=1000))
            assert result.stopped_by == "gap", (loss, result.solver, result.rel_gap)
            other = minimize(problem, ProximalBundle(), Stopping(gap=1e-2, passes=500))
            assert result.lower_bound <= other.objective
            assert other.lower_bound <= result.objective


def test_the_estimator_tells_who_worked():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 2
    clf = LinearClassifier().fit(X, y)
    assert clf.solver_ == "interior-point"
    assert {event.solver for event in clf.trace_} == {"interior-point"}


@pytest.mark.parametrize(
    "legs",
    [(), (Bundle(),), ((Bundle(), 0),), ((Bundle(), 2.5),), ((SolverSequence((Bundle(), 1)), 1),)],
)
def test_what_is_no_turn_is_said(legs):
    with pytest.raises(ValueError, match="turn"):
        SolverSequence(*legs)
