"""Every solver on every kind of risk: it runs, with bounds that are true, or says what it misses."""

import math

import numpy as np
import pytest

from stepless import LinearRisk, Objective, OracleRisk, Run, Source, SquaredL2, Stopping
from stepless.data.gram import Gram
from stepless.kernels import Gaussian
from stepless.minimization import minimize
from stepless.objective import Box, Hinge, L1Ball, L2Ball, Logistic, MulticlassHinge, Simplex
from stepless.risks.joint_risk import JointRisk
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers import SOLVERS, Bundle, ProximalBundle
from stepless.solvers.auto import choose
from stepless.solvers.batch.kernel_newton import KernelNewton
from stepless.solvers.lacking import lack_of, suited
from stepless.solvers.online.kernel_pgs import KernelPGS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
y = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0.0, 1.0, -1.0)


class Distance(OracleRisk):
    """‖w − 1‖, which has a corner."""

    def value_and_gradient(self, w):
        away = w - 1.0
        length = float(np.linalg.norm(away))
        return length, away / length if length else np.zeros_like(w)


class Bowl(OracleRisk):
    """½‖w − 1‖²."""

    smooth = True

    def value_and_gradient(self, w):
        away = w - 1.0
        return 0.5 * float(away @ away), away


RISKS = {
    "rows": LinearRisk(Objective(Logistic(), SquaredL2(0.1)), Source(X, y)),
    "joint": JointRisk(
        Objective(MulticlassHinge(3), SquaredL2(0.1)), Source(X, np.arange(40.0) % 3.0)
    ),
    "corner": Distance(3, SquaredL2(0.1)),
    "bowl": Bowl(3, SquaredL2(0.1)),
    "kernels": KernelRisk(Objective(Logistic(), SquaredL2(0.1)), Gram(Gaussian(0.5), X), y),
}
ALL = [*(solver() for solver in SOLVERS.values()), KernelPGS(), KernelNewton()]


@pytest.fixture(scope="module")
def optimum():
    """Of each risk: an interval that its bundle proves, narrow enough to tell a false bound."""
    found = {}
    for name, risk in RISKS.items():
        result = minimize(risk, Bundle(), Stopping(gap=1e-7, passes=500))
        assert result.stopped_by == "gap"
        found[name] = result.lower_bound, result.objective
    return found


@pytest.mark.parametrize("kind", RISKS)
@pytest.mark.parametrize("solver", ALL, ids=lambda solver: type(solver).__name__)
def test_a_solver_runs_or_says_what_it_misses(solver, kind, optimum):
    risk = RISKS[kind]
    lack = lack_of(solver, risk)
    if lack is not None:
        assert "use " in lack  # a remedy
        with pytest.raises(ValueError, match=f"^solver '{solver.name}' "):
            minimize(risk, solver, Stopping(passes=2))
        return
    result = minimize(risk, solver, Stopping(gap=1e-3, passes=20))
    low, high = optimum[kind]
    assert result.objective >= low
    assert -math.inf < result.lower_bound <= high


@pytest.mark.parametrize("kind", RISKS)
def test_the_choice_suits_the_kind_and_reaches_its_gap(kind):
    result = minimize(RISKS[kind], choose(RISKS[kind], 1e-3), Stopping(gap=1e-3, passes=500))
    assert result.stopped_by == "gap"


@pytest.mark.parametrize("domain", [L1Ball(0.5), Simplex(1.0), L2Ball(0.5), Box(-0.1, 0.2)])
def test_the_choice_knows_a_smooth_oracle_in_a_domain(domain):
    risk = Bowl(3, SquaredL2(0.1), domain)
    assert Run(gap=1e-3, passes=500).minimize(risk).stopped_by == "gap"


def test_what_is_needed_is_said_with_those_that_need_less():
    lack = lack_of(SOLVERS["newton"](), RISKS["bowl"])
    assert lack.startswith("needs a risk that is a sum over examples; use one of 'bundle', ")
    lack = lack_of(SOLVERS["lbfgs"](), RISKS["kernels"])
    assert lack == (
        "needs a risk that is a function of weights; use one of 'bundle', 'proximal-bundle'"
    )
    assert lack_of(KernelPGS(), RISKS["rows"]).startswith(
        "needs a risk that is one of a sum of kernels; use one of "
    )
    assert set(suited(OracleRisk)) < set(suited(LinearRisk)) == set(SOLVERS)


def test_kernels_need_their_table(monkeypatch):
    gram = Gram(Gaussian(0.5), X)
    monkeypatch.setattr(gram, "table", None)
    risk = KernelRisk(Objective(Hinge(), SquaredL2(0.1)), gram, y)
    for solver in (Bundle(), ProximalBundle()):
        assert lack_of(solver, risk).startswith("needs the Gram matrix of 40 examples")
    result = minimize(risk, KernelPGS(), Stopping(gap=1e-3, passes=2))
    assert 0.0 < result.lower_bound < result.objective
    assert result.remark is None


def test_another_table_of_kernels_is_another_problem():
    result = minimize(RISKS["kernels"], Bundle(), Stopping(gap=1e-3))
    same = KernelRisk(RISKS["kernels"].objective, Gram(Gaussian(0.5), X.copy()), y.copy())
    assert minimize(same, Bundle(), Stopping(gap=1e-3), start=result).objective <= result.objective
    for gram in (Gram(Gaussian(0.4), X), Gram(Gaussian(0.5), 2.0 * X)):
        other = KernelRisk(RISKS["kernels"].objective, gram, y)
        with pytest.raises(ValueError, match="the same examples"):
            minimize(other, Bundle(), Stopping(gap=1e-3), start=result)


@pytest.mark.parametrize("needs", [None, "rows", int])
def test_needs_are_a_kind_of_risk(needs):
    solver = Bundle()
    solver.needs = needs
    with pytest.raises(TypeError, match="needs of solver 'bundle' must be a kind of Risk"):
        minimize(RISKS["rows"], solver, Stopping(passes=1))
