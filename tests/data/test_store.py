"""Stores: what is packed is what is opened, whole or not at all, and in constant memory."""

import copy
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import tracemalloc
import weakref
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import stepless
from stepless import DataError
from stepless.data import store_folder, store_header, store_writer
from stepless.estimators import packing

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
Y = ["b", "a", "b"]


def path(tmp_path):
    return str(tmp_path / "some.store")


def packed(tmp_path, *data, **how):
    stepless.pack(path(tmp_path), *data, **how)
    return stepless.open(path(tmp_path))


def rows(store):
    found = store.home.design
    return found.array if hasattr(found, "array") else _dense(found)


def _dense(found):
    return sparse.csr_matrix(
        (found.data, found.indices.view(np.int32), found.indptr.astype(np.int64)), found.shape
    ).toarray()


@pytest.mark.parametrize("dtype", [None, "float32", np.float64])
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.csc_array, np.ndarray.tolist]
)
def test_what_is_packed_is_opened(tmp_path, form, dtype):
    store = packed(tmp_path, form(X), Y, [1.0, 2.0, 0.5], dtype=dtype)
    np.testing.assert_array_equal(rows(store), X)
    assert rows(store).dtype == (dtype or np.float64)
    assert (store.y.tolist(), store.weights.tolist()) == (Y, [1.0, 2.0, 0.5])
    assert (store.shape, len(store), store.classes.tolist()) == ((3, 2), 3, ["a", "b"])
    assert repr(store).startswith(f"Store({store.path!r}: 3 × 2, float")
    assert "2 classes, weighted" in repr(store)


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 3],
        [2.0, 0.0, 2.0],
        [True, False, True],
        ["x", "longer", "x"],
        pd.Series(["q", "p", "q"]),
    ],
)
def test_labels_keep_their_type(tmp_path, labels):
    found = packed(tmp_path, X, labels)
    wanted = np.asarray(labels)
    assert found.y.tolist() == wanted.tolist()
    assert found.classes.dtype.kind == ("U" if wanted.dtype.kind == "O" else wanted.dtype.kind)
    assert found.classes.tolist() == np.unique(wanted).tolist()


def test_tables_whose_columns_differ_are_refused(tmp_path):
    table = pd.DataFrame(X, columns=["length", "width"])
    with pytest.raises(
        DataError, match=r"chunk 1 has 'width' as column 0, where the first .*'leng"
    ):
        packed(tmp_path, [(table, Y), (table[["width", "length"]], Y)])
    assert not os.listdir(tmp_path)
    packed(tmp_path, [(table, Y), (table, Y)])
    assert stepless.open(path(tmp_path)).names == ["length", "width"]


def test_numbers_names_and_equal_weights(tmp_path):
    table = pd.DataFrame(X, columns=["length", "width"])
    store = packed(tmp_path, table, [0.5, 1.5, -2.0], [2.0, 2.0, 2.0], task="regress")
    assert (store.names, store.classes, store.weights) == (["length", "width"], None, None)
    assert store.y.tolist() == [0.5, 1.5, -2.0]


