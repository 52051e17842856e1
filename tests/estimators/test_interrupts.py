"""Ctrl-C in a fit: the first one ends it with the best weights so far, the second one undoes it."""

import signal
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from signals import sends, usual_handlers  # noqa: F401  a fixture
from stepless import (
    GaussianProcessClassifier,
    KernelClassifier,
    LinearClassifier,
    LinearRegressor,
    alpha_path,
    regret_ledger,
)
from stepless.estimators.exact_posterior import ExactPosterior
from stepless.estimators.stream import StreamLearner
from stepless.minimization import minimize
from stepless.solvers import AdaGrad

pytestmark = pytest.mark.usefixtures("usual_handlers")

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def interrupted(more=""):
    return pytest.warns(ConvergenceWarning, match=rf"^interrupted after \d passes .*{more}$")


def tight(**settings):
    return LinearClassifier("logistic", alpha=1e-6, gap=1e-9, solver="proximal-bundle", **settings)


def test_every_class_that_is_left_takes_one_step():
    clf = tight()
    with interrupted() as told:
        clf.fit(X, Y, watchers=[sends(4)])
    assert [len(trace) for trace in clf.trace_] == [4, 1, 1]
    assert clf.stopped_by_ == "interrupt"
    assert told[0].filename == __file__
    assert "With warm_start=True another fit goes on from there" in str(told[0].message)
    best = LinearClassifier("logistic", alpha=1e-6, gap=1e-6).fit(X, Y)
    assert clf.lower_bound_ <= best.objective_
    assert clf.objective_ >= best.lower_bound_
    assert clf.score(X, Y) > 0.5


def test_a_warm_start_goes_on_from_there():
    clf = tight(warm_start=True)
    with interrupted():
        clf.fit(X, Y == 1, watchers=[sends(9)])
    there = clf.objective_
    with interrupted():
        clf.fit(X, Y == 1, watchers=[sends(1)])
    assert clf.objective_ <= there


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_a_gap_that_is_met_is_not_called_missed():
    def at_the_gap(event, w, b):
        if event.rel_gap <= 0.5:
            signal.raise_signal(signal.SIGINT)

    clf = LinearClassifier(gap=0.5)
    with interrupted(r"with a relative gap of [\d.e-]+"):
        clf.fit(X, Y == 1, watchers=[at_the_gap])
    assert clf.stopped_by_ == "interrupt"


def test_the_second_signal_raises_and_changes_nothing():
    clf = tight().set_params(gap=0.1).fit(X, Y)
    before = dict(vars(clf))
    clf.set_params(gap=1e-9)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[:, :2], Y, watchers=[sends(2), sends(2)])
    assert vars(clf) == before | {"gap": 1e-9}


def test_the_choice_of_a_strength_ends_too(monkeypatch):
    fits = []

    def watched(*problem, **how):
        fits.append(minimize(*problem, **how, watchers=[sends(1)]))
        return fits[-1]

    monkeypatch.setattr("stepless.strength.choice.minimize", watched)
    model = LinearRegressor(alpha="auto", gap=1e-12)
    with interrupted():
        model.fit(X[:, :3], X[:, 3])
    assert len(fits) == 1
    assert (model.stopped_by_, model.n_passes_) == ("interrupt", 1)
    assert model.alpha_ > 0.0


def test_a_path_ends_with_a_step_for_each_strength_that_is_left(monkeypatch):
    watcher = sends(2)
    monkeypatch.setattr("stepless.run.Progress", lambda label: watcher)
    alphas = [1e-1, 1e-3, 1e-5]
    with pytest.warns(ConvergenceWarning, match="^interrupted with relative gaps of up to") as told:
        path = alpha_path(X, Y == 1, alphas, gap=1e-9, solver="bundle", verbose=1)
    assert [point.stopped_by for point in path] == ["interrupt"] * 3
    assert [point.passes for point in path] == [2, 1, 1]
    assert told[0].filename == __file__


def test_sums_of_kernels():
    clf = KernelClassifier("logistic", gap=1e-12, alpha=1e-4)
    with interrupted("Only a new fit can do better"):
        clf.fit(X, Y, watchers=[sends(2)])
    assert [len(trace) for trace in clf.trace_] == [2, 1, 1]
    assert np.isfinite(clf.gap_)


def test_a_gaussian_process():
    points, labels = make_moons(40, noise=0.2, random_state=0)
    clf = GaussianProcessClassifier(gap=1e-12)
    with interrupted():
        clf.fit(points, labels, watchers=[sends(2)])
    assert clf.predict_proba(points).shape == (40, 2)


def test_the_search_for_a_prior_ends_too(monkeypatch):
    points, labels = make_moons(40, noise=0.2, random_state=0)
    variances = []

    def posterior(gram, signs, variance, *more):
        variances.append(variance)
        if len(variances) == 3:
            signal.raise_signal(signal.SIGINT)
        return ExactPosterior(gram, signs, variance, *more)

    monkeypatch.setattr("stepless.estimators.gaussian_process_classifier.ExactPosterior", posterior)
    clf = GaussianProcessClassifier(gamma="auto", variance="auto", gap=1e-12)
    with interrupted():
        clf.fit(points, labels)
    assert len(variances) == 4  # the third was broken off, and the fourth is the fit's own
    assert clf.variance_ in variances[:2]


def test_a_ledger_is_worth_nothing_without_its_best_point(monkeypatch):
    class Interrupted(AdaGrad):
        def step(self, *args):
            signal.raise_signal(signal.SIGINT)
            return super().step(*args)

    monkeypatch.setattr("stepless.run.choose", lambda *_: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        regret_ledger(X, Y == 1)


def test_a_chunk_of_a_stream_is_learned_whole(monkeypatch):
    learn = StreamLearner.learn

    def interrupted_learn(self, source):
        signal.raise_signal(signal.SIGINT)
        return learn(self, source)

    calm = LinearClassifier().partial_fit(X, Y, classes=[0, 1, 2])
    hasty = LinearClassifier()
    with monkeypatch.context() as patched:
        patched.setattr(StreamLearner, "learn", interrupted_learn)
        with pytest.raises(KeyboardInterrupt):
            hasty.partial_fit(X, Y, classes=[0, 1, 2])
    np.testing.assert_array_equal(hasty.coef_, calm.coef_)
    np.testing.assert_array_equal(hasty.partial_fit(X, Y).coef_, calm.partial_fit(X, Y).coef_)


def test_a_chunk_that_an_error_breaks_off_ends_the_stream(monkeypatch):
    model = LinearClassifier().partial_fit(X, Y, classes=[0, 1, 2])
    before = model.coef_
    learn, left = StreamLearner.learn, [1]

    def failing(self, source):
        if not left:
            raise MemoryError
        left.pop()
        return learn(self, source)

    with monkeypatch.context() as patched:
        patched.setattr(StreamLearner, "learn", failing)
        with pytest.raises(MemoryError):
            model.partial_fit(X, Y)
    assert model.coef_ is before
    for call in (lambda: model.partial_fit(X, Y), model.settle):
        with pytest.raises(ValueError, match="an error broke off the last chunk, of which a part"):
            call()
    with catch_warnings():
        simplefilter("error")
        model.fit(X, Y).partial_fit(X, Y)
