"""The strength chosen from the data: the balance holds, nothing else matters, nothing breaks."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import check_estimator
from typer.testing import CliRunner

from stepless import LinearClassifier, LinearRegressor, Source, load_model, save_model
from stepless.cli import app
from stepless.minimization import minimize
from stepless.objective import (
    ElasticNet,
    Hinge,
    Logistic,
    Loss,
    Objective,
    Quantile,
    Softmax,
    Squared,
    SquaredL2,
    SquaredLp,
)
from stepless.report import Summary, describe, model_file, read_header
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Newton
from stepless.stopping import Stopping
from stepless.strength import _left_out, balanced


@pytest.fixture(scope="module")
def noisy():
    """Two classes that overlap, features of several scales."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12)) * np.logspace(-1, 0.5, 12)
    y = np.where(X @ rng.normal(size=12) + 2 * rng.logistic(size=600) > 0, 1.0, -1.0)
    return X, y


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), y / 50


@pytest.fixture
def settled(monkeypatch):
    """No coarse fits and no early end, so that the balance is met and not only neared."""
    monkeypatch.setattr("stepless.strength._GAP", 1e-4)
    monkeypatch.setattr("stepless.strength._STEADY", 1.02)


def exact_error(loss, X, y, w, b, strength, s=None):
    """tr(V (H + σI)⁻¹)/m by dense matrices, each example left out by a step of Newton's method."""
    m, s = len(y), np.ones(len(y)) if s is None else s * len(y) / s.sum()

    def bends(z):
        if loss.offers("curvature"):
            return np.array([loss.curvature(*pair) for pair in zip(z, y, strict=True)])
        away = np.abs(z - loss.corners(y)[1])[0]
        h = np.sort(away)[math.ceil(m**0.8) - 1]
        return (away <= h) / (2 * h)

    def slopes(z):
        return np.array([loss.slope(*pair) for pair in zip(z, y, strict=True)])

    z = X @ w + b
    c = s * bends(z)
    inverse = np.linalg.inv((X * c[:, None]).T @ X / m + strength * np.eye(X.shape[1]))
    q = np.einsum("ij,jk,ik->i", X, inverse, X) / m
    z = z + s * slopes(z) * q / (1 - c * q)
    a, c = slopes(z), bends(z)
    V = (X * (s * a)[:, None] ** 2).T @ X / m
    H = (X * (s * c)[:, None]).T @ X / m
    return np.trace(np.linalg.solve(H + strength * np.eye(X.shape[1]), V)) / m


@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
@pytest.mark.usefixtures("settled")
def test_the_balance_holds_at_the_answer(noisy, loss):
    X, y = noisy
    s = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    model = LinearClassifier(loss, alpha="auto", gap=1e-6).fit(X, y, s)
    w, b, alpha = model.coef_[0], model.intercept_[0], model.alpha_
    cost = alpha / 2 * w @ w
    # signs are drawn, curvatures of the hinge are a density: it moves with the last digits
    assert cost == pytest.approx(exact_error(loss, X, y, w, b, alpha, s), rel=0.35)


@pytest.mark.parametrize("loss", [Squared(), Quantile(0.3)])
@pytest.mark.usefixtures("settled")
def test_of_numbers_too(numbers, loss):
    X, y = numbers
    model = LinearRegressor(loss, alpha="auto", gap=1e-6).fit(X, y)
    cost = model.alpha_ / 2 * model.coef_ @ model.coef_
    error = exact_error(loss, X, y, model.coef_, model.intercept_, model.alpha_)
    assert cost == pytest.approx(error, rel=0.35)


def test_of_another_norm(numbers):
    X, y = numbers[0][:150], numbers[1][:150]
    model = LinearRegressor("squared", penalty="lp(1.5)", alpha="auto", gap=1e-2).fit(X, y)
    cost = model.alpha_ * (np.abs(model.coef_) ** 1.5).sum() ** (2 / 1.5)  # 2(p − 1) is 1
    error = exact_error(Squared(), X, y, model.coef_, model.intercept_, model.alpha_)
    assert cost == pytest.approx(error, rel=0.6)  # coarse fits


