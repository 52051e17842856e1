"""Rounds that a fit takes, each a call of a home whose results the next step waits for."""

import numpy as np
import pytest
from scipy import sparse

from stepless import LinearClassifier, Source
from stepless.data.memory import Memory

PROBES = (1, 16)
# solver, loss and alpha; rounds at most with 1 probe and with 16, passes over the rows at most
CASES = {
    "newton": ("logistic", 1e-5, (25, 25), 15),
    "smoothed-newton": ("hinge", 1e-4, (42, 36), 26),
    "lbfgs": ("logistic", 1e-3, (110, 55), 28),
}


def examples(sparsely):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20)) * (rng.random((20_000, 20)) < 0.5 if sparsely else 1.0)
    y = np.sign(X @ rng.normal(size=20) + 2.0 * rng.normal(size=20_000) + 1.0)
    return (sparse.csr_matrix(X) if sparsely else X), y


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("solver", CASES)
def test_a_fit_takes_few_rounds(monkeypatch, solver, sparsely):
    loss, alpha, most, passes = CASES[solver]
    homes, of = [], Memory.of.__func__

    def noted(cls, *given):
        homes.append(of(cls, *given))
        return homes[-1]

    monkeypatch.setattr(Memory, "of", classmethod(noted))
    found = []
    for probes, bound in zip(PROBES, most, strict=True):
        homes.clear()
        monkeypatch.setattr(Memory, "probes", probes)
        model = LinearClassifier(loss, alpha=alpha, solver=solver).fit(*examples(sparsely))
        assert model.rel_gap_ <= 1e-3
        assert 10 < homes[0].rounds <= bound
        assert 5 < homes[0].passes <= passes
        found.append((model.lower_bound_, model.objective_))
    # both intervals hold the optimum
    assert max(low for low, _ in found) <= min(high for _, high in found)


def test_a_round_is_a_call_with_results():
    source = Source(np.ones((8, 2)), np.ones(8), threads=1)
    home = source.home
    z = source.column(np.shape)
    assert (home.rounds, home.passes) == (0, 1)
    source.map(type)
    source.total(_nothing, (1,))
    assert (home.rounds, home.passes) == (2, 3)
    source.update(z, _nothing)
    assert (home.rounds, home.passes) == (2, 4)


def _nothing(block, column):
    """Neither write nor return anything."""
