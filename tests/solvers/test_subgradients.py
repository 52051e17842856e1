"""AdaGrad, dual averaging, splitting, passive-aggressive, AROW: iterate by iterate as in DHS."""

import numpy as np
import pytest
from scipy import sparse

from grids import grid
from stepless.data import Source
from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    Free,
    GroupsL2,
    GroupsLInf,
    Hinge,
    L1Ball,
    L2Ball,
    Logistic,
    MulticlassHinge,
    Nonnegative,
    Objective,
    RowsL2,
    RowsLInf,
    Simplex,
    Softmax,
    SquaredL2,
    Zero,
)
from stepless.risks.joint_risk import risk_of
from stepless.solvers import AROW, FOBOS, RDA, AdaGrad, PassiveAggressive
from transcriptions import adagrad as ada

ETA, DELTA, ROUNDS, D, K = 0.7, 0.3, 40, 6, 3
EXACT = {"rtol": 0.0, "atol": 1e-12}
GROUPS = [0, 0, 1, 2, 2, 2]

PENALTIES = {
    "none": (Zero(), ada.no_penalty()),
    "l1": (L1(0.05), ada.l1(0.05)),
    "l2": (SquaredL2(0.1), ada.ridge(0.1)),
    "elasticnet": (ElasticNet(0.1, 0.4), ada.elastic_net(0.04, 0.06)),
}
DOMAINS = {
    "free": (Free(), ada.everywhere()),
    "box": (Box(-0.2, 0.3), ada.box(-0.2, 0.3)),
    "nonnegative": (Nonnegative(), ada.nonnegative()),
    "l1_ball": (L1Ball(0.6), ada.l1_ball(0.6)),
    "ball": (L2Ball(0.4), ada.l2_ball(0.4)),
}


def stream(seed=0, classes=None):
    """Sparse rows of length 1 (so that the intercept is a feature of size 1), largest entry 0.8."""
    rng = np.random.default_rng(seed)
    X = np.zeros((ROUNDS, D))
    for row in X:
        at = rng.choice(D, 3, replace=False)
        rest = rng.normal(size=2)
        row[at] = rng.permutation([0.8, *(0.6 * rest / np.linalg.norm(rest))])
    truth = rng.normal(size=(D, classes or 1))
    z = X @ truth + 0.3 * rng.normal(size=(ROUNDS, classes or 1))
    y = np.where(z[:, 0] > 0, 1.0, -1.0) if classes is None else z.argmax(axis=1)
    return X, y


def iterates(solver, objective, X, y):
    """Weights and intercepts after each round, one round at a time."""
    risk = risk_of(objective, Source(sparse.csr_matrix(X), y.astype(float)))
    course = solver.start(risk, np.zeros(risk.d), 0.0)
    for t in range(len(y)):
        solver.learn(risk, course, np.array([t], dtype=np.uint32))
        w, b = solver.weights(objective, course)
        yield np.vstack([w, b[None]]) if objective.intercept else w


def same(ours, run, bias):
    for t, (mine, theirs) in enumerate(zip(ours, run.iterates[1:], strict=True)):
        theirs = theirs.reshape(len(theirs), -1)
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, err_msg=f"round {t}", **EXACT)
    assert len(run.iterates) == ROUNDS + 1


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("update", "penalty", "domain"), grid(["rda", "cmd"], PENALTIES, DOMAINS, every=4)
)
def test_adagrad(update, penalty, domain, bias):
    (omega, phi), (S, X_domain) = PENALTIES[penalty], DOMAINS[domain]
    X, y = stream()
    objective = Objective(Hinge(), omega, S, intercept=bias)
    solver = AdaGrad(update, eta=ETA, delta=DELTA)
    reference = ada.adagrad_rda if update == "rda" else ada.adagrad_cmd
    run = reference(X, y, ada.HINGE, ETA, DELTA, phi, X_domain, bias=bias, argmin=ada.closed)
    same(iterates(solver, objective, X, y), run, bias)


