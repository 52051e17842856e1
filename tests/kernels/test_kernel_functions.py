"""Kernel functions beside scikit-learn's, and how steep they are."""

import math

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel

from stepless.data.gram import between
from stepless.kernels import Gaussian, Kernel, LinearKernel, Polynomial, kernel_of
from stepless.registry import UnknownName

RNG = np.random.default_rng(0)
X, S = RNG.normal(size=(9, 4)), RNG.normal(size=(6, 4))
KERNELS = {
    "gaussian": (Gaussian(0.3), rbf_kernel(X, S, gamma=0.3)),
    "polynomial": (Polynomial(3, 0.4, 0.7), polynomial_kernel(X, S, 3, 0.4, 0.7)),
    "linear": (LinearKernel(), linear_kernel(X, S)),
}


class Laplacian(Kernel):
    """Of one's own, in one dimension: exp(−|x − s|)."""

    def value(self, product, x_square, s_square):
        return math.exp(-math.sqrt(max(x_square + s_square - 2.0 * product, 0.0)))


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_scikit_learns(name):
    kernel, expected = KERNELS[name]
    np.testing.assert_allclose(between(kernel, X, S), expected, rtol=1e-12)
    for i, j in [(0, 0), (3, 5), (8, 2)]:  # plain Python is the compiled code's twin
        plain = kernel.value(float(X[i] @ S[j]), float(X[i] @ X[i]), float(S[j] @ S[j]))
        assert plain == pytest.approx(expected[i, j], rel=1e-12)


def test_one_of_ones_own():
    x = X[:, :1]
    ours = between(Laplacian(), x, S[:, :1])
    np.testing.assert_allclose(ours, laplacian_kernel(x, S[:, :1], gamma=1.0), rtol=1e-6)
    assert Laplacian().steepness(1.0) == math.inf


@pytest.mark.parametrize("name", KERNELS)
def test_none_is_steeper_than_it_says(name):
    kernel, _ = KERNELS[name]
    h = 1e-6
    for _ in range(200):
        xx, ss = RNG.uniform(0.0, 5.0, 2)
        product = RNG.uniform(-1.0, 1.0) * math.sqrt(xx * ss)
        at = np.array([product, xx, ss])
        total = sum(
            abs(kernel.value(*(at + step)) - kernel.value(*(at - step))) / (2 * h)
            for step in h * np.eye(3)
        )
        assert total <= kernel.steepness(5.0) * (1 + 1e-5) + 1e-5


def test_names():
    assert kernel_of("gaussian", 0.5) == Gaussian(0.5)
    assert kernel_of("polynomial", 0.5) == Polynomial(3, 0.5, 1.0)
    assert kernel_of("polynomial(2, 0)", 0.5) == Polynomial(2, 0.5, 0.0)
    assert kernel_of("linear", 0.5) == LinearKernel()
    with pytest.raises(UnknownName, match="there is no kernel 'gausian': did you mean 'gaussian'"):
        kernel_of("gausian", 0.5)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Gaussian(0.0), "gamma must be positive, not 0"),
        (lambda: Gaussian(-1.0), "gamma must be positive, not -1"),
        (lambda: Gaussian(math.nan), "gamma must be positive, not nan"),
        (lambda: kernel_of("polynomial(2.5)", 1.0), "degree must be a whole number, not 2.5"),
        (lambda: kernel_of("polynomial(nan)", 1.0), "degree must be a whole number, not nan"),
        (lambda: Polynomial(0), "degree must be at least 1, not 0"),
        (lambda: Polynomial(2, math.inf), "gamma must be positive, not inf"),
        (lambda: Polynomial(2, 1.0, -1.0), "offset must be at least 0, not -1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
