"""What a model claims, held against its data, with a proof in memory, in a file, or without one."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from stepless import (
    ChainClassifier,
    GroupsL2,
    KernelClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
    NuClassifier,
    OneClass,
    Polytope,
    Source,
    StructuredClassifier,
    Verification,
    load_model,
    save_model,
    verify,
)
from stepless.data import DataError
from stepless.data.digest import digest
from stepless.report import read_header
from stepless.report.proof_file import FILE
from stepless.report.tensors import digest_of
from stepless.structured import Multiclass

CANCER = load_breast_cancer(return_X_y=True)
CANCER = scale(CANCER[0])[:, :6], CANCER[1]
IRIS = load_iris(return_X_y=True)
QUERIES = {"qid": np.arange(150) % 10}
SHIFTED = (CANCER[0] + 4.0,)
WORDS = [[["the"], ["dog"], ["barks"]], [["a"], ["dog"], ["sleeps"]]], [["D", "N", "V"]] * 2
LOOSE = {"alpha": 1e-2, "gap": 1e-2}
WEIGHTS = {"sample_weight": 1.0 + np.arange(569) % 3}
MODELS = {
    "hinge": (LinearClassifier(solver="bundle", **LOOSE), CANCER, {}),
    "auto": (LinearClassifier(**LOOSE), CANCER, {}),
    "weights": (LinearClassifier("logistic", solver="bundle", **LOOSE), CANCER, WEIGHTS),
    "balanced": (
        LinearClassifier(solver="bundle", class_weight="balanced", **LOOSE),
        CANCER,
        {},
    ),
    "ball": (LinearClassifier(solver="bundle", domain="ball(1)", **LOOSE), CANCER, {}),
    "chosen": (LinearClassifier(solver="bundle", alpha="auto", gap=1e-2), CANCER, {}),
    "one by one": (LinearClassifier(solver="bundle", **LOOSE), IRIS, {}),
    "jointly": (LinearClassifier("logistic", multi_class="joint", **LOOSE), IRIS, {}),
    "numbers": (LinearRegressor(solver="bundle", **LOOSE), IRIS, {}),
    "no intercept": (
        LinearRegressor("absolute", solver="bundle", fit_intercept=False, **LOOSE),
        IRIS,
        {},
    ),
    "metric": (MetricClassifier("f1", pos_label=0, **LOOSE), CANCER, {}),
    "area": (MetricClassifier("roc_auc", **LOOSE), CANCER, WEIGHTS),
    "ranker": (LinearRanker(**LOOSE), (IRIS[0], IRIS[1] % 2), QUERIES),
    "nu": (NuClassifier(0.3, gap=1e-2), CANCER, {}),
    "one class": (OneClass(0.2, gap=1e-2), SHIFTED, {}),
    "kernel": (KernelClassifier(**LOOSE), (IRIS[0][:100], IRIS[1][:100]), {}),
    "kernels": (KernelClassifier("logistic", solver="newton", **LOOSE), IRIS, {}),
    "chain": (ChainClassifier(alpha=0.1, gap=1e-2), WORDS, {}),
    "chain hinge": (ChainClassifier("hinge", alpha=0.1, gap=1e-2), WORDS, {}),
    "structure": (StructuredClassifier(Multiclass.of(*IRIS), **LOOSE), IRIS, {}),
}


def proved(name):
    model, data, more = MODELS[name]
    return clone(model).fit(*data, **more), data, more


@pytest.fixture
def hinge():
    return LinearClassifier(solver="bundle", **LOOSE).fit(*CANCER)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return "some.model", "some.proof"


def refused(*arguments, **more):
    with pytest.raises(ValueError, match=r".") as caught:
        verify(*arguments, **more)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# -- every kind of model --------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_proof_survives_its_file(name, files):
    model, data, more = proved(name)
    found = verify(model, *data, **more)
    assert found.holds, found.sentence
    assert found.objective <= model.objective_ * (1.0 + 1e-12)
    assert found.lower_bound >= model.lower_bound_ - 1e-12 * model.objective_
    assert found.gap == found.objective - found.lower_bound
    if name != "nu":  # of whose weights the best multiple is verified
        assert found.rel_gap == pytest.approx(model.rel_gap_, rel=1e-6)
    assert found.rel_gap <= model.rel_gap_ * (1.0 + 1e-6)
    save_model(model, files[0], proof=files[1])
    again = load_model(files[0])
    assert not hasattr(again, "proof_")
    assert verify(again, *data, **more, proof=files[1]) == found


@pytest.mark.parametrize("name", MODELS)
def test_without_a_proof_the_objective_alone_is_verified(name, files):
    model, data, more = proved(name)
    save_model(model, files[0])
    found = verify(load_model(files[0]), *data, **more)
    assert found.holds
    assert found.objective <= model.objective_ * (1.0 + 1e-12)
    assert (found.lower_bound, found.gap, found.rel_gap) == (-math.inf, math.inf, math.inf)
    assert "without a proof" in found.sentence


def test_what_is_linear_is_proved_by_the_same_numbers_to_the_last_bit():
    for name in ("hinge", "one by one", "numbers", "ball"):
        model, data, more = proved(name)
        found = verify(model, *data, **more)
        assert (found.objective, found.lower_bound) == (model.objective_, model.lower_bound_)


def test_a_proof_is_of_what_the_data_say_not_of_how_they_lie(files):
    X, y = CANCER[0].astype(np.float32), CANCER[1]
    model = LinearClassifier(solver="bundle", **LOOSE).fit(X, y)
    for other in (X, X.astype(float), sparse.csr_matrix(X), sparse.coo_matrix(X.astype(float))):
        found = verify(model, other, y.astype(float), sample_weight=np.full(len(y), 2.0))
        assert found.holds
        assert found.objective == pytest.approx(model.objective_, rel=1e-12)


def mixed(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def test_digests_do_not_depend_on_machine_or_threads():
    X = np.arange(12.0).reshape(4, 3) - 2.0
    total = 4
    for i, row in enumerate(X.tolist()):
        for j, value in enumerate(row):
            if value:
                place = mixed(i * 0x9E3779B97F4A7C15 % 2**64) + j * 0xD1B54A32D192ED03
                [bits] = struct.unpack("<Q", struct.pack("<d", value))
                total += mixed(place % 2**64 ^ bits)
    assert digest(X) == f"{total % 2**64:016x}" == "50effd79aef1df2e"
    assert digest(sparse.csc_matrix(X)) == digest(X)
    assert digest(np.array([1.0, -2.5])) == "66494bccc6b9c80e"
    assert digest(["ACGU", [1, 2.0]]) == "80c00bc12242d1df"
    assert len({digest(X), digest(-X), digest(X[::-1]), digest(X[:, ::-1]), digest(X[:3])}) == 5
    rows = np.random.default_rng(0).normal(size=(5000, 60))
    sources = [Source(rows, np.zeros(5000), threads=threads) for threads in (1, 3)]
    assert len(sources[0].cuts) > 1
    assert len({digest(rows), *map(digest, sources)}) == 1


@pytest.mark.parametrize("entries", [1, 2])
def test_a_digest_sees_every_bit(entries):
    X = np.random.default_rng(0).normal(size=(3, 2))
    seen = {digest(X)}
    for bit in range(64):
        other = X.copy()
        other.view(np.uint64).ravel()[:entries] ^= np.uint64(1 << bit)
        seen.add(digest(other))
    assert len(seen) == 65


# -- what does not hold ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["pairwise", "ndcg"])
def test_scores_far_from_0_hold_however_the_rows_lie(loss):
    """A ranking's rounding is declared, not compensated: dense and sparse rows round otherwise."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(200, 6)) + 1e4, rng.integers(0, 3, 200), np.arange(200) // 10
    model = LinearRanker(loss, alpha=1e-2).fit(X, y, qid=qid)
    for rows in (X, sparse.csr_matrix(X), sparse.csc_matrix(X)):
        found = verify(model, rows, y, qid=qid)
        assert found.holds, found.sentence


