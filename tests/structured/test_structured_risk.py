from fractions import Fraction

import numpy as np
import pytest

from stepless import SOLVERS, SquaredL2, Stopping
from stepless.minimization import minimize
from stepless.structured import StructuredRisk
from structured.outputs import SparseSubsets, Subsets, examples, optimum

MODEL = Subsets()


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle", "bundle-linesearch"])
def test_optimum_is_that_of_the_quadratic_programme(solver):
    X, Y = examples(np.random.default_rng(0), 15)
    known = optimum(MODEL, X, Y, 0.05)
    risk = StructuredRisk(MODEL, X, Y, SquaredL2(0.05))
    found = minimize(risk, SOLVERS[solver](), Stopping(gap=1e-3, passes=3000))
    assert found.stopped_by == "gap"
    assert found.lower_bound <= known * (1 + 1e-8)
    assert known * (1 - 1e-8) <= found.objective <= known * 1.0011


@pytest.mark.parametrize("seed", range(8))
def test_no_certificate_is_false(seed):
    rng = np.random.default_rng(seed)
    X, Y = examples(rng, 8)
    strength, s = 10.0 ** rng.uniform(-5, 0), rng.integers(0, 3, size=8).astype(float)
    s[0] = 1.0
    known = optimum(MODEL, X, Y, strength, s)
    risk = StructuredRisk(MODEL, X, Y, SquaredL2(strength), s=s)
    found = minimize(risk, SOLVERS["proximal-bundle"](), Stopping(gap=1e-7, passes=200))
    for event in found.trace:
        assert event.lower_bound <= known + 1e-8
        assert event.objective >= known - 1e-8


@pytest.mark.parametrize("model", [Subsets(), SparseSubsets()], ids=["dense", "sparse"])
def test_gradient_is_that_of_differences(model):
    rng = np.random.default_rng(1)
    X, Y = examples(rng, 12)
    risk = StructuredRisk(model, X, Y, SquaredL2(0.1), s=rng.uniform(0.5, 2.0, size=12))
    for _ in range(5):
        w, step = rng.normal(size=model.d), 1e-6 * rng.normal(size=model.d)
        value, g = risk.value_and_gradient(w)
        change = risk.value(w + step, 0.0) - risk.value(w - step, 0.0)
        assert change == pytest.approx(2.0 * step @ g, abs=1e-11)
        plane = risk.tangent(w, 0.0).plane
        assert plane.offset + plane.a @ w == pytest.approx(value, rel=1e-12)


def test_forms_of_features_are_one_risk():
    rng = np.random.default_rng(2)
    X, Y = examples(rng, 6)
    w = rng.normal(size=9)
    dense, pairs = (
        StructuredRisk(model, X, Y, SquaredL2(1.0)) for model in (MODEL, SparseSubsets())
    )
    assert dense.value(w, 0.0) == pytest.approx(pairs.value(w, 0.0), rel=1e-14)
    np.testing.assert_allclose(dense.value_and_gradient(w)[1], pairs.value_and_gradient(w)[1])


def test_a_model_may_use_its_arrays_again():
    class Saving(SparseSubsets):
        indices, values = np.zeros(10, dtype=np.int32), np.zeros(10)

        def features(self, x, y):
            self.indices[:], self.values[:] = super().features(x, y)
            return self.indices, self.values

    rng = np.random.default_rng(9)
    X, Y = examples(rng, 6)
    w = rng.normal(size=9)
    saving, plain = (StructuredRisk(of, X, Y, SquaredL2(1.0)) for of in (Saving(), SparseSubsets()))
    np.testing.assert_array_equal(saving.tangent(w, 0.0).plane.a, plain.tangent(w, 0.0).plane.a)


def test_threads_change_nothing():
    class Threaded(Subsets):
        releases_gil = True

    rng = np.random.default_rng(3)
    X, Y = examples(rng, 40)
    w = rng.normal(size=9)
    one = StructuredRisk(MODEL, X, Y, SquaredL2(1.0)).tangent(w, 0.0)
    three = StructuredRisk(Threaded(), X, Y, SquaredL2(1.0), threads=3).tangent(w, 0.0)
    assert one.value == three.value
    np.testing.assert_array_equal(one.plane.a, three.plane.a)


