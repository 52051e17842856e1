"""The primal gradient solver on kernels against its transcription and its linear form."""

import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from stepless.compiled import expansion
from stepless.data import Source, gram
from stepless.data.gram import Gram
from stepless.kernels import Gaussian, LinearKernel
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic, Objective, Poisson, Softmax, Squared, SquaredL2
from stepless.risks.kernel_risk import KernelRisk
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import PGS
from stepless.solvers.online import kernel_pgs
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.solvers.online.support_table import SupportTable
from stepless.stopping import Stopping
from transcriptions import kernel_pgs as paper

LOSSES = {
    "logistic": (Logistic(), (None, lambda z, y: -y / (1.0 + math.exp(y * z)))),
    "hinge": (Hinge(), (None, lambda z, y: -y if y * z < 1.0 else 0.0)),
    "squared": (Squared(), (None, lambda z, y: z - y)),
}


def examples(seed=0, m=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(np.linalg.norm(X, axis=1) + 0.3 * rng.normal(size=m) > 1.5, 1.0, -1.0)
    s = rng.uniform(0.5, 2.0, m)  # so that no two coefficients are alike
    return X, y, s / s.mean()


def risk_of(X, y, s, loss, alpha, kernel=Gaussian(0.7), intercept=True):
    objective = Objective(loss, SquaredL2(alpha), intercept=intercept)
    return KernelRisk(objective, Gram(kernel, X), y, s)


@pytest.fixture(params=["table", "blocks"])
def kept(request, monkeypatch):
    """All kernels in a table, or made by the block, few examples at a time."""
    if request.param == "blocks":
        monkeypatch.setattr(gram, "TABLED", 0)
        monkeypatch.setattr(kernel_pgs, "_AT_ONCE", 7)
    return request.param


@pytest.mark.parametrize("budget", [None, 1, 5, 20])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_iterate_is_the_transcriptions(loss, budget, kept):
    X, y, s = examples(1)
    ours, theirs = LOSSES[loss]
    alpha = 0.02
    risk = risk_of(X, y, s, ours, alpha)
    rng = np.random.default_rng(2)
    order = np.concatenate([rng.permutation(len(y)) for _ in range(3)])
    solver = KernelPGS(budget)
    state = solver.start(risk)
    K, B = rbf_kernel(X, gamma=0.7), math.sqrt(2.0 * state.first / alpha)
    b = state.motion[expansion.BIAS]
    iterates, biases = paper.kernel_pgs(K, y, theirs, order, alpha, B, s, budget or len(y), b)
    for t, i in enumerate(order, start=1):
        found = solver.walk(risk, state, np.array([i], dtype=np.uint32))
        np.testing.assert_allclose(found.w, iterates[t], rtol=1e-10, atol=1e-12)
        assert found.b == pytest.approx(biases[t], rel=1e-10, abs=1e-12)
    assert np.count_nonzero(state.beta) <= (budget or len(y))
    # a pass in one go, in blocks of several rows, is the same as one example a time
    again = solver.start(risk)
    for part in np.split(order, 3):
        found = solver.walk(risk, again, part.astype(np.uint32))
    np.testing.assert_allclose(found.w, iterates[-1], rtol=1e-9, atol=1e-11)
    lengths = again.motion[expansion.MASS], again.beta @ K @ again.beta
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_a_linear_kernel_walks_as_the_linear_solver(loss, intercept):
    X, y, s = examples(3)
    risk = risk_of(X, y, s, LOSSES[loss][0], 0.01, LinearKernel(), intercept)
    linear = LinearRisk(risk.objective, Source(X, y, s))
    ours, theirs = KernelPGS(), PGS()
    state, beside = ours.start(risk), theirs.start(linear, np.zeros(3), 0.0)
    rng = np.random.default_rng(5)
    for _ in range(4):
        order = rng.permutation(len(y)).astype(np.uint32)
        found, known = ours.walk(risk, state, order), theirs.walk(linear, beside, order, rng)
        w, b = theirs.weights(linear.objective, beside)
        np.testing.assert_allclose(X.T @ found.w, w.ravel(), rtol=1e-10, atol=1e-12)
        assert found.b == pytest.approx(b[0], rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(X.T @ found.plane.a, known.plane.a, rtol=1e-9, atol=1e-12)
        assert found.plane.offset == pytest.approx(known.plane.offset, rel=1e-9)
        assert found.plane.tilt == pytest.approx(known.plane.tilt, rel=1e-9, abs=1e-13)


def test_small_balls_are_kept():
    X, y, s = examples(4)
    risk = risk_of(X, y, s, Squared(), 1e-4)
    state = KernelPGS().start(risk)
    found = KernelPGS().walk(risk, state, np.arange(3, dtype=np.uint32))
    K = rbf_kernel(X, gamma=0.7)
    assert found.w @ K @ found.w == pytest.approx(2.0 * state.first / 1e-4)  # it binds


def test_a_pickled_state_goes_on_identically(kept):
    X, y, s = examples(5)
    risk, solver = risk_of(X, y, s, Hinge(), 0.01), KernelPGS(6)
    state = solver.start(risk)
    solver.step(risk, state, np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(state))
    one, other = (solver.step(risk, at, np.random.default_rng(1)) for at in (state, copy))
    np.testing.assert_array_equal(one.w, other.w)


def test_duplicates_of_opposite_labels_cancel():
    """A projection may leave a coefficient of 0: it counts for nothing."""
    X = np.array([[0.0], [0.0], [3.0], [6.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    risk = risk_of(X, y, np.ones(4), Hinge(), 0.1)
    state = KernelPGS(1).start(risk)
    for _ in range(3):
        KernelPGS(1).walk(risk, state, np.arange(4, dtype=np.uint32))
        assert state.motion[expansion.COUNT] == np.count_nonzero(state.beta) <= 1


def test_sparse_rows_give_the_dense_answer(kept):
    X, y, s = examples(6)
    X[np.abs(X) < 0.5] = 0.0
    order = np.arange(40, dtype=np.uint32)
    found = []
    for form in (np.asarray, sparse.csr_matrix):
        risk = risk_of(form(X), y, s, Logistic(), 0.01)
        found.append(KernelPGS(8).walk(risk, KernelPGS(8).start(risk), order).w)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)


def test_places_in_the_table_are_used_again(monkeypatch):
    monkeypatch.setattr(gram, "TABLED", 0)
    X = examples(m=200)[0]
    beta = np.zeros(200)
    beta[[3, 150]] = 1.0, -2.0
    near = SupportTable(Gram(Gaussian(0.7), X), beta)
    K = rbf_kernel(X, gamma=0.7)
    for first in range(0, 200, 10):
        coming = np.arange(first, first + 10)
        places = near.admit(coming)
        np.testing.assert_array_equal(near.examples[places], coming)
        taken = np.flatnonzero(near.examples >= 0)
        rows = near.examples[taken]
        np.testing.assert_allclose(near.table[np.ix_(taken, taken)], K[np.ix_(rows, rows)])
        near.release()
    assert near.beta.size <= 20  # it has grown by halves
    near.beta[near.admit(np.array([7]))] = 0.5
    near.store(beta)
    assert dict(zip(np.flatnonzero(beta), beta[beta != 0], strict=True)) == {3: 1, 7: 0.5, 150: -2}


@pytest.mark.parametrize("budget", [0, -3, 2.5, "many"])
def test_a_budget_that_makes_no_sense_is_refused(budget):
    with pytest.raises(ValueError, match="budget must be a positive whole number, or None"):
        KernelPGS(budget)


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [(Softmax(3), "several classes at once"), (Poisson(), "needs a Lipschitz or a smooth loss")],
)
def test_losses_that_it_cannot_learn_are_named(loss, sentence):
    X, y, s = examples()
    risk = risk_of(X, y, s, Hinge(), 0.1)
    risk.objective = Objective(loss, SquaredL2(0.1))
    with pytest.raises(ValueError, match=sentence):
        minimize(risk, KernelPGS(), Stopping(passes=1))