@pytest.mark.usefixtures("settled")
def test_without_curvature_it_is_the_papers_term(noisy):
    X, y = noisy

    class Own(Loss):
        targets = "signs"

        def value(self, z, y):
            return max(0.0, 1.0 - y * z)

        def slope(self, z, y):
            return -y if y * z < 1.0 else 0.0

        def lipschitz(self):
            return 1.0

    model = LinearClassifier(Own(), alpha="auto", gap=1e-3).fit(X, y)
    z = model.decision_function(X)
    trace = ((X**2).sum(axis=1) * (y * z < 1.0)).mean()
    cost = model.alpha_ / 2 * (model.coef_**2).sum()
    assert cost == pytest.approx(trace / (model.alpha_ * len(y)), rel=0.35)
    assert model.alpha_ > LinearClassifier("hinge", alpha="auto").fit(X, y).alpha_


@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_of_features_do_not_matter(noisy, loss, factor):
    X, y = noisy
    objective = Objective(loss, SquaredL2())
    alpha = balanced(objective, [Source(X, y)])
    assert balanced(objective, [Source(factor * X, y)]) == pytest.approx(
        factor**2 * alpha, rel=0.05
    )


def test_units_of_targets_do_not_matter(numbers):
    X, y = numbers
    alphas = {}
    for loss in (Squared(), Quantile(0.3)):
        for factor in (1.0, 100.0):
            alphas[factor] = balanced(Objective(loss, SquaredL2()), [Source(X, factor * y)])
        # |z − y| and ‖w‖² grow by different powers
        expected = alphas[1.0] if loss == Squared() else alphas[1.0] / 100
        assert alphas[100.0] == pytest.approx(expected, rel=0.05)


def test_the_start_does_not_matter_much(noisy, monkeypatch):
    X, y = noisy
    found = []
    for start in (1e-2, 1e-1, 1.0, 1e-4):
        monkeypatch.setattr("stepless.strength._START", start)
        found.append(balanced(Objective(Logistic(), SquaredL2()), [Source(X, y)]))
    assert max(found[:3]) < 1.7 * min(found[:3])
    assert found[0] / 4 < found[3] < found[0] * 2  # a rise, from too weak a penalty, is but one


def test_sparse_dense_and_again(noisy):
    X, y = noisy
    objective = Objective(Hinge(), SquaredL2(7.0))  # the strength that it has does not count
    alpha = balanced(objective, [Source(X, y)])
    assert balanced(Objective(Hinge(), SquaredL2()), [Source(X, y)]) == alpha
    assert balanced(objective, [Source(sparse.csr_matrix(X), y)]) == pytest.approx(alpha, rel=1e-6)


def test_examples_are_left_out_as_if_the_fit_were_made_anew():
    """Exact for the squared loss where no example has two features."""
    rng = np.random.default_rng(0)
    X, y = np.zeros((12, 3)), rng.normal(size=12)
    X[np.arange(12), np.arange(12) % 3] = rng.uniform(1.0, 1.5, size=12)
    risk = LinearRisk(Objective(Squared(), SquaredL2(0.1), intercept=False), Source(X, y))
    found = _left_out(risk, minimize(risk, Newton(), Stopping(gap=1e-12)))
    z, a = (column.whole for column in found)
    for i in range(12):
        others = np.arange(12) != i
        H = X[others].T @ X[others] + 12 * 0.1 * np.eye(3)
        assert z[i] == pytest.approx(X[i] @ np.linalg.solve(H, X[others].T @ y[others]))
    np.testing.assert_allclose(a, z - y)


def test_more_noise_asks_for_more_and_more_examples_for_less():
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(4000, 10)), rng.normal(size=10)
    noise = rng.normal(size=4000)
    objective = Objective(Squared(), SquaredL2())

    def alpha(m, level):
        return balanced(objective, [Source(X[:m], X[:m] @ w + level * noise[:m])])

    assert alpha(400, 4.0) == pytest.approx(16 * alpha(400, 1.0), rel=0.5)
    assert alpha(4000, 4.0) == pytest.approx(alpha(400, 4.0) / 10, rel=0.5)