def test_a_model_and_its_proof_do_not_share_a_file_nor_part_their_ways(files, hinge):
    with pytest.raises(ValueError, match="the model and its proof cannot both go there"):
        save_model(hinge, files[0], proof=files[0])
    other = copy.copy(hinge)
    other.proof_, other.coef_ = hinge.proof_, hinge.coef_ + 1.0
    with pytest.raises(ValueError, match="not those of the fit that the proof is of"):
        save_model(other, files[0], proof=files[1])
    assert not any(map(os.path.exists, files))


def test_queries_are_a_rankers(hinge):
    with pytest.raises(TypeError, match="qid: queries are a LinearRanker's"):
        verify(hinge, *CANCER, qid=np.zeros(569))


def test_a_claim_that_is_too_good_does_not_hold(hinge):
    best = hinge.objective_, hinge.lower_bound_
    del hinge.proof_
    hinge.objective_ *= 0.999
    found = verify(hinge, *CANCER)
    assert not found.holds
    assert found.objective == pytest.approx(best[0], rel=1e-12)
    assert "its objective on these data is" in found.sentence
    assert f"{best[0] - hinge.objective_:.2g} above the {hinge.objective_:.9g}" in found.sentence


def test_a_bound_that_is_too_high_does_not_hold(hinge):
    model, proof = hinge, hinge.proof_
    model.lower_bound_ = proof.lower_bound + 1e-6
    known = replace(proof, lower_bound=model.lower_bound_)
    found = verify(model, *CANCER, proof=known)
    assert not found.holds
    assert found.lower_bound == proof.lower_bound
    assert "its proof shows a lower bound of" in found.sentence
    assert "which is 1e-06 below" in found.sentence