@pytest.mark.parametrize(
    ("solver", "penalty", "domain"), grid([RDA, FOBOS], PENALTIES, DOMAINS, every=4)
)
def test_without_adaptation(solver, penalty, domain):
    (omega, phi), (S, X_domain) = PENALTIES[penalty], DOMAINS[domain]
    X, y = stream(1)
    objective = Objective(Hinge(), omega, S)
    reference = ada.rda if solver is RDA else ada.fobos
    run = reference(X, y, ada.HINGE, ETA, phi, X_domain, bias=True, argmin=ada.closed)
    same(iterates(solver(eta=ETA), objective, X, y), run, True)


@pytest.mark.parametrize("update", ["rda", "cmd"])
def test_a_simplex(update):
    X, y = stream(2)
    objective = Objective(Hinge(), SquaredL2(0.1), Simplex(1.5))
    reference = ada.adagrad_rda if update == "rda" else ada.adagrad_cmd
    run = reference(
        X, y, ada.HINGE, ETA, DELTA, ada.ridge(0.1), ada.simplex(1.5), bias=True, argmin=ada.closed
    )
    same(iterates(AdaGrad(update, eta=ETA, delta=DELTA), objective, X, y), run, True)


@pytest.mark.parametrize("kind", ["l2", "linf"])
@pytest.mark.parametrize("update", ["rda", "cmd"])
def test_groups_of_features(update, kind):
    X, y = stream(3)
    omega = (GroupsL2 if kind == "l2" else GroupsLInf).of(0.08, GROUPS)
    places = [np.flatnonzero(np.array(GROUPS) == g) for g in range(3)]
    phi = (ada.l2_groups if kind == "l2" else ada.linf_groups)(0.08, places)
    reference = ada.adagrad_rda if update == "rda" else ada.adagrad_cmd
    run = reference(X, y, ada.HINGE, ETA, DELTA, phi, bias=True, argmin=ada.closed)
    objective = Objective(Hinge(), omega)
    same(iterates(AdaGrad(update, eta=ETA, delta=DELTA), objective, X, y), run, True)


@pytest.mark.parametrize(
    ("update", "penalty", "loss"),
    grid(["rda", "cmd"], ["l1", "l1/l2", "l1/linf"], [MulticlassHinge(K), Softmax(K)]),
)
def test_a_matrix_of_weights(update, penalty, loss):
    X, y = stream(12, classes=K)  # no ties: ℓ∞ makes weights equal, and so predictions
    omega, phi = {
        "l1": (L1(0.03), ada.l1(0.03)),
        "l1/l2": (RowsL2(0.05), ada.rows_l2(0.05)),
        "l1/linf": (RowsLInf(0.05), ada.rows_linf(0.05)),
    }[penalty]
    theirs = ada.CRAMMER_SINGER if isinstance(loss, MulticlassHinge) else ada.SOFTMAX
    reference = ada.adagrad_rda if update == "rda" else ada.adagrad_cmd
    run = reference(X, y, theirs, ETA, DELTA, phi, K=K, bias=True, argmin=ada.closed)
    objective = Objective(loss, omega)
    same(iterates(AdaGrad(update, eta=ETA, delta=DELTA), objective, X, y), run, True)


@pytest.mark.parametrize("bias", [False, True])
def test_a_strongly_convex_penalty(bias):
    X, y = stream(5)
    strength = 0.2
    solver = AdaGrad("cmd", delta=DELTA)
    eta = 0.8**2 / strength  # Th. 13, G = 0.8
    run = ada.adagrad_strongly_convex(
        X, y, ada.HINGE, eta, DELTA, strength, bias=False, argmin=ada.closed
    )
    ours = list(iterates(solver, Objective(Hinge(), SquaredL2(strength), intercept=bias), X, y))
    if not bias:
        same(ours, run, False)
    else:  # η = 1 and δ = 0 for the intercept, so the weights differ as well: only its own rule
        b, squares = 0.0, 0.0
        w = np.zeros(D)
        for x, label, mine in zip(X, y, ours, strict=True):
            a = -label if label * (w @ x + b) < 1 else 0.0
            squares += a * a
            b -= a / np.sqrt(squares) if squares else 0.0
            np.testing.assert_allclose(mine[-1, 0], b, **EXACT)
            w = mine[:-1, 0]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("radius", [np.inf, 0.5])
