"""Model files: what goes in comes out, whatever is damaged is refused, nothing is half-written."""

from __future__ import annotations

import json
import os
import stat
import struct
import warnings

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import scale

from report.files import forged, learned, refusal
from stepless import LinearClassifier, LinearRegressor, Loss, verify
from stepless.data import DataError
from stepless.objective import (
    Entropy,
    FactoredElasticNet,
    Free,
    L2Ball,
    Logistic,
    Polytope,
    Quantile,
    SmoothedHinge,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.report import encoding, load_model, read_header, save_model, tensors
from stepless.solvers import Proximal, ProximalBundle
from stepless.trace import Event, Trace


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def fitted(cancer):
    return LinearClassifier(alpha=1e-2, gap=1e-2).fit(*cancer)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.model"


def events(trace):
    return [trace.events] if isinstance(trace, Trace) else [run.events for run in trace]


def assert_same(one, other):
    assert type(one) is type(other)
    assert one.get_params() == other.get_params()
    first, second = learned(one), learned(other)
    assert first.keys() == second.keys()
    for name, value in first.items():
        if name == "trace_":
            assert events(value) == events(second[name])
            assert type(value) is type(second[name])
        else:
            assert type(value) is type(second[name]), name
            np.testing.assert_array_equal(value, second[name], err_msg=name)
            assert np.asarray(value).dtype.kind == np.asarray(second[name]).dtype.kind


def round_trip(model, path):
    save_model(model, path)
    again = load_model(path)
    assert_same(model, again)
    return again


def labels(y, kind):
    return {
        "int64": y,
        "int8": y.astype(np.int8),
        "bool": y.astype(bool),
        "float64": y * 2.0 - 1.0,
        "float32": y.astype(np.float32),
        "str": np.array(["böse", 'gut "\n'])[y],
        "object": np.array(["malign", "benign"], dtype=object)[y],
    }[kind]


@pytest.mark.parametrize("kind", ["int64", "int8", "bool", "float64", "float32", "str", "object"])
def test_classes_keep_values_and_type(cancer, path, kind):
    X, y = cancer
    model = LinearClassifier(alpha=1e-2, gap=1e-2).fit(X, labels(y, kind))
    again = round_trip(model, path)
    expected = model.predict(X)
    assert again.predict(X).dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(again.predict(X), expected)


def test_three_classes_and_probabilities(path):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    model = LinearClassifier("logistic", alpha=1e-2, gap=1e-2).fit(X, y)
    again = round_trip(model, path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(
        again.decision_function(sparse.csr_matrix(X)), model.decision_function(sparse.csr_matrix(X))
    )
    assert len(again.trace_) == 3


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_the_loss_of_the_fit_is_kept_and_old_files_have_that_of_the_parameters(path, multi_class):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    model = LinearClassifier("logistic", multi_class=multi_class, alpha=1e-2, gap=1e-2).fit(X, y)
    save_model(model, path)
    header = read_header(path)
    del header["loss"]
    arrays = {"coef": model.coef_, "intercept": model.intercept_}
    text = json.dumps(header)
    metadata = {"stepless": text, "sha256": tensors.digest_of(text, arrays)}
    old = path.with_name("old.model")
    old.write_bytes(save(arrays, metadata=metadata))
    assert load_model(old).loss_ == model.loss_
    again = round_trip(model.set_params(loss="hinge", multi_class="ovr"), path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_regressor(path):
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegressor("quantile(0.9)", alpha=1e-4, gap=1e-2).fit(X, y)
    again = round_trip(model, path)
    assert type(again.intercept_) is float
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


PARAMETERS = [
    {"loss": SmoothedHinge(20.0), "penalty": SquaredL2(0.3), "domain": L2Ball(2.0)},
    {"loss": Logistic(), "penalty": Zero(), "domain": Free()},
    {"penalty": SquaredLp(0.3, 1.8)},
    {"penalty": Entropy(0.3, 0.5)},
    {"penalty": "hyperbolic(0.2)"},
    {"penalty": None, "domain": "ball(3)", "solver": Proximal(iterate="suffix", batch=3)},
    {"solver": ProximalBundle(), "seconds": np.inf, "passes": np.int64(7), "gap": np.float32(0.5)},
    {"class_weight": {0: 2.0, np.int64(1): 0.5}, "random_state": 3, "n_jobs": 1},
    {"class_weight": "balanced", "warm_start": True, "fit_intercept": False, "verbose": 1},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda p: "-".join(p))
def test_parameters(fitted, path, parameters):
    model = load_as(fitted, parameters)
    save_model(model, path)
    again = load_model(path)
    for name, value in model.get_params().items():
        restored = again.get_params()[name]
        if name == "solver" and not isinstance(value, str):
            assert type(restored) is type(value)
            assert vars(restored) == vars(value)
        else:
            assert restored == value, name


def load_as(fitted, parameters):
    """The fitted model with other parameters: what is stored does not depend on how it came."""
    model = LinearClassifier(**parameters)
    vars(model).update(learned(fitted))
    return model


def test_a_generator_is_not_kept(fitted, path):
    save_model(load_as(fitted, {"random_state": np.random.default_rng(1)}), path)
    assert load_model(path).random_state is None


def test_feature_names(cancer, path):
    X, y = cancer
    model = LinearClassifier(alpha=1e-2, gap=1e-2).fit(X, y)
    model.feature_names_in_ = np.array([f"größe {j}" for j in range(30)], dtype=object)
    again = round_trip(model, path)
    assert again.feature_names_in_[3] == "größe 3"


def test_a_stream_has_no_certificate(cancer, path):
    X, y = cancer
    model = LinearClassifier(alpha=1e-2).partial_fit(X, y, classes=[0, 1])
    save_model(model, path)
    again = load_model(path)
    assert np.isnan(again.objective_)
    assert again.lower_bound_ == -np.inf
    assert again.gap_ == np.inf
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.partial_fit(X, y).coef_.shape == (1, 30)  # goes on without naming classes


def test_float32_and_foreign_memory_order(fitted, path):
    model = load_as(fitted, {})
    model.coef_ = np.asfortranarray(np.arange(90.0, dtype=np.float32).reshape(3, 30))
    model.intercept_ = np.arange(6.0)[::2].astype(">f8")
    model.classes_ = np.arange(3)
    save_model(model, path)
    again = load_model(path)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    assert again.coef_.dtype == np.float32


def test_the_header_is_strict_json_that_says_everything(fitted, path):
    save_model(fitted, path, about={"data": "x.svm"})
    with safe_open(path, framework="np") as file:
        text = file.metadata()["stepless"]
        assert sorted(file.keys()) == ["coef", "intercept"]

    def refuse(literal):
        raise AssertionError(literal)

    header = json.loads(text, parse_constant=refuse)
    assert header == read_header(path)
    assert header["about"] == {"data": "x.svm"}
    assert header["n_features"] == 30
    assert header["certificate"]["rel_gap"] == fitted.rel_gap_
    assert header["certificate"]["stopped_by"] == "gap"
    assert header["trace"][0][-1]["objective"] == fitted.objective_


def test_numbers_that_json_does_not_know(fitted, path):
    model = load_as(fitted, {})
    strange = Event(1, 569, 0.1, np.inf, -np.inf, np.nan, 3)
    model.trace_, model.objective_ = Trace([strange]), np.inf
    save_model(model, path)
    again = load_model(path)
    assert again.objective_ == np.inf
    assert again.trace_[0].lower_bound == -np.inf
    assert np.isnan(again.trace_[0].norm)


def test_a_very_long_trace_is_thinned_and_keeps_its_end(fitted, path, monkeypatch):
    monkeypatch.setattr(encoding, "_MOST_EVENTS", 10)
    model = load_as(fitted, {})
    model.trace_ = Trace([Event(t, t, 0.1 * t, 1.0, 0.5, 1.0, 3) for t in range(1, 96)])
    save_model(model, path)
    again = load_model(path)
    assert len(again.trace_) == 10
    assert again.trace_[-1] == model.trace_[-1]


# -- what cannot be kept ---------------------------------------------------------------------------


class OwnLoss(Loss):
    targets = "signs"

    def value(self, z, y):
        return max(0.0, 1.0 - z * y)


class OwnQuantile(Quantile):
    pass


class OwnSolver(Proximal):
    pass


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"loss": OwnLoss()}, "OwnLoss is a user-defined loss"),
        ({"loss": OwnQuantile(0.1)}, "OwnQuantile is a user-defined loss"),
        ({"domain": Polytope.of([[1.0]], [1.0])}, "file does not hold a Polytope: pickle the"),
        ({"solver": OwnSolver()}, "OwnSolver is a user-defined solver"),
        ({"alpha": [1.0]}, "alpha .* cannot be kept in a model file"),
    ],
)
def test_refused_parameters(fitted, tmp_path, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        save_model(load_as(fitted, parameters), tmp_path / "some.model")
    assert os.listdir(tmp_path) == []


def test_refused_estimators(fitted, tmp_path):
    class Mine(LinearClassifier):
        pass

    with pytest.raises(TypeError, match="but this is a Mine"):
        save_model(Mine(), tmp_path / "some.model")
    with pytest.raises(ValueError, match="not fitted yet"):
        save_model(LinearClassifier(), tmp_path / "some.model")
    model = load_as(fitted, {})
    model.classes_ = np.array([b"a", b"b"])
    with pytest.raises(ValueError, match=r"classes of type .S1 cannot be kept"):
        save_model(model, tmp_path / "some.model")
    model = load_as(fitted, {})
    model.feature_names_in_ = np.array(["x" * 4_000_000] * 30, dtype=object)
    with pytest.raises(ValueError, match="names of 30 features are too long"):
        save_model(model, tmp_path / "some.model")
    assert os.listdir(tmp_path) == []


# -- files that are no models ----------------------------------------------------------------------


def test_every_cut_is_refused(fitted, path):
    save_model(fitted, path)
    whole = path.read_bytes()
    for size in [*range(0, 40), *range(40, len(whole), 211), len(whole) - 1]:
        path.write_bytes(whole[:size])
        refusal(path)
    path.write_bytes(whole + b"x")
    refusal(path)


def test_every_flipped_byte_is_refused_or_harmless(fitted, path):
    save_model(fitted, path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    end_of_header = 8 + struct.unpack("<Q", whole[:8])[0]
    spots = [*rng.integers(0, end_of_header, 150), *rng.integers(end_of_header, len(whole), 50)]
    for spot in spots:
        damaged = bytearray(whole)
        damaged[spot] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            again = load_model(path)
        except DataError:
            continue
        assert_same(fitted, again)  # white space of the format's own header


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"+1 1:2 3:4\n-1 2:1\n", "is not a model file, or was cut short"),
        (b"\x80\x04\x95pickle" * 9, "is not a model file, or was cut short"),
        (save({"coef": np.ones(3)}), "is a safetensors file, but holds no stepless model"),
    ],
)
def test_foreign_files(path, content, words):
    path.write_bytes(content)
    assert words in refusal(path)


