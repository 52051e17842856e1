"""Kernels of examples with each other, kept and made, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from stepless.data import gram as module
from stepless.data.gram import Gram, combination
from stepless.kernels import Gaussian, Kernel, Polynomial

X = np.random.default_rng(0).normal(size=(30, 5)) * (np.random.default_rng(1).random((30, 5)) < 0.6)
K = rbf_kernel(X, gamma=0.4)


@pytest.mark.parametrize("tabled", [5000, 0])
@pytest.mark.parametrize("chunk", [1 << 22, 40])
@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csr_array]
)
def test_blocks_and_sums_are_those_of_the_whole(form, tabled, chunk, monkeypatch):
    monkeypatch.setattr(module, "TABLED", tabled)
    monkeypatch.setattr(module, "_CHUNK", chunk)
    gram = Gram(Gaussian(0.4), form(X))
    assert (gram.table is None) == (tabled == 0)
    np.testing.assert_allclose(gram.diagonal, 1.0)
    rows, columns = np.array([3, 7, 7]), np.array([0, 29])
    np.testing.assert_allclose(gram.block(rows, columns), K[np.ix_(rows, columns)], rtol=1e-12)
    c = np.random.default_rng(2).normal(size=30) * (np.arange(30) % 3 == 0)
    np.testing.assert_allclose(gram.predictions(c), K @ c, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(gram.predictions(np.zeros(30)), 0.0)
    C = np.random.default_rng(3).normal(size=(30, 2))
    np.testing.assert_allclose(combination(gram.kernel, form(X), form(X), C), K @ C, atol=1e-12)


def test_rounding_is_counted():
    near, far = Gram(Gaussian(0.4), X), Gram(Gaussian(0.4), X + 1e6)
    assert near.rounding < 1e-13
    exact = np.abs(far.table - K).max()
    assert 1e-6 < exact < far.rounding  # centring would help; the certificate knows


def test_kernels_that_are_none_are_refused():
    class Negative(Kernel):
        def value(self, product, x_square, s_square):
            return -1.0

    with pytest.raises(ValueError, match="row 0 with itself is -1: a kernel must be positive"):
        Gram(Negative(), X)
    with pytest.raises(ValueError, match="row 1 with itself overflows; rescale"):
        Gram(Polynomial(9), np.array([[1.0], [1e40]]))
