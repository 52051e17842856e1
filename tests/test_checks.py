"""`check_solver`: every solver passes, and one that breaks the contract is told so in one line."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from contracts.problems import OF_ONE_OUTPUT
from stepless import SOLVERS, ContractError, LinearRisk, Objective, Source, check_solver
from stepless.objective import Hinge, Logistic, Zero
from stepless.plane import Plane
from stepless.solvers import Bundle, Finding, Proximal, ProximalBundle


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_contract(name):
    check_solver(SOLVERS[name]())


@pytest.mark.parametrize("iterate", ["random", "average", "suffix"])
def test_contract_of_other_iterates(iterate):
    check_solver(Proximal(iterate=iterate, batch=7))


@dataclass
class State:
    w: np.ndarray
    b: float


class Still:
    """Stays where it was started, and says what is true there."""

    name: ClassVar[str] = "still"
    online: ClassVar[bool] = False

    def lacks(self, objective):
        return None

    def start(self, risk, w, b):
        return State(w.copy(), b)

    def step(self, risk, state, rng):
        tangent = risk.tangent(state.w, state.b)
        value = risk.objective.penalty(state.w) + tangent.value
        return Finding(state.w.copy(), tangent.b, objective=value, plane=tangent.plane)


def test_a_lazy_solver_is_not_a_false_one():
    check_solver(Still())


class Nameless(Still):
    name = None


class HalfAnswer(Still):
    online = 1


class Stepless(Still):
    step = None


class NarrowStep(Still):
    def step(self, risk, state):
        return Still.step(self, risk, state, None)


class LacksTrue(Still):
    def lacks(self, objective):
        return True


class LacksAll(Still):
    def lacks(self, objective):
        return "needs a miracle"


class ReturnsAPair(Still):
    def step(self, risk, state, rng):
        return state.w, state.b


class Raises(Still):
    def step(self, risk, state, rng):
        raise ZeroDivisionError("division by zero")


class Amended(Still):
    """Changes one thing in what `Still` finds."""

    def amend(self, finding):
        return finding

    def step(self, risk, state, rng):
        return self.amend(Still.step(self, risk, state, rng))


class NotFinite(Amended):
    def amend(self, finding):
        return replace(finding, w=finding.w * math.nan)


class SinglePrecision(Amended):
    def amend(self, finding):
        return replace(finding, w=finding.w.astype(np.float32))


class OutOfTheDomain(Amended):
    def amend(self, finding):
        return replace(finding, w=np.ones(3), objective=None, plane=None)


class WrongObjective(Amended):
    def amend(self, finding):
        return replace(finding, objective=finding.objective * 0.999)


class HighPlane(Amended):
    def amend(self, finding):
        plane = finding.plane
        return replace(finding, plane=Plane(plane.a, plane.offset + 1e-6, plane.tilt))


class TiltedPlane(Amended):
    def amend(self, finding):
        return replace(finding, plane=Plane(finding.plane.a, finding.plane.offset, 5.0))


class ReversedPlane(Amended):
    def amend(self, finding):
        return replace(finding, plane=Plane(-finding.plane.a, finding.plane.offset))


class HighBound(Bundle):
    def step(self, risk, state, rng):
        finding = Bundle.step(self, risk, state, rng)
        return replace(finding, lower_bound=finding.objective * 1.0001)


class NanBound(Amended):
    def amend(self, finding):
        return replace(finding, lower_bound=math.nan)


class StrayIntercept(Amended):
    def amend(self, finding):
        return replace(finding, b=0.5, objective=None)


class Forgetful(Still):
    """Counts its steps in itself, where a restored state does not find them."""

    def __init__(self):
        self.steps = 0

    def step(self, risk, state, rng):
        self.steps += 1
        state.w = np.full(3, 1e-3 * self.steps)
        return Finding(state.w.copy(), 0.0)


class Aliasing(Still):
    def step(self, risk, state, rng):
        state.w += 1e-3
        return Finding(state.w, 0.0)


class Spoiling(Still):
    """Takes the given weights for its own."""

    def start(self, risk, w, b):
        return State(w, b)

    def step(self, risk, state, rng):
        state.w += 1e-3
        return Finding(state.w.copy(), 0.0)


class Unpicklable(Still):
    def start(self, risk, w, b):
        state = State(w.copy(), b)
        state.memory = lambda: w
        return state


BROKEN = [
    (Nameless(), r"^Nameless\.name must be a str$"),
    (HalfAnswer(), r"^HalfAnswer\.online must be a bool$"),
    (Stepless(), r"^Stepless has no method step$"),
    (NarrowStep(), r"^NarrowStep\.step must take 3 arguments: too many"),
    (LacksTrue(), r"^LacksTrue\.lacks must say what is lacking, or None, but is True$"),
    (LacksAll(), r"^LacksAll lacks something for every objective .* needs a miracle$"),
    (ReturnsAPair(), r"^ReturnsAPair\.step must return a Finding, not \("),
    (Raises(), r"^Raises raises ZeroDivisionError: division by zero$"),
    (NotFinite(), r"^NotFinite finds what is not finite: w = \(nan"),
    (SinglePrecision(), r"^SinglePrecision finds weights .* not 3 of float64$"),
    (
        OutOfTheDomain(),
        r"^OutOfTheDomain finds weights of length 1\.73205, but the domain's radius is 0\.4$",
    ),
    (WrongObjective(), r"^WrongObjective says the objective is .* at weights where it is"),
    (HighPlane(), r"^HighPlane finds a plane of height .*, where the risk is only"),
    (TiltedPlane(), r"^TiltedPlane finds a plane of height"),
    (ReversedPlane(), r"^ReversedPlane finds a plane of height"),
    (HighBound(), r"^HighBound claims a lower bound of .*, but the objective falls to"),
    (NanBound(), r"^NanBound claims a lower bound of nan"),
    (StrayIntercept(), r"^StrayIntercept finds an intercept of 0\.5, but the objective has none$"),
    (Forgetful(), r"^Forgetful goes on differently from a state pickled after step 1: w ="),
    (Aliasing(), r"^Aliasing changes weights that it was given, or has returned$"),
    (Spoiling(), r"^Spoiling changes weights that it was given, or has returned$"),
    (Unpicklable(), r"^the state of Unpicklable cannot be pickled: "),
    (Bundle, r"^the check needs a solver, such as Bundle\(\), not a class$"),
]


@pytest.mark.parametrize(
    ("solver", "message"), BROKEN, ids=[getattr(s, "__name__", type(s).__name__) for s, _ in BROKEN]
)
def test_broken_solvers_are_caught_in_one_line(solver, message):
    with pytest.raises(ContractError, match=message) as caught:
        check_solver(solver)
    assert "\n" not in str(caught.value)


def test_a_solver_of_smooth_losses_only_is_tried_on_one():
    tried = []

    class Smooth(Still):
        def lacks(self, objective):
            smooth = math.isfinite(objective.loss.smoothness())
            return None if smooth else "needs a smooth loss"

        def start(self, risk, w, b):
            tried.append(type(risk.objective.loss))
            return Still.start(self, risk, w, b)

    check_solver(Smooth())
    assert set(tried) == {Logistic}


def test_a_full_bundle_stays_finite_without_a_penalty():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    risk = LinearRisk(Objective(Hinge(), Zero()), Source(X, np.sign(y), threads=1))
    solver = ProximalBundle()
    state = solver.start(risk, np.zeros(3), 0.0)
    state.planes.capacity = 8
    for _ in range(20):
        finding = solver.step(risk, state, rng)
        assert np.isfinite(finding.w).all()
    assert np.isfinite(state.planes.A).all()
