"""The strength chosen from the data: it is as good as any, nothing else matters or breaks."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import check_estimator
from typer.testing import CliRunner

from stepless import LinearClassifier, LinearRegressor, Source, load_model, save_model, verify
from stepless.cli import app
from stepless.objective import (
    L1,
    Absolute,
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
from stepless.strength import best_strength
from stepless.strength.choice import _lowest, _Trials
from stepless.strength.scale import smoothed


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


@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_of_features_do_not_matter(noisy, loss, factor):
    X, y = noisy
    objective = Objective(loss, SquaredL2())
    alpha = best_strength(objective, [Source(X, y)])
    assert best_strength(objective, [Source(factor * X, y)]) == pytest.approx(
        factor**2 * alpha, rel=0.05
    )


def test_units_of_targets_do_not_matter(numbers):
    X, y = numbers
    alphas = {}
    for loss in (Squared(), Quantile(0.3)):
        for factor in (1.0, 100.0):
            alphas[factor] = best_strength(Objective(loss, SquaredL2()), [Source(X, factor * y)])
        # |z − y| and ‖w‖² grow by different powers
        expected = alphas[1.0] if loss == Squared() else alphas[1.0] / 100
        assert alphas[100.0] == pytest.approx(expected, rel=0.05)


def test_sparse_dense_and_again(noisy):
    X, y = noisy
    objective = Objective(Hinge(), SquaredL2(7.0))  # the strength that it has does not count
    alpha = best_strength(objective, [Source(X, y)])
    assert best_strength(Objective(Hinge(), SquaredL2()), [Source(X, y)]) == alpha
    assert best_strength(objective, [Source(sparse.csr_matrix(X), y)]) == pytest.approx(
        alpha, rel=1e-6
    )


def test_more_noise_asks_for_more_and_more_examples_for_less():
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(4000, 10)), rng.normal(size=10)
    noise = rng.normal(size=4000)
    objective = Objective(Squared(), SquaredL2())

    def alpha(m, level):
        return best_strength(objective, [Source(X[:m], X[:m] @ w + level * noise[:m])])

    assert alpha(400, 4.0) > 3.0 * alpha(400, 1.0)
    assert alpha(4000, 4.0) < alpha(400, 4.0)


@pytest.mark.parametrize("d", [5, 400])
def test_a_lasso_keeps_what_matters(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, d))
    y = X[:, :5] @ np.array([2.0, -2.0, 1.0, 1.0, 0.0]) + rng.normal(size=200)
    for penalty in (L1(), ElasticNet(1.0, 0.7)):
        objective = Objective(Squared(), penalty)
        alpha = best_strength(objective, [Source(X, y)])
        assert 1e-4 < alpha < 1.0
        if penalty == L1():
            more = best_strength(objective, [Source(1e3 * X, y)])
            assert 1e3 / 5 < more / alpha < 1e3 * 5  # coarse fits: a step of the grid
    model = LinearRegressor("squared", penalty="l1", alpha="auto").fit(X, y)
    assert (model.coef_[:4] != 0.0).all()
    assert 3 < (model.coef_ != 0.0).sum() <= max(5, d // 4)


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_rare_classes_ask_for_a_weak_penalty():
    """A balance of penalty and sampling error lost points here, in each of them."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=60) * (rng.random(60) < 0.4) * 2.5
    X = (rng.random((6000, 60)) < rng.beta(0.4, 5.0, 60)).astype(float)
    y = rng.random(6000) < 1.0 / (1.0 + np.exp(-2.0 * (X @ w - 5.0)))
    assert 0.01 < y.mean() < 0.1
    train, test = slice(2000), slice(2000, None)
    for loss in ("hinge", "logistic"):
        scores = {
            alpha: LinearClassifier(loss, alpha=alpha, gap=1e-2)
            .fit(X[train], y[train])
            .score(X[test], y[test])
            for alpha in (*np.logspace(-6, 0, 7), "auto")
        }
        assert scores["auto"] > max(scores.values()) - 0.004


def test_of_several_classes_the_mistakes_of_all_count():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = LinearClassifier("logistic", alpha="auto").fit(X, y)
    assert np.isscalar(model.alpha_)
    assert model.score(X, y) > 0.94


