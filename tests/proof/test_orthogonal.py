"""Bounds beside features without a penalty, against optima in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from proof.arithmetic import exact
from stepless.data import Source
from stepless.objective import FactoredElasticNet, Objective, Squared
from stepless.proof import sums

FACTORS = (2.0, 0.0, 0.5, 0.0)


def solved(A, v):
    """Return a solution of Ax = v in fractions, with 0 for what depends on others."""
    n = len(v)
    rows = [[*row, vi] for row, vi in zip(A, v, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k]), None)
        if pivot is None:
            continue
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [u - rows[i][k] * w for u, w in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def ridge(X, y, s, alpha, factors, intercept):
    """The least (α/2) Σ f_j w_j² + Σ s_i (⟨w, x_i⟩ + b − y_i)²/2m, and its slopes."""
    m, d = X.shape
    rows = [[*map(exact, x), Fraction(int(intercept))] for x in X]
    ss, yy = [exact(si) for si in s], [exact(yi) for yi in y]
    n, each = range(d + 1), list(zip(ss, rows, strict=True))
    A = [[sum(si * x[j] * x[k] for si, x in each) / m for k in n] for j in n]
    for j, factor in enumerate(factors):
        A[j][j] += exact(alpha) * exact(factor)
    v = [sum(si * x[j] * yi for (si, x), yi in zip(each, yy, strict=True)) / m for j in n]
    x_best = solved(A, v)
    a = [sum(map(Fraction.__mul__, x, x_best)) - yi for x, yi in zip(rows, yy, strict=True)]
    penalty = sum(exact(f) * wj * wj for f, wj in zip(factors, x_best, strict=False))
    risk = sum(si * ai * ai for si, ai in zip(ss, a, strict=True)) / (2 * m)
    return exact(alpha) / 2 * penalty + risk, [float(xj) for xj in x_best], [float(ai) for ai in a]


def examples(kind, seed, m=12):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 9, size=(m, 4)) / 4.0
    if kind == "dependent":
        X[:, 3] = 2.0 * X[:, 1] + 0.5
    elif kind == "nearly dependent":
        X[:, 3] = X[:, 1] + 2.0**-20 * X[:, 3]
    elif kind == "far":
        X[:, 1] += 2.0**30
    elif kind == "absent":
        X[:, [1, 3]] = 0.0
    y = X @ [1.0, -1.0, 0.0, 0.0] + rng.integers(-9, 9, size=m) / 8.0
    return X, y, rng.integers(1, 5, size=m) * 0.5


@pytest.mark.parametrize("kind", ["plain", "dependent", "nearly dependent", "far", "absent"])
@pytest.mark.parametrize("intercept", [False, True])
def test_no_slopes_prove_more_than_the_optimum(kind, intercept):
    penalty = FactoredElasticNet(0.3, FACTORS, 0.0)
    for seed in range(2):
        X, y, s = examples(kind, seed)
        s /= s.mean()
        source = Source(X, y, s)
        s = source.s
        best, x, a = ridge(X, y, s, 0.3, FACTORS, intercept)
        objective = Objective(Squared(), penalty, intercept=intercept)
        w, b = np.array(x[:4]), x[4] if intercept else 0.0
        rng = np.random.default_rng(seed)
        for off in (0.0, *10.0 ** np.arange(-14.0, 0.0, 2.0)):
            for sign in (1.0, -1.0):
                slopes = np.array(a) * (1.0 + sign * off * rng.random(len(a)))
                found = sums.verify(objective, source, w, b, source.split(slopes))
                assert exact(found.lower_bound) <= best
                assert exact(found.objective) >= best
                if off == 0.0:
                    loose = 1e-4 if kind == "far" else 1e-9
                    assert found.lower_bound >= float(best) * (1.0 - loose)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("small", [2.0**-520, 2.0**-600, 2.0**-900])
def test_a_feature_whose_squares_underflow_is_not_absent(small, intercept):
    """Without a penalty its weight may be as large as it is small."""
    X, y, s = examples("plain", 0)
    [free] = [j for j, factor in enumerate(FACTORS) if factor == 0.0][:1]
    source = Source(X * np.where(np.arange(4) == free, small, 1.0), y, s / s.mean())
    best, _, _ = ridge(X, y, source.s, 0.3, FACTORS, intercept)
    others = [j for j in range(4) if j != free]
    factors = [FACTORS[j] for j in others]
    _, x, a = ridge(X[:, others], y, source.s, 0.3, factors, intercept)
    w = np.zeros(4)
    w[others] = x[:3]
    objective = Objective(Squared(), FactoredElasticNet(0.3, FACTORS, 0.0), intercept=intercept)
    slopes = source.split(np.array(a))
    found = sums.verify(objective, source, w, x[3] if intercept else 0.0, slopes)
    assert exact(found.lower_bound) <= best