def test_planes_are_kept_under_a_weaker_penalty():
    X, Y = examples(np.random.default_rng(4), 15)
    risk, stopping = StructuredRisk(MODEL, X, Y, SquaredL2(0.05)), Stopping(gap=1e-4)
    first = minimize(risk, SOLVERS["bundle"](), stopping)
    weaker = risk.under(SquaredL2(0.03))
    warm = minimize(weaker, SOLVERS["bundle"](), stopping, start=first)
    assert len(warm.trace) < len(minimize(weaker, SOLVERS["bundle"](), stopping).trace)
    assert warm.lower_bound <= optimum(MODEL, X, Y, 0.03) <= warm.objective * (1 + 1e-8)


@pytest.mark.parametrize("offset", [2.0**29, 2.0**36])
def test_features_that_cancel_prove_nothing_false(offset):
    """What all outputs have in common changes no difference of scores, but rounds them."""

    class Far(Subsets):
        def features(self, x, y):
            return self.dense(x, y) + offset

    for seed in range(4):
        X, Y = examples(np.random.default_rng(seed), 8)
        X = [np.round(x * 256.0) / 256.0 for x in X]  # exact beside the offset
        known = optimum(MODEL, X, Y, 0.05)
        risk = StructuredRisk(Far(), X, Y, SquaredL2(0.05))
        for start in np.random.default_rng(seed).normal(size=(3, 9)):
            first = (start - start.mean(), 0.0)
            found = minimize(
                risk, SOLVERS["proximal-bundle"](), Stopping(gap=0.0, passes=25), start=first
            )
            plain = StructuredRisk(MODEL, X, Y, SquaredL2(0.05)).value(found.w, 0.0)
            assert found.objective >= plain + 0.025 * found.w @ found.w - 1e-12
            for event in found.trace:
                assert event.objective >= known * (1.0 - 1e-8)
                assert event.lower_bound <= known * (1.0 + 1e-8)


class Apart(Subsets):
    """Two outputs, whose features are nothing, or large ones that nearly cancel."""

    d, outputs = 2, (0, 1)

    def features(self, x, y):
        return y * x

    def cost(self, y, other):
        return float(y != other)

    def most_violated(self, w, x, y):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), w.tolist(), strict=True))
        return int(exact + (1 if y == 0 else -1) > 0)

    def predict(self, w, x):
        return self.most_violated(w, x, 0.5)


def test_what_is_asked_first_is_lifted_as_well():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = [np.array([2.0**40 + u, 2.0**40]) for u in rng.integers(-4, 5, size=3)]
        risk = StructuredRisk(Apart(), X, [0, 0, 0], SquaredL2(1e-3))
        start = (rng.normal() * np.array([1.0, -1.0]), 0.0)
        found = minimize(risk, SOLVERS["bundle"](), Stopping(gap=0.0, passes=2), start=start)
        exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(x, found.w, strict=True)) for x in X]
        loss = sum(max(score + 1, 0) for score in exact) / 3
        size = sum(Fraction(v) ** 2 for v in found.w.tolist())
        assert Fraction(found.objective) >= loss + Fraction(5e-4) * size


def broken(**methods):
    return type("Broken", (Subsets,), methods)()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (
            broken(
                most_violated=lambda self, w, x, y: min(
                    self.outputs, key=lambda other: self.features(x, other) @ w
                )
            ),
            "most_violated returned for example 1 an output .* below the truth's own score",
        ),
        (broken(cost=lambda self, y, other: -1.0), "cost of an output of example 1 is -1"),
        (broken(cost=lambda self, y, other: 1.0), "cost of the truth of example 1 is 1"),
        (broken(features=lambda self, x, y: np.ones(4)), r"example 1 have shape \(4,\).*\(9,\)"),
        (broken(features=lambda self, x, y: np.full(9, np.nan)), "example 1 hold nan at index 0"),
        (broken(features=lambda self, x, y: np.full(9, 1e60)), r"example 1 hold 1e\+60 at index 0"),
        (
            broken(features=lambda self, x, y: np.full(9, 1j)),
            "of type complex128: they must be num",
        ),
        (
            broken(features=lambda self, x, y: (np.array([9]), np.array([1.0]))),
            "example 1 have indices from 9 to 9: they must be from 0 to 8",
        ),
        (
            broken(features=lambda self, x, y: (np.array([1.0]), np.array([1.0]))),
            "example 1 have indices of type float64: they must be whole numbers",
        ),
        (
            broken(features=lambda self, x, y: (np.array([1, 2]), np.array([1.0]))),
            r"indices of shape \(2,\) and values of shape \(1,\)",
        ),
    ],
)
def test_what_a_model_makes_wrong_is_named(model, says):
    X, Y = examples(np.random.default_rng(5), 3)
    with pytest.raises(ValueError, match=says):
        _looked_at(model, X, Y)


