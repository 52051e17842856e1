"""Measures of rankings against scikit-learn's, and against the mean over orders of equal scores."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from stepless import mean_average_precision, mean_reciprocal_rank, ndcg_at_k, precision_at_k

rng = np.random.default_rng(0)


def at_5(y, z):
    return precision_at_k(y, z, 5)


def ndcg_5(y, z):
    return ndcg_at_k(y, z, 5)


def test_without_equal_scores_they_are_scikit_learns():
    for _ in range(20):
        n = rng.integers(2, 30)
        y, z = rng.integers(4, size=n), rng.normal(size=n)
        y[0] = 1
        for k in (1, 5, 100):
            known = ndcg_score([2.0**y - 1], [z], k=k)
            assert ndcg_at_k(y, z, k) == pytest.approx(known)
        assert mean_average_precision(y, z) == pytest.approx(average_precision_score(y > 0, z))
        order = np.argsort(-z)
        assert mean_reciprocal_rank(y, z) == pytest.approx(1 / (1 + np.argmax(y[order] > 0)))
        assert at_5(y, z) == pytest.approx(np.sum(y[order][:5] > 0) / 5)


@pytest.mark.parametrize(
    "measure",
    [ndcg_5, at_5, mean_average_precision, mean_reciprocal_rank],
    ids=lambda f: f.__name__,
)
def test_equal_scores_are_in_a_random_order(measure):
    y, z = np.array([0, 2, 1, 0, 1, 0]), np.array([1.0, 1.0, 1.0, 0.0, 1.0, 2.0])
    tied = np.flatnonzero(z == 1.0)
    means = []
    for order in permutations(range(4)):
        apart = z.copy()
        apart[tied] += 0.1 * np.array(order)
        means.append(measure(y, apart))
    assert measure(y, z) == pytest.approx(np.mean(means))


def test_the_mean_is_over_queries_with_a_relevant_document():
    y, z = np.array([1, 0, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean_reciprocal_rank(y, z, group=[2, 2, 1]) == 0.75  # 1/2 and 1
    mixed = [4, 2, 0, 3, 1]
    assert mean_reciprocal_rank(y[mixed], z[mixed], qid=np.array([0, 0, 1, 1, 2])[mixed]) == 0.75
    with pytest.raises(ValueError, match="no query has a relevant document, with a grade above 0"):
        mean_reciprocal_rank(0 * y, z)


def test_sizes_without_a_sign_and_more_ranks_than_documents():
    y, z = np.array([1, 0, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean_reciprocal_rank(y, z, group=np.array([2, 3], np.uint8)) == 0.75
    assert ndcg_at_k(y, z, 10**30) == ndcg_at_k(y, z, 5) < 1.0
    assert ndcg_at_k(1e-17 * y, z) == pytest.approx(ndcg_at_k(1e-9 * y, z))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"z": [1.0]}, r"a grade and a score for each row, not \(2,\) and \(1,\)"),
        ({"z": [1.0, np.nan]}, "but some are NaN"),
        ({"k": 0}, "k must be a whole number of documents, at least 1, not 0"),
        ({"k": 1.5}, "k must be a whole number of documents, at least 1, not 1.5"),
        ({"k": None}, "k must be a whole number of documents, at least 1, not None"),
        ({"y": [], "z": []}, "there are no documents to rank"),
        ({"y": np.array([1.0, 1j])}, "grades must be numbers, one for each document"),
        ({"y": np.array([1, None])}, "y is nan in row 1: every document needs a finite grade"),
        ({"y": [0, -1]}, "y is -1 in row 1"),
        ({"y": ["a", "b"]}, "grades must be numbers, one for each document"),
        ({"y": None}, r"grades must be a list of numbers, not of shape \(\)"),
        ({"group": [1, 2]}, "queries with 3 rows together, but X has 2"),
        ({"group": [2], "qid": [0, 0]}, "give one of them"),
        ({"group": [2, 0]}, "whole numbers ≥ 1"),
        ({"group": [1.0, 1.0]}, "whole numbers ≥ 1"),
        ({"group": [2**63 - 1, 2**63 - 1, 4]}, "18446744073709551618 rows together, but X has 2"),
        ({"qid": [0]}, "an id for each of the 2 rows"),
        ({"qid": [0, np.nan]}, "qid is nan in row 1: every row belongs to a query"),
        ({"qid": [None, 3]}, "qid is None in row 0: every row belongs to a query"),
        ({"qid": np.array(["a", np.nan], dtype=object)}, "qid is nan in row 1"),
        ({"qid": np.array(["2026-01-01", "NaT"], "M8[s]")}, "qid is NaT in row 1"),
        ({"qid": pd.Series([1, None], dtype="Int64")}, "qid is nan in row 1"),
        ({"qid": np.array([1, pd.NA], dtype=object)}, "qid is <NA> in row 1"),
        ({"qid": np.array([b"a", 1], dtype=object)}, "qid must be text in every row or in none"),
        ({"qid": np.array(["a", 1], dtype=object)}, "qid must be text in every row or in none"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        ndcg_at_k(**({"y": [1, 0], "z": [1.0, 2.0]} | settings))
