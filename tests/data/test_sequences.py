"""Sequences of features: stacked, numbered, cut for threads."""

import numpy as np
import pytest
from scipy import sparse

from stepless.data import Sequences, Vocabulary, sequences as module


def dense(words):
    X = words.X
    return sparse.csr_matrix(
        (X.data, X.indices.astype(int), X.indptr.astype(int)), shape=X.shape
    ).toarray()


def test_names_and_values_become_columns():
    vocabulary = Vocabulary()
    words = vocabulary.learn([[{"a": 2, "b": "x"}, ["c", "c"]], [["a"]]])
    assert vocabulary.columns == {"a": 0, "b=x": 1, "c": 2}
    np.testing.assert_array_equal(dense(words), [[2, 1, 0], [0, 0, 2], [1, 0, 0]])
    assert words.ends.tolist() == [0, 2, 3]


def test_names_that_are_new_are_left_out_or_learned():
    vocabulary = Vocabulary()
    vocabulary.learn([[["a"], ["b"]]])
    np.testing.assert_array_equal(dense(vocabulary.read([[["b", "z"], []]])), [[0, 1], [0, 0]])
    assert vocabulary.learn([[["z", "a"]]]).X.shape == (1, 3)
    assert vocabulary.columns == {"a": 0, "b": 1, "z": 2}


def test_dense_and_sparse_matrices_may_be_mixed():
    words = Vocabulary().learn([np.eye(2), sparse.csr_matrix(np.ones((1, 2)))])
    np.testing.assert_array_equal(dense(words), [[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_blocks_are_whole_sequences_and_all_of_them(threads, monkeypatch):
    monkeypatch.setattr(module, "_WORTH_A_BLOCK", 1)
    ends = np.array([0, 30, 31, 32, 40, 41])
    words = Sequences(np.ones((41, 2)), ends, threads)
    assert [i for lo, hi in words.cuts for i in range(lo, hi)] == list(range(5))
    lengths = words.map(lambda block: np.diff(block.ends).tolist())
    assert [n for part in lengths for n in part] == [30, 1, 1, 8, 1]
    assert len(lengths) == 2


def test_a_position_may_have_no_features():
    words = Vocabulary().learn([[["a"], []]])
    np.testing.assert_array_equal(dense(words), [[1], [0]])
