"""`stepless pack`, and the commands that take a store as DATA."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

import stepless
from cli.commands import refused, run
from stepless.data import read_svmlight, store_writer
from stepless.report import load_model

M = 800


@pytest.fixture(scope="module")
def text():
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(M):
        at = np.sort(rng.choice(np.arange(1, 12), 4, replace=False))
        v = rng.normal(size=4).round(3)
        y = 1 if v.sum() + 0.3 * rng.normal() > 0 else -1
        lines.append(f"{y} {' '.join(f'{j}:{x}' for j, x in zip(at, v, strict=True))}\n")
    return "".join(lines)


@pytest.fixture
def folder(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(store_writer, "_LEAST", 1 << 10)
    (tmp_path / "a.svm").write_text(text)
    (tmp_path / "b.svm").write_text("1 20:1\n-1 1:2\n")
    (tmp_path / "weights").write_text("1\n" * (M - 1) + "2.5\n")
    return tmp_path


def rows(store):
    found = store.home.design
    arrays = found.data, found.indices.view(np.int32), found.indptr.astype(np.int64)
    return sparse.csr_matrix(arrays, shape=found.shape)


def test_text_becomes_a_store(folder):
    said = run("pack", "a.svm", "-o", "a.store").stdout
    assert said.startswith("a.store: 800 × 11, float64, sparse, 3200 entries, 2 classes, equal")
    X, y, _ = read_svmlight("a.svm")
    store = stepless.open("a.store")
    assert (rows(store) != X).nnz == 0
    assert store.y.tolist() == y.tolist()
    assert store.classes.dtype == np.int64


def test_several_files_compressed_and_standard_input(folder, text):
    (folder / "a.gz").write_bytes(gzip.compress(text.encode()))
    run("pack", "b.svm", "a.gz", "-o", "two.store", "--float32")
    run("pack", "-", "b.svm", "-o", "in.store", input=text)
    two, piped = stepless.open("two.store"), stepless.open("in.store")
    assert two.shape == piped.shape == (M + 2, 20)
    assert rows(two).dtype == np.float32
    assert two.y[:2].tolist() == piped.y[-2:].tolist() == [1, -1]
    assert rows(piped)[M, 19] == 1.0
    run("pack", "a.svm", "-o", "wide.store", "--features", "20")
    assert stepless.open("wide.store").shape == (M, 20)
    run("fit", "wide.store", "-o", "m", "--test", "two.store", "-q")
    message = refused("pack", "b.svm", "-o", "wide.store", "--features", "19")
    assert "b.svm, line 1, column 3: index 20 exceeds" in message


def test_weights_numbers_and_features_from_0(folder):
    run("pack", "a.svm", "-o", "w.store", "--weights", "weights")
    assert stepless.open("w.store").weights.tolist() == [1.0] * (M - 1) + [2.5]
    (folder / "r.svm").write_text("0.5 0:1\n-1.5 2:4\n")
    run("pack", "r.svm", "-o", "r.store", "--task", "regress", "--zero-based")
    store = stepless.open("r.store")
    assert (store.shape, store.y.tolist(), store.classes) == ((2, 3), [0.5, -1.5], None)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (
            "1 1:2\n1.5 1:3\n",
            (),
            "x.svm, line 2: the label 1.5 is not a whole number, as classes are",
        ),
        ("1 1:2\n-1 1:x\n", (), "x.svm, line 2, column 6: expected"),
        ("1 0:2\n", (), "for features counted from 0 say --zero-based"),
        ("", (), "x.svm: holds no examples"),
        ("1\n-1\n", (), "no example has a feature"),
        ("1 1:2\n1 1:1e60\n", (), "X holds 1e+60 in row 1, feature 0"),
        ("1 1:2\n1 1:1e40\n", ("--float32",), "beyond what float32 holds"),
        ("1 1:2\n", ("--weights", "weights"), "weights: holds more weights than the 1 examples"),
        (
            "1 1:2\n" * (M + 1),
            ("--weights", "weights"),
            f"holds {M} weights, but there are {M + 1}",
        ),
        ("1 1:2\n", ("--task", "rank"), "task must be 'classify' or 'regress'"),
    ],
)
def test_what_cannot_be_packed_leaves_the_old_store(folder, data, options, message):
    run("pack", "b.svm", "-o", "x.store")
    (folder / "x.svm").write_text(data)
    before = sorted(os.listdir())
    assert message in refused("pack", "x.svm", "-o", "x.store", *options)
    assert sorted(os.listdir()) == before
    assert stepless.open("x.store").shape == (2, 20)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("a.svm", "a.svm: is a file that is no store; choose another name"),
        (".", "is a folder that is no store; choose another name"),
        ("none/x.store", "there is no directory 'none'"),
    ],
)
def test_only_stores_are_replaced(folder, output, message):
    assert message in refused("pack", "a.svm", "-o", output)


def test_a_store_in_place_of_text(folder):
    run("pack", "a.svm", "-o", "a.store")
    (folder / "t.svm").write_text("1 2:1\n-1 1:2\n")
    how = ("--loss", "logistic", "-q")
    run("fit", "a.store", "-o", "m", "--proof", "m.proof", "--test", "t.svm", *how)
    run("fit", "a.svm", "-o", "n", *how)
    one, other = load_model("m"), load_model("n")
    assert other.lower_bound_ <= one.objective_
    assert one.lower_bound_ <= other.objective_
    assert run("predict", "m", "a.store").stdout == run("predict", "m", "a.svm").stdout
    assert run("score", "m", "a.store").stdout == run("score", "m", "a.svm").stdout
    for data in ("a.store", "a.svm"):
        assert "no weights have one below" in run("verify", "m", data, "--proof", "m.proof").stdout
    shown = run("predict", "m", "a.store", "--decision", "--settled").stdout
    assert shown == run("predict", "m", "a.svm", "--decision", "--settled").stdout


def test_numbers_from_a_store(folder):
    run("pack", "a.svm", "-o", "r.store", "--task", "regress")
    run("fit", "r.store", "-o", "m", "--task", "regress", "--weights", "weights", "-q")
    assert "R²" in run("score", "m", "r.store").stdout
    said = run("verify", "m", "r.store", "--weights", "weights").stdout
    assert "the objective holds" in said


def test_info_says_what_a_store_holds(folder):
    run("pack", "a.svm", "-o", "a.store", "--weights", "weights")
    said = run("info", "a.store").stdout
    assert "examples     800 × 11" in said
    assert "weights      weighted" in said
    found = json.loads(run("info", "a.store", "--json").stdout)
    assert found["targets"] == "2 classes"


def test_stores_that_do_not_fit(folder):
    run("pack", "a.svm", "-o", "a.store")
    run("pack", "b.svm", "-o", "b.store")
    run("pack", "a.svm", "-o", "r.store", "--task", "regress")
    run("fit", "a.svm", "-o", "m", "-q")
    for test in ("b.store", "b.svm"):
        message = refused("fit", "a.store", "--test", test, "-o", "x")
        assert (
            "a.store: has 11 features, but the other file has 20; pack it with --features"
            in message
        )
    assert "store has 20 features, but LinearClassifier was fitted to 11" in refused(
        "predict", "m", "b.store"
    )
    assert "r.store: the store's targets are numbers" in refused("fit", "r.store", "-o", "x")
    for options in (("--metric", "f1"), ("--task", "rank"), ("--task", "tag")):
        message = refused("fit", "a.store", "-o", "x", *options)
        assert "a.store: is a store, from which a " in message
    assert "a store is no stream: leave --stream out" in refused(
        "fit", "a.store", "-o", "x", "--stream"
    )
    assert "no such file" in refused("fit", "none.store", "-o", "x")
    os.unlink("a.store/header.json")
    for command in (("fit", "a.store", "-o", "x"), ("info", "a.store"), ("score", "m", "a.store")):
        assert "a.store: is no store, or half of one: it has no header.json" in refused(*command)
    assert not os.path.exists("x")


def test_no_space_left(folder):
    run("pack", "b.svm", "-o", "a.store")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
        message = refused("pack", "a.svm", "-o", "a.store")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert message.startswith("a.store: File too large")
    assert stepless.open("a.store").shape == (2, 20)
    assert not [name for name in os.listdir() if ".tmp" in name]


def test_an_interrupt_while_packing_leaves_nothing(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "stepless", "pack", "-", "-o", "a.store"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as packing:
        packing.stdin.write(b"1 1:2\n" * 100_000)
        packing.stdin.flush()
        while not any(".tmp" in name for name in os.listdir()):
            time.sleep(0.01)
        packing.send_signal(signal.SIGINT)
        said = packing.communicate()[1].decode()
    assert packing.returncode == 130, said
    assert "interrupted: nothing was written" in said
    assert sorted(os.listdir()) == ["a.svm", "b.svm", "weights"]


def test_what_is_no_text_or_no_folder_is_refused(folder):
    run("pack", "a.svm", "-o", "train.store")
    words = "train.store: is a store already, which fit takes as DATA"
    assert words in refused("pack", "train.store", "-o", "other.store")
    assert "name one in place of -" in refused("pack", "a.svm", "-o", "-")