@pytest.mark.parametrize("strength", [0.0, 0.1])
@pytest.mark.parametrize("update", ["rda", "cmd"])
@pytest.mark.parametrize("matrix", ["full", "block"])
def test_full_matrices(matrix, update, strength, radius, bias):
    X, y = stream(6)
    blocks = None
    if matrix == "block":
        blocks = [np.flatnonzero(np.array(GROUPS) == g).tolist() for g in range(3)]
    omega = SquaredL2(strength) if strength else Zero()
    S = Free() if np.isinf(radius) else L2Ball(radius)
    named = {"blocks": GROUPS} if matrix == "block" else {}
    solver = AdaGrad(update, matrix, eta=ETA, delta=DELTA, **named)
    reference = ada.adagrad_full_rda if update == "rda" else ada.adagrad_full_cmd
    run = reference(
        X, y, ada.HINGE, ETA, DELTA, lam=strength, radius=radius, blocks=blocks, bias=bias
    )
    ours = iterates(solver, Objective(Hinge(), omega, S, intercept=bias), X, y)
    for mine, theirs in zip(ours, run.iterates[1:], strict=True):
        np.testing.assert_allclose(mine[:, 0], theirs, rtol=0, atol=1e-9)


def test_a_block_for_each_class():
    X, y = stream(7, classes=K)
    blocks = [list(range(c, D * K, K)) for c in range(K)]
    run = ada.adagrad_full_rda(X, y, ada.SOFTMAX, ETA, DELTA, lam=0.1, blocks=blocks, K=K)
    solver = AdaGrad("rda", "block", eta=ETA, delta=DELTA)
    ours = iterates(solver, Objective(Softmax(K), SquaredL2(0.1), intercept=False), X, y)
    for mine, theirs in zip(ours, run.iterates[1:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("update", ["rda", "cmd"])
def test_full_is_diagonal_where_gradients_follow_the_axes(update):
    rng = np.random.default_rng(8)
    X = np.eye(D)[rng.integers(D, size=ROUNDS)] * rng.choice([-1.0, 1.0], size=(ROUNDS, 1))
    y = np.where(rng.random(ROUNDS) < 0.7, 1.0, -1.0)
    objective = Objective(Logistic(), SquaredL2(0.01), intercept=False)
    options = {"eta": ETA, "delta": DELTA}
    full = iterates(AdaGrad(update, "full", **options), objective, X, y)
    # with eta given, "cmd" keeps the root though the penalty is strongly convex
    diagonal = iterates(AdaGrad(update, "diagonal", **options), objective, X, y)
    for one, other in zip(full, diagonal, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("variant", ["I", "II"])
def test_passive_aggressive(variant, bias):
    X, y = stream(9)
    run = ada.passive_aggressive(X, y, f"PA-{variant}", 0.4, bias=bias)
    objective = Objective(Hinge(), Zero(), intercept=bias)
    same(iterates(PassiveAggressive(variant, 0.4), objective, X, y), run, bias)


@pytest.mark.parametrize("variant", ["I", "II"])
def test_passive_aggressive_with_several_classes(variant):
    X, y = stream(10, classes=K)
    run = ada.passive_aggressive_multiclass(X, y, K, f"PA-{variant}", 0.4, bias=True)
    objective = Objective(MulticlassHinge(K), Zero())
    same(iterates(PassiveAggressive(variant, 0.4), objective, X, y), run, True)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("matrix", ["diagonal", "full"])
def test_arow(matrix, bias):
    X, y = stream(11)
    run = ada.arow(X, y, 0.7, covariance=matrix, bias=bias)
    objective = Objective(Hinge(), Zero(), intercept=bias)
    same(iterates(AROW(matrix, 0.7), objective, X, y), run, bias)


def test_arow_says_what_to_do_with_several_classes():
    lack = AROW().lacks(Objective(MulticlassHinge(3), Zero()))
    assert "multi_class='ovr'" in lack
