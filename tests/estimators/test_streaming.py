"""Streams: cuts make no difference; every example is predicted before it is learned."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from stepless import ChainClassifier, LinearClassifier, LinearRegressor
from stepless.objective import L1, SquaredL2
from stepless.solvers import AROW, FOBOS, RDA, AdaGrad, PassiveAggressive

M, D = 4300, 30  # beyond the last early look, after 4000 examples
SOLVERS = {
    "rda": (AdaGrad("rda"), "l1"),
    "cmd": (AdaGrad("cmd"), "l1"),
    "squares": (AdaGrad("cmd"), "l2"),
    "plain rda": (RDA(), "elasticnet"),
    "fobos": (FOBOS(), "elasticnet(0.3)"),
    "passive-aggressive": (PassiveAggressive("II"), "none"),
    "arow": (AROW(), "none"),
}


def rows(classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(M, D, 0.2, "csr", random_state=seed)
    z = X @ rng.normal(size=(D, classes)) + 0.2 * rng.normal(size=(M, classes))
    return X, z.argmax(axis=1), rng.uniform(0.5, 2.0, size=M)


def streamed(model, X, y, s, size):
    predicted = []
    for lo in range(0, M, size):
        cut = slice(lo, lo + size)
        part = model.predict_and_learn(X[cut], y[cut], np.unique(y), s[cut])
        predicted.append(part)
    return np.concatenate(predicted)


@pytest.mark.parametrize("name", SOLVERS)
def test_chunks_make_no_difference(name):
    solver, penalty = SOLVERS[name]
    X, y, s = rows()
    whole = LinearClassifier(solver=solver, penalty=penalty, alpha=1e-3)
    predicted = streamed(whole, X, y, s, M)
    for size in (70, 999):
        model = LinearClassifier(solver=solver, penalty=penalty, alpha=1e-3)
        np.testing.assert_array_equal(streamed(model, X, y, s, size), predicted)
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        np.testing.assert_array_equal(model.intercept_, whole.intercept_)
        assert model.progressive_loss_ == pytest.approx(whole.progressive_loss_, rel=1e-12)


def test_one_example_at_a_time():
    X, y, s = (part[:420] for part in rows())
    whole, model = (LinearClassifier(penalty="l1", alpha=1e-3) for _ in "ab")
    predicted = whole.predict_and_learn(X, y, [0, 1], s)
    for t in range(420):
        [one] = model.predict_and_learn(X[t], y[t : t + 1], [0, 1], s[t : t + 1])
        assert one == predicted[t]
    np.testing.assert_array_equal(model.coef_, whole.coef_)


@pytest.mark.parametrize("name", SOLVERS)
def test_one_pass_of_fit_is_the_same(name):
    solver, penalty = SOLVERS[name]
    X, y, _ = rows(seed=1)
    fit = LinearClassifier(solver=solver, penalty=penalty, alpha=1e-3, passes=1, shuffle=False)
    fit.fit(X, y)
    model = LinearClassifier(solver=solver, penalty=penalty, alpha=1e-3)
    streamed(model, X, y, np.ones(M), 300)
    np.testing.assert_array_equal(model.coef_, fit.coef_)
    np.testing.assert_array_equal(model.intercept_, fit.intercept_)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_several_classes(multi_class):
    X, y, s = rows(classes=4, seed=2)
    models = [LinearClassifier(penalty="l1/l2", alpha=1e-4, multi_class=multi_class) for _ in "ab"]
    for model, size in zip(models, (M, 130), strict=True):
        streamed(model, X, y, s, size)
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].coef_.shape == (4, D)
    assert models[0].score(X, y) > 0.7


def test_predictions_come_before_learning():
    X, y, s = rows(seed=3)
    model = LinearClassifier(penalty="l1", alpha=1e-4)
    predicted = streamed(model, X, y, s, 50)
    again = LinearClassifier(penalty="l1", alpha=1e-4)
    for t in (0, 1, 5, 70, 333, 550):
        if t > 0:
            again = LinearClassifier(penalty="l1", alpha=1e-4)
            again.partial_fit(X[:t], y[:t], np.unique(y), s[:t])
            assert again.predict(X[t])[0] == predicted[t]
    # what is said of an example does not depend on its label
    flipped = y.copy()
    flipped[700] = 1 - y[700]
    other = LinearClassifier(penalty="l1", alpha=1e-4)
    assert streamed(other, X, flipped, s, 50)[700] == predicted[700]


def test_progressive_loss_is_the_mean_of_the_losses():
    X, y, _ = rows(seed=4)
    model = LinearClassifier("logistic", penalty="l1", alpha=1e-4)
    losses = []
    for t in range(150):
        z = model.decision_function(X[t])[0] if t else 0.0
        losses.append(np.log1p(np.exp(-z if y[t] else z)))
        model.partial_fit(X[t], y[t : t + 1], np.unique(y))
    assert model.progressive_loss_ == pytest.approx(np.mean(losses), rel=1e-9)


def test_unsettled_weights_are_settled_on_demand():
    X, y, s = rows(seed=5)
    model, other = LinearClassifier(penalty="l1"), LinearClassifier(penalty="l1")
    for lo in range(0, M, 100):
        cut = slice(lo, lo + 100)
        model.predict_and_learn(X[cut], y[cut], [0, 1], s[cut], settle=False)
        other.partial_fit(X[cut], y[cut], [0, 1], s[cut])
    assert not np.array_equal(model.coef_, other.coef_)
    model.settle()
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_regression_streams_too():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(M, 5))
    y = X @ np.arange(5.0) + 3.0 + 0.1 * rng.normal(size=M)
    models = [LinearRegressor("epsilon_insensitive", penalty="l1", alpha=1e-4) for _ in "ab"]
    for model, size in zip(models, (M, 77), strict=True):
        parts = [
            model.predict_and_learn(X[lo : lo + size], y[lo : lo + size])
            for lo in range(0, M, size)
        ]
        last = np.concatenate(parts)[-300:]
        assert np.abs(last - y[-300:]).mean() < 1.0
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].intercept_ == models[1].intercept_


@pytest.mark.parametrize("model", [LinearClassifier(), LinearRegressor()])
def test_nothing_to_settle_is_one_sentence(model):
    with pytest.raises(NotFittedError, match="there is no stream: learn from one first"):
        model.settle()


def test_other_classes_than_those_of_the_first_call_are_refused():
    X, y = np.eye(4), [0, 1, 0, 1]
    model = LinearClassifier().partial_fit(X, y, classes=[0, 1]).partial_fit(X, y, classes=[1, 0])
    before = model.coef_
    with pytest.raises(ValueError, match=r"classes= differs from those .* first: \[0, 1\]; leave"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    fitted = LinearClassifier().fit(X, y)
    with pytest.raises(ValueError, match="classes= differs"):
        fitted.partial_fit(X, y, classes=["a", "b"])
    assert model.coef_ is before


WORDS = [[["a"], ["b"]]], [["A", "B"]]


@pytest.mark.parametrize(
    ("model", "chunk", "change"),
    [
        (LinearClassifier(), (np.eye(2), [0, 1], [0, 1]), {"loss": "logistic"}),
        (LinearClassifier(alpha=1), (np.eye(2), [0, 1], [0, 1]), {"alpha": 2.0}),
        (LinearClassifier(penalty=L1(0.1)), (np.eye(2), [0, 1], [0, 1]), {"penalty": SquaredL2(0.1)}),
        (LinearClassifier(), (np.eye(3), [0, 1, 2], [0, 1, 2]), {"multi_class": "joint"}),
        (LinearRegressor(), (np.eye(2), [0.0, 1.0]), {"fit_intercept": False}),
        (LinearRegressor(), (np.eye(2), [0.0, 1.0]), {"solver": "rda"}),
        (ChainClassifier(), (*WORDS, ["A", "B"]), {"loss": "hinge"}),
        (ChainClassifier("hinge"), (*WORDS, ["A", "B"]), {"cost": 1.0 - np.eye(2)}),
    ],
)  # fmt: skip
def test_a_stream_does_not_change_what_it_is_made_of(model, chunk, change):
    model = clone(model).partial_fit(*chunk)
    [(name, value)] = change.items()
    began = getattr(model, name)
    with pytest.raises(ValueError, match=f"^{name} was .* when the stream began, and is"):
        model.set_params(**change).partial_fit(*chunk)
    model.set_params(**{name: began}, gap=1e-2).partial_fit(*chunk)  # of no matter to a stream
    again = pickle.loads(pickle.dumps(model)).partial_fit(*chunk)
    assert again.progressive_loss_ == model.partial_fit(*chunk).progressive_loss_
    again.set_params(**{name: value}, passes=1).fit(*chunk[:2])  # which begins anew
