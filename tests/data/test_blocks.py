"""Blocks are views of the rows; columns are what kernels made of them, and can make again."""

import pickle
from functools import partial

import numpy as np
import pytest
from numba import typeof
from scipy import sparse

from stepless.compiled import oracle
from stepless.data import Column, Source, apply_numpy, memory
from stepless.design import Outer
from stepless.objective import Hinge, Logistic, Objective, SquaredL2
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import InteriorPoint, Newton, SmoothedNewton

RNG = np.random.default_rng(0)
X = RNG.normal(size=(431, 5)) * (RNG.random((431, 5)) < 0.8)
Y = np.where(X[:, 0] + RNG.normal(size=431) > 0.0, 1.0, -1.0)
S = RNG.uniform(0.5, 1.5, 431)


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(memory, "_WORTH_A_BLOCK", 100)


def arrays(block):
    return [part for part in (*block.X, block.y, block.s) if isinstance(part, np.ndarray)]


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_matrix, Outer.of])
def test_blocks_share_the_memory_of_the_source_and_its_types(form):
    given = Source(form(X), Y, S)
    blocks, whole = given.blocks(), given.whole
    assert len(blocks) > 1
    assert sum(block.X.nnz for block in blocks) == given.X.nnz
    for block, (lo, hi) in zip(blocks, given.cuts, strict=True):
        assert block.shape == (hi - lo, given.shape[1])
        assert typeof(block) is typeof(whole)  # else kernels would be compiled once more
        for part, all_ in zip(arrays(block), arrays(whole), strict=True):
            assert np.shares_memory(part, all_)
        np.testing.assert_array_equal(block.y, Y[lo:hi])
    for column in (given.split(Y), given.split(X)):
        assert all(np.shares_memory(part, column.parts[0].base) for part in column.parts)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_blocks_hold_the_rows_that_they_say(form):
    given = Source(form(X), Y, S)
    w = RNG.normal(size=5)
    z = given.column(oracle.predictions, w, 0.5)
    np.testing.assert_allclose(z.whole, X @ w + 0.5, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(z.whole, given.predictions(w, 0.5))
    twice = given.column(apply_numpy, np.multiply, z, 2.0)
    np.testing.assert_allclose(given.combination(twice), 2.0 * X.T @ z.whole, rtol=1e-9)


def test_groups_are_not_cut():
    groups = np.array([0, 1, 200, 201, 400, 431])
    given = Source(X, Y, groups=groups)
    assert len(given.cuts) > 2
    assert set(np.ravel(given.cuts)) <= set(groups)
    assert [lo for lo, _ in given.cuts[1:]] == [hi for _, hi in given.cuts[:-1]]


def test_relabelled_blocks_have_the_new_targets():
    given = Source(X, Y, S)
    given.blocks()
    other = given.relabelled(-Y)
    np.testing.assert_array_equal(np.concatenate([b.y for b in other.blocks()]), -Y)
    np.testing.assert_array_equal(np.concatenate([b.y for b in given.blocks()]), Y)


def test_a_pickled_source_has_its_rows_once():
    given = Source(X, Y, S)
    given.blocks()
    stored = pickle.dumps(given)
    assert len(stored) < 1.1 * (X.nbytes + Y.nbytes + S.nbytes)
    for block, other in zip(given.blocks(), pickle.loads(stored).blocks(), strict=True):
        np.testing.assert_array_equal(block.X.array, other.X.array)


@pytest.mark.parametrize("size", [1, 430, 432])
def test_a_column_has_a_number_for_each_row(size):
    with pytest.raises(ValueError, match=f"there are 431 examples, but {size} values"):
        Source(X, Y).combination(np.ones(size))


def test_a_pickled_column_is_the_same():
    given = Source(X, Y, S)
    column = given.column(oracle.predictions, np.ones(5), 0.0)
    given.update(column, _double)
    again = pickle.loads(pickle.dumps(column))
    np.testing.assert_array_equal(again.whole, column.whole)
    assert again.round == column.round == 1


def _double(block, column):
    column *= 2.0


class Recorder:
    """All that is done to the columns of a source, in order."""

    def __init__(self, monkeypatch):
        self.calls = []  # (columns, whether they are made here, kernel, shared)
        self._made = Source.column, Source.empty, Source.update, Source.survey
        monkeypatch.setattr(Source, "column", lambda *args: self._column(*args))
        monkeypatch.setattr(Source, "empty", lambda *args, **how: self._empty(*args, **how))
        monkeypatch.setattr(Source, "update", lambda *args: self._update(*args))
        monkeypatch.setattr(Source, "survey", lambda *args, **how: self._survey(*args, **how))

    def _column(self, given, kernel, *shared):
        shared = tuple(_kept(argument) for argument in shared)
        column = self._made[0](given, kernel, *shared)
        self.calls.append(((column,), True, kernel, shared))
        return column

    def _empty(self, given, **how):
        column = self._made[1](given, **how)
        self.calls.append(((column,), True, _empty, ()))
        return column

    def _update(self, given, columns, kernel, *shared):
        columns = columns if isinstance(columns, tuple) else (columns,)
        shared = tuple(_kept(argument) for argument in shared)
        self.calls.append((columns, False, kernel, shared))
        return self._made[2](given, columns, kernel, *shared)

    def _survey(self, given, columns, kernel, shape, *shared, **how):
        kept = tuple(_kept(argument) for argument in shared)
        if columns:
            self.calls.append((columns, False, partial(_adding, kernel, shape), kept))
        return self._made[3](given, columns, kernel, shape, *shared, **how)

    def replay(self, block):
        """Make one block's parts of all columns again, from nothing but what was called."""
        parts = {}
        for columns, new, kernel, shared in self.calls:
            given = [parts[id(a)] if isinstance(a, Column) else a for a in shared]
            if new:
                parts[id(columns[0])] = kernel(block, *given)
            else:
                kernel(block, *(parts[id(column)] for column in columns), *given)
        return parts


def _adding(kernel, shape, block, *given):
    return kernel(block, np.zeros(shape), *given)


def _empty(block):
    return np.full(block.shape[0], np.nan)


def _kept(argument):
    return argument.copy() if isinstance(argument, np.ndarray) else argument


@pytest.mark.parametrize(
    ("loss", "solver"),
    [(Logistic(), Newton()), (Hinge(), SmoothedNewton()), (Hinge(), InteriorPoint())],
    ids=["newton", "smoothed-newton", "interior-point"],
)
def test_a_lost_block_is_made_again_by_replaying_the_rounds(monkeypatch, loss, solver):
    risk = LinearRisk(Objective(loss, SquaredL2(1e-3)), Source(X, Y, S))
    recorder = Recorder(monkeypatch)
    state, rng = solver.start(risk, np.zeros(5), 0.0), np.random.default_rng(0)
    for _ in range(4):
        solver.step(risk, state, rng)
    columns = {id(column): column for made, *_ in recorder.calls for column in made}
    for key, column in columns.items():
        rounds = sum(column in made for made, new, *_ in recorder.calls if not new)
        assert column.round == rounds, key
    assert max(column.round for column in columns.values()) >= 3
    for k in (0, 2):
        again = recorder.replay(risk.source.blocks()[k])
        for key, column in columns.items():
            np.testing.assert_array_equal(again[key], column.parts[k])


@pytest.mark.parametrize("groups", [[0, 5], [1, 4], [0, 3, 2, 4], [0, 2.5, 4], [0], "0"])
def test_groups_rise_to_the_number_of_rows(groups):
    with pytest.raises(ValueError, match="groups must be whole numbers that rise from 0 to 4"):
        Source(np.ones((4, 1)), np.ones(4), groups=groups)