def test_missing_files_and_directories(tmp_path):
    assert refusal(tmp_path / "nothing").endswith(": no such file")
    assert refusal(tmp_path).endswith(": is a directory, not a model file")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 3, "stepless": "9.0"}, "written by stepless 9.0 in format 3"),
        ({"format": None}, "is damaged"),
        ({"kind": "os.system"}, "is damaged"),
        ({"parameters": {"loss": {"name": "nothing"}}}, "is damaged"),
        ({"parameters": {"loss": {"name": "quantile", "tau": 7}}}, "is damaged"),
        ({"parameters": {"other": 1}}, "is damaged"),
        ({"loss": {"name": "softmax", "classes": 5}}, "is damaged"),
        ({"loss": {"name": "map"}}, "is damaged"),
        ({"n_features": 31}, "is damaged"),
        ({"classes": {"dtype": "int64", "values": [1, 2, 3]}}, "is damaged"),
        ({"classes": {"dtype": "V8", "values": [1, 2]}}, "is damaged"),
        ({"classes": {"dtype": "int64", "values": ["a", "b"]}}, "is damaged"),
        ({"trace": [[{"passes": 1}]]}, "is damaged"),
        ({"trace": 7}, "is damaged"),
        ({"trace": [[{"passes": "1", "examples": 1, "seconds": 1, "objective": 1}]]}, "is damaged"),
        ({"about": 7}, "is damaged"),
        ({"about": []}, "is damaged"),
        ({"certificate": [1]}, "is damaged"),
        ({"certificate": {"objective": "high"}}, "is damaged"),
        ({"certificate": {"solver": 7}}, "is damaged"),
        ({"parameters": {"alpha": "x"}}, "is damaged"),
        ({"parameters": {"fit_intercept": "x"}}, "is damaged"),
        ({"parameters": {"gap": [1]}}, "is damaged"),
        ({"parameters": {"alpha": {"name": "hinge"}}}, "is damaged"),
        ({"classes": {"dtype": "object", "values": [[1], [2]]}}, "is damaged"),
        ({"classes": {"dtype": "int64", "values": [1, 1]}}, "is damaged"),
        ({"classes": None}, "is damaged"),
        ({"feature_names": ["a"]}, "is damaged"),
        ({"kind": ["LinearClassifier"]}, "is damaged"),
        ({"kind": "LinearRegressor"}, "is damaged"),
        ({"kind": "LinearRanker"}, "is damaged"),
        ({"kind": "OneClass"}, "is damaged"),
        ({"kind": "ChainClassifier"}, "is damaged"),
        ({"n_features": 10**30}, "is damaged"),
    ],
)
def test_headers_that_make_no_sense(fitted, path, changes, words):
    forged(fitted, path, **changes)
    assert words in refusal(path)


