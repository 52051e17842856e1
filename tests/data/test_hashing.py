"""Feature hashing: the same hash as scikit-learn's, spread evenly, the same in all readers."""

import numpy as np
import pytest
from sklearn.utils import murmurhash3_32

from stepless.data import Hashing
from stepless.data.hashing import murmur3, split_mix


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_murmur3_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    for length in range(40):
        data = rng.bytes(length)
        assert murmur3(data, 0, length, seed) == murmurhash3_32(data, seed, positive=True)
    data = rng.bytes(100)
    within = np.frombuffer(data, np.uint8)
    for start, stop in rng.integers(0, 100, (50, 2)).tolist():
        stop = max(start, stop)
        expected = murmurhash3_32(data[start:stop], seed, positive=True)
        assert murmur3(within, start, stop, seed) == expected


def test_mixed_is_splitmix64():
    """The first outputs of SplitMix64 from seed 1234567 (Rosetta Code), their lower halves."""
    outputs = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    golden = 0x9E3779B97F4A7C15
    state = (1234567 - golden) % 2**64 + golden  # `split_mix` of seed 0 adds the constant once
    for output in outputs:
        assert split_mix(np.uint64(state % 2**64), 0) == output % 2**32
        state += golden


@pytest.mark.parametrize("names", ["indices", "strided", "words"])
@pytest.mark.parametrize("seed", [0, 5])
def test_columns_are_met_evenly(names, seed):
    """χ² of 40 000 names over 256 columns, and of their signs."""
    hashing = Hashing(8, seed=seed, signed=True)
    form = {"indices": "{}", "strided": "{}0240", "words": "word_{}"}[names]
    slots = [hashing.slot(form.format(k)) for k in range(40_000)]
    counts = np.bincount([index for index, _ in slots], minlength=256)
    expected = 40_000 / 256
    chi_square = np.sum((counts - expected) ** 2) / expected
    assert abs(chi_square - 255) < 5 * np.sqrt(2 * 255)
    signs = np.array([sign for _, sign in slots])
    assert set(signs) == {-1.0, 1.0}
    assert abs(signs.sum()) < 5 * np.sqrt(40_000)
    halves = np.array([index for index, _ in slots]) % 2 * 2 - 1
    assert abs((signs * halves).sum()) < 5 * np.sqrt(40_000)  # signs do not go by column


def test_seeds_give_other_hashes():
    for form in ("{}", "word_{}"):
        columns = [
            [Hashing(16, seed=seed).slot(form.format(k))[0] for k in range(2000)]
            for seed in (0, 1, 2)
        ]
        assert np.mean(np.equal(columns[0], columns[1])) < 0.01
        assert np.mean(np.equal(columns[1], columns[2])) < 0.01


def test_whole_numbers_are_hashed_by_value():
    hashing = Hashing(20)
    assert hashing.slot("7") == hashing.slot("007")
    assert hashing.slot("7") != hashing.slot("7a")
    assert hashing.slot("9" * 18)[0] == split_mix(10**18 - 1, 0) % 2**20
    assert hashing.slot("9" * 19)[0] == murmurhash3_32("9" * 19, 0, positive=True) % 2**20
    assert hashing.slot("a")[0] == murmurhash3_32("a", 0, positive=True) % 2**20
    assert hashing.slot("ü", "ß")[0] == murmurhash3_32("ü=ß", 0, positive=True) % 2**20
    assert hashing.index(b"a") == hashing.slot("a")[0]


def test_unsigned_unless_asked():
    assert {Hashing(10).slot(f"w{k}")[1] for k in range(100)} == {1.0}


def test_names_are_kept_where_they_meet():
    hashing = Hashing(1, remember=True)
    for k in (*range(8), *range(8)):
        hashing.slot(f"w{k}")
    assert set(hashing.names) == {0, 1}
    assert sorted(hashing.names[0] + hashing.names[1]) == [f"w{k}" for k in range(8)]
    assert all(hashing.slot(name)[0] == 1 for name in hashing.names[1])
    forgetful = Hashing(1)
    forgetful.slot("w")
    assert forgetful.names == {}


def test_many_names_in_a_column():
    """Hours, if each were looked for among those before."""
    hashing = Hashing(1, remember=True)
    names = {f"w{k}": k % 2 for k in range(300_000)}
    for _ in range(2):
        hashing.note(names)
    assert hashing.names == {0: list(names)[::2], 1: list(names)[1::2]}


def test_wrong_arguments():
    for options in ({"bits": 0}, {"bits": 31}, {"bits": 8, "seed": -1}, {"bits": 8, "seed": 2**32}):
        with pytest.raises(ValueError, match="must be from"):
            Hashing(**options)
    hashing = Hashing(8, seed=3)
    assert Hashing.of(hashing) is hashing
    assert Hashing.of(8) == Hashing(8)
