"""What Newton's methods share, against numpy."""

import numpy as np
import pytest
from scipy import sparse

from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Hinge, Logistic, Objective, Squared, SquaredL2
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Newton, ProximalBundle, SmoothedNewton
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.newton_step import (
    NewtonSystem,
    Predictions,
    fenchel_bound,
    head_start_sample,
    largest,
    level_intercept,
    line_search,
)
from stepless.stopping import Stopping


def source(m, d, density=1.0, seed=0, threads=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < density)
    X = sparse.csr_matrix(X) if density < 1.0 else X
    return Source(X, np.where(rng.random(m) < 0.5, 1.0, -1.0), threads=threads)


def rows(given):
    w = np.eye(given.shape[1])
    return np.stack([given.predictions(column) for column in w]).T


@pytest.mark.parametrize("density", [1.0, 0.3])
@pytest.mark.parametrize("ones", [False, True])
def test_products_are_numpys(density, ones):
    m = 12_000
    given = source(m, 60, density)
    assert len(given.blocks()) > 1
    X, rng = rows(given), np.random.default_rng(1)
    a, c, v = rng.normal(size=m), rng.random(m) * (rng.random(m) < 0.5), rng.normal(size=60)
    np.testing.assert_allclose(given.combination(a), X.T @ a, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(given.squares(c), (X * X).T @ c, rtol=1e-10)
    np.testing.assert_allclose(given.curved(c, v), X.T @ (c * (X @ v)), rtol=1e-9)
    Z = np.column_stack([X, np.ones(m)]) if ones else X
    np.testing.assert_allclose(
        np.tril(given.gram(c, ones)), np.tril(Z.T @ (c[:, None] * Z)), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("density", [1.0, 0.3])
def test_taken_rows_are_those_rows(density):
    given = source(300, 7, density)
    chosen = np.array([5, 5, 0, 299])
    np.testing.assert_array_equal(rows(given.take(chosen)), rows(given)[chosen])
    np.testing.assert_array_equal(given.take(chosen).y, given.y[chosen])


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("way", ["factors", "some rows", "diagonal"])
def test_a_system_is_solved(monkeypatch, way, ones):
    given = source(3000, 25)
    if way == "diagonal":
        monkeypatch.setattr(newton_step, "_DENSE", 10)
    monkeypatch.setattr(newton_step, "_FORCING", 1e-9)
    rng = np.random.default_rng(2)
    c, damping = rng.random(3000), np.full(25 + ones, 1e-3)
    system = NewtonSystem(given, given.split(c), damping, ones, thrifty=way == "some rows")
    assert system.exact == (way == "factors")
    X = np.column_stack([rows(given), np.ones(3000)]) if ones else rows(given)
    H = X.T @ (c[:, None] * X) + np.diag(damping)
    right = rng.normal(size=25 + ones)
    np.testing.assert_allclose(system.solve(right), np.linalg.solve(H, right), rtol=1e-6)


def test_a_singular_hessian_is_no_failure():
    given = Source(np.ones((50, 3)), np.ones(50))
    solved = NewtonSystem(given, given.split(np.ones(50)), np.zeros(4), ones=True).solve(np.ones(4))
    assert np.isfinite(solved).all()


def several(derivatives, asked):
    def at(lengths):
        asked.append(len(lengths))
        return np.array([derivatives(t) for t in lengths])

    return at


@pytest.mark.parametrize("probes", [1, 16])
def test_the_search_ends_at_the_minimum_of_a_piecewise_quadratic(probes):
    def near(t):  # φ'(t) = −1 + t up to 3, then steeper; the minimum is at 1
        return (t - 1.0, 1.0) if t < 3 else (2 + 9 * (t - 3), 9.0)

    def far(t):
        return -1.0 + max(0.0, t - 500.0), float(t > 500.0)

    assert line_search(-1.0, several(near, []), probes) == 1.0
    assert line_search(-1.0, several(far, []), probes) == pytest.approx(501.0, abs=0.2)


@pytest.mark.parametrize("minimum", [0.07, 0.3, 0.9, 2.5])
def test_sixteen_lengths_are_enough(minimum):
    asked = []
    slopes = several(lambda t: (np.tanh(t - minimum), 1.0 / np.cosh(t - minimum) ** 2), asked)
    found = line_search(-np.tanh(minimum), slopes, 16)
    assert abs(np.tanh(found - minimum)) <= 0.1 * np.tanh(minimum)
    assert len(asked) <= 2
    assert asked[0] == 16


@pytest.mark.parametrize("probes", [1, 16])
def test_levelling_finds_the_root_of_a_monotone_slope(probes):
    asked = []

    def tilt(shifts):
        asked.append(shifts)
        return [np.array([np.tanh(shift - 37.5), 0.0, 1e-14, shift]) for shift in shifts]

    found, row = level_intercept(tilt, probes)  # by curvatures that say nothing
    assert found == pytest.approx(37.5)
    assert found in asked[-1]
    assert row[3] == found


@pytest.mark.parametrize("probes", [1, 16])
@pytest.mark.parametrize("free", [False, True])
def test_the_gradient_is_of_the_shift_that_is_returned(probes, free):
    written, advanced = [], []

    def survey(shifts):
        written.append(shifts[0])
        return np.array([(np.sinh(t - 0.3), np.cosh(t - 0.3), 1e-12, t) for t in shifts])

    def advance(shifts):
        rows = survey(shifts or written[-1:])
        advanced.append(written[-1])
        return rows

    shift, row = newton_step.advanced(survey, advance, probes, free)
    assert shift == advanced[-1] == row[3]
    assert shift == (pytest.approx(0.3, abs=1e-11) if free else 0.0)


def test_drifted_predictions_are_computed_anew():
    given = source(100, 3)
    w = np.array([1.0, -2.0, 0.5])
    kept = Predictions.of(given, w, 0.0)
    far = given.split(given.predictions(np.full(3, 1e9)))
    kept.follow(given, far, 1.0)
    assert not kept.drifted(given.map(largest, kept.p))
    kept.follow(given, far, -1.0)
    assert kept.drifted(given.map(largest, kept.p))  # 1e9 has cost seven digits
    assert np.abs(kept.p.whole - given.predictions(w)).max() > 1e-9
    kept.renew(given, w, 0.0)
    np.testing.assert_array_equal(kept.p.whole, given.predictions(w))
    assert not kept.drifted(given.map(largest, kept.p))


def test_a_sample_is_an_eighth_with_a_strength_to_match():
    risk = LinearRisk(Objective(Hinge(), SquaredL2(1e-9)), source(20_000, 4))
    sample = head_start_sample(risk)
    assert sample.m == 2500
    assert sample.objective.strength == pytest.approx(0.1 / 2500)
    assert head_start_sample(sample) is None


@pytest.mark.parametrize("most", [{"_MOST_EXAMPLES": 2100}, {"_MOST_ENTRIES": 8401}])
def test_a_sample_is_never_larger_than_some_size(monkeypatch, most):
    for name, number in most.items():
        monkeypatch.setattr(newton_step, name, number)
    given = source(20_000, 4)
    one, other = (
        head_start_sample(LinearRisk(Objective(Hinge(), SquaredL2(1e-9)), given)) for _ in range(2)
    )
    assert one.m == 2100
    np.testing.assert_array_equal(one.source.X.array, other.source.X.array)
    chosen = np.flatnonzero(np.isin(given.X.array[:, 0], one.source.X.array[:, 0]))
    assert chosen.size == 2100
    assert (np.diff(chosen) < 20).all()  # from all over


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("loss", "solver"), [(Logistic(), Newton()), (Hinge(), SmoothedNewton())])
def test_many_features_and_many_examples(monkeypatch, loss, solver, intercept):
    """Samples, sampled factors and conjugate gradients lead to the optimum too."""
    given = source(24_000, 30, density=0.8)
    risk = LinearRisk(Objective(loss, SquaredL2(1e-3), intercept=intercept), given)
    best = minimize(risk, ProximalBundle(), Stopping(gap=1e-5, passes=500))
    for dense in (1500, 10):
        monkeypatch.setattr(newton_step, "_DENSE", dense)
        result = minimize(risk, solver, Stopping(gap=1e-5, passes=200))
        assert result.stopped_by == "gap", result.rel_gap
        assert result.lower_bound <= best.objective
        assert best.lower_bound <= result.objective


def test_fenchels_bound_is_that_of_the_paper():
    given = source(40, 3, threads=1)
    risk = LinearRisk(Objective(Squared(), SquaredL2(0.1), intercept=False), given)
    X, w = rows(given), np.array([0.3, -0.2, 0.1])
    a = X @ w - given.y
    J = 0.05 * w @ w + 0.5 * (a @ a) / 40
    r = 0.1 * w + X.T @ a / 40
    bound = fenchel_bound(risk.objective, J, 0.0, r)
    dual = -(0.5 * a @ a + a @ given.y) / 40 - (X.T @ a / 40) @ (X.T @ a / 40) / 0.2
    assert bound == pytest.approx(dual)
    assert fenchel_bound(risk.objective, J, np.inf, r) == -np.inf
