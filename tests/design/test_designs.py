"""Designs: every layout of examples reads the same, and nothing is copied that need not be."""

import platform

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from stepless.data import Source
from stepless.design import Dense, Outer, Sparse
from stepless.design.prefetch import prefetch

SAMPLE = np.array(
    [
        [0.0, 2.0, 0.0, -1.0],
        [0.0, 0.0, 0.0, 0.0],  # an empty row
        [3.0, 0.0, 0.5, 4.0],
        [0.0, 0.0, 7.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
)


@njit
def _unfold(X, out, ahead):
    """Write the rows that a design shows; fetch `ahead` rows ahead, or none if it is 0."""
    for i in range(X.size()):
        if ahead > 0 and i + ahead < X.size():
            X.fetch(i + ahead)
        first, last = X.span(i)
        for k in range(first, last):
            j, v = X.entry(i, k)
            out[i, j] += v


def _read(X, ahead=0):
    out = np.zeros(X.shape)
    _unfold(X, out, ahead)
    return out


def _wide(matrix):
    """With 64-bit indices."""
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


FORMATS = {
    "C order": lambda A: Dense.of(np.ascontiguousarray(A)),
    "Fortran order": lambda A: Dense.of(np.asfortranarray(A)),
    "strided": lambda A: Dense.of(np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3]),
    "reversed": lambda A: Dense.of(A[::-1].copy()[::-1]),
    "CSR": lambda A: Sparse.of(sparse.csr_matrix(A)),
    "CSR array": lambda A: Sparse.of(sparse.csr_array(A)),
    "CSR, 64-bit indices": lambda A: Sparse.of(_wide(sparse.csr_matrix(A))),
    "CSC": lambda A: Sparse.of(sparse.csc_matrix(A)),
    "COO": lambda A: Sparse.of(sparse.coo_matrix(A)),
}
TYPES = {
    np.float64: np.float64,
    np.float32: np.float32,
    np.int64: np.float64,
    np.int32: np.float64,
    np.uint8: np.float64,
    np.bool_: np.float64,
}


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_every_format_reads_the_same(form):
    X = form(SAMPLE)
    assert X.shape == SAMPLE.shape
    assert X.size() == 5
    np.testing.assert_array_equal(_read(X), SAMPLE)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize(("given", "kept"), TYPES.items(), ids=str)
def test_float32_is_kept_and_all_else_becomes_float64(form, given, kept):
    X = form(np.abs(SAMPLE).astype(given))
    values = X.array if isinstance(X, Dense) else X.data
    assert values.dtype == kept
    np.testing.assert_array_equal(_read(X), np.abs(SAMPLE).astype(given).astype(kept))


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i4"])
def test_foreign_byte_orders_are_converted(kind):  # scipy has no such sparse matrices
    X = Dense.of(SAMPLE.astype(kind))
    assert X.array.dtype == np.float64
    np.testing.assert_array_equal(_read(X), SAMPLE.astype(kind))


def test_plain_python_reads_what_kernels_read():
    for X in (Dense.of(SAMPLE), Sparse.of(sparse.csr_matrix(SAMPLE))):
        for i in range(X.size()):
            row = np.zeros(4)
            for k in range(*X.span(i)):
                j, v = X.entry(i, k)
                row[j] += v
            np.testing.assert_array_equal(row, SAMPLE[i])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_nothing_is_copied_that_fits(kind):
    A = SAMPLE.astype(kind)
    assert np.shares_memory(Dense.of(A).array, A)
    M = sparse.csr_matrix(A)
    X = Sparse.of(M)
    assert np.shares_memory(X.data, M.data)
    assert np.shares_memory(X.indices, M.indices)


def test_what_does_not_fit_is_copied_and_left_alone():
    A = np.asfortranarray(SAMPLE)
    X = Dense.of(A)
    assert not np.shares_memory(X.array, A)
    assert X.array.flags.c_contiguous
    M = _wide(sparse.csr_matrix(SAMPLE))
    X = Sparse.of(M)
    assert X.indices.dtype == np.uint32
    assert X.indptr.dtype == np.uint64
    assert M.indices.dtype == np.int64


def test_sizes():
    assert Dense.of(SAMPLE).nnz == 20
    assert Sparse.of(sparse.csr_matrix(SAMPLE)).nnz == 6
    assert Sparse.of(sparse.csr_matrix((3, 0))).shape == (3, 0)
    assert _read(Dense.of(np.zeros((3, 0)))).shape == (3, 0)
    assert _read(Sparse.of(sparse.csr_matrix((0, 4)))).shape == (0, 4)


@pytest.mark.parametrize("shape", [(3,), (), (2, 2, 2)])
def test_examples_are_the_rows_of_a_matrix(shape):
    with pytest.raises(ValueError, match="rows of a matrix, not of shape"):
        Dense.of(np.ones(shape))


def test_entries_given_twice_add_up():
    M = sparse.coo_matrix(([1.0, 2.0, 5.0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3))
    np.testing.assert_array_equal(_read(Sparse.of(M)), [[0, 0, 3], [5, 0, 0]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("stray", [5, -1, 2**31 - 1])
def test_entries_outside_of_a_sparse_matrix_are_refused(form, stray):
    X = sparse.random(5, 5, 0.5, format=form, random_state=0)
    (X.row if form == "coo" else X.indices)[3] = stray
    with pytest.raises(ValueError, match=f"damaged: an entry lies at {stray}, and there are 5"):
        Sparse.of(X)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("starts", [[0, 9, 2, 3, 4, 5], [0, 1, 2, 3, 4, 10**9], [1, 1, 2, 3, 4, 5]])
def test_rows_that_do_not_follow_each_other_are_refused(form, starts):
    X = sparse.eye(5, format=form)
    X.indptr = np.array(starts, dtype=np.int32)
    with pytest.raises(ValueError, match=r"damaged: its cs. rows do not add up"):
        Sparse.of(X)


def test_more_features_than_indices_can_number_are_refused():
    with pytest.raises(ValueError, match="8589934592 features are more than 32-bit") as caught:
        Sparse.of(sparse.csr_matrix((1, 2**33)))
    assert "\n" not in str(caught.value)


def test_many_features_are_numbered_without_a_sign():
    M = sparse.csr_matrix(([1.0], ([0], [2**31 + 5])), shape=(1, 2**32 - 2))
    X = Sparse.of(M)
    assert int(X.entry(0, 0)[0]) == 2**31 + 5


def test_read_only_arrays_are_read():
    A = SAMPLE.copy()
    A.flags.writeable = False
    M = sparse.csr_matrix(SAMPLE)
    for part in (M.data, M.indices, M.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(_read(Dense.of(A), 1), SAMPLE)
    np.testing.assert_array_equal(_read(Sparse.of(M), 1), SAMPLE)


# -- outer products ------------------------------------------------------------------------------


def test_outer_products_are_made_on_demand():
    rng = np.random.default_rng(0)
    D = rng.normal(size=(6, 3))
    flat = np.array([np.outer(x, x).ravel() for x in D])
    X = Outer.of(D)
    assert (X.shape, X.nnz, X.size()) == ((6, 9), 54, 6)
    assert np.shares_memory(X.array, D)
    for ahead in (0, 1):
        np.testing.assert_allclose(_read(X, ahead), flat, rtol=1e-15)
    np.testing.assert_allclose(_read(X.take(np.array([4, 1]))), flat[[4, 1]], rtol=1e-15)
    np.testing.assert_allclose(_read(X.join(X)), np.vstack([flat, flat]), rtol=1e-15)
    assert Outer.of(D.astype(np.float32)).array.dtype == np.float32
    with pytest.raises(ValueError, match="rows of a matrix, not of shape"):
        Outer.of(np.ones(3))


def test_a_source_takes_a_design_as_it_is():
    rng = np.random.default_rng(0)
    D, w = rng.normal(size=(6, 3)), rng.normal(size=9)
    source = Source(Outer.of(D), np.ones(6), threads=1)
    assert isinstance(source.X, Outer)
    np.testing.assert_allclose(source.predictions(w), [x @ w.reshape(3, 3) @ x for x in D])
    dense = Source(np.array([np.outer(x, x).ravel() for x in D]), np.ones(6), threads=1)
    np.testing.assert_allclose(source.sizes, dense.sizes)


# -- prefetch ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("form", [Dense.of, lambda A: Sparse.of(sparse.csr_matrix(A))])
def test_fetching_changes_nothing(form, kind):
    A = np.random.default_rng(0).normal(size=(20, 70)).astype(kind)
    A[A < 0.3] = 0.0
    before = A.copy()
    for ahead in (1, 3, 19):
        np.testing.assert_array_equal(_read(form(A), ahead), A)
    np.testing.assert_array_equal(A, before)


def test_fetching_a_row_of_no_entries():
    np.testing.assert_array_equal(_read(Dense.of(np.zeros((3, 0))), 1), np.zeros((3, 0)))
    np.testing.assert_array_equal(_read(Sparse.of(sparse.csr_matrix((3, 2))), 1), np.zeros((3, 2)))


@njit
def _ask(array, position):
    prefetch(array, position)
    return array[0]


@pytest.mark.parametrize("position", [0, -1, 10**6, 2**40, -(2**40)])
def test_a_prefetch_is_only_a_hint_and_never_a_fault(position):
    assert _ask(np.array([5.0, 6.0]), position) == 5.0


def test_a_prefetch_reaches_the_machine():
    _ask(np.array([5.0, 6.0]), 1)
    signature = _ask.signatures[0]
    assert "llvm.prefetch" in _ask.inspect_llvm(signature)
    if platform.machine() in ("x86_64", "AMD64"):
        assert "prefetcht0" in _ask.inspect_asm(signature)
