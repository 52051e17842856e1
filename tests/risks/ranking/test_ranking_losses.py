"""Each loss of a ranking is the maximum over all rankings, and bounds what it is named after."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from risks.ranking import brute_force
from stepless.risks.ranking import (
    NDCG,
    AssignedNDCG,
    AveragePrecision,
    Pairwise,
    ReciprocalRank,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
)

LOSSES = [
    (Pairwise(), brute_force.pairwise),
    (AveragePrecision(), brute_force.average_precision),
    (ReciprocalRank(), brute_force.reciprocal_rank),
    *((NDCG(k), lambda z, y, k=k: brute_force.ndcg(z, y, k)) for k in (1, 2, 4, 10)),
    *((AssignedNDCG(k), lambda z, y, k=k: brute_force.assigned_ndcg(z, y, k)) for k in (1, 3, 9)),
]
BOUNDED = [
    (AveragePrecision(), mean_average_precision),
    (ReciprocalRank(), mean_reciprocal_rank),
    (NDCG(3), lambda y, z: ndcg_at_k(y, z, 3)),
    (AssignedNDCG(3), lambda y, z: ndcg_at_k(y, z, 3)),
]


def highest(loss, z, y):
    """The loss at z, and its plane there."""
    a = np.empty(z.size)
    level = loss.plane(a, z, y, np.argsort(-z))
    return level + a @ z, level, a


def queries(loss, count, most=6, grades=4, seed=0):
    """Queries with something to tell, scores of several sizes, some of them equal."""
    rng = np.random.default_rng(seed)
    while count:
        n = rng.integers(2, most + 1)
        y = np.sort(rng.integers(grades, size=n))[::-1].astype(float)
        z = rng.normal(size=n) * rng.choice([0.01, 0.1, 1, 5])
        if loss.is_informative(y):
            count -= 1
            yield (np.round(z) if rng.random() < 0.3 else z), y


@pytest.mark.parametrize(("loss", "brute"), LOSSES, ids=lambda part: str(part)[:20])
def test_it_is_the_maximum_over_all_rankings(loss, brute):
    for z, y in queries(loss, 200):
        value, level, a = highest(loss, z, y)
        assert value == pytest.approx(brute(z, y), abs=1e-13)
        assert a.sum() == pytest.approx(0.0, abs=1e-14)
        assert -1e-14 <= level <= 1.0 + 1e-14


@pytest.mark.parametrize("loss", [loss for loss, _ in LOSSES], ids=str)
def test_planes_lie_below_everywhere(loss):
    """Also of long queries, where brute force is no help: value = level + ⟨a, z⟩ is a maximum."""
    rng = np.random.default_rng(1)
    for z, y in queries(loss, 10, most=60, seed=2):
        value = highest(loss, z, y)[0]
        for other in (z[rng.permutation(z.size)], z + 0.1 * rng.normal(size=z.size), -z):
            _, level, a = highest(loss, other, y)
            assert level + a @ z <= value + 1e-12
        _, _, a = highest(loss, z, y)
        bump = 1e-6 * rng.normal(size=z.size)
        there = highest(loss, z + bump, y)[0]
        assert there >= value + a @ bump - 1e-13


@pytest.mark.parametrize(("loss", "measure"), BOUNDED, ids=lambda part: str(part)[:20])
def test_it_bounds_the_error_that_it_is_named_after(loss, measure):
    tight = 0
    for z, y in queries(loss, 100, most=12, grades=3, seed=3):
        value = highest(loss, z, y)[0]
        assert value >= 1 - measure(y, z) - 1e-12
        far = highest(loss, 100 * y, y)[0]  # the right order, by a wide margin
        assert far == pytest.approx(0.0, abs=1e-12)
        tight += value < 1.5
    assert tight > 30


def test_sorting_solves_the_assignment():
    """AssignedNDCG against scipy's linear assignment, where permutations are too many."""
    loss = AssignedNDCG(10)
    for z, y in queries(loss, 20, most=80, seed=4):
        c = brute_force.discounts(z.size, 10)
        G = (2**y - 1) / ((2**y - 1) @ c)
        rows, ranks = linear_sum_assignment(np.outer(z - G, c), maximize=True)
        right = np.array([c[y == grade].mean() for grade in y])
        best = 1 + (z - G)[rows] @ c[ranks] - right @ z
        assert highest(loss, z, y)[0] == pytest.approx(best, abs=1e-12)


def test_more_documents_than_can_be_paired():
    """100 000 documents, 50 000 grades: pairs are not visited one by one."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(50_000, size=100_000))[::-1].astype(float)
    z = y / 50_000 + rng.normal(size=y.size)
    value, _, _ = highest(Pairwise(), z, y)
    i, j = rng.integers(y.size, size=(2, 1_000_000))
    i, j = np.minimum(i, j), np.maximum(i, j)
    drawn = np.maximum(0, 1 - z[i] + z[j])[y[i] > y[j]]
    assert value == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 1000)
    two = (y > 25_000).astype(float)
    assert highest(AveragePrecision(), z, two)[0] > 0.0


@pytest.mark.parametrize("loss", [NDCG, AssignedNDCG])
def test_parameters_and_grades_that_make_no_sense(loss):
    with pytest.raises(ValueError, match=r"needs 1 ≤ k ≤ .*, not 0"):
        loss(0)
    with pytest.raises(ValueError, match=r"but y is -1 in row 1: number the grades from 0 on"):
        loss().admit(np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"but y is 99 in row 0"):
        loss().admit(np.array([99.0, 0.0]))
