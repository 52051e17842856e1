"""The ranker: what it learns, how queries are given, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from stepless import (
    L1,
    LinearRanker,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
)
from stepless.risks.ranking import Pairwise, RankingLoss

NAMES = ("pairwise", "ndcg", "map", "mrr")


@pytest.fixture(scope="module")
def web():
    """40 queries of different difficulty; documents of three grades, some queries of one only."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), rng.integers(2, 25, size=40))
    X = rng.normal(size=(qid.size, 6)) + rng.normal(size=(40, 6))[qid]
    hidden = X @ [1.0, -0.5, 0.5, 0.0, 0.0, 0.0] + 0.8 * rng.normal(size=qid.size)
    relative = hidden - np.bincount(qid, hidden)[qid] / np.bincount(qid)[qid]
    return X, np.digitize(relative, [0.5, 1.5]), qid


class OneQuery(LinearRanker):
    """A ranker of a single query, for checks without queries."""

    def fit(self, X, y):
        return super().fit(X, y, group=[np.size(y)])

    def score(self, X, y):
        return super().score(X, y, group=[np.size(y)])


@parametrize_with_checks([OneQuery(alpha=1e-2)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", NAMES)
def test_it_ranks_and_proves_it(loss, web):
    X, y, qid = web
    ranker = LinearRanker(loss, alpha=1e-2).fit(X, y, qid=qid)
    assert ranker.stopped_by_ == "gap"
    assert ranker.solver_ == "proximal-bundle"
    assert ranker.rel_gap_ <= 1e-3
    assert ranker.gap_ == ranker.objective_ - ranker.lower_bound_
    assert (ranker.alpha_, ranker.intercept_, ranker.coef_.shape) == (1e-2, 0.0, (6,))
    assert ranker.score(X, y, qid=qid) > 0.8  # measured: 0.85; in a random order 0.5
    np.testing.assert_allclose(ranker.predict(X), X @ ranker.coef_)
    known = ndcg_at_k(y, X @ ranker.coef_, 10, qid=qid)
    assert ranker.score(X, y, qid=qid) == pytest.approx(known)


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_queries_by_sizes_or_by_ids_in_any_order(web):
    X, y, qid = web
    ranker = LinearRanker("ndcg", alpha=1e-2, gap=1e-4)
    _, sizes = np.unique(qid, return_counts=True)
    by_size = clone(ranker).fit(X, y, group=sizes)
    order = np.random.default_rng(1).permutation(qid.size)
    names = np.array([f"query {q}" for q in qid])
    by_id = clone(ranker).fit(X[order], y[order], qid=names[order])
    assert by_id.objective_ == pytest.approx(by_size.objective_, rel=1e-4)
    assert by_id.score(X[order], y[order], qid=names[order]) == pytest.approx(
        by_id.score(X, y, group=sizes)
    )
    one_query = clone(ranker).fit(X, y, group=[len(y)])
    assert abs(one_query.objective_ - by_size.objective_) > 0.01


def test_one_query_of_two_grades_maximises_the_roc_area(web):
    X, y, _ = web
    ranker = LinearRanker(alpha=1e-3).fit(X, y > 0, group=[len(y)])
    area = roc_auc_score(y > 0, ranker.predict(X))
    assert ranker.objective_ >= 1 - area
    rng = np.random.default_rng(0)
    others = [roc_auc_score(y > 0, X @ rng.normal(size=6)) for _ in range(50)]
    assert area > max(others)


def test_sparse_float32_pickles_and_other_penalties(web):
    X, y, qid = web
    X = np.where(np.abs(X) < 1, 0, X)
    ranker = LinearRanker("map", alpha=1e-2)
    dense = clone(ranker).fit(X, y, qid=qid)
    for rows in (sparse.csr_matrix(X), sparse.csc_matrix(X), X.astype(np.float32)):
        other = clone(ranker).fit(rows, y, qid=qid)
        assert other.objective_ == pytest.approx(dense.objective_, rel=2e-3)
    restored = pickle.loads(pickle.dumps(dense))
    np.testing.assert_array_equal(restored.predict(X), dense.predict(X))
    thin = clone(ranker).set_params(penalty="l1", alpha=0.05, gap=1e-2).fit(X, y, qid=qid)
    assert thin.solver_ == "bundle"
    assert thin.stopped_by_ == "gap"
    given = clone(ranker).set_params(penalty=L1(0.05), alpha=0.05, gap=1e-2).fit(X, y, qid=qid)
    np.testing.assert_array_equal(given.coef_, thin.coef_)


def test_measures_of_the_score(web):
    X, y, qid = web
    ranker = LinearRanker(alpha=1e-2, k=3).fit(X, y, qid=qid)
    z = X @ ranker.coef_
    known = {
        "ndcg": ndcg_at_k(y, z, 3, qid=qid),
        "precision": precision_at_k(y, z, 3, qid=qid),
        "map": mean_average_precision(y, z, qid=qid),
        "mrr": mean_reciprocal_rank(y, z, qid=qid),
    }
    assert len(set(known.values())) == 4
    for measure, value in known.items():
        assert ranker.score(X, y, qid=qid, measure=measure) == pytest.approx(value)
    with pytest.raises(ValueError, match="there is no measure 'ndgc': did you mean 'ndcg'"):
        ranker.score(X, y, qid=qid, measure="ndgc")


def test_queries_that_are_left_out_are_counted_and_lonely_documents_told(web):
    X, y, qid = web
    grades = [np.unique(y[qid == q]).size for q in range(40)]
    ranker = LinearRanker(alpha=1e-2).fit(X, y, qid=qid)
    assert ranker.n_queries_left_out_ == grades.count(1) > 0
    assert ranker.n_queries_ == 40 - grades.count(1)
    alone = qid.copy()
    alone[0], alone[5] = 40, 41
    with pytest.warns(UserWarning, match="2 of 42 queries have one document") as told:
        ranker.fit(X, y, qid=alone)
    assert told[0].filename == __file__


def test_a_loss_of_ones_own(web):
    X, y, qid = web

    class TopTwo(RankingLoss):
        """The hinge of the best document against the worst, which come first and last."""

        def is_informative(self, y):
            return y[0] > y[-1]

        def plane(self, a, z, y, order):
            a[:] = 0.0
            if z[0] - z[-1] < 1.0:
                a[0], a[-1] = -1.0, 1.0
                return 1.0
            return 0.0

    ranker = LinearRanker(TopTwo(), alpha=1e-2).fit(X, y, qid=qid)
    assert ranker.stopped_by_ == "gap"
    assert ranker.score(X, y, qid=qid) > 0.8
    named = LinearRanker("pairwise", alpha=1e-2).fit(X, y, qid=qid)
    given = LinearRanker(Pairwise(), alpha=1e-2).fit(X, y, qid=qid)
    np.testing.assert_array_equal(named.coef_, given.coef_)


def test_watchers_and_progress(web, capsys):
    X, y, qid = web
    seen = []
    ranker = LinearRanker(gap=0, passes=3, verbose=1)
    ranker.fit(X, y, qid=qid, watchers=[lambda event, w, b: seen.append(event.passes)])
    assert seen == [1, 2, 3]
    assert "pass 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"loss": "ndgc"}, "there is no loss 'ndgc': did you mean 'ndcg'"),
        ({"k": 0}, "k must be a whole number of documents, at least 1, not 0"),
        ({"k": 2.5}, "k must be a whole number of documents, at least 1, not 2.5"),
        ({"k": True}, "k must be a whole number of documents, at least 1, not True"),
        ({"alpha": "auto"}, "alpha must be a number, not 'auto': a LinearRanker chooses none"),
        ({"solver": "newton"}, "'newton' needs a risk that is a sum over examples"),
        ({"penalty": "l3"}, "there is no penalty 'l3'"),
        ({"passes": 0}, "passes must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence, web):
    X, y, qid = web
    with pytest.raises(ValueError, match=sentence):
        LinearRanker(**settings).fit(X, y, qid=qid)


def test_queries_and_grades_that_make_no_sense_are_refused(web):
    X, y, qid = web
    with pytest.raises(ValueError, match="y holds None at example 3: it must hold finite numbers"):
        LinearRanker().fit(X, np.where(np.arange(len(y)) == 3, None, y), qid=qid)
    for call in (LinearRanker().fit, LinearRanker(alpha=0.1).fit(X, y, qid=qid).score):
        with pytest.raises(ValueError, match=r"know the queries: give qid=.* group=\[len\(y\)\]"):
            call(X, y)
    with pytest.raises(ValueError, match="give one of them"):
        LinearRanker().fit(X, y, qid=qid, group=[len(y)])
    with pytest.raises(ValueError, match=r"but X has \d+; if it has one id per row, call it qid="):
        LinearRanker().fit(X, y, group=qid + 1)
    with pytest.raises(ValueError, match="no query has two documents of different grades"):
        LinearRanker().fit(X, y, qid=np.arange(len(y)))
    with pytest.raises(
        ValueError, match="no query has a relevant document, of a grade above 0, and"
    ):
        LinearRanker("map").fit(X, y + 1, qid=qid)
    with pytest.raises(ValueError, match="y is -1 in row 0: number the grades from 0 on"):
        LinearRanker("ndcg").fit(X, y - y[0] - 1, qid=qid)
    with pytest.raises(TypeError, match="loss must be a name or a RankingLoss, not int"):
        LinearRanker(3).fit(X, y)
    hole = X.copy()
    hole[3, 2] = np.nan
    with pytest.raises(ValueError, match="X holds NaN in row 3, feature 2"):
        LinearRanker().fit(hole, y, qid=qid)
