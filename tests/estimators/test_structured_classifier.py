import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from stepless import StructuredClassifier
from stepless.structured import Multiclass
from stepless.structured.rna import Folding
from structured.outputs import Subsets, examples, optimum

X, Y = examples(np.random.default_rng(0), 20)


@pytest.mark.parametrize("solver", ["auto", "bundle", "proximal-bundle"])
def test_a_fit_is_certified(solver):
    clf = StructuredClassifier(Subsets(), alpha=1e-2, solver=solver).fit(X, Y)
    known = optimum(Subsets(), X, Y, 1e-2)
    assert clf.stopped_by_ == "gap"
    assert clf.lower_bound_ <= known * (1 + 1e-8)
    assert known <= clf.objective_ * (1 + 1e-8)
    assert clf.score(X, Y) > -1.0
    assert pickle.loads(pickle.dumps(clf)).predict(X) == clf.predict(X)
    assert not hasattr(clone(clf), "coef_")


def test_other_penalties_leave_weights_out():
    clf = StructuredClassifier(Subsets(), penalty="l1", alpha=0.2, gap=1e-2).fit(X, Y)
    assert clf.solver_ == "bundle"
    assert clf.rel_gap_ <= 1e-2
    assert np.count_nonzero(np.abs(clf.coef_) > 1e-8) < clf.coef_.size


def test_weights_mean_repetitions():
    s = np.arange(20) % 3
    weighted = StructuredClassifier(Subsets(), alpha=1e-2, gap=1e-6).fit(X, Y, sample_weight=s)
    repeated = StructuredClassifier(Subsets(), alpha=1e-2, gap=1e-6).fit(
        [x for x, n in zip(X, s) for _ in range(n)], [y for y, n in zip(Y, s) for _ in range(n)]
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-6)


def test_tables_are_read_by_rows():
    table = pd.DataFrame(np.array(X))
    listed = StructuredClassifier(Subsets(), alpha=1e-2, passes=5, gap=0.0).fit(X, Y)
    tabled = StructuredClassifier(Subsets(), alpha=1e-2, passes=5, gap=0.0).fit(table, Y)
    np.testing.assert_array_equal(listed.coef_, tabled.coef_)


def test_other_examples_are_refused():
    clf = StructuredClassifier(Subsets())
    with pytest.raises(ValueError, match="there are 20 inputs, but 19 outputs"):
        clf.fit(X, Y[:-1])
    with pytest.raises(ValueError, match="there is no example"):
        clf.fit([], [])
    with pytest.raises(ValueError, match="'newton' needs a risk that is a sum over examples"):
        StructuredClassifier(Subsets(), solver="newton").fit(X, Y)
    with pytest.raises(TypeError, match="model must be a StructuredModel, not str"):
        StructuredClassifier("multiclass").fit(X, Y)
    with pytest.raises(ValueError, match="alpha must be a number, not 'auto'"):
        StructuredClassifier(Subsets(), alpha="auto").fit(X, Y)
    with pytest.raises(TypeError, match="a sequence of inputs or outputs, not None"):
        clf.fit(None, Y)
    with pytest.raises(TypeError, match="a sequence of inputs or outputs, not 'GGG'"):
        StructuredClassifier(Folding()).fit("GGG", ["..."])
    with pytest.raises(ValueError, match=r"example 1: the structure has 4 signs, but .* 3 bases"):
        StructuredClassifier(Folding()).fit(["GAAAC", "GGG"], ["(...)", "...."])


def test_what_cannot_be_predicted_or_scored_is_told():
    X, y = np.eye(4), [0, 1, 0, 1]
    clf = StructuredClassifier(Multiclass.of(X, y), alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="an input holds NaN or infinity"):
        clf.predict([[np.nan, 0.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="there are 4 inputs, but 3 outputs"):
        clf.score(X, y[:3])
