"""Solvers that say they work anywhere ask for nothing but rounds; the others are refused."""

import math

import numpy as np
import pytest

from contracts.problems import OF_ONE_OUTPUT
from stepless import LinearRisk, Objective, Source
from stepless.data import Column
from stepless.data.gathered import Gathered
from stepless.design import Dense
from stepless.minimization import minimize
from stepless.objective import Simplex, SquaredL2, Zero
from stepless.objective.losses import Hinge, Logistic
from stepless.objective.regularizers import Entropy
from stepless.proof.optimum_distance import unbounded
from stepless.risks.risk import RowRisk
from stepless.solvers import SOLVERS
from stepless.solvers.auto import choose
from stepless.solvers.lacking import lack_of, works_anywhere
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping

RNG = np.random.default_rng(0)
BLOCKS = [RNG.normal(size=(m, 3)) for m in (40, 1, 30)]
LABELS = [np.sign(X[:, 0] + 0.1 * RNG.normal(size=len(X))) for X in BLOCKS]
OBJECTIVES = [
    Objective(Logistic(), SquaredL2(0.1)),
    Objective(Hinge(), SquaredL2(0.1)),
    Objective(Logistic(), SquaredL2(0.1), Simplex(1.0), intercept=False),
    Objective(Logistic(), Entropy(0.1), intercept=False),
    Objective(Hinge(), Zero()),
]


def risks():
    """Risks of rows that are nowhere as a whole: whoever asks for them fails."""
    for objective in OBJECTIVES:
        yield LinearRisk(objective, Source(Gathered([*map(Dense.of, BLOCKS)]), Column(LABELS)))


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_a_solver_works_anywhere_if_it_says_so(name):
    solver = SOLVERS[name]()
    fitting = [risk for risk in risks() if solver.lacks(risk.objective) is None]
    assert fitting
    for risk in fitting:
        if not works_anywhere(solver):
            assert "needs all rows in one memory" in lack_of(solver, risk)
        elif unbounded(risk.objective):
            assert "cannot certify an answer without a penalty" in lack_of(solver, risk)
        else:
            found = minimize(risk, solver, Stopping(1e-3, 5))
            assert 0.0 <= found.lower_bound <= found.objective < math.inf


def test_the_choice_works_anywhere():
    for risk in risks():
        if unbounded(risk.objective):
            continue
        for solver in SolverSequence.of(choose(risk, 1e-3)).solvers:
            assert lack_of(solver, risk) is None


def test_a_solver_of_a_user_that_says_nothing_gets_rows_only_in_memory():
    class Mine:
        name, needs, online = "mine", RowRisk, False

        def lacks(self, objective):
            return None

    far = next(risks())
    assert "needs all rows" in lack_of(Mine(), far)
    near = LinearRisk(far.objective, Source(np.vstack(BLOCKS), np.concatenate(LABELS)))
    assert lack_of(Mine(), near) is None