def _looked_at(model, X, Y):
    w = np.linspace(-3.0, 3.0, 9)
    return StructuredRisk(model, X, Y, SquaredL2(1.0), s=np.array([0.0, 1.0, 1.0])).value(w, 0.0)


def test_errors_inside_a_search_are_told_by_example():
    X, Y = examples(np.random.default_rng(5), 3)
    with pytest.raises(IndexError) as told:
        _looked_at(broken(most_violated=lambda self, w, x, y: self.outputs[8]), X, Y)
    assert "of example 1" in told.value.__notes__[0]
    with pytest.raises(ValueError, match="example 1: not enough values to unpack"):
        _looked_at(broken(most_violated=_unpacking), X, Y)
    nameless = type("Nameless", (Subsets,), {"d": None})()
    with pytest.raises(ValueError, match="Nameless must have the number of weights in d"):
        _looked_at(nameless, X, Y)


def _erasing(self, w, x, y):
    w[:] = 0.0
    return y


def test_a_search_beside_the_point_is_refused():
    X, Y = examples(np.random.default_rng(5), 3)
    with pytest.raises(ValueError, match="below that of another, which predict returned before"):
        _looked_at(broken(most_violated=lambda self, w, x, y: y), X, Y)
    erasing = broken(most_violated=_erasing, predict=lambda self, w, x: Y[1])
    with pytest.raises(ValueError, match="most_violated changed the weights"):
        StructuredRisk(erasing, X[1:2], Y[1:2], SquaredL2(1.0)).value(np.ones(9), 0.0)
    for cost in (None, "a", np.ones(2)):
        with pytest.raises(ValueError, match=r"cost of an output of example 1 is .* a number ≥ 0"):
            _looked_at(broken(cost=lambda self, y, other, cost=cost: cost), X, Y)


def _unpacking(self, w, x, y):
    _, _ = (1,)


def test_a_search_that_forgets_is_refused():
    """A search that is not exact makes the objective too low: a certificate would be false."""
    X, Y = examples(np.random.default_rng(6), 10)
    w = np.random.default_rng(7).normal(size=9)

    class Lazy(Subsets):
        lazy = False

        def most_violated(self, w, x, y):
            return y if self.lazy and y == Y[4] else super().most_violated(w, x, y)

    model = Lazy()
    risk = StructuredRisk(model, X, Y, SquaredL2(1.0))
    value = risk.value(w, 0.0)
    assert risk.value(w, 0.0) == value
    model.lazy = True
    first = next(
        i for i in range(10) if Y[i] == Y[4] and Subsets().most_violated(w, X[i], Y[i]) != Y[i]
    )
    with pytest.raises(ValueError, match=f"example {first} .* below that of another, which it ret"):
        risk.value(w * 1.001, 0.0)


def test_a_search_in_single_precision_is_refused_where_it_misses():
    class Single(Subsets):
        def dense(self, x, y):
            return super().dense(x, y) + 2.0**20

        def most_violated(self, w, x, y):
            scores = [
                np.float32(self.dense(x, other).astype(np.float32) @ w.astype(np.float32))
                + np.float32(self.cost(y, other))
                for other in self.outputs
            ]
            return self.outputs[int(np.argmax(scores))]

    X, Y = examples(np.random.default_rng(8), 15)
    risk = StructuredRisk(Single(), X, Y, SquaredL2(1e-3))
    with pytest.raises(ValueError, match=r"below that of another, .*: it must find the largest"):
        minimize(risk, SOLVERS["proximal-bundle"](), Stopping(gap=1e-4, passes=300))