def chunks(m=3000, rows=70, kind=sparse.csr_matrix):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(m, 8)) * (rng.random((m, 8)) < 0.5)
    y = rng.integers(0, 5, m)
    s = rng.random(m) + 0.5
    return [(kind(A[k : k + rows]), y[k : k + rows], s[k : k + rows]) for k in range(0, m, rows)]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_cuts_and_checksums_do_not_depend_on_chunks(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(store_writer, "_LEAST", 1 << 10)
    monkeypatch.setattr(packing, "_AT_ONCE", 1 << 12)
    whole = chunks(rows=3000, kind=kind)[0]
    headers = [packed(tmp_path, *whole)._files.header.text()]
    for size in (1, 70, 999):
        headers.append(packed(tmp_path, iter(chunks(rows=size, kind=kind)))._files.header.text())
    assert len(set(headers)) == 1
    assert len(packed(tmp_path, *whole).home.cuts) > 8


def test_weights_that_differ_late_or_are_0_at_first(tmp_path):
    ones = [(X, Y, [0.0] * 3), (X, Y, [0.0] * 3), (X, Y, [0.0, 2.0, 4.0])]
    assert packed(tmp_path, iter(ones)).weights.tolist() == [0.0] * 7 + [2.0, 4.0]
    source = stepless.open(path(tmp_path)).source()
    np.testing.assert_allclose(source.means, [3 * 4 / 6, (2 * 2 + 4 * 4) / 6])
    with pytest.raises(DataError, match="weights are zero for every example"):
        packed(tmp_path, iter(ones[:2]))


def test_a_store_grows_in_constant_memory(tmp_path):
    """Chunks are let go; twice the data take no more memory than half of them."""
    living, most = weakref.WeakValueDictionary(), []

    class Rows(np.ndarray):
        pass

    def stream(count):
        for k in range(count):
            A = np.full((2000, 20), float(k)).view(Rows)
            living[k] = A
            most.append(len(living))
            yield A, np.arange(2000) % 2
            del A

    peaks = []
    for count in (60, 180):  # 19 MB, 58 MB
        tracemalloc.start()
        stepless.pack(path(tmp_path), stream(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(most) <= 3
    assert peaks[1] < 1.3 * peaks[0]
    assert stepless.open(path(tmp_path)).shape == (360_000, 20)


BAD = np.array([[1.0, 2.0], [3.0, np.nan]])


@pytest.mark.parametrize(
    ("given", "how", "message"),
    [
        ((iter([(X, Y), (BAD, Y[:2])]),), {}, "X holds NaN in row 4, feature 1: "),
        ((sparse.csr_matrix(BAD), [0, 1]), {}, "X holds NaN in row 1, feature 1: "),
        ((BAD, [0, 1]), {"names": ["one", "two"]}, "row 1, feature 'two'"),
        ((np.array([[1e60]]), [1]), {}, "X holds 1e\\+60 in row 0"),
        ((np.array([[1e45]]), [1]), {"dtype": "float32"}, "beyond what float32 holds"),
        (
            (iter([(X, Y), (X[:, :1], Y)]),),
            {},
            "chunk after row 2 has 1 features, but those before",
        ),
        ((iter([(X, Y), (sparse.csr_matrix(X), Y)]),), {}, "chunk after row 2 is sparse, but"),
        (
            (iter([(X, Y), (X, Y[:2])]),),
            {},
            "begins with example 3: X has 3 rows, but y is of shape",
        ),
        ((iter([(X, Y), (X, [0, 1, 0])]),), {}, "begins with example 3: some labels are strings"),
        ((iter([(X, Y), (X, ["a", None, "b"])]),), {}, "y holds None at example 1"),
        ((iter([(X, Y, [1.0, -1.0, 1.0])]),), {}, "sample_weight is negative"),
        ((iter([(X, Y, [1.0])]),), {}, "its weights are of shape"),
        ((X, [0.5, 1.5, 2.5]), {}, "continuous"),
        ((X, ["a", "b", "c"]), {"task": "regress"}, "y holds 'a' at example 0"),
        ((X, Y[:2]), {}, "a value for each example: X has 3 rows, y \\(2,\\)"),
        ((X, Y), {"task": "rank"}, "task must be 'classify' or 'regress', not 'rank'"),
        ((X, Y), {"names": ["one"]}, "there are 2 features, but 1 names"),
        ((X, Y), {"dtype": "int8"}, "dtype must be float32 or float64, not int8"),
        ((iter([]),), {}, "no examples to pack"),
        ((iter([X]),), {}, "chunk 0 is not \\(X, y\\)"),
        ((7,), {}, "give X and y, or chunks"),
        ((X, None, [1.0, 1.0, 1.0]), {}, "chunks have their own"),
    ],
)
def test_what_cannot_be_packed_changes_nothing(tmp_path, given, how, message):
    packed(tmp_path, X, Y)
    with pytest.raises(ValueError, match=message) as caught:
        stepless.pack(path(tmp_path), *given, **how)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["some.store"]
    np.testing.assert_array_equal(rows(stepless.open(path(tmp_path))), X)


def _without(name):
    return lambda folder: os.unlink(folder / name)


def _cut(name):
    return lambda folder: os.truncate(folder / name, 8)


def _edited(change):
    def edit(folder):
        header = json.loads((folder / "header.json").read_text())
        change(header)
        (folder / "header.json").write_text(json.dumps(header))

    return edit


def _swapped(folder):
    (folder / "targets.bin").write_bytes((folder / "targets.bin").read_bytes()[::-1])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_without("header.json"), "is no store, or half of one: it has no header.json"),
        (_without("indices.bin"), "is damaged: indices.bin is missing"),
        (_cut("data.bin"), "data.bin has 8 bytes, not 32"),
        (_cut("header.json"), "its header is damaged"),
        (
            _edited(lambda header: header.update(format=2)),
            "its format is number 2, and this version",
        ),
        (_edited(lambda header: header["store"].update(rows=2)), "does not have its checksum"),
        (_edited(lambda header: header.clear()), "its header is damaged"),
        (_swapped, "targets.bin does not have its checksum"),
    ],
)
def test_a_damaged_store_is_refused(tmp_path, damage, message):
    packed(tmp_path, sparse.csr_matrix(X), Y)
    damage(tmp_path / "some.store")
    with pytest.raises(DataError, match=message) as caught:
        stepless.open(path(tmp_path)).source()
    assert str(caught.value).startswith(f"{path(tmp_path)}: ")
    assert "pack" in str(caught.value)
    assert caught.value.file == path(tmp_path)


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file: is no store, which is a folder"):
        stepless.open(tmp_path / "file")
    with pytest.raises(DataError, match="nothing: there is no such store"):
        stepless.open(tmp_path / "nothing")
    for name in ("file", "."):
        with pytest.raises(OSError, match="is no store; choose another name"):
            stepless.pack(tmp_path / name, X, Y)
    with pytest.raises(OSError, match="there is no directory"):
        stepless.pack(tmp_path / "none" / "some.store", X, Y)
    assert os.listdir(tmp_path) == ["file"]


