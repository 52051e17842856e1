"""AdaGrad on chains, against a transcription with dicts and sums over all labelings."""

from collections import defaultdict
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse

from stepless import L1, SquaredL2
from stepless.data.sequences import Sequences
from stepless.solvers.online.chain_adagrad import ChainAdaGrad, SequenceChunk, TaggedSequences

K, FEATURES, ROUNDS = 2, 5, 130  # beyond the first early look
ETA, DELTA, ALPHA = 0.7, 0.5, 0.02
COST = np.array([[0.0, 2.0], [1.0, 0.0]])


def sequences(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 4, size=ROUNDS)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    X = rng.integers(0, 2, size=(ends[-1], FEATURES)) * rng.normal(size=(ends[-1], FEATURES))
    return X, ends, rng.integers(K, size=ends[-1])


def features(x, labeling):
    """φ of one labeling."""
    phi = defaultdict(float)
    for row, tag in zip(x, labeling, strict=True):
        for j in np.flatnonzero(row):
            phi[j, tag] += row[j]
    for a, c in pairwise(labeling):
        phi["then", a, c] += 1.0
    phi["first", labeling[0]] += 1.0
    phi["last", labeling[-1]] += 1.0
    return phi


def loss_and_slope(w, x, truth, cost):
    own = features(x, truth)
    every = [features(x, labeling) for labeling in product(range(K), repeat=len(truth))]
    scores = np.array([sum(w[key] * value for key, value in phi.items()) for phi in every])
    score = sum(w[key] * value for key, value in own.items())
    if cost is None:
        top = scores.max()
        log_sum = top + np.log(np.exp(scores - top).sum())
        shares, value = np.exp(scores - log_sum), log_sum - score
    else:
        labelings = product(range(K), repeat=len(truth))
        scores += [sum(cost[a, c] for a, c in zip(truth, said, strict=True)) for said in labelings]
        shares, value = np.eye(len(every))[scores.argmax()], scores.max() - score
    g = defaultdict(float)
    for share, phi in zip(shares, every, strict=True):
        for key, of in phi.items():
            g[key] += share * of
    for key, of in own.items():
        g[key] -= of
    return value, g


def prox(penalty, v, step):
    if isinstance(penalty, L1):
        return np.sign(v) * max(abs(v) - step * ALPHA, 0.0)
    return v / (1.0 + step * ALPHA)


def transcribed(X, ends, y, penalty, update, cost):
    w, total, squares, losses = (defaultdict(float) for _ in range(4))
    for t, (lo, hi) in enumerate(pairwise(ends)):
        losses[t], g = loss_and_slope(w, X[lo:hi], y[lo:hi].tolist(), cost)
        for key, slope in g.items():
            total[key] += slope
            squares[key] += slope * slope
        for key in total:
            step = ETA / (DELTA + np.sqrt(squares[key]))
            if update == "rda":
                w[key] = prox(penalty, -step * total[key], (t + 1) * step)
            else:
                w[key] = prox(penalty, w[key] - step * g[key], step)
    rows = [[w[j, c] for c in range(K)] for j in range(FEATURES)]
    rows += [[w["then", a, c] for c in range(K)] for a in range(K)]
    rows += [[w[which, c] for c in range(K)] for which in ("first", "last")]
    return np.array(rows), np.array([losses[t] for t in range(ROUNDS)])


@pytest.mark.parametrize("update", ["rda", "cmd"])
@pytest.mark.parametrize(
    ("penalty", "cost"),
    [(SquaredL2(ALPHA), None), (SquaredL2(ALPHA), COST), (L1(ALPHA), None)],
    ids=["l2-crf", "l2-hinge", "l1-crf"],
)
def test_weights_are_those_of_the_transcription(penalty, update, cost):
    X, ends, y = sequences(0)
    solver = ChainAdaGrad(K, cost, update, eta=ETA, delta=DELTA)
    words = Sequences(sparse.csr_matrix(X), ends)
    chunk = SequenceChunk(solver.objective(penalty), TaggedSequences(words, y))
    course = solver.begin_stream(chunk.objective, np.zeros((FEATURES + K + 2, K)))
    scores = solver.learn(chunk, course, np.arange(ROUNDS))
    w, losses = transcribed(X, ends, y, penalty, update, cost)
    np.testing.assert_allclose(scores[:, 0], losses, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(solver.weights(chunk.objective, course)[0], w, atol=1e-10)
