"""Strengths of a path: the critical one separates w = 0 from w ≠ 0; grids, and fits along them."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import enet_path, lasso_path
from sklearn.preprocessing import scale

from stepless import GroupsL2, GroupsLInf, Objective, Source, alpha_path
from stepless.objective import (
    L1,
    Absolute,
    ElasticNet,
    Entropy,
    FactoredElasticNet,
    Hinge,
    Huber,
    HyperbolicEntropy,
    Logistic,
    Poisson,
    RowsL2,
    RowsLInf,
    Softmax,
    Squared,
    SquaredHinge,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.regularization_path import (
    along_path,
    critical_strength,
    path_strengths,
    strength_unit,
)
from stepless.risks.joint_risk import risk_of
from stepless.run import Run

NAMES = np.arange(10) // 3
CORNERED = [
    L1(),
    ElasticNet(1.0, 0.3),
    GroupsL2.of(1.0, NAMES),
    GroupsLInf.of(1.0, NAMES),
    RowsL2(),
    RowsLInf(),
]


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), y / 50


@pytest.fixture(scope="module")
def signs():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :10], np.where(y == 1, 1.0, -1.0)


def targets(loss, y):
    if loss.targets == "signs":
        return np.where(y > np.median(y), 1.0, -1.0)
    return np.round(np.abs(y)) if loss.targets == "counts" else y


def at(penalty, alpha, loss, X, y, s=None, intercept=True):
    """The weights at a strength, nearly exact."""
    objective = Objective(loss, penalty.with_strength(alpha), intercept=intercept)
    return Run(gap=1e-10).minimize(risk_of(objective, Source(X, y, s))).w


@pytest.mark.parametrize("loss", [Squared(), Logistic(), SquaredHinge(), Huber(0.5), Poisson()])
@pytest.mark.parametrize("penalty", CORNERED, ids=repr)
def test_the_critical_strength_separates(numbers, penalty, loss):
    X, y = numbers[0], targets(loss, numbers[1])
    s = np.random.default_rng(0).uniform(0.1, 2.0, size=len(y))
    alpha = critical_strength(risk_of(Objective(loss, penalty), Source(X, y, s)))
    assert not at(penalty, alpha * (1 + 1e-6), loss, X, y, s).any()
    assert at(penalty, alpha * (1 - 1e-3), loss, X, y, s).any()


def test_it_is_that_of_the_gradient_at_the_best_constant(signs):
    X, y = signs
    b = minimize_scalar(lambda b: np.log1p(np.exp(-y * b)).mean(), tol=1e-12).x
    g = X.T @ (-y / (1 + np.exp(y * b))) / len(y)
    found = critical_strength(risk_of(Objective(Logistic(), L1()), Source(X, y)))
    assert found == pytest.approx(np.abs(g).max(), rel=1e-6)
    without = Objective(Logistic(), L1(), intercept=False)
    expected = np.abs(X.T @ (-y / 2) / len(y)).max()
    assert critical_strength(risk_of(without, Source(X, y))) == pytest.approx(expected)


@pytest.mark.parametrize("loss", [Hinge(), Absolute()])
def test_of_a_loss_with_corners_it_is_enough(numbers, loss):
    X, y = numbers[0], targets(loss, numbers[1])
    alpha = critical_strength(risk_of(Objective(loss, L1()), Source(X, y)))
    # the least one: slopes in their ranges at the best constant that add up to 0
    b = np.sort(y)[len(y) // 2] if loss == Absolute() else 1.0 if y.sum() > 0 else -1.0
    low, high = np.array([(loss.slope(b - 1e-9, t), loss.slope(b + 1e-9, t)) for t in y]).T
    G = np.hstack([X.T / len(y), -np.ones((10, 1))])
    H = np.hstack([-X.T / len(y), -np.ones((10, 1))])
    found = linprog(
        np.append(np.zeros(len(y)), 1.0),
        A_ub=np.vstack([G, H]),
        b_ub=np.zeros(20),
        A_eq=np.append(np.ones(len(y)), 0.0)[None],
        b_eq=[0.0],
        bounds=[*zip(low, high, strict=True), (0, None)],
    )
    assert found.fun * (1 - 1e-9) <= alpha <= 1.5 * found.fun


@pytest.mark.parametrize("penalty", [RowsL2(), RowsLInf(), L1(), GroupsL2.of(1.0, [0, 0, 1, 1])])
def test_of_a_joint_model(penalty):
    X, y = load_iris(return_X_y=True)
    X, loss = scale(X), Softmax(3)
    alpha = critical_strength(risk_of(Objective(loss, penalty), Source(X, y)))
    assert not at(penalty, alpha * (1 + 1e-6), loss, X, y).any()
    assert at(penalty, alpha * (1 - 1e-3), loss, X, y).any()


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax(3)])
def test_beside_features_without_a_penalty_all_others_are_0(numbers, loss):
    X, y = (
        (numbers[0], targets(loss, numbers[1]))
        if loss.outputs() == 1
        else load_iris(return_X_y=True)
    )
    X, free = scale(X), [0, 2]
    factors = np.linspace(0.2, 2.0, X.shape[1])
    factors[free] = 0.0
    penalty = FactoredElasticNet(1.0, factors)
    alpha = critical_strength(risk_of(Objective(loss, penalty), Source(X, y)))

    def others(strength):
        objective = Objective(loss, penalty.with_strength(strength))
        w = Run(gap=0.0, passes=1000).minimize(risk_of(objective, Source(X, y))).w
        return np.delete(w.reshape(X.shape[1], -1), free, axis=0)

    assert not others(alpha * (1 + 1e-3)).any()
    assert others(alpha * (1 - 1e-2)).any()


@pytest.mark.parametrize(
    "penalty",
    [SquaredL2(), SquaredLp(1.0, 1.5), ElasticNet(1.0, 0.0), Entropy(), HyperbolicEntropy()],
)
def test_without_a_corner_there_is_none(numbers, penalty):
    X, y = numbers
    objective = Objective(Squared(), penalty)
    assert critical_strength(risk_of(objective, Source(X, y))) == np.inf
    grid = path_strengths(5, objective, [Source(X, y)])
    residuals = y - y.mean()
    unit = (residuals**2 * (X**2).sum(axis=1)).mean() / (0.5 * (residuals**2).mean())
    assert grid[0] == pytest.approx(unit)
    assert grid[0] / grid[-1] == pytest.approx(100 * len(y))


def test_the_unit_of_a_joint_model():
    X, y = load_iris(return_X_y=True)
    p = np.full((150, 3), 1 / 3) - np.eye(3)[y]
    unit = ((p**2).sum(axis=1) * (X**2).sum(axis=1)).mean() / np.log(3)
    found = strength_unit(risk_of(Objective(Softmax(3), SquaredL2()), Source(X, y)))
    assert found == pytest.approx(unit, rel=1e-6)


def test_grids(numbers):
    X, y = numbers
    source, wide = Source(X, y), Source(X[:8], y[:8])
    grid = path_strengths(None, Objective(Squared(), L1()), [source])
    assert len(grid) == 100
    assert grid[0] / grid[-1] == pytest.approx(1e3)
    np.testing.assert_allclose(np.diff(np.log(grid)), np.log(1e-3) / 99)
    assert grid[0] == pytest.approx(np.abs(X.T @ (y - y.mean())).max() / len(y))
    few = path_strengths(7, Objective(Squared(), L1()), [wide])
    assert few[0] / few[-1] == pytest.approx(1e2)
    both = path_strengths(3, Objective(Squared(), L1()), [source, source.relabelled(2 * y)])
    assert both[0] == pytest.approx(2 * grid[0])
    assert path_strengths([1.0, 3.0, 2.0], Objective(Squared(), L1()), [source]) == [1.0, 3.0, 2.0]


@pytest.mark.parametrize("penalty", [L1(), SquaredL2()])
def test_nothing_to_learn_has_a_grid_all_the_same(penalty):
    source = Source(np.zeros((6, 2)), np.arange(6.0))
    assert path_strengths(4, Objective(Squared(), penalty), [source])[0] == 1.0


@pytest.mark.parametrize("bad", [0, -3, True, "many", [1.0, 0.0], [[1.0]], []])
def test_impossible_strengths(numbers, bad):
    with pytest.raises(ValueError, match=r"at least one"):
        path_strengths(bad, Objective(Squared(), L1()), [Source(*numbers)])


def test_no_penalty_has_no_path():
    with pytest.raises(ValueError, match="penalty='none' has no strength alpha to vary"):
        Zero().with_strength(1.0)


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_path_of_the_lasso_is_scikit_learns(numbers, ratio):
    X, y = numbers
    penalty = "l1" if ratio == 1.0 else f"elasticnet({ratio})"
    path = alpha_path(X, y, 12, loss="squared", penalty=penalty, gap=1e-6)
    alphas = [point.alpha for point in path]
    given = {"alphas": alphas, "tol": 1e-12, "max_iter": 10**6}
    centred = y - y.mean()  # the features are centred
    if ratio == 1.0:
        _, coefs, _ = lasso_path(X, centred, **given)
    else:
        _, coefs, _ = enet_path(X, centred, l1_ratio=ratio, **given)
    for point, w in zip(path, coefs.T, strict=True):
        size = point.alpha * (ratio * np.abs(w).sum() + (1 - ratio) * (w @ w) / 2)
        best = ((X @ w - centred) ** 2).mean() / 2 + size
        assert point.rel_gap <= 1e-6
        assert point.lower_bound <= best * (1 + 1e-12)
        assert best <= point.objective * (1 + 1e-9)
    assert not path[0].coef.any()
    assert path[1].coef.any()


def test_a_joint_path():
    X, y = load_iris(return_X_y=True)
    path = alpha_path(X, y, 4, loss="logistic", multi_class="joint", penalty="l1/l2", gap=1e-4)
    assert [point.coef.shape for point in path] == [(3, 4)] * 4
    assert [point.intercept.shape for point in path] == [(3,)] * 4
    rows = [int(point.coef.any(axis=0).sum()) for point in path]
    assert rows[0] == 0
    assert rows[-1] >= 2
    assert all(point.rel_gap <= 1e-4 for point in path)


def test_fits_along_a_path_of_several_problems(numbers):
    X, y = numbers
    sources = [Source(X, y), Source(X, -2 * y)]
    objective = Objective(Squared(), SquaredL2())
    found = list(along_path(objective, sources, Run(gap=1e-8), [1.0, 0.1]))
    assert [alpha for alpha, _ in found] == [1.0, 0.1]
    for _, (one, other) in found:
        np.testing.assert_allclose(other.w, -2 * one.w, rtol=1e-3)