def test_an_open_store_outlives_its_replacement(tmp_path):
    old = packed(tmp_path, X, Y)
    again = pickle.dumps(old)
    new = packed(tmp_path, 2.0 * X[:2], Y[:2])
    np.testing.assert_array_equal(rows(old), X)
    np.testing.assert_array_equal(rows(new), 2.0 * X[:2])
    assert old.y.tolist() == Y
    with pytest.raises(DataError, match="is not the store that was pickled"):
        pickle.loads(again)
    assert os.listdir(tmp_path) == ["some.store"]


@pytest.mark.parametrize("number", [22, 38])
def test_a_system_without_exchange(tmp_path, monkeypatch, number):
    class Old:
        @staticmethod
        def renameat2(*given):
            return -1

    monkeypatch.setattr(store_folder.ctypes, "CDLL", lambda *a, **k: Old)
    monkeypatch.setattr(store_folder.ctypes, "get_errno", lambda: number)
    packed(tmp_path, X, Y)
    assert packed(tmp_path, X[:2], Y[:2]).shape == (2, 2)
    assert os.listdir(tmp_path) == ["some.store"]


def test_masks(tmp_path):
    store = packed(tmp_path, X, ["b", "a", "c"], [1.0, 2.0, 3.0])
    some = store.where([True, False, True])
    assert (len(some), some.shape, some.classes.tolist()) == (2, (3, 2), ["b", "c"])
    assert some.weights.tolist() == [1.0, 0.0, 3.0]
    assert (len(store), store.classes.tolist()) == (3, ["a", "b", "c"])
    assert some.where([True, True, False]).weights.tolist() == [1.0, 0.0, 0.0]
    assert "2 of 3 × 2" in repr(some)
    for one in (pickle.loads(pickle.dumps(some)), copy.copy(some)):
        assert one.weights.tolist() == some.weights.tolist()
    np.testing.assert_array_equal(some.source().means, [(1.0 + 9.0) / 4.0, 12.0 / 4.0])
    for mask, message in [
        ([True], "for each of 3 examples, but this one is bool of shape \\(1,\\)"),
        ([0, 1, 2], "is int64 of shape"),
        ([False] * 3, "the mask leaves no examples"),
    ]:
        with pytest.raises(ValueError, match=message):
            store.where(mask)


@contextmanager
def _file_limit(size):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("room", [0, 1000, 30_000, 90_000])
def test_no_space_left(tmp_path, room):
    packed(tmp_path, X, Y)
    with pytest.raises(OSError, match="too large") as caught, _file_limit(room):
        stepless.pack(path(tmp_path), iter(chunks()))
    assert caught.value.filename == path(tmp_path)
    assert os.listdir(tmp_path) == ["some.store"]
    np.testing.assert_array_equal(rows(stepless.open(path(tmp_path))), X)


# a writer for each line, forked: to import everything takes longer than all that they write
KILLED = """
import os, sys
import numpy as np, stepless

def chunks(fill):
    for k in range(30):
        yield np.full((100, 5), fill), np.arange(100) % 2

def write():
    stepless.pack(sys.argv[1], chunks(1.0))
    print("packed", flush=True)
    fill = 1.0
    while True:
        fill += 1.0
        stepless.pack(sys.argv[1], chunks(fill))

stepless.pack(sys.argv[1], chunks(0.0))  # imports and compiles, for all of them
for line in sys.stdin:
    if not (child := os.fork()):
        write()
    print(child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def test_a_kill_leaves_the_old_store_or_the_new_one(tmp_path):
    draw = random.Random(0)
    command, pipe = [sys.executable, "-c", KILLED, path(tmp_path)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as writers:
        for _ in range(10):
            print("again", file=writers.stdin, flush=True)
            said = {writers.stdout.readline() for _ in range(2)} - {"packed\n"}
            time.sleep(draw.uniform(0.0, 0.2))
            os.kill(int(said.pop()), signal.SIGKILL)
            assert writers.stdout.readline() == "dead\n"
            store = stepless.open(path(tmp_path))
            found = rows(store)
            assert (found == found[0, 0]).all()
            store.source().map(_shape)  # compares checksums
            packed(tmp_path, X, Y)
            assert os.listdir(tmp_path) == ["some.store"]


def _shape(block):
    return block.shape


def test_two_at_once(tmp_path):
    """The one that ends last stays; neither takes the other's files for a dead writer's."""

    def inner():
        yield X, Y
        packed(tmp_path, 5.0 * X, Y)
        yield X, Y

    assert packed(tmp_path, inner()).shape == (6, 2)
    assert os.listdir(tmp_path) == ["some.store"]


def test_the_header_of_many_spans(tmp_path):
    assert store_header.SPANS == 8
    header = packed(tmp_path, X, Y)._files.header
    assert header.restored(header.text()) == header