def test_a_bound_above_the_objective_does_not_hold_even_without_a_proof(hinge):
    del hinge.proof_
    hinge.lower_bound_ = hinge.objective_ + 1e-6
    found = verify(hinge, *CANCER)
    assert not found.holds
    assert "which is 1e-06 below the lower bound that it claims" in found.sentence


def test_other_data_without_a_proof(hinge):
    del hinge.proof_
    X, y = CANCER
    assert not verify(hinge, 0.5 * X, y).holds


# -- tampering ------------------------------------------------------------------------------------


def flipped(array, place, bit=0):
    other = np.array(array, dtype=np.float64)
    other.view(np.uint64).ravel()[place] ^= np.uint64(1 << bit)
    return other


def test_one_bit_of_an_example(hinge):
    X, y = CANCER
    sentence = refused(hinge, flipped(X, 1234), y)
    assert sentence.startswith("the proof: is a proof of other examples (569 × 6 #")


def test_one_bit_of_a_weight(hinge):
    hinge.coef_ = flipped(hinge.coef_, 3)
    assert refused(hinge, *CANCER) == ("the proof: is a proof of another model, with other weights")
    hinge.coef_ = flipped(hinge.coef_, 3)
    assert verify(hinge, *CANCER).holds
    hinge.intercept_ = flipped(hinge.intercept_, 0, 51)
    assert "another model" in refused(hinge, *CANCER)


def test_labels_weights_and_numbers_of_examples(hinge):
    X, y = CANCER
    other = y.copy()
    other[17] = 1 - y[17]
    assert "is a proof of other labels" in refused(hinge, X, other)
    s = np.ones(len(y))
    s[3] = 2.0
    assert "is a proof of other weights" in refused(hinge, X, y, s)
    assert "(569 × 6 #" in refused(hinge, X[:-1], y[:-1])
    assert "not 568 × 6 #" in refused(hinge, X[:-1], y[:-1])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"loss": "logistic"},
            "is a proof for the loss Hinge(), but the model's is Logistic()",
        ),
        (
            {"alpha": 0.02},
            "for the penalty SquaredL2(alpha=0.01), but the model's is SquaredL2(alpha=0.02)",
        ),
        ({"penalty": "l1"}, "but the model's is L1(alpha=0.01)"),
        (
            {"penalty": GroupsL2.of(0.1, [0, 0, 1, 1, 1, 1]), "alpha": 0.1},
            "model's is GroupsL2(alpha=0.1",
        ),
        ({"domain": "ball(3)"}, "is a proof for the domain Free(), but the model's is L2Ball("),
        ({"domain": Polytope.of(np.eye(6), np.ones(6))}, "but the model's is Polytope("),
        ({"fit_intercept": False}, "is a proof for the intercept free, but the model's is none"),
        ({"class_weight": "balanced"}, "is a proof of other weights"),
    ],
)
def test_parameters_that_were_changed(hinge, changes, sentence):
    assert sentence in refused(hinge.set_params(**changes), *CANCER)


