"""Players who learn linear models."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from contracts.problems import Case
from stepless import LinearClassifier, LinearRegressor, check_solver
from stepless.data import Source
from stepless.games import Game, LearnerFromPlayer
from stepless.games.costs import ExampleLoss
from stepless.games.players import OGD, ONS, AdaGrad, BanditTwoPoint, CompositeMirrorProx
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    Free,
    Hinge,
    L2Ball,
    Logistic,
    MulticlassHinge,
    Objective,
    SquaredL2,
    Zero,
)
from stepless.risks.linear_risk import LinearRisk
from stepless.stopping import Stopping


@pytest.mark.parametrize(
    "player", [OGD(), ONS(), AdaGrad(), CompositeMirrorProx(), BanditTwoPoint()], ids=repr
)
def test_the_contract_of_a_solver(player):
    check_solver(LearnerFromPlayer(player))
    check_solver(LearnerFromPlayer(player, iterate="last"))


@pytest.mark.parametrize("player", [OGD(), AdaGrad(), CompositeMirrorProx()], ids=repr)
def test_the_lower_bound_is_never_above_the_optimum(player):
    tried = 0
    for seed in range(12):
        for loss in ("hinge", "logistic", "squared", "absolute"):
            case = Case(loss, seed, intercept=False).bounded()
            solver = LearnerFromPlayer(player)
            assert solver.lacks(case.objective) is None
            result = minimize(case.risk, solver, Stopping(gap=0.0, passes=8))
            slack = 1e-8 * max(case.best, 1e-3)
            assert result.lower_bound <= case.best + slack, case
            assert result.objective >= case.best - slack, case
            tried += 1
    assert tried == 48


def test_a_pass_is_a_game():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30)
    objective = Objective(Hinge(), Zero(), L2Ball(2.0), intercept=False)
    for design in (X, sparse.csr_matrix(X)):
        risk = LinearRisk(objective, Source(design, y, threads=1))
        for iterate in ("average", "last"):
            solver = LearnerFromPlayer(OGD(), iterate=iterate)
            state = solver.start(risk, np.zeros(3), 0.0)
            found = [solver.step(risk, state, rng) for _ in range(2)]
            costs = [ExampleLoss(Hinge(), x, t) for x, t in zip(X, y, strict=True)] * 2
            player = OGD()
            plays = Game(player, L2Ball(2.0)).run(costs).plays
            w = plays.mean(axis=0) if iterate == "average" else player.w
            np.testing.assert_allclose(found[1].w, w, rtol=1e-12, atol=1e-14)


def test_a_plane_is_the_mean_of_tangents():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30)
    s = rng.uniform(0.5, 1.5, size=30)
    objective = Objective(Logistic(), SquaredL2(0.1), L2Ball(2.0), intercept=False)
    risk = LinearRisk(objective, Source(X, y, s, threads=1))
    solver = LearnerFromPlayer(OGD())
    plane = solver.step(risk, solver.start(risk, np.zeros(3), 0.0), rng).plane
    for w in rng.normal(size=(200, 3)):
        assert plane.a @ w + plane.offset <= risk.value(w, 0.0) + 1e-12
    assert plane.a @ np.zeros(3) + plane.offset > 0.0


def test_an_estimator():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    for player, penalty in ((OGD(), "none"), (OGD(), "l2"), (AdaGrad(), "l2")):
        clf = LinearClassifier(
            "logistic",
            penalty=penalty,
            alpha=1e-2,
            domain="ball(3)",
            fit_intercept=False,
            solver=LearnerFromPlayer(player),
            passes=4,
            gap=1e-4,
        ).fit(X, y)
        assert clf.score(X, y) > 0.96
        assert clf.solver_ == player.name
        best = LinearClassifier(
            "logistic", penalty=penalty, alpha=1e-2, domain="ball(3)", fit_intercept=False, gap=1e-6
        ).fit(X, y)
        assert clf.lower_bound_ <= best.objective_
        assert clf.objective_ <= 1.2 * best.objective_


def test_a_stream_is_learned_in_chunks():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = X @ np.array([1.0, -1.0, 0.5])
    whole, parts = (
        LinearRegressor(
            penalty="none",
            domain="ball(5)",
            fit_intercept=False,
            solver=LearnerFromPlayer(OGD(), iterate="last"),
        )
        for _ in range(2)
    )
    whole.partial_fit(X, y)
    for k in range(0, 200, 50):
        parts.partial_fit(X[k : k + 50], y[k : k + 50])
    np.testing.assert_allclose(whole.coef_, parts.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        (Objective(Hinge(), Zero(), L2Ball(1.0)), "no free intercept; use fit_intercept=False"),
        (Objective(Hinge(), Zero(), Free(), intercept=False), "needs a bounded domain"),
        (Objective(Hinge(), L1(0.1), L2Ball(1.0), intercept=False), "ogd takes no penalty"),
        (Objective(MulticlassHinge(3), Zero(), L2Ball(1.0), intercept=False), "several classes"),
    ],
)
def test_what_is_lacking(objective, sentence):
    assert sentence in LearnerFromPlayer(OGD()).lacks(objective)


def test_a_player_that_knows_the_penalty_is_given_it():
    objective = Objective(Hinge(), L1(0.1), L2Ball(1.0), intercept=False)
    assert LearnerFromPlayer(CompositeMirrorProx()).lacks(objective) is None


def test_which_iterate():
    with pytest.raises(ValueError, match="'average' or 'last'"):
        LearnerFromPlayer(OGD(), iterate="middle")


class InPlace(OGD):
    """Writes each decision over the one before."""

    def learn(self, g, cost):
        before = self.w
        super().learn(g, cost)
        before[:] = self.w
        self.w = before


def test_a_player_that_writes_into_its_decision_is_the_same_learner():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    fitted = [
        LinearClassifier(
            domain="ball(3)",
            penalty="none",
            fit_intercept=False,
            solver=LearnerFromPlayer(player),
            passes=1,
        ).fit(X[:100], y[:100])
        for player in (OGD(), InPlace())
    ]
    np.testing.assert_array_equal(fitted[0].coef_, fitted[1].coef_)