def test_the_fit_is_that_of_the_number(noisy):
    X, y = noisy
    chosen = LinearClassifier("hinge", alpha="auto", random_state=1).fit(X, y)
    given = LinearClassifier("hinge", alpha=chosen.alpha_, random_state=1).fit(X, y)
    assert np.array_equal(chosen.coef_, given.coef_)
    assert given.alpha_ == chosen.alpha_
    assert chosen.get_params()["alpha"] == "auto"
    assert clone(chosen).alpha == "auto"
    again = clone(chosen).set_params(warm_start=True).fit(X, y)
    assert again.fit(X, y).alpha_ == chosen.alpha_
    assert again.n_passes_ <= chosen.n_passes_


@pytest.mark.parametrize("estimator", [LinearClassifier, LinearRegressor])
def test_scikit_learns_checks(estimator):
    """All but those of streams, and of weights: copies of an example are further samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of the checks that it skips
        found = check_estimator(estimator(alpha="auto"), on_fail=None)
    failed = {check["check_name"] for check in found if check["status"] == "failed"}
    assert failed <= {
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_estimators_partial_fit_n_features",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
    assert len(found) > 40


@pytest.mark.usefixtures("settled")
def test_classes_share_one():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = LinearClassifier("logistic", alpha="auto", gap=1e-6).fit(X, y)
    costs = model.alpha_ / 2 * (model.coef_**2).sum()
    errors = sum(
        exact_error(Logistic(), X, np.where(y == k, 1.0, -1.0), w, b, model.alpha_)
        for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True))
    )
    assert costs == pytest.approx(errors, rel=0.35)


def test_a_choice_is_worth_it():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    scores = {
        alpha: LinearClassifier("hinge", alpha=alpha, gap=1e-2)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for alpha in (*np.logspace(-6, 1, 8), "auto")
    }
    assert scores["auto"] > max(scores.values()) - 0.015


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((20, 3)),
        np.ones((20, 3)),
        np.eye(20),
        np.arange(20.0)[:, None],
        1e-40 * np.arange(20.0)[:, None],
        1e40 * np.arange(20.0)[:, None],
    ],
    ids=["zero", "constant", "separable", "one", "tiny", "huge"],
)
def test_never_nan(X, loss):
    y = np.arange(20) >= 10
    model = LinearClassifier(loss, alpha="auto", passes=50).fit(X, y)
    assert 0.0 < model.alpha_ < math.inf
    assert np.isfinite(model.coef_).all()
    two = LinearClassifier(loss, alpha="auto", passes=50).fit(X[9:11], y[9:11])
    assert 0.0 < two.alpha_ < math.inf


@pytest.mark.parametrize("loss", ["squared", "absolute", "epsilon_insensitive(0)", "poisson"])
def test_never_nan_of_numbers(loss):
    X = np.random.default_rng(0).normal(size=(30, 4))
    for y in (np.ones(30), np.abs(X @ np.arange(4.0)) + 1e-3, np.arange(30) % 2):
        model = LinearRegressor(loss, alpha="auto", passes=50).fit(X, y)
        assert 0.0 < model.alpha_ < math.inf
        assert np.isfinite(model.coef_).all()


def test_noise_alone_gets_a_strong_penalty():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 50)), rng.normal(size=300)
    model = LinearRegressor("squared", alpha="auto").fit(X, y)
    assert np.linalg.norm(model.coef_) < 0.1


def test_weak_signals_are_not_taken_for_none(monkeypatch):
    """From a strong penalty, weights of 0 are within the coarse fits' gap of the optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    y = X @ np.array([0.2, 0.0, 0.0]) + rng.normal(size=5000)
    objective, source = Objective(Squared(), SquaredL2()), Source(X, y)
    alpha = balanced(objective, [source])
    monkeypatch.setattr("stepless.strength._START", 1.0)
    assert balanced(objective, [source]) == pytest.approx(alpha, rel=0.5)


def test_many_predictions_at_a_corner():
    """Most examples have no feature: they lie where the loss has its corner, exactly."""
    rng = np.random.default_rng(0)
    X, y = np.zeros((200, 2)), np.zeros(200)
    X[:20] = rng.normal(size=(20, 2))
    y[:20] = X[:20] @ np.ones(2) + 0.1 * rng.normal(size=20)
    model = LinearRegressor("absolute", alpha="auto", fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, 1.0, atol=0.2)


