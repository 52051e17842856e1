"""Fingerprints: equal data have the same, in any process; other data have another."""

import pickle
import subprocess
import sys

import numpy as np
from scipy import sparse

from stepless.data.fingerprint import fingerprint
from stepless.risks.ranking import NDCG, Pairwise

X = np.arange(12.0).reshape(3, 4)


def test_equal_parts_are_known_again():
    for part in (X, sparse.csr_matrix(X), ["a", ("b", 3)], {"a": 1}, NDCG(5), np.array(["x", "y"])):
        again = pickle.loads(pickle.dumps(part))
        assert fingerprint(part, 1.0) == fingerprint(again, 1.0)
    assert fingerprint(X) == fingerprint(np.asfortranarray(X))
    assert fingerprint(sparse.csr_matrix(X)) == fingerprint(sparse.csc_matrix(X))


def test_another_process_finds_the_same():
    code = (
        "import numpy as np; from stepless.data.fingerprint import fingerprint;"
        "print(fingerprint(np.arange(12.0).reshape(3, 4), 'f1', [1, 2.0]).hex())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == fingerprint(X, "f1", [1, 2.0]).hex()


def test_any_difference_shows():
    changed = X.copy()
    changed[2, 3] = np.nextafter(changed[2, 3], 99.0)
    objects = np.array(["x", None], dtype=object)
    parts = [
        (X,),
        (changed,),
        (X.T,),
        (X.ravel(),),
        (X.astype(np.float32),),
        (X.astype(np.int64),),
        (sparse.csr_matrix(X),),
        (sparse.csr_matrix(changed),),
        (X, X),
        ([X, X],),
        ((X, X),),
        ("ab", "c"),
        ("a", "bc"),
        (b"a", "bc"),
        (1,),
        (1.0,),
        (objects,),
        (objects[::-1],),
        (NDCG(5),),
        (NDCG(6),),
        (Pairwise(),),
        ((),),
        (),
    ]
    assert len({fingerprint(*part) for part in parts}) == len(parts)


def test_what_cannot_be_pickled_is_never_known_again():
    function = lambda: 0  # noqa: E731
    assert fingerprint(function) != fingerprint(function)


class Own:
    scale = 1.0


def test_a_class_attribute_that_was_changed_shows(monkeypatch):
    before = fingerprint(Own())
    assert fingerprint(Own()) == before
    monkeypatch.setattr(Own, "scale", 2.0)
    assert fingerprint(Own()) != before