@pytest.mark.parametrize("name", ["coef", "intercept"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, "float16"])
def test_weights_that_no_fit_leaves(fitted, path, name, value):
    array = np.array(getattr(fitted, f"{name}_"))
    if value == "float16":
        array = array.astype(np.float16)
    else:
        array.flat[-1] = value
    forged(fitted, path, {name: array})
    assert f"is damaged, as what it says makes no sense (ValueError: {name} " in refusal(path)
    model = load_as(fitted, {})
    setattr(model, f"{name}_", array)
    with pytest.raises(ValueError, match=f"^{name} "):
        save_model(model, path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[NaN]", "7", "null", "{}"])
def test_json_that_is_no_header(path, text):
    arrays = {"coef": np.zeros(1)}
    metadata = {"stepless": text, "sha256": tensors.digest_of(text, arrays)}
    path.write_bytes(save(arrays, metadata=metadata))
    assert "is damaged, as what it says makes no sense" in refusal(path)


def test_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refusal(tmp_path / "pipe")
    assert "is not a regular file" in refusal("/dev/zero")


@pytest.mark.parametrize("number", [1, 2])
def test_a_forged_header_as_it_was_is_accepted(fitted, path, number):
    forged(fitted, path, format=number)
    assert_same(fitted, load_model(path))


def test_events_of_old_files_do_not_say_who_found_them(fitted, path):
    save_model(fitted, path)
    trace = read_header(path)["trace"]
    for event in trace[0]:
        del event["solver"]
    forged(fitted, path, format=1, trace=trace)
    assert load_model(path).trace_[-1].objective == fitted.objective_


# -- whole or not at all ---------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    fitted, tmp_path, monkeypatch, failure, where
):
    path = tmp_path / "some.model"
    path.write_bytes(b"old")

    def fail(*args):
        raise failure

    monkeypatch.setattr(os, where, fail)
    with pytest.raises(type(failure)) as caught:
        save_model(fitted, path)
    if isinstance(failure, OSError):
        assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == ["some.model"]
    assert path.read_bytes() == b"old"