def test_it_is_stored_saved_and_said(noisy, tmp_path):
    X, y = noisy
    model = LinearClassifier("logistic", alpha="auto").fit(X, y)
    save_model(model, tmp_path / "model")
    assert read_header(tmp_path / "model")["certificate"]["alpha"] == model.alpha_
    again = load_model(tmp_path / "model")
    assert again.alpha_ == model.alpha_
    assert again.alpha == "auto"
    assert again.predict_proba(X).shape == (600, 2)
    summary = Summary.of(again)
    assert summary.alpha == model.alpha_
    assert f"l2 penalty with alpha {model.alpha_:g} (chosen from the data)" in describe(summary)
    assert Summary.of(again.set_params(alpha=0.1)).alpha == model.alpha_  # that of the fit
    assert "chosen" not in describe(Summary.of(model.set_params(alpha=0.1).fit(X, y)))
    assert LinearClassifier(penalty="none", passes=1).fit(X, y).alpha_ == 0.0
    assert LinearClassifier(penalty=SquaredL2(0.3)).fit(X, y).alpha_ == 0.3
    assert LinearRegressor(alpha=0.2).partial_fit(X, y).alpha_ == 0.2


def test_files_that_do_not_tell_the_strength_are_read_as_before(noisy, tmp_path, monkeypatch):
    model = LinearClassifier("logistic", alpha=0.1).fit(*noisy)
    monkeypatch.setattr(model_file, "_PROVEN", model_file._PROVEN[1:])
    save_model(model, tmp_path / "model")
    assert "alpha" not in read_header(tmp_path / "model")["certificate"]
    assert Summary.of(load_model(tmp_path / "model")).alpha == 0.1


def test_seconds_are_for_all(noisy):
    X, y = noisy
    model = LinearClassifier("hinge", alpha="auto", seconds=0.0).fit(X, y)
    assert model.stopped_by_ in ("seconds", "gap")
    assert model.alpha_ > 0.0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"penalty": "l1"}, r"knows the penalties l2 and lp\(p\), not L1; choose one of them"),
        ({"penalty": "none"}, r"knows the penalties l2 and lp\(p\), not Zero"),
        ({"penalty": ElasticNet(1.0, 0.5)}, "of a penalty given by name, but ElasticNet"),
        ({"alpha": "best"}, "alpha must be a number or 'auto', not 'best'"),
    ],
)
def test_refusals(noisy, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearClassifier(**({"alpha": "auto"} | parameters)).fit(*noisy)


def test_refused_tasks(noisy):
    X, y = noisy
    with pytest.raises(
        ValueError, match="does not know MulticlassHinge, a loss of several classes"
    ):
        LinearClassifier(alpha="auto", multi_class="joint").fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match="does not know Softmax"):
        balanced(Objective(Softmax(3), SquaredLp()), [Source(X, y)])
    for model in (LinearClassifier(alpha="auto"), LinearRegressor(alpha="auto")):
        with pytest.raises(ValueError, match="must see all examples; give a number for a stream"):
            model.partial_fit(X, y)


def test_the_command_line(noisy, tmp_path):
    X, y = noisy
    data, out = tmp_path / "data.svm", tmp_path / "model"
    rows = (" ".join(f"{j + 1}:{v:.3g}" for j, v in enumerate(row)) for row in X)
    data.write_text("".join(f"{t:g} {row}\n" for t, row in zip(y, rows, strict=True)))
    run = CliRunner()
    said = run.invoke(app, ["fit", str(data), "-o", str(out), "--alpha", "auto", "--json"])
    assert said.exit_code == 0, said.output
    facts = json.loads(said.stdout)
    assert facts["alpha"] == load_model(out).alpha_
    assert facts["alpha_chosen"]
    told = run.invoke(app, ["info", str(out)])
    assert f"alpha {facts['alpha']:g} (chosen from the data)" in told.output
    fit = ["fit", str(data), "-o", str(out), "--alpha"]
    for arguments, code, words in (
        ([*fit, "auto", "--penalty", "l1"], 1, "knows the penalties l2 and lp(p), not L1"),
        ([*fit, "auto", "--stream"], 1, "--alpha auto must see all examples"),
        ([*fit, "much"], 2, "much"),
    ):
        said = run.invoke(app, arguments)
        assert said.exit_code == code
        assert words in said.output
