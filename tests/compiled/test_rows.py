"""Lengths of examples."""

import numpy as np
import pytest

from stepless.compiled.rows import extent, steepest
from stepless.design import Dense


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_float32_rows_have_lengths_whatever_their_size(size):
    X, s = Dense.of(np.full((2, 4), size, dtype=np.float32)), np.ones(2)
    assert steepest(X, s) == pytest.approx((4.0 * size**2, 2.0 * size))
    assert extent(X, s) == pytest.approx((8.0 * size**2, size, 2.0 * size))
