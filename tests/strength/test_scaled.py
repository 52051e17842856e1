"""The default strength: a share of a unit of the data, whatever their units and their number."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from typer.testing import CliRunner

from stepless import (
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    NothingLearned,
    Objective,
    Source,
    load_model,
    save_model,
    verify,
)
from stepless.cli import app
from stepless.objective import (
    L1,
    Absolute,
    ElasticNet,
    Entropy,
    Hinge,
    Logistic,
    RowsL2,
    Softmax,
    Squared,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.report import Summary, describe
from stepless.strength import scaled_strength


@pytest.fixture(scope="module")
def numbers():
    """Features of many scales and places, some of them rarely there, and their weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)) * np.logspace(-2, 3, 6) + [0.0, 0.0, 5.0, 0.0, 2000.0, 0.0]
    X[:, 1] *= rng.random(90) < 0.2
    X[:, 3] = np.where(rng.random(90) < 0.3, 1.0, 0.0)
    s = rng.integers(1, 4, 90).astype(float)
    return X, X @ rng.normal(size=6) + rng.normal(size=90), s


def sizes(X, s, centred=True):
    """v, n and the sizes v_j of features, in plain numpy."""
    s = s / s.sum()
    p, mean = s @ (X != 0), s @ X if centred else np.zeros(X.shape[1])
    size = np.sqrt(s @ (X - mean) ** 2 / p)
    order = np.argsort(size)
    place = (np.cumsum(p[order]) - p[order] / 2) / p.sum()
    return np.exp(np.interp(0.25, place, np.log(size[order]))), p.sum(), size


@pytest.mark.parametrize("intercept", [True, False])
def test_the_unit_of_the_ridge(numbers, intercept):
    X, y, s = numbers
    b = s @ y / s.sum() if intercept else 0.0
    share = s / s.sum()
    slope = share @ (y - b) ** 2 / (share @ (y - b) ** 2 / 2)
    v, n, _ = sizes(X, s, intercept)
    for penalty, unit in (
        (SquaredL2(), v**2 * n),
        (ElasticNet(1.0, 0.0), v**2 * n),
        (SquaredLp(1.0, 1.5), 0.5 * v**2 * n ** (2 / 3)),
    ):
        objective = Objective(Squared(), penalty, intercept=intercept)
        found = scaled_strength(objective, [Source(X, y, s)])
        assert found == pytest.approx(1e-4 * slope * unit, rel=1e-9)
        assert scaled_strength(objective, [Source(sparse.csr_matrix(X), y, s)]) == pytest.approx(
            found, rel=1e-9
        )


def test_the_unit_of_a_lasso_is_the_critical_strength_of_features_of_one_size(numbers):
    X, y, s = numbers
    v, _, size = sizes(X, s)
    g = (s * (s @ y / s.sum() - y)) @ (X * v / size) / s.sum()
    lasso = 3e-3 * np.abs(g).max()
    source = [Source(X, y, s)]
    assert scaled_strength(Objective(Squared(), L1()), source) == pytest.approx(lasso, rel=1e-9)
    ridge = scaled_strength(Objective(Squared(), SquaredL2()), source)
    for ratio in (0.01, 0.99):
        found = scaled_strength(Objective(Squared(), ElasticNet(1.0, ratio)), source)
        assert found == pytest.approx(min(lasso / ratio, ridge / (1 - ratio)), rel=1e-9)


def test_of_several_problems_it_is_the_mean_and_of_a_joint_one_its_own():
    X, y = load_iris(return_X_y=True)
    ridge = Objective(Logistic(), SquaredL2())
    sources = [Source(X, np.where(y == c, 1.0, -1.0)) for c in range(3)]
    each = [scaled_strength(ridge, [source]) for source in sources]
    assert scaled_strength(ridge, sources) == pytest.approx(np.mean(each))
    v, n, size = sizes(X, np.ones(150))
    softmax = Source(X, y.astype(float))
    found = scaled_strength(Objective(Softmax(3), SquaredL2()), [softmax])
    assert found == pytest.approx(1e-4 * v**2 * n * (2 / 3) / np.log(3), rel=1e-6)
    found = scaled_strength(Objective(Softmax(3), RowsL2()), [softmax])
    G = (X * v / size).T @ (1 / 3 - np.eye(3)[y]) / 150
    assert found == pytest.approx(3e-3 * np.linalg.norm(G, axis=1).max(), rel=1e-6)