def test_of_many_examples_some_are_learned(noisy, monkeypatch):
    X, y = noisy
    for penalty in (SquaredL2(), L1()):
        objective = Objective(Logistic(), penalty)
        left_out = best_strength(objective, [Source(X, y)])
        monkeypatch.setattr("stepless.strength.choice._FEW", 100)
        learned = best_strength(objective, [Source(X, y)])
        monkeypatch.undo()
        assert 0.1 < learned / left_out < 10.0
        assert learned != left_out


def test_examples_of_weight_0_do_not_count(noisy, monkeypatch):
    """Neither those left out nor those learned are of them; the mean loss is that of the others."""
    X, y = noisy
    more, s = np.concatenate((X, 9.0 * X)), np.repeat((1.0, 0.0), 600)
    for few in (1000, 100):
        monkeypatch.setattr("stepless.strength.choice._FEW", few)
        for penalty in (SquaredL2(), L1()):
            objective = Objective(Logistic(), penalty)
            alphas = [
                best_strength(objective, [Source(X, y)]),
                best_strength(objective, [Source(more, np.concatenate((y, -y)), s)]),
            ]
            assert alphas[0] == pytest.approx(alphas[1], rel=1e-6)


def test_a_class_of_which_no_example_is_learned():
    """It does not keep the others from being judged."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1200)
    y[7] = 3
    X = np.eye(4)[y] + rng.normal(size=(1200, 4))
    model = LinearClassifier("logistic", alpha="auto").fit(X, y)
    assert 0.0 < model.alpha_ < 1.0
    assert model.score(X, y) > 0.6


def test_a_loss_without_curvature_or_implicit_slope(noisy):
    class Own(Loss):
        targets = "signs"

        def value(self, z, y):
            return max(0.0, 1.0 - y * z)

        def slope(self, z, y):
            return -y if y * z < 1.0 else 0.0

        def lipschitz(self):
            return 1.0

    X, y = noisy
    found = [
        best_strength(Objective(loss, SquaredL2()), [Source(X, y)]) for loss in (Own(), Hinge())
    ]
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize(
    ("errors", "best"),
    [
        ({0: 6, 1: 2, 2: 1, 3: 2}, 2),
        ({0: 5, 1: 3, 2: 1, 3: 2}, 2 + 1 / 6),
        ({0: 1, 1: 2, -1: 0.5, -2: 0.5}, -1 - 0.5),
        ({0: 1, 1: 2, -1: 0.998, -1.5: 3}, -0.5),
        ({0: 1, 1: 2, -1: 1}, -0.5),
        ({0: 1, 1: 1, -1: 9, -0.5: 2}, 0.5),
        ({0: 1, 1: 1, -1: 9, -0.5: 0.5}, -0.5 + 0.5 * (8.5 - 0.5) / (2 * 9)),
        ({0: 1, 1: 0.998, -1: 9, -0.5: 2}, 0.5),
        ({0: 1, 1: 1, -1: 1}, 0),
        ({0: 2, 1: 1, 2: math.nan}, 1),
        ({0: 2, 1: math.nan, -1: math.nan}, 0),
        ({0: math.nan, 1: math.nan, -1: math.nan}, 0),
    ],
    ids=[
        *(
            "weaker",
            "between",
            "stronger",
            "hardly stronger",
            "neither",
            "steep",
            "valley",
            "hardly",
            "flat",
        ),
        *("late", "at once", "no time"),
    ],
)
def test_the_search(errors, best):
    """It asks for no others than these."""
    assert _lowest(errors.__getitem__, few=False) == pytest.approx(best)


@pytest.mark.parametrize(
    ("halves", "best"), [((2, 2), 0), ((0.5, 2), -0.5 + 1 / 8), ((2, 0.5), 0.5 - 1 / 8)]
)
def test_the_search_with_few_numbers_looks_half_way_to_both_sides(halves, best):
    errors = {-1: 2, -0.5: halves[0], 0: 1, 0.5: halves[1], 1: 2}
    assert _lowest(errors.__getitem__, few=True) == pytest.approx(best)


def test_what_is_almost_a_mistake_counts_in_part():
    """Φ(−t/h) of the margins t, √h the mean √|t| of the mistakes; and by sample weights."""
    z, y, s = [-2.0, -1.0, 3.0, 6.0], [1.0, 1.0, 1.0, -1.0], [1.0, 1.0, 2.0, 0.0]
    source = Source(np.array(z)[:, None], y, s)
    objective = Objective(Squared(), SquaredL2())
    exact = _Trials.of(objective, [source], math.inf)
    risk = LinearRisk(Objective(Logistic(), SquaredL2()), source)
    trials = replace(exact, judged=[risk], risks=[risk], sources=[source])
    trials._unseen = lambda k, strength: source.split(np.array(z))
    t = np.array([-2.0, -1.0, 3.0])
    share = np.dot([1.0, 1.0, 2.0], norm.cdf(-t / (0.5 + 0.5 * np.sqrt(2.0)) ** 2)) / 4.0
    loss = np.dot([1.0, 1.0, 2.0], np.log1p(np.exp(-t))) / 4.0
    assert trials.at(1.0) == pytest.approx(share * loss**0.2)


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
        "check_supervised_y_2d",  # a matrix of one column is no mistake of a regression
        "check_n_features_in_after_fitting",
        "check_estimators_partial_fit_n_features",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
    assert len(found) > 40


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


@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor])
def test_few_wide_examples_that_are_cut_into_blocks(kind):
    """Turned, they have fewer entries, and so other blocks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1100))
    y = np.sign(X[:, :5].sum(axis=1))
    assert len(Source(X, y).cuts) > len(Source(X[:, :200], y).cuts)
    model = kind(alpha="auto", passes=30).fit(X, y)
    assert model.alpha_ > 0.0


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.5), Quantile(0.9), Quantile(0.02)])
def test_corners_are_rounded_by_as_much_as_errors_are_large(loss):
    """Where nine slopes in ten are small a loss is small, but errors are not."""
    y = 7.0 * np.random.default_rng(0).normal(size=1000)
    risk = LinearRisk(Objective(loss, SquaredL2()), Source(np.zeros((1000, 1)), y))
    assert 0.3 * 7.0 < smoothed(risk).loss.width < 0.8 * 7.0


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_noise_alone_gets_a_strong_penalty():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 50)), rng.normal(size=300)
    model = LinearRegressor("squared", alpha="auto").fit(X, y)
    assert np.linalg.norm(model.coef_) < 0.1


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
        (
            {"penalty": "entropy"},
            r"knows the penalties l2, l1, elasticnet\(ρ\) and lp\(p\), not Entropy; use "
            "alpha='cv', or penalty='l1'",
        ),
        ({"penalty": "none"}, "not Zero; use penalty='l1'"),
        ({"alpha": "best"}, "alpha must be a number, 'scaled', 'auto' or 'cv', not 'best'"),
    ],
)
def test_refusals(noisy, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearClassifier(**({"alpha": "auto"} | parameters)).fit(*noisy)


def test_a_penalty_that_is_no_name_is_chosen_for_as_its_name_is(noisy):
    named, own = (
        LinearClassifier("logistic", penalty=penalty, alpha="auto").fit(*noisy)
        for penalty in ("elasticnet", ElasticNet(7.0, 0.5))
    )
    assert own.alpha_ == named.alpha_
    assert np.array_equal(own.coef_, named.coef_)
    assert verify(own, *noisy).holds


def test_refused_tasks(noisy):
    X, y = noisy
    with pytest.raises(
        ValueError, match="MulticlassHinge, a loss of several classes at once; use alpha='cv', or"
    ):
        LinearClassifier(alpha="auto", multi_class="joint").fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match="does not know Softmax"):
        best_strength(Objective(Softmax(3), SquaredLp()), [Source(X, y)])
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
    assert facts["alpha_by"] == "auto"
    told = run.invoke(app, ["info", str(out)])
    assert f"alpha {facts['alpha']:g} (chosen from the data)" in told.output
    fit = ["fit", str(data), "-o", str(out), "--alpha"]
    for arguments, code, words in (
        ([*fit, "auto", "--penalty", "entropy"], 1, "not Entropy"),
        ([*fit, "auto", "--stream"], 1, "--alpha auto must see all examples"),
        ([*fit, "much"], 2, "much"),
    ):
        said = run.invoke(app, arguments)
        assert said.exit_code == code
        assert words in said.output
