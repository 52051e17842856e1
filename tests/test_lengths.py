"""Lengths: what is said of arrays is looked at, and nothing else is taken for it."""

import numpy as np
import pytest

from stepless.lengths import checked, declared

ENTRIES = 7


def lines(X, w, pair, lo, hi, rule):
    """Only the names of its parameters matter."""


class Batch:
    batch = 4


def call(lengths, X=None, w=None, pair=None, lo=0, hi=0, rule=None):
    checked(lines, lengths, lambda *args: args)(X, w, pair, lo, hi, rule)


X32, TWO, THREE = np.ones((3, 2)), np.ones(2), np.ones(3)


@pytest.mark.parametrize(
    ("lengths", "fits", "does_not"),
    [
        ("X[m,d] w[d]", {"X": X32, "w": TWO}, {"X": X32, "w": THREE}),
        ("X[m,d] w[m]", {"X": X32, "w": THREE}, {"X": X32, "w": TWO}),
        ("X[n,n]", {"X": np.ones((2, 2))}, {"X": X32}),
        ("X[_,2]", {"X": X32}, {"X": X32.T}),
        ("w[_]", {"w": np.ones(0)}, {"w": X32}),
        ("X[m,d] w[m*d+1]", {"X": X32, "w": np.ones(7)}, {"X": X32, "w": np.ones(6)}),
        ("X[m,d] w[0|d]", {"X": X32, "w": np.ones(0)}, {"X": X32, "w": np.ones(1)}),
        ("w[≥2]", {"w": THREE}, {"w": np.ones(1)}),
        ("X[m,_] w[≤m]", {"X": X32, "w": THREE}, {"X": X32, "w": np.ones(4)}),
        ("w[rule.batch]", {"w": np.ones(4), "rule": Batch}, {"w": THREE, "rule": Batch}),
        (
            "w[n] X[≥min(rule.batch,n),_]",
            {"w": THREE, "X": X32, "rule": Batch},
            {"w": np.ones(9), "X": X32, "rule": Batch},
        ),
        ("w[ENTRIES]", {"w": np.ones(7)}, {"w": THREE}),
        (
            "w[n] pair.0[n] pair.1[n+1]",
            {"w": TWO, "pair": (TWO, THREE)},
            {"w": TWO, "pair": (TWO, TWO)},
        ),
        ("w[n] pair.*[n]", {"w": TWO, "pair": (TWO, TWO)}, {"w": TWO, "pair": (TWO, THREE)}),
        (
            "w[n] pair.*.*[n]",
            {"w": TWO, "pair": ((TWO,), (TWO, TWO))},
            {"w": TWO, "pair": ((TWO,), (TWO, THREE))},
        ),
        ("w[n] X?[n,n]", {"w": TWO}, {"w": TWO, "X": X32}),
        ("w[n] lo:hi[n]", {"w": THREE, "lo": 0, "hi": 3}, {"w": THREE, "lo": 0, "hi": 4}),
        ("w[n] lo:hi[n]", {"w": THREE, "lo": 2, "hi": 2}, {"w": THREE, "lo": -1, "hi": 2}),
        ("w[n] lo:hi[n]", {"w": THREE, "lo": 3, "hi": 3}, {"w": THREE, "lo": 3, "hi": 2}),
        ("lo:hi[len(w)]", {"w": b"abc", "hi": 3}, {"w": b"abc", "hi": 4}),
    ],
)
def test_what_fits_passes_and_what_does_not_is_refused(lengths, fits, does_not):
    call(lengths, **fits)
    with pytest.raises(ValueError, match="lines: arrays do not fit together"):
        call(lengths, **does_not)


def test_the_message_tells_the_shapes():
    with pytest.raises(ValueError, match=r"X\[m,d\] w\[d\], but X has shape \(3, 2\), w \(3,\)"):
        call("X[m,d] w[d]", X=X32, w=THREE)


def test_without_lengths_python_may_not_call():
    with pytest.raises(TypeError, match="lines is for compiled code"):
        checked(lines, None, print)(1, 2)


@pytest.mark.parametrize("lengths", ["v[d]", "w[d", "w", "w[n+1]", "X[m,d] w[k*d]"])
def test_what_cannot_be_read_is_refused_where_it_is_written(lengths):
    with pytest.raises(ValueError, match="lines: "):
        checked(lines, lengths, print)


def test_what_is_declared():
    assert declared("X[m,d] w?[d] pair.0[m] lo:hi[m]") == {"X", "w", "pair.0", "lo"}
    assert declared("") == declared(None) == set()
