"""Streams: nothing counts before its prediction is made, and no cut makes a difference."""

import numpy as np
import pytest
from scipy import sparse

from grids import SOAK
from stepless import ChainClassifier, LinearClassifier, LinearRegressor
from stepless.data import Source
from stepless.estimators.stream import StreamLearner
from stepless.games import OGD, LearnerFromPlayer
from stepless.objective import (
    Absolute,
    ElasticNet,
    Hinge,
    L2Ball,
    Logistic,
    Objective,
    Squared,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.solvers import PGS, RDA, SOLVERS, AdaGrad, OnlineToBatch, Pegasos, Proximal
from stepless.solvers.online.iterates import ITERATES

M, D = 700, 7
ONLINE = {name: kind for name, kind in SOLVERS.items() if kind.online}
RIDGE, FREE, BALL = SquaredL2(0.01), Zero(), L2Ball(3.0)

# a solver of every kind, by losses of both kinds where it knows them, and every way it has
CASES = {
    (name, type(loss).__name__): (kind, loss, RIDGE)
    for name, kind in ONLINE.items()
    for loss in (Hinge(), Logistic(), Absolute(), Squared())
}
CASES |= {
    (name, iterate): (lambda kind=kind, iterate=iterate: kind(iterate), loss, RIDGE)
    for name, kind in ONLINE.items()
    if issubclass(kind, Pegasos.__bases__[0] | PGS)
    for iterate, loss in zip(ITERATES, (Squared(), Hinge(), Logistic(), Absolute()), strict=True)
}
CASES |= {
    ("gathered", iterate): (lambda iterate=iterate: OnlineToBatch(RDA(), iterate), Hinge(), RIDGE)
    for iterate in ITERATES[1:]
}
CASES |= {
    ("proximal", "bound"): (lambda: Proximal(strategy="bound"), Hinge(), RIDGE),
    ("proximal", "radius"): (lambda: Proximal(radius=2.0), Absolute(), RIDGE),
    ("pgs", "lp"): (PGS, Logistic(), SquaredLp(0.01, 1.5)),
    ("pgs", "elasticnet"): (PGS, Absolute(), ElasticNet(0.01, 0.3)),
    ("adagrad", "cmd"): (lambda: AdaGrad("cmd"), Hinge(), RIDGE),
    ("adagrad", "full"): (lambda: AdaGrad(matrix="full"), Hinge(), RIDGE),
    ("a player's", "average"): (lambda: LearnerFromPlayer(OGD()), Hinge(), FREE),
}


def stream_of(case):
    """An empty stream; None where the solver does not know the loss."""
    make, loss, penalty = CASES[case]
    player = case[0] == "a player's"
    solver = make()
    for regularizer in (penalty, Zero()):
        objective = Objective(loss, regularizer, *((BALL,) if player else ()), intercept=not player)
        if solver.lacks(objective) is None:
            return StreamLearner(objective, solver, D)
    return None


KNOWN = [case for case in CASES if stream_of(case)]


def some_of():
    """All that is known, but of four losses of a solver one of each kind: the others in a soak."""
    for n, name in enumerate(dict.fromkeys(name for name, _ in KNOWN)):
        ways = [case for case in KNOWN if case[0] == name]
        losses = [case for case in ways if case[1] == type(CASES[case][1]).__name__]
        rare = losses[1 - n % 2 :: 2] if len(losses) == 4 else []
        yield from (pytest.param(case, marks=[SOAK] if case in rare else []) for case in ways)


SOME = list(some_of())


def rows(case, seed=0):
    """Examples of which some are long, some are short, and the first is empty; and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(M, D)) * rng.uniform(0.1, 3.0, size=(M, 1))
    X[0] = 0.0
    z = X @ rng.normal(size=D) + 0.3 * rng.normal(size=M)
    y = z + 5.0 if CASES[case][1].targets == "reals" else np.where(z > 0.0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, size=M)


def learned(case, X, y, s, size):
    """Scores of a stream in chunks of one size, and its weights in the end."""
    stream, scores = stream_of(case), []
    for lo in range(0, len(y), size):
        cut = slice(lo, lo + size)
        source = Source(sparse.csr_matrix(X[cut]), y[cut], s[cut], 1, scaled=False)
        scores.append(stream.learn(source)[:, 0])
    w, b = stream.weights()
    return np.concatenate(scores), np.append(w, b), stream.total / stream.weight


def names(case):
    return " ".join(case)


def test_every_online_solver_is_here():
    assert {name for name, _ in KNOWN} >= set(ONLINE)


@pytest.mark.parametrize("case", SOME, ids=names)
def test_nothing_counts_before_its_prediction(case):
    X, y, s = rows(case)
    before = learned(case, X, y, s, M)[0]
    for t in (0, 1, 150):
        later, lengths, weights = y.copy(), X.copy(), s.copy()
        later[t:] = -y[t:] if CASES[case][1].targets == "signs" else 50.0 * y[t:] + 3.0
        lengths[t + 1 :] *= 30.0
        weights[t:] = s[t:][::-1]
        after = learned(case, lengths, later, weights, M)[0]
        np.testing.assert_array_equal(after[: t + 1], before[: t + 1])
        assert not np.array_equal(after, before)  # the rest does count


@pytest.mark.parametrize("case", SOME, ids=names)
def test_no_cut_makes_a_difference(case):
    X, y, s = rows(case, seed=1)
    scores, weights, loss = learned(case, X, y, s, M)
    assert weights.any()
    for size in (1, 7, 100):
        cut = learned(case, X, y, s, size)
        np.testing.assert_array_equal(cut[0], scores)
        np.testing.assert_array_equal(cut[1], weights)
        assert cut[2] == pytest.approx(loss, rel=1e-12)  # a sum of sums


@pytest.mark.parametrize("batch", [3, 10])
@pytest.mark.parametrize("kind", [Pegasos, PGS])
def test_a_batch_ends_with_its_chunk_and_looks_no_further(kind, batch):
    X, y, s = rows(("pegasos", "Hinge"))

    def scores(y, size):
        stream = StreamLearner(Objective(Hinge(), RIDGE), kind(batch=batch), D)
        cuts = (slice(lo, lo + size) for lo in range(0, M, size))
        return np.concatenate([stream.learn(Source(X[c], y[c], s[c], 1)) for c in cuts])

    later = y.copy()
    later[150:] *= -1.0
    np.testing.assert_array_equal(scores(later, 50)[:151], scores(y, 50)[:151])
    one = StreamLearner(Objective(Hinge(), RIDGE), kind(), D)
    alone = np.concatenate([one.learn(Source(X[[t]], y[[t]], s[[t]], 1)) for t in range(M)])
    np.testing.assert_array_equal(scores(y, 1), alone)


@pytest.mark.parametrize("kind", [Pegasos, Proximal, PGS])
def test_an_average_is_that_of_all_iterates_within_a_segment_too(kind):
    X, y, s = rows(("pegasos", "Hinge"), seed=6)
    average, last = (
        StreamLearner(Objective(Hinge(), RIDGE), kind(iterate), D)
        for iterate in ("average", "last")
    )
    iterates = []
    for t in range(41):
        iterates.append(last.weights()[0][0])
        for stream in (average, last):
            stream.learn(Source(X[[t]], y[[t]], s[[t]], 1, scaled=False))
        np.testing.assert_allclose(
            average.weights()[0][0], np.mean(iterates, axis=0), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("size", [1, 50])
def test_a_stream_is_learned_row_by_row(name, size):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 5))
    w = np.array([2.0, -1.0, 0.5, 0.0, 1.0])
    y = np.where(X @ w + 0.5 > 0.0, "spam", "ham")
    penalty = "none" if name in ("passive-aggressive", "arow") else "l2"
    model = LinearClassifier(solver=name, penalty=penalty, alpha=1e-2)
    for lo in range(0, 600, size):
        model.partial_fit(X[lo : lo + size], y[lo : lo + size], classes=["ham", "spam"])
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("name", [name for name in ONLINE if name != "arow"])
def test_numbers_far_from_0_are_learned_row_by_row(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    y = X @ [2.0, -1.0, 0.5] + 100.0
    penalty = "none" if name == "passive-aggressive" else "l2"
    model = LinearRegressor("absolute", solver=name, penalty=penalty, alpha=1e-2)
    early = [model.predict_and_learn(X[[t]], y[[t]])[0] for t in range(600)]
    assert early[0] == 0.0
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("name", ONLINE)
def test_a_stream_goes_on_from_fitted_weights(name):
    X, y, _ = rows((name, "Hinge"), seed=4)
    penalty = "none" if name in ("passive-aggressive", "arow") else "l2"
    models = [LinearClassifier(solver=name, penalty=penalty, alpha=0.1, passes=3) for _ in "ab"]
    for model, size in zip(models, (M, 9), strict=True):
        model.fit(X, y)
        at = model.decision_function(X[:1])
        first = model.predict_and_learn(X[:size], y[:size], settle=False)[0]
        assert first == (1.0 if at[0] > 0.0 else -1.0)
        for lo in range(size, M, size):
            model.partial_fit(X[lo : lo + size], y[lo : lo + size])
        model.settle()
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_sequences_too():
    rng = np.random.default_rng(5)
    X = [[[f"w{rng.integers(30)}"] for _ in range(rng.integers(1, 6))] for _ in range(450)]
    tags = [[int(word[0][1:]) % 3 for word in sequence] for sequence in X]

    def learned(size):
        model = ChainClassifier(alpha=1e-3)
        for lo in range(0, len(X), size):
            model.partial_fit(X[lo : lo + size], tags[lo : lo + size], classes=[0, 1, 2])
        return model

    whole = learned(len(X))
    assert whole.score(X, tags) > 0.9
    for size in (1, 7, 100):
        cut = learned(size)
        np.testing.assert_array_equal(cut.transition_, whole.transition_)
        for name, j in whole.vocabulary_.items():
            other = cut.emission_[cut.vocabulary_[name]]
            np.testing.assert_array_equal(other, whole.emission_[j])
