import numpy as np
import pytest

from stepless.risks.ranking.argsort_descending import argsort_descending


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 16, 17, 100, 1000])
@pytest.mark.parametrize("kinds", [1, 3, 10**6])
def test_it_is_a_stable_argsort(n, kinds):
    z = np.random.default_rng(n).integers(kinds, size=n).astype(float)
    order = np.empty(n, dtype=np.int64)
    argsort_descending(order, z)
    assert np.array_equal(order, np.argsort(-z, kind="stable"))