def test_data_of_another_width_and_unknown_labels(hinge):
    X, y = CANCER
    assert "X has 5 features, but LinearClassifier is expecting 6" in refused(hinge, X[:, :5], y)
    assert refused(hinge, X, y + 1) == "label 2 is none of the model's classes"
    three = clone(hinge).fit(*IRIS)
    kept = IRIS[1] < 2
    assert refused(three, IRIS[0][kept], IRIS[1][kept]) == (
        "no example has label 2, which is one of the model's classes"
    )


# -- files ----------------------------------------------------------------------------------------


def forged(path, arrays=None, **changes):
    """A proof whose checksum is right and whose content is not."""
    header, kept = FILE.read(path)
    text = json.dumps(header | changes)
    arrays = kept | (arrays or {})
    metadata = {"stepless_proof": text, "sha256": digest_of(text, arrays)}
    with open(path, "wb") as file:
        file.write(save(arrays, metadata=metadata))
    return path


@pytest.fixture
def written(hinge, files):
    save_model(hinge, files[0], proof=files[1])
    return load_model(files[0]), files[1]


def test_a_proof_file_says_what_it_is_of(written, hinge):
    with safe_open(written[1], framework="np") as file:
        assert list(file.keys()) == ["slopes.0"]
        assert file.get_tensor("slopes.0").shape == (569,)
    header = FILE.read(written[1])[0]
    assert header["kind"] == "LinearClassifier"
    assert header["problem"]["penalty"] == "SquaredL2(alpha=0.01)"
    assert header["data"]["examples"].startswith("569 × 6 #")
    assert (header["objective"], header["lower_bound"]) == (hinge.objective_, hinge.lower_bound_)
    assert read_header("some.model")["proof"]["file"] == "some.proof"


