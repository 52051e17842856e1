"""Means and random choices of iterates, beside the iterates of the transcribed papers."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from contracts.problems import Case
from stepless import LinearClassifier, check_solver
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import L1, Hinge, MulticlassHinge, Objective, SquaredL2, Zero
from stepless.risks.joint_risk import risk_of
from stepless.solvers import (
    AROW,
    FOBOS,
    RDA,
    AdaGrad,
    OnlineToBatch,
    PassiveAggressive,
    Pegasos,
)
from stepless.stopping import Stopping
from transcriptions import adagrad as ada

ROUNDS, D = 90, 5


def stream(seed=0):
    """Rows of length 1, largest entry 0.8."""
    rng = np.random.default_rng(seed)
    X = np.zeros((ROUNDS, D))
    for row in X:
        row[rng.choice(D, 2, replace=False)] = 0.8, 0.6
    y = np.where(X @ rng.normal(size=D) + 0.5 * rng.normal(size=ROUNDS) > 0.1, 1.0, -1.0)
    return X, y


def gathered(solver, objective, X, y, chunks=(ROUNDS,), seed=0):
    """The state after a stream in chunks, and its scores."""
    state, rng, scores = None, np.random.default_rng(seed), []
    for part in np.split(np.arange(len(y)), np.cumsum(chunks)[:-1]):
        risk = risk_of(objective, Source(sparse.csr_matrix(X[part]), y[part], scaled=False))
        if state is None:
            state = solver.start(risk, np.zeros(X.shape[1] * objective.loss.outputs()), 0.0)
        order = np.arange(len(part), dtype=np.uint32)
        scores.append(solver.learn(risk, state, order, rng))
    return state, np.concatenate(scores)


def mean_weights(seed, end):
    """The weight of each round: of the segments that are over by `end`, drawn as documented."""
    counts, begun, length, pick, segment = np.zeros(end + 1), 1, 1, 1, 0
    seed = int(np.random.default_rng(seed).integers(2**63))
    while begun + length <= end:
        counts[pick] = length
        rng = np.random.default_rng((seed, segment))
        begun, segment = begun + length, segment + 1
        length = max(1, begun // 16)
        pick = begun + int(rng.integers(length))
    return counts


PENALTIES = {"l1": (L1(0.02), ada.l1(0.02)), "l2": (SquaredL2(0.1), ada.ridge(0.1))}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("update", ["rda", "cmd"])
def test_the_average_is_of_the_papers_iterates(update, penalty):
    omega, phi = PENALTIES[penalty]
    X, y = stream()
    learner = AdaGrad(update, eta=0.5, delta=0.8)
    reference = ada.adagrad_rda if update == "rda" else ada.adagrad_cmd
    run = reference(X, y, ada.HINGE, 0.5, 0.8, phi, ada.everywhere(), bias=False, argmin=ada.closed)
    solver, objective = OnlineToBatch(learner), Objective(Hinge(), omega, intercept=False)
    for end in (33, ROUNDS):
        state, scores = gathered(solver, objective, X[:end], y[:end], (end,))
        w, _ = solver.weights(objective, state)
        counts = mean_weights(0, end)
        assert counts.sum() >= end * 16 / 17 - 2
        expected = counts @ run.iterates[: end + 1] / counts.sum()
        np.testing.assert_allclose(w[:, 0], expected, rtol=1e-9, atol=1e-12)
        # learning itself is not disturbed
        z = np.einsum("td,td->t", X[:end], run.iterates[:end])
        np.testing.assert_allclose(scores[:, 0], z, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(mean_weights(0, 33)[1:32], 1.0)  # all rounds, at first


def every_iterate(learner, objective, X, y):
    risk = risk_of(objective, Source(sparse.csr_matrix(X), y, scaled=False))
    course, found = learner.start(risk, np.zeros(D), 0.0), []
    for t in range(len(y)):
        learner.learn(risk, course, np.array([t], dtype=np.uint32))
        w, b = learner.weights(objective, course)
        found.append(np.append(w[:, 0], b))
    return np.array(found)


LEARNERS = [
    AdaGrad(),
    AdaGrad("cmd"),
    AdaGrad(matrix="full"),
    RDA(),
    FOBOS(),
    PassiveAggressive(),
    AROW(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda s: f"{s.name}-{len(vars(s))}")
def test_drawn_iterates_stand_for_all(learner):
    """Over many seeds, the mean of averages and of random picks is the mean of all iterates."""
    X, y = stream(3)
    objective = Objective(Hinge(), Zero())
    all_of_them = every_iterate(learner, objective, X, y)
    last = int(np.flatnonzero(mean_weights(0, ROUNDS))[-1])
    over = next(t for t in range(last + 1, ROUNDS + 1) if mean_weights(0, t)[last])
    late = slice(None)
    for iterate in ("average", "random", "suffix"):
        solver = OnlineToBatch(learner, iterate)
        points = []
        for seed in range(40):
            state, _ = gathered(solver, objective, X, y, seed=seed)
            w, b = solver.weights(objective, state)
            points.append(np.append(w[:, 0], b))
        points = np.array(points)
        if iterate == "suffix":
            first = state.begun - state.iterates.count
            assert 1 < first <= ROUNDS / 2
            late = slice(first - 1, None)
        exact = all_of_them[late][: over - 1 - (late.start or 0)].mean(axis=0)
        spread = points.std(axis=0) / np.sqrt(40) + 1e-9
        assert (np.abs(points.mean(axis=0) - exact) <= 4.5 * spread).all(), iterate


def test_a_suffix_is_at_least_the_last_half():
    X, y = stream(4)
    solver, objective = OnlineToBatch(RDA(eta=1.0), "suffix"), Objective(Hinge(), Zero())
    for end in range(8, ROUNDS):
        state, _ = gathered(solver, objective, X[:end], y[:end], (end,))
        first = state.begun - state.iterates.count
        assert end / 5 <= first <= end / 2 or first == 1


def test_it_makes_no_difference_how_a_stream_is_cut():
    X, y = stream(5)
    for iterate in ("average", "random", "suffix"):
        solver, objective = OnlineToBatch(RDA(), iterate), Objective(Hinge(), L1(0.01))
        ends = []
        for chunks in ((ROUNDS,), (1, 1, 30, 8, 50), (40, 2, 48)):
            state, scores = gathered(solver, objective, X, y, chunks)
            state = pickle.loads(pickle.dumps(state))
            ends.append(
                np.concatenate([*map(np.ravel, solver.weights(objective, state)), scores[:, 0]])
            )
        np.testing.assert_array_equal(ends[0], ends[1])
        np.testing.assert_array_equal(ends[0], ends[2])


def test_the_risk_is_no_greater_than_was_suffered_on_the_way():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=D)
    objective, solver = Objective(Hinge(), Zero()), OnlineToBatch(AdaGrad(eta=1.0))
    suffered, risks = [], []
    for _ in range(40):
        X = rng.normal(size=(1500, D))
        y = np.where(X @ truth + rng.normal(size=1500) > 0, 1.0, -1.0)
        state, scores = gathered(solver, objective, X[:300], y[:300], (300,))
        w, b = solver.weights(objective, state)
        suffered.append(np.maximum(0, 1 - y[:300] * scores[:, 0]).mean())
        risks.append(np.maximum(0, 1 - y[300:] * (X[300:] @ w[:, 0] + b)).mean())
    gain = np.array(suffered) - np.array(risks)
    assert gain.mean() > 3 * gain.std() / np.sqrt(40)


def test_it_is_a_solver_with_a_certificate():
    check_solver(OnlineToBatch(AdaGrad(), "average"))
    for iterate in ("average", "suffix", "random"):
        case = Case("hinge", 2, strength=0.1, intercept=True)
        result = minimize(case.risk, OnlineToBatch(RDA(), iterate), Stopping(gap=0.05, passes=400))
        assert result.stopped_by == "gap", (iterate, result.rel_gap)
        assert case.best <= result.objective <= 1.06 * case.best


def test_several_classes_at_once_and_streams_of_an_estimator():
    X, _ = stream(7)
    y = np.arange(ROUNDS) % 3.0
    objective = Objective(MulticlassHinge(3), L1(0.01))
    solver = OnlineToBatch(AdaGrad(), "suffix")
    w, b = solver.weights(objective, gathered(solver, objective, X, y)[0])
    assert w.shape == (D, 3)
    assert b.shape == (3,)
    clf = LinearClassifier(penalty="none", solver=OnlineToBatch(AROW()), shuffle=False, passes=3)
    assert clf.fit(X, y).coef_.shape == (3, D)
    streamed = LinearClassifier(penalty="none", solver=OnlineToBatch(AROW()))
    streamed.partial_fit(X[:1], y[:1], classes=[0, 1, 2]).partial_fit(X[1:], y[1:])
    assert np.isfinite(streamed.coef_).all()


def test_what_it_refuses():
    with pytest.raises(TypeError, match="Pegasos is not of AdaGrad's kind: give one of AdaGrad"):
        OnlineToBatch(Pegasos())
    with pytest.raises(ValueError, match="iterate must be one of average, suffix, random"):
        OnlineToBatch(RDA(), "last")
