"""What is mapped over a source can be sent elsewhere: functions of modules, nothing of m rows."""

import pickle

import numpy as np
import pytest

from contracts.problems import OF_ONE_OUTPUT
from contracts.test_going_on import solver_and_risk
from stepless.data import Column, Sequences, Source, memory, sequences
from stepless.minimization import minimize
from stepless.objective import Logistic, MulticlassHinge, Objective, Softmax, SquaredL2
from stepless.risks.chains import ChainHingeRisk, CRFRisk
from stepless.risks.chains.decoding import best_labelings, tag_probabilities
from stepless.risks.chains.pairs import AllPairs
from stepless.risks.joint_risk import risk_of
from stepless.risks.ranking import Pairwise, RankingRisk
from stepless.solvers import Bundle
from stepless.stopping import Stopping
from stepless.strength import best_strength

M = 431
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, 5))
Y = np.where(X[:, 0] + RNG.normal(size=M) > 0.0, 1.0, -1.0)
S = RNG.uniform(0.5, 1.5, M)


@pytest.fixture
def mapped(monkeypatch):
    """The names of what is mapped, each of them pickled on its way."""
    monkeypatch.setattr(memory, "_WORTH_A_BLOCK", 100)
    monkeypatch.setattr(sequences, "_WORTH_A_BLOCK", 1)
    names = set()

    def sent(kernel, shared):
        names.add(kernel.__name__)
        again = []
        for argument in shared:
            if not isinstance(argument, Column):
                assert not any(M in part.shape for part in arrays(argument)), kernel
                argument = pickle.loads(pickle.dumps(argument))
            again.append(argument)
        return pickle.loads(pickle.dumps(kernel)), tuple(again)

    def run(self, blocks, round_, threads):
        loop, shared = sent(round_.loop, round_.shared)
        pickle.dumps(round_.join)
        return before_run(self, blocks, round_._replace(loop=loop, shared=shared), threads)

    def call(self, kernel, *shared):
        kernel, shared = sent(kernel, shared)
        return before_map(self, kernel, *shared)

    before_run, before_map = memory.Memory.run, Sequences.map
    monkeypatch.setattr(memory.Memory, "run", run)
    monkeypatch.setattr(Sequences, "map", call)
    return names


def arrays(argument):
    if isinstance(argument, np.ndarray):
        yield argument
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from arrays(part)


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_kernels_of_solvers_and_what_they_share_can_be_sent(name, mapped):
    solver, risk = solver_and_risk(name, Source(X, Y, S))
    assert len(risk.source.blocks()) > 1
    stopping = Stopping(gap=0.0, passes=4)
    result = minimize(risk, solver, stopping)
    minimize(risk, solver, stopping, start=result)
    assert mapped


@pytest.mark.parametrize("loss", [Softmax(3), MulticlassHinge(3)])
@pytest.mark.parametrize("intercept", [False, True])
def test_kernels_of_joint_risks(loss, intercept, mapped):
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]).astype(float)
    risk = risk_of(Objective(loss, SquaredL2(0.1), intercept=intercept), Source(X, y, S))
    minimize(risk, Bundle(), Stopping(gap=0.0, passes=3))
    assert "predictions" in mapped


def test_kernels_of_rankings(mapped):
    y, qid = np.digitize(X[:, 0], [-0.5, 0.5]), np.arange(M) // 20
    risk = RankingRisk(Pairwise(), X, y, SquaredL2(0.1), qid=qid)
    assert len(risk.source.blocks()) > 1
    minimize(risk, Bundle(), Stopping(gap=0.0, passes=3))
    assert "_rank" in mapped


def test_kernels_of_chains(mapped):
    words, y = Sequences(X, np.append(np.arange(0, M, 10), M)), (X[:, 0] > 0.0).astype(np.int64)
    assert len(words.blocks()) > 1
    given = words, y, AllPairs(5, 2), 2, SquaredL2(0.1)
    for risk in (CRFRisk(*given), ChainHingeRisk(*given, cost=1.0 - np.eye(2))):
        risk.value_and_gradient(np.ones(risk.d))
    best_labelings(words, AllPairs(5, 2), 2, np.ones(risk.d))
    tag_probabilities(words, AllPairs(5, 2), 2, np.ones(risk.d))
    assert {"_log_losses", "_hinges", "_labels", "_probabilities"} <= mapped


def test_kernels_of_a_strength(mapped):
    best_strength(Objective(Logistic(), SquaredL2()), [Source(X, Y, S)])
    assert {"pulls", "left_out"} <= mapped