def test_one_bit_of_a_slope(written):
    model, path = written
    with open(path, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-100, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    assert refused(model, *CANCER, proof=path) == (
        "some.proof: is damaged, as its checksum does not match its content"
    )


def test_other_slopes_prove_less_and_never_something_false(written):
    """Whatever is forged, the bound is computed from the data: it is never above the objective."""
    model, path = written
    true = model.lower_bound_
    rng = np.random.default_rng(0)
    for slopes in (np.zeros(569), rng.normal(size=569), 1e300 * np.ones(569)):
        found = verify(model, *CANCER, proof=forged(path, {"slopes.0": slopes}))
        assert not found.holds
        assert found.lower_bound < true


@pytest.mark.parametrize(
    ("arrays", "changes", "sentence"),
    [
        ({"slopes.0": np.ones(568)}, {}, "has slopes of shape (568,), but (569,) are needed"),
        ({"slopes.0": np.ones((569, 2))}, {}, "has slopes of shape (569, 2), but (569,) are"),
        ({"slopes.0": np.ones((569, 2, 1))}, {}, "slopes.0 of type float64 and shape (569, 2, 1)"),
        ({"slopes.0": np.ones(569, dtype=np.float32)}, {}, "slopes.0 of type float32"),
        ({"slopes.0": np.full(569, math.nan)}, {}, "slopes.0 holds a number that is not finite"),
        ({"slopes.0": np.full(569, math.inf)}, {}, "slopes.0 holds a number that is not finite"),
        ({}, {"format": 2}, "in format 2, but stepless"),
        ({}, {"kind": "LinearRegressor"}, "is a proof of a LinearRegressor, but the model is a"),
        ({}, {"runs": []}, "is a proof of fewer runs than the model has"),
        ({}, {"runs": ["slopes", "none"]}, "is a proof of more runs than the model has"),
        (
            {},
            {"runs": ["slopes", "slopes"]},
            "is damaged, as what it says makes no sense (KeyError",
        ),
        (
            {},
            {"runs": ["guess"]},
            "is damaged, as what it says makes no sense (ValueError: a witness",
        ),
        ({}, {"runs": 1}, "is damaged, as what it says makes no sense (TypeError"),
        ({}, {"problem": []}, "is damaged, as what it says makes no sense (TypeError"),
        ({}, {"data": {}}, "is a proof of other examples (none, not 569 × 6 #"),
        ({}, {"model": "0"}, "is a proof of another model"),
        ({}, {"objective": 0.5}, "is a proof of another claim"),
        ({}, {"lower_bound": "Infinity"}, "is a proof of another claim"),
        ({}, {"lower_bound": "much"}, "is damaged, as what it says makes no sense (ValueError"),
        (
            {
                "w.0": np.zeros((2, 5)),
                "b.0": np.zeros(2),
                "shares.0": np.full(2, 0.5),
            },
            {"runs": ["points"]},
            "has points of shape (2, 5), but (2, 6) are needed",
        ),
        (
            {"w.0": np.zeros((2, 6)), "b.0": np.zeros(2), "shares.0": np.array([2.0, -1.0])},
            {"runs": ["points"]},
            "shares.0, some below 0,",
        ),
        (
            {"w.0": np.zeros((2, 6)), "b.0": np.zeros(3), "shares.0": np.full(2, 0.5)},
            {"runs": ["points"]},
            "b.0 of type float64 and shape (3,)",
        ),
    ],
)
def test_forged_proofs(written, arrays, changes, sentence):
    model, path = written
    told = refused(model, *CANCER, proof=forged(path, arrays, **changes))
    assert told.startswith("some.proof: ")
    assert sentence in told


def test_what_is_no_proof_file(written):
    model, path = written
    with open(path, "rb") as file:
        whole = file.read()
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        with open("cut", "wb") as file:
            file.write(whole[:size])
        assert refused(model, *CANCER, proof="cut").startswith("cut: is ")
    assert refused(model, *CANCER, proof="none") == "none: no such file"
    assert refused(model, *CANCER, proof=".") == ".: is a directory, not a proof file"
    assert refused(model, *CANCER, proof="some.model") == (
        "some.model: is a safetensors file, but holds no stepless proof"
    )
    with pytest.raises(DataError, match="holds no stepless model"):
        load_model(path)


def test_both_files_are_written_or_none(hinge, files, monkeypatch):
    save_model(hinge, files[0], proof=files[1])
    before = [Path(name).read_bytes() for name in files]
    hinge.fit(0.5 * CANCER[0], CANCER[1])
    with pytest.raises(OSError, match="nowhere"):
        save_model(hinge, files[0], proof="nowhere/some.proof")
    with pytest.raises(OSError, match="nowhere"):
        save_model(hinge, "nowhere/some.model", proof=files[1])
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        save_model(hinge, *files[:1], proof=files[1])
    assert [Path(name).read_bytes() for name in files] == before
    assert sorted(os.listdir()) == sorted(files)


# -- who has none ---------------------------------------------------------------------------------


def test_streams_have_no_proof(hinge, files):
    model = hinge.set_params(solver="auto").partial_fit(*CANCER)
    assert not hasattr(model, "proof_")
    with pytest.raises(ValueError, match="learned from a stream has no proof"):
        save_model(model, files[0], proof=files[1])
    assert os.listdir() == []
    assert "learned from a stream claims no objective" in refused(model, *CANCER)


def test_copies_have_no_proof(hinge, files):
    for other in (pickle.loads(pickle.dumps(hinge)), copy.deepcopy(hinge)):
        assert not hasattr(other, "proof_")
        assert hasattr(hinge, "proof_")
        assert "without a proof" in verify(other, *CANCER).sentence
        assert verify(other, *CANCER, proof=hinge.proof_).lower_bound == hinge.lower_bound_
        with pytest.raises(ValueError, match="has no proof to write"):
            save_model(other, files[0], proof=files[1])
    assert os.listdir() == []


def test_what_cannot_be_verified(hinge):
    with pytest.raises(TypeError, match="not a dict"):
        verify({}, *CANCER)
    with pytest.raises(Exception, match="not fitted"):
        verify(LinearClassifier(), *CANCER)
    assert isinstance(verify(hinge, *CANCER), Verification)
