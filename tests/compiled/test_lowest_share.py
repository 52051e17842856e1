import numpy as np
import pytest

from stepless.compiled.lowest_share import lowest_share


def by_sorting(values, weights, mass):
    """Σ of the lowest values up to a weight, and the value at which it is reached."""
    total, left = 0.0, mass
    for i in np.argsort(values, kind="stable"):
        taken = min(left, weights[i])
        total += taken * values[i]
        left -= taken
        if left <= 1e-12:
            return total, values[i]
    return total, values.max()


@pytest.mark.parametrize("seed", range(30))
def test_shares_are_those_of_a_sorted_list(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values = rng.integers(-4, 4, n).astype(float) if seed % 2 else rng.normal(size=n)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    weights[0] = 1.0
    mass = weights.sum() * rng.choice([rng.random(), 1.0])
    shares = np.full(n, np.nan)
    at = lowest_share(shares, values, weights, mass)
    total, quantile = by_sorting(values, weights, mass)
    assert shares @ values == pytest.approx(total, abs=1e-12)
    assert shares.sum() == pytest.approx(mass)
    assert ((shares >= 0.0) & (shares <= weights)).all()
    below = weights[values < at].sum()
    assert below <= mass + 1e-12 <= weights[values <= at].sum() + 2e-12
    if 0.01 < mass < 0.99 * weights.sum() and seed % 2 == 0:
        assert at == quantile
    tied = (values == at) & (weights > 0.0)
    assert np.unique((shares[tied] / weights[tied]).round(12)).size <= 1  # equals share alike


def test_sorted_and_equal_numbers_take_no_longer():
    for values in (np.arange(200_000.0), -np.arange(200_000.0), np.zeros(200_000)):
        shares = np.empty(values.size)
        lowest_share(shares, values, np.ones(values.size), 1000.5)
        assert shares.sum() == pytest.approx(1000.5)