@pytest.mark.parametrize("penalty", [SquaredL2(), L1(), ElasticNet(1.0, 0.5)])
@pytest.mark.parametrize("loss", [Absolute(), Hinge()])
def test_weights_mean_repetitions(numbers, penalty, loss):
    X, y, s = numbers
    y = y if loss == Absolute() else np.where(y > np.median(y), 1.0, -1.0)
    objective, times = Objective(loss, penalty), s.astype(int)
    found = scaled_strength(objective, [Source(X, y, s)])
    repeated = X.repeat(times, axis=0), y.repeat(times)
    split = np.vstack([X, X]), np.append(y, y), np.append(0.3 * s, 0.7 * s)
    for others in (repeated, split, (X, y, 1e-3 * s)):
        assert scaled_strength(objective, [Source(*others)]) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile(0.9)"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_units_do_not_matter(numbers, loss, penalty):
    X, y, _ = numbers
    asked = {"loss": loss, "penalty": penalty}
    model = LinearRegressor(**asked).fit(X, y)
    assert model.score(X, y) > (0.99 if loss != "quantile(0.9)" else 0.9)
    for x_unit, y_unit in ((1e3, 1e-6), (1e-3, 1e6)):
        other = LinearRegressor(**asked).fit(x_unit * X, y_unit * y)
        degree = {"l2": 2, "l1": 1}[penalty]
        factor = y_unit ** (0 if loss == "squared" else 1 - degree)
        if loss == "squared" and penalty == "l1":
            factor = y_unit
        assert other.alpha_ == pytest.approx(model.alpha_ * x_unit**degree * factor, rel=1e-6)
        unit = y_unit**2 if loss == "squared" else y_unit
        assert other.objective_ == pytest.approx(model.objective_ * unit, rel=3e-3)


def test_targets_of_hundreds_of_thousands_do_not_make_a_constant():
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegressor("absolute").fit(X, 1e3 * y)
    assert model.score(X, 1e3 * y) > 0.5
    with pytest.warns(NothingLearned):
        LinearRegressor("absolute", alpha=1e-4).fit(X, 1e3 * y)


def test_a_feature_in_other_units_does_not_hide_the_others(numbers):
    X, y, _ = numbers
    rng = np.random.default_rng(1)
    near = X[:, [0, 1, 3]] / X[:, [0, 1, 3]].std(axis=0)
    far = np.column_stack([near, 1e6 + 1e5 * rng.normal(size=90)])
    y = near.sum(axis=1) + 0.1 * rng.normal(size=90)
    assert LinearRegressor().fit(far, y).score(far, y) > 0.98
    assert LinearRegressor("absolute", penalty="l1").fit(far, y).score(far, y) > 0.98


@pytest.mark.parametrize(
    ("X", "y", "penalty"),
    [
        (np.zeros((6, 2)), np.arange(6.0), SquaredL2()),
        (np.ones((6, 1)), np.arange(6.0), SquaredL2()),
        (np.eye(6), np.full(6, 3.0), SquaredL2()),
        (np.eye(6), np.full(6, 3.0), L1()),
        (np.eye(6), np.arange(6.0), Entropy()),
        (np.eye(6), np.arange(6.0), Zero()),
    ],
)
def test_without_a_unit_it_is_a_number(X, y, penalty):
    assert scaled_strength(Objective(Squared(), penalty), [Source(X, y)]) == 1e-4


