"""Words that are never better than the truth."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import scale

from stepless import LinearClassifier, LinearRegressor
from stepless.objective import Huber, SquaredL2
from stepless.report import Score, Summary, describe, score_model
from stepless.report.atomic import refuse_output
from stepless.report.forecast import Forecast
from stepless.report.strict_json import strict_json
from stepless.report.text import (
    at_least,
    at_most,
    ended_by,
    gap_in_words,
    listed,
    percent_up,
    score_in_words,
)
from stepless.stopping import Stopping
from stepless.trace import Event


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return LinearClassifier(alpha=1e-2, gap=1e-2).fit(scale(X), y), scale(X), y


@pytest.fixture(scope="module")
def summary(wine):
    return Summary.of(wine[0], Score({"examples": 40}, {"accuracy": 0.9}, 0))


def test_facts(wine, summary):
    model, _, y = wine
    assert summary.examples == len(y)
    assert summary.seconds == sum(run[-1].seconds for run in model.trace_)
    assert summary.norm == pytest.approx(np.sqrt((model.coef_**2).sum()))
    assert summary.weights == model.coef_.size
    assert summary.gap_met
    assert summary.excess == pytest.approx(model.gap_ / model.lower_bound_)


def test_text_says_all_of_it(summary):
    text = describe(summary, {"model": "written to x"})
    for words in (
        "hinge loss, l2 penalty with alpha 0.01",
        "178 examples, 13 features, classes 0, 1 and 2",
        f"{at_most(summary.objective)} (the sum of 3 problems",
        at_least(summary.lower_bound),
        "above the best possible",
        "the gap asked for, 1 %, is proven",
        summary.solver,
        "of 39 not zero",
        "accuracy 90.00 % on 40 examples",
        "written to x",
    ):
        assert words in text


def test_json_says_the_same(summary):
    facts = json.loads(strict_json(summary.as_dict()))
    assert facts["objective"] == summary.objective
    assert facts["classes"] == [0, 1, 2]
    assert facts["test"] == {"examples": 40, "accuracy": 0.9, "unseen_labels": 0}
    assert facts["gap_met"] is True


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_terms_of_ones_own_spelling():
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegressor(Huber(2.5), penalty=SquaredL2(0.5), gap=0.1, passes=50).fit(X, y)
    facts = Summary.of(model)
    assert (facts.loss, facts.penalty, facts.alpha) == ("huber(2.5)", "l2", 0.5)
    assert "intercept" in describe(facts)
    assert Summary.of(model.set_params(penalty="none")).alpha == 0.0


@pytest.mark.parametrize(
    ("objective", "lower_bound", "words"),
    [
        (1.0, 0.9992, "at most 0.081 % above the best possible"),
        (1.0, 0.5, "at most 2.0 times the best possible"),
        (1.0, 0.3, "at most 3.4 times the best possible"),
        (1.0, 0.0, "nothing is known of the best possible except that it is not below 0"),
        (1.0, 1.0, "the best possible, up to rounding"),
    ],
)
def test_gap_in_words(summary, objective, lower_bound, words):
    gap = objective - lower_bound
    told = replace(summary, objective=objective, lower_bound=lower_bound, gap=gap)
    assert gap_in_words(told) == words


@pytest.mark.parametrize("share", [1e-12, 3.4e-7, 0.000999, 0.001, 0.123456, 0.99999, 17.01])
def test_percentages_are_rounded_up(share):
    shown = float(percent_up(share).removesuffix(" %")) / 100
    assert share * (1 - 1e-12) <= shown <= share * 1.11


def test_what_ended_the_run(summary):
    said = {
        reason: ended_by(replace(summary, stopped_by=reason, passes_asked=5, seconds_asked=90.0))
        for reason in ("passes", "seconds", "solver", "watcher")
    }
    assert said["passes"] == "the limit of 5 passes"
    assert said["seconds"] == "the limit of 1 min 30 s"
    assert "solver" in said["solver"]
    assert said["watcher"] == "a watcher"
    unlimited = replace(summary, stopped_by="passes", passes=1000, passes_asked=None)
    assert ended_by(unlimited) == "the default limit of 1,000 passes"


def test_a_stream_claims_nothing():
    model = LinearClassifier(alpha=0.1).partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    text = describe(Summary.of(model))
    assert "unknown, because the examples of a stream are not kept" in text
    assert "objective" not in text
    assert json.loads(strict_json(Summary.of(model).as_dict()))["objective"] is None


def test_many_classes_are_not_all_listed():
    assert listed([0, 1]) == "0 and 1"
    assert listed(list(range(20))).endswith("7, … (20 in all)")


# -- scores ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_scores_are_those_of_scikit_learn(wine):
    model, X, y = wine
    score = score_model(model, X, y)
    assert score.measures["accuracy"] == model.score(X, y)
    assert score.unseen == 0
    X, y = load_diabetes(return_X_y=True)
    regressor = LinearRegressor("quantile(0.9)", alpha=1e-3, gap=0.1).fit(X, y)
    score = score_model(regressor, X, y)
    assert score.measures["r2"] == regressor.score(X, y)
    residual = y - regressor.predict(X)
    assert score.measures["mean_loss"] == pytest.approx(
        np.maximum(0.9 * residual, -0.1 * residual).mean()
    )
    assert score_model(regressor, X[:1], y[:1]).measures["r2"] is None
    assert "no R²" in score_in_words(score_model(regressor, X[:1], y[:1]))


def test_unseen_labels_are_told(wine):
    model, X, y = wine
    score = score_model(model, X[:4], np.array([y[0], y[1], 7, 9]))
    assert score.unseen == 2
    assert "of which 2 have labels that the model does not know" in score_in_words(score)


def test_labels_of_other_types():
    model = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], [-1.0, -1.0, 1.0])
    score = score_model(model, [[0.0], [2.0]], np.array([-1, 1]))
    assert (score.measures["accuracy"], score.unseen) == (1.0, 0)
    model = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], ["0", "0", "1"])
    assert score_model(model, [[0.0], [2.0]], np.array([0, 1])).measures["accuracy"] == 1.0


# -- forecasts -------------------------------------------------------------------------------------


def told(forecast, gaps, seconds_a_pass=1.0):
    for t, gap in enumerate(gaps, 1):
        said = forecast.left(Event(t, t, seconds_a_pass * t, 1.0, 1.0 - gap, 1.0, 1))
    return said


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_trend_of_a_power_law_is_found(power):
    gaps = [max(t, 1.0) ** -power for t in range(20)]  # the clock begins with the first pass
    target = 200.0**-power
    said = told(Forecast(Stopping(gap=target)), gaps)
    assert said == "about 3 min 1 s left"


def test_no_forecast_without_grounds():
    assert told(Forecast(Stopping(gap=1e-3)), [0.5] * 30) == ""  # no trend
    assert told(Forecast(Stopping(gap=1e-3)), [0.5, 0.4, 0.3]) == ""  # too early
    assert told(Forecast(Stopping(gap=0.0)), [1 / t for t in range(1, 30)]) == ""
    assert told(Forecast(Stopping(gap=0.5)), [1 / t for t in range(1, 30)]) == ""  # met
    assert told(Forecast(Stopping(gap=1e-12)), [t**-0.1 for t in range(1, 30)]) == ""  # for ever


def test_limits_bound_the_forecast():
    assert told(Forecast(Stopping(gap=1e-9, seconds=40)), [0.5] * 30) == "at most about 10 s left"
    assert told(Forecast(Stopping(gap=1e-9, passes=50)), [0.5] * 30) == "at most about 20 s left"
    assert told(Forecast(Stopping(gap=1e-9, seconds=30)), [0.5] * 30) == ""
    assert told(Forecast(Stopping(gap=1e-9, passes=10**300)), [0.5] * 30) == ""


def test_a_new_run_is_forecast_anew():
    forecast = Forecast(Stopping(gap=1e-3, passes=100))
    told(forecast, [1 / t for t in range(1, 30)])
    assert told(forecast, [0.5, 0.4]) == ""


# -- outputs ---------------------------------------------------------------------------------------


def test_strict_json_has_no_literal_that_json_does_not_know():
    assert strict_json([math.nan, {"a": (math.inf, 1)}]) == '[null, {"a": [null, 1]}]'


def test_outputs_refused_beforehand(tmp_path, monkeypatch):
    refuse_output(tmp_path / "new")
    refuse_output("/dev/null")
    assert list(tmp_path.iterdir()) == []
    for bad, words in [
        (tmp_path, "is a directory"),
        (tmp_path / "no" / "file", "there is no directory"),
        (tmp_path / ("x" * 300), "cannot be written"),
    ]:
        with pytest.raises(OSError, match=words) as caught:
            refuse_output(bad)
        assert caught.value.filename == str(bad)

    def deny(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", deny)
    with pytest.raises(PermissionError, match=r"cannot be written .Permission denied"):
        refuse_output(tmp_path / "new")
