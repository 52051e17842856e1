"""Model files of every kind of estimator: the same predictions, the same certificate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from report.files import forged, learned, refusal
from stepless import (
    ChainClassifier,
    KernelClassifier,
    LinearRanker,
    MetricClassifier,
    NuClassifier,
    OneClass,
    StructuredClassifier,
)
from stepless.data import DataError
from stepless.kernels import Polynomial
from stepless.report import load_model, save_model
from stepless.risks.metrics import AtTop, FMeasure
from stepless.risks.ranking import NDCG
from stepless.structured import LabelTree, Multiclass
from stepless.structured.rna import Folding

LOOSE = {"alpha": 1e-1, "gap": 1e-1}
SENTENCES = [[["the"], ["dog"], ["barks", "ends"]], [["a"], ["cät\n"], ["sleeps", "ends"]]]
TAGS = [["D", "N", "V"], ["D", "N", "V"]]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :5], y


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.model"


def round_trip(model, path):
    save_model(model, path)
    again = load_model(path)
    assert type(again) is type(model)
    assert again.trace_.events == model.trace_.events
    first, second = learned(model), learned(again)
    assert first.keys() == second.keys()
    for name in first.keys() - {"trace_"}:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    return again


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("f1", {"pos_label": 0}),
        (FMeasure(2.0), {}),
        ("precision_at_k", {"k": 0.1}),
        (AtTop(None), {"pos_label": 1}),
    ],
)
def test_metric_classifier(cancer, path, metric, options):
    X, y = cancer
    model = MetricClassifier(metric, **options, **LOOSE, passes=3).fit(X, y)
    again = round_trip(model, path)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.score(X, y) == model.score(X, y)


def test_ranker(cancer, path):
    X, y = cancer
    qid = np.arange(len(y)) // 10
    model = LinearRanker(NDCG(3), **LOOSE).fit(X, y, qid=qid)
    again = round_trip(model, path)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_novelty(cancer, path):
    X = cancer[0] + 10.0
    model = OneClass(nu=0.2, gap=1e-1).fit(X)
    again = round_trip(model, path)
    assert type(again.offset_) is float
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_nu(cancer, path):
    X, y = cancer
    model = NuClassifier(nu=0.5, gap=1e-1, class_weight={0: 2.0, 1: 1.0}).fit(X, y)
    again = round_trip(model, path)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("kernel", ["gaussian", Polynomial(2, 0.5)])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_kernels(cancer, path, kernel, layout):
    X, y = layout(cancer[0][:100]), cancer[1][:100]
    model = KernelClassifier(kernel=kernel, **LOOSE).fit(X, y)
    save_model(model, path)
    again = load_model(path)
    assert again.get_params() == model.get_params()
    assert learned(again).keys() == learned(model).keys()
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.gap_ == model.gap_


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
def test_support_vectors_beyond_the_features(cancer, path):
    model = KernelClassifier(**LOOSE).fit(sparse.csr_matrix(cancer[0][:50]), cancer[1][:50])
    indices = model.support_vectors_.indices.copy()
    forged(model, path, {"indices": indices + 10_000})
    assert "is damaged" in refusal(path)
    forged(model, path, {"dual_coef": np.zeros((1, 3))})
    assert "is damaged" in refusal(path)


@pytest.mark.parametrize(
    "options",
    [{}, {"pairs": "all"}, {"loss": "hinge", "cost": [[0, 1, 2], [1, 0, 1], [1, 1, 0]]}],
)
def test_chains(path, options):
    model = ChainClassifier(**options, **LOOSE).fit(SENTENCES, TAGS)
    again = round_trip(model, path)
    assert again.vocabulary_ == model.vocabulary_
    np.testing.assert_array_equal(again.cost, model.cost)
    new = [[["a"], ["dog"], ["unheard"]], [["sleeps"], ["ends"]]]
    for mine, theirs in zip(again.predict(new), model.predict(new), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    if model.loss == "crf":
        for mine, theirs in zip(
            again.predict_marginals(new), model.predict_marginals(new), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
    again.partial_fit(SENTENCES, TAGS)  # goes on without naming the tags


def test_chains_of_matrices(path):
    X = [np.eye(3), np.eye(3)[:2]]
    model = ChainClassifier(**LOOSE).fit(X, [[0, 1, 1], [0, 1]])
    again = round_trip(model, path)
    assert again.vocabulary_ is None
    np.testing.assert_array_equal(
        np.concatenate(again.predict(X)), np.concatenate(model.predict(X))
    )


@pytest.mark.filterwarnings("ignore::stepless.NothingLearned")
@pytest.mark.parametrize("kind", ["multiclass", "tree", "folding"])
def test_structured(path, kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3
    if kind == "multiclass":
        structure = Multiclass.of(X, y, [[0, 1, 1], [1, 0, 20], [1, 1, 0]])
    elif kind == "tree":
        y = [("cat", "dog", "oak")[c] for c in y]
        structure = LabelTree.of(X, {"cat": "pet", "dog": "pet", "oak": "plant"})
    else:
        X, y = ["GGGAAACCC", "GCGAAAACGC"], ["(((...)))", "(((....)))"]
        structure = Folding(missed=2.0)
    model = StructuredClassifier(structure, **LOOSE).fit(X, y)
    again = round_trip(model, path)
    assert again.predict(X) == model.predict(X)
    assert again.score(X, y) == model.score(X, y)


# -- what is refused -------------------------------------------------------------------------------


class OwnLabels(Multiclass):
    pass


def test_a_model_of_ones_own_is_not_kept(path):
    X = np.eye(2)
    model = StructuredClassifier(OwnLabels.of(X, [0, 1]), **LOOSE).fit(X, [0, 1])
    with pytest.raises(ValueError, match="OwnLabels is a user-defined model"):
        save_model(model, path)
    assert not path.exists()


def test_names_that_are_no_strings_are_not_kept(path):
    model = ChainClassifier(**LOOSE).fit([[[1], [2]], [[1], [3]]], [["A", "B"], ["A", "B"]])
    with pytest.raises(ValueError, match="the feature 1 is not a string"):
        save_model(model, path)


@pytest.mark.parametrize(
    ("arrays", "facts"),
    [
        ({"weights": np.zeros(21)}, {}),
        ({"ends": np.arange(8, dtype=np.uint64)[::-1].copy()}, {}),
        ({"seen": np.full(7, 60_000, dtype=np.uint16)}, {}),
        ({"names": np.frombuffer(b'["a", "a"]', dtype=np.uint8)}, {}),
        ({"names": np.frombuffer(b"[", dtype=np.uint8)}, {}),
        ({}, {"n_features": 9}),
        ({}, {"classes": {"dtype": "str", "values": ["D", "N"]}}),
        ({}, {"classes": {"dtype": "str", "values": ["D", "N", "V", "X"]}}),
    ],
)
def test_chains_that_would_read_beyond_their_weights(path, arrays, facts):
    model = ChainClassifier(**LOOSE).fit(SENTENCES, TAGS)
    assert model.weights_.layout.seen.size == 7
    forged(model, path, arrays, **facts)
    assert "is damaged" in refusal(path)


@pytest.mark.parametrize("positive", [2, "x", None])
def test_a_positive_class_that_is_none(cancer, path, positive):
    forged(MetricClassifier(**LOOSE, passes=3).fit(*cancer), path, positive=positive)
    with pytest.raises(DataError, match="is damaged"):
        load_model(path)