def test_mode_and_links_are_kept(fitted, tmp_path):
    real, link = tmp_path / "real.model", tmp_path / "link.model"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    save_model(fitted, link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert_same(fitted, load_model(real))


def test_a_device_is_written_to_and_not_replaced(fitted):
    before = os.stat(os.devnull)
    save_model(fitted, os.devnull)
    assert os.stat(os.devnull).st_rdev == before.st_rdev


def test_loading_compiles_nothing(fitted, path, cancer):
    from stepless.compiled import oracle

    save_model(fitted, path)
    counts = [len(kernel.signatures) for kernel in vars(oracle).values() if hasattr(kernel, "jit")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_model(path).predict(cancer[0])
    again = [len(kernel.signatures) for kernel in vars(oracle).values() if hasattr(kernel, "jit")]
    assert counts == again


def test_a_penalty_with_factors_is_kept_with_its_proof(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    penalty = FactoredElasticNet(0.05, [1.0, 0.0, 2.5], 0.8)
    model = LinearRegressor(penalty=penalty, gap=1e-9).fit(X, X @ [1.0, 2.0, 0.1] + X[:, 0] ** 2)
    save_model(model, tmp_path / "model", proof=tmp_path / "proof")
    again = load_model(tmp_path / "model")
    assert again.penalty == penalty
    found = verify(again, X, X @ [1.0, 2.0, 0.1] + X[:, 0] ** 2, proof=tmp_path / "proof")
    assert found.lower_bound == model.lower_bound_ > 0.0