@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor])
def test_it_is_the_default_and_seen(numbers, kind, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = kind()
    assert clone(model).get_params()["alpha"] == "scaled"
    model.fit(X, y)
    assert 0.0 < model.alpha_ < 1e-2
    assert kind(alpha=model.alpha_).fit(X, y).objective_ == model.objective_
    save_model(model, tmp_path / "model", proof=tmp_path / "proof")
    again = load_model(tmp_path / "model")
    assert (again.alpha, again.alpha_) == ("scaled", model.alpha_)
    assert verify(again, X, y).holds
    assert f"l2 penalty with alpha {model.alpha_:g} (scaled)" in describe(Summary.of(again))
    assert "scaled" not in describe(Summary.of(kind(alpha=0.1).fit(X, y)))


def test_penalties_with_a_strength_of_their_own_keep_it(numbers):
    X, y, _ = numbers
    own = LinearRegressor(penalty=L1(0.3)).fit(X, y)
    assert own.alpha_ == 0.3
    assert verify(own, X, y).holds
    assert Summary.of(own).alpha_by is None
    none = LinearRegressor(penalty="none").fit(X, y)
    assert none.alpha_ == 0.0
    assert Summary.of(none).alpha_by is None
    assert LinearRegressor(penalty="entropy", passes=1, gap=1.0).fit(X, y).alpha_ == 1e-4


def test_a_stream_takes_it_from_its_first_chunk_and_keeps_it(numbers, tmp_path):
    X, y, s = numbers
    first = LinearRegressor().fit(X[:40], y[:40], s[:40]).alpha_
    model = LinearRegressor().partial_fit(X[:40], y[:40], s[:40])
    assert model.alpha_ == first
    assert model.partial_fit(X[40:], y[40:]).alpha_ == first
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").partial_fit(X[40:], 1e3 * y[40:]).alpha_ == first
    assert LinearRegressor().partial_fit(X[:1], y[:1]).alpha_ == 1e-4  # a constant explains it
    signs = np.where(y > np.median(y), "up", "down")
    clf = LinearClassifier("logistic").fit(X, signs)
    found = clf.alpha_
    assert clf.partial_fit(10 * X[:40], signs[:40]).alpha_ == found
    assert LinearClassifier("logistic").partial_fit(X, signs, ["down", "up"]).alpha_ == found


def test_refusals(numbers):
    X, y, _ = numbers
    with pytest.raises(ValueError, match="alpha must be a number, 'scaled', 'auto' or 'cv', not"):
        LinearRegressor(alpha="scale").fit(X, y)
    with pytest.raises(ValueError, match="must be a number, not 'scaled': a LinearRanker chooses"):
        LinearRanker(alpha="scaled").fit(X, y > 0, group=[90])


def test_the_command_line(tmp_path):
    X, y = load_iris(return_X_y=True)
    data, out = tmp_path / "data.svm", tmp_path / "model"
    rows = (" ".join(f"{j + 1}:{v:.17g}" for j, v in enumerate(row)) for row in X[:100])
    data.write_text("".join(f"{t:g} {row}\n" for t, row in zip(y, rows, strict=False)))
    run, fit = CliRunner(), ["fit", str(data), "-o", str(out)]
    said = run.invoke(app, [*fit, "--json"])
    assert said.exit_code == 0, said.output
    facts = json.loads(said.stdout)
    assert facts["alpha_by"] == "scaled"
    assert facts["alpha"] == LinearClassifier().fit(X[:100], y[:100]).alpha_
    assert f"alpha {facts['alpha']:g} (scaled)" in run.invoke(app, ["info", str(out)]).output
    assert run.invoke(app, [*fit, "--alpha", "scaled", "--json"]).stdout.count(str(facts["alpha"]))
    said = run.invoke(app, [*fit, "--stream"])
    assert said.exit_code == 0, said.output
    assert f"alpha {facts['alpha']:g} (scaled)" in said.output
    metric = [*fit, "--metric", "f1"]
    assert json.loads(run.invoke(app, [*metric, "--json"]).stdout)["alpha"] == 1e-4
    said = run.invoke(app, [*metric, "--alpha", "scaled"])
    assert said.exit_code == 1
    assert "--alpha scaled does not go with --metric f1" in said.output
