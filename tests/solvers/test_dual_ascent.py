"""Dual coordinate ascent: a transcription in plain numpy, other people's optima, and hard cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from contracts.problems import Case, examples
from contracts.turning import Turning
from grids import grid
from stepless.compiled import dual_ascent as loops
from stepless.data import Source
from stepless.data.source import design_of
from stepless.minimization import minimize
from stepless.objective import (
    LOSSES,
    Absolute,
    Hinge,
    L2Ball,
    Logistic,
    Loss,
    Objective,
    Quantile,
    Squared,
    SquaredL2,
    Zero,
)
from stepless.regularization_path import along_path
from stepless.result import Onward
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers import DualAscent, ProximalBundle
from stepless.solvers.batch.dual_moves import Move, climb
from stepless.stopping import Stopping

DUAL = [name for name, kind in LOSSES.items() if kind.offers("implicit_slope", "conjugate")]


def solved(risk, gap=1e-6, passes=400, **options):
    return minimize(risk, DualAscent(), Stopping(gap=gap, passes=passes), **options)


def problem(loss, X, y, strength, intercept=False, s=None, threads=1):
    return LinearRisk(
        Objective(loss, SquaredL2(strength), intercept=intercept), Source(X, y, s, threads)
    )


def transcribed(case, order, lift, sweeps):
    """Sweeps as the papers print them: the best a_i with all others fixed, found by bisection."""
    loss, m = case.objective.loss, len(case.y)
    s = case.s * m / case.s.sum()
    a, centre = np.zeros(m), 0.0

    def point():
        scaled = s * a / (case.strength * m)
        return -scaled @ case.X, centre - lift * scaled.sum()

    for _ in range(sweeps):
        for i in order:
            w, b = point()
            z, q = case.X[i] @ w + b, s[i] * (case.X[i] @ case.X[i] + lift) / (case.strength * m)
            # z − q(a − a_i) as a function of a meets the slopes of the loss where v = that point
            low, high = z - q * (100.0 - a[i]), z + q * (100.0 + a[i])
            for _ in range(200):
                v = 0.5 * (low + high)
                low, high = (v, high) if (z - v) / q + a[i] > loss.slope(v, case.y[i]) else (low, v)
            a[i] += (z - v) / q
    return a, *point()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", DUAL)
def test_a_sweep_is_that_of_the_papers(loss, intercept):
    case = Case(loss, 3, m=12, strength=0.3, intercept=intercept)
    risk, rng = case.risk, np.random.default_rng(0)
    state = DualAscent().start(risk, np.zeros(risk.d), 0.0)
    state.motion[loops.BIAS] = 0.0
    order = rng.permutation(np.flatnonzero(case.s)).astype(np.uint32)
    scale = loops.Scale(1.0 / (case.strength * risk.m), state.bias_square)
    for _ in range(2):  # the second from duals at their bounds
        active = loops.sweep(
            risk.problem, scale, state.q, order.copy(), state.a, state.w, state.motion
        )
    assert 0 < active <= order.size
    a, w, b = transcribed(case, order, state.bias_square, sweeps=2)
    np.testing.assert_allclose(state.a, a, atol=1e-8)
    np.testing.assert_allclose(state.w, w, atol=1e-8)
    assert state.motion[loops.BIAS] == pytest.approx(b, abs=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("strength", [1.0, 1e-1, 1e-2])
@pytest.mark.parametrize("loss", DUAL)
def test_it_reaches_the_optimum(loss, strength, intercept):
    for seed in range(2):
        case = Case(loss, seed, strength=strength, intercept=intercept)
        result = solved(case.risk, gap=1e-4, passes=1500)
        assert result.stopped_by == "gap", (case, result.rel_gap)
        assert result.objective <= case.best * (1 + 1.01e-4), case
        assert result.lower_bound <= case.best * (1 + 1e-9), case


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("strength", [1e-3, 1e-4])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "smoothed_hinge", "quantile"])
def test_small_penalties_take_longer(loss, strength, intercept):
    case = Case(loss, 1, strength=strength, intercept=intercept)
    result = solved(case.risk, gap=1e-2, passes=1000)
    assert result.stopped_by == "gap", (case, result.rel_gap)
    assert result.objective <= case.best * 1.0101, case


@pytest.mark.parametrize("loss", DUAL)
def test_without_an_intercept_the_bound_never_falls(loss):
    for seed in range(6):
        case = Case(loss, seed, intercept=False)
        state, rng = DualAscent().start(case.risk, np.zeros(3), 0.0), np.random.default_rng(0)
        findings = [DualAscent().step(case.risk, state, rng) for _ in range(12)]
        bounds = np.array([finding.lower_bound for finding in findings])
        assert (np.diff(bounds) >= -1e-9 * (1.0 + np.abs(bounds[:-1]))).all(), (case, bounds)


@pytest.mark.parametrize("loss", ["hinge", "absolute", "huber", "squared_hinge"])
def test_examples_that_rest_change_nothing_but_the_work(loss, monkeypatch):
    X, y = examples(loss, 5, 400, 6)
    work, results = [], []
    for caution in (0.1, np.inf):  # with infinite slack nobody rests
        monkeypatch.setattr("stepless.solvers.batch.dual_ascent._CAUTION", caution)
        results.append(solved(problem(LOSSES[loss](), X, y, 1e-2, True)))
        assert results[-1].stopped_by == "gap"
        work.append(results[-1].state.work)
    assert results[0].objective == pytest.approx(results[1].objective, rel=2e-6)
    np.testing.assert_allclose(results[0].w, results[1].w, rtol=0.02, atol=0.02)
    assert work[0] < work[1]
    assert 0 < results[0].state.active < 400 <= results[1].state.active


def test_who_rests_in_vain_is_called_back():
    X, y = examples("hinge", 0, 60, 3)
    risk = problem(Hinge(), X, y, 1e-2)
    state, rng = DualAscent().start(risk, np.zeros(3), 0.0), np.random.default_rng(0)
    state.active = 0  # all rest, although all duals are still 0
    DualAscent().step(risk, state, rng)
    assert state.active > 20
    bounds = [DualAscent().step(risk, state, rng).lower_bound for _ in range(40)]
    assert bounds[-1] == pytest.approx(solved(risk).objective, rel=1e-4)


@pytest.mark.parametrize("kind", ["zeros and ones", "float32", "two threads"])
def test_other_layouts_give_the_same_certified_optimum(kind):
    rng = np.random.default_rng(2)
    shape = (4000, 60) if kind == "two threads" else (300, 12)
    X = (rng.random(shape) < 0.3).astype(float)
    if kind != "zeros and ones":
        X *= rng.normal(size=shape).astype(np.float32)
    y = np.where(X[:, :4].sum(axis=1) + rng.normal(size=shape[0]) > 0.5, 1.0, -1.0)
    exact = solved(problem(Hinge(), X, y, 1e-2, True))
    if kind == "two threads":
        X = np.hstack([X, np.zeros((shape[0], 40))])
        other = solved(problem(Hinge(), X, y, 1e-2, True, threads=2))
        assert len(Source(X, y, threads=2).blocks()) == 2
    else:
        X = sparse.csr_matrix(X, dtype=np.float32 if kind == "float32" else float)
        other = solved(problem(Hinge(), X, y, 1e-2, True))
    assert exact.stopped_by == other.stopped_by == "gap"
    assert other.lower_bound <= exact.objective * (1 + 1e-12)
    assert exact.lower_bound <= other.objective * (1 + 1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_start_is_offered_before_anything_worse(intercept):
    X, y = examples("hinge", 7, 200, 4)
    risk = problem(Hinge(), X, y, 1e-3, intercept)
    best = solved(risk, gap=1e-7, passes=2000)
    again = solved(risk, gap=0.0, passes=1, start=(best.w, best.b))
    assert again.objective <= best.objective
    near = problem(Hinge(), X, y, 1.2e-3, intercept)
    warm, cold = (solved(near, start=start) for start in ((best.w, best.b), None))
    assert warm.stopped_by == cold.stopped_by == "gap"
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
    assert warm.trace[0].objective < cold.trace[0].objective


# -- hard cases -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "size"), [(Squared(), 1.0), (Absolute(), 1.0), (Quantile(0.9), 1e4), (Absolute(), 1e4)]
)
def test_targets_far_from_0(loss, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5)) + 2.0
    y = size * (X @ rng.normal(size=5) + 1000.0 + rng.normal(size=500))
    for strength in (1.0, 1e-2):
        risk = problem(loss, X, y, strength, True)
        result = solved(risk, gap=1e-3, passes=300)
        assert result.stopped_by == "gap", (strength, result.rel_gap)
        other = minimize(risk, ProximalBundle(), Stopping(gap=1e-5, passes=1000))
        assert result.lower_bound <= other.objective
        assert other.lower_bound <= result.objective


@pytest.mark.parametrize("loss", [Hinge(), Logistic()])
@pytest.mark.parametrize("share", [0.01, 0.99])
def test_classes_of_very_different_size(loss, share):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 5)) + 1.0
    y = np.where(X[:, 0] > np.quantile(X[:, 0], 1 - share), 1.0, -1.0)
    for strength in (1.0, 1e-2, 1e-4):
        risk = problem(loss, X, y, strength, True)
        result = solved(risk, gap=1e-3, passes=1000)
        assert result.stopped_by == "gap", (strength, result.rel_gap)
        other = minimize(risk, ProximalBundle(), Stopping(gap=1e-5, passes=1000))
        assert result.lower_bound <= other.objective
        assert other.lower_bound <= result.objective


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("strength", [1.0, 1e-4, 1e-9])
@pytest.mark.parametrize("loss", DUAL)
def test_no_bound_is_false_where_rounding_is_worst(loss, strength, intercept):
    signs = LOSSES[loss].targets == "signs"
    rng = np.random.default_rng(4)
    base = rng.integers(-2, 3, size=(40, 3)).astype(float)
    separable = np.where(base[:, 0] > 0, 1.0, -1.0)
    cases = [
        (base, separable if signs else base @ [1.0, 2.0, 0.0]),  # ties, fitted exactly
        (1e6 * base, separable if signs else 1e6 * separable + 1e6),
        (1e-6 * base, rng.choice([-1.0, 1.0], 40) * (1.0 if signs else 1e6)),
        (np.repeat(base[:1], 40, axis=0), rng.choice([-1.0, 1.0], 40)),  # one example, two targets
    ]
    for X, y in cases:
        if LOSSES[loss].targets == "counts":
            y = np.abs(y)
        risk = problem(LOSSES[loss](), X, y, strength, intercept)
        result = solved(risk, gap=0.0, passes=25)
        assert np.isfinite(result.w).all()
        other = minimize(risk, ProximalBundle(), Stopping(gap=1e-9, passes=60))
        lowest = min(result.objective, other.objective)
        raw = DualAscent().step(risk, result.state, np.random.default_rng(0)).lower_bound
        assert raw <= lowest + 1e-15, (raw, lowest)


@pytest.mark.parametrize("intercept", [False, True])
def test_empty_rows_and_weights_of_0(intercept):
    X, y = examples("hinge", 2, 50, 3)
    X[::7] = 0.0
    s = np.ones(50)
    s[::5] = 0.0
    for loss in (Hinge(), Logistic(), Squared()):
        whole = solved(problem(loss, X, y, 1e-2, intercept, s))
        kept = solved(problem(loss, X[s > 0], y[s > 0], 1e-2, intercept))
        assert whole.stopped_by == kept.stopped_by == "gap"
        assert whole.objective == pytest.approx(kept.objective, rel=2e-6)
    nothing = solved(problem(Hinge(), np.zeros((6, 2)), np.tile([1.0, -1.0], 3), 0.1, intercept))
    assert nothing.stopped_by == "gap"
    assert nothing.objective == pytest.approx(1.0)


class Bare(Loss):
    def value(self, z, y):
        return abs(z - y)

    def slope(self, z, y):
        return 1.0 if z > y else -1.0


def test_what_it_lacks_comes_with_a_remedy():
    for objective, remedy in (
        (Objective(Hinge(), Zero()), "penalty='l2'"),
        (Objective(Hinge(), SquaredL2(1.0), L2Ball(1.0)), "solver='bundle'"),
        (Objective(Bare(), SquaredL2(1.0)), "Bare has not both; use solver='proximal-bundle'"),
    ):
        assert remedy in DualAscent().lacks(objective)
    assert DualAscent().lacks(Objective(Hinge(), SquaredL2(1e-9))) is None


# -- rows that come in turns ------------------------------------------------------------------------


def in_turns(loss, X, y, strength, s=None, *, intercept=True, threads=1):
    home = Turning.cut(design_of(X), size=max(len(y) // 40, 1), count=3)
    source = Source(home, y, s, threads)
    return LinearRisk(Objective(loss, SquaredL2(strength), intercept=intercept), source)


@pytest.mark.parametrize(
    ("loss", "kind", "intercept"),
    grid(DUAL, ["as drawn", "sorted by label", "weights, some of them 0"], [False, True]),
)
def test_turns_lead_to_the_same_optimum(loss, kind, intercept):
    X, y = examples(loss, 3, 300, 5)
    X[::9] = 0.0
    s = np.random.default_rng(0).integers(0, 3, 300) * 1.0 if kind.startswith("weights") else None
    if kind == "sorted by label":
        order = np.argsort(y)
        X, y = X[order], y[order]
    turning = in_turns(LOSSES[loss](), X, y, 0.05, s, intercept=intercept)
    result, whole = solved(turning), solved(problem(LOSSES[loss](), X, y, 0.05, intercept, s))
    assert result.stopped_by == whole.stopped_by == "gap"
    assert result.lower_bound <= whole.objective * (1 + 1e-12)
    assert whole.lower_bound <= result.objective * (1 + 1e-12)
    again = solved(turning, gap=0.0, passes=1, start=(result.w, result.b))
    assert again.objective <= result.objective * (1 + 1e-12)
    near = in_turns(LOSSES[loss](), X, y, 0.06, s, intercept=intercept)
    near.source = turning.source
    going_on = minimize(near, DualAscent(), Stopping(gap=1e-6, passes=400), start=result)
    assert going_on.stopped_by == "gap"


def test_turns_of_float32_and_any_number_of_threads_end_alike():
    rng = np.random.default_rng(2)
    X = (rng.random((4000, 100)) < 0.5) * rng.normal(size=(4000, 100))
    y = np.where(X[:, :4].sum(axis=1) + rng.normal(size=4000) > 0.5, 1.0, -1.0)
    X = sparse.csr_matrix(X.astype(np.float32))
    results = [solved(in_turns(Hinge(), X, y, 1e-2, threads=k), gap=1e-4) for k in (1, 2, 3)]
    assert results[0].stopped_by == "gap"
    assert len(in_turns(Hinge(), X, y, 1e-2).source.blocks()) == 2
    for other in results[1:]:
        assert (other.w == results[0].w).all()
        assert other.b == results[0].b
        assert (other.objective, other.lower_bound) == (
            results[0].objective,
            results[0].lower_bound,
        )


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared()], ids=lambda of: type(of).__name__)
@pytest.mark.parametrize("threads", [1, 2])
def test_halves_of_a_turn_add_up_and_the_dual_objective_rises(loss, threads):
    """Rows are all alike: each half would go the whole way by itself, and both twice as far."""
    rng = np.random.default_rng(5)
    m, strength = 60, 0.01
    X, s = np.ones((m, 3)) + 1e-3 * rng.normal(size=(m, 3)), rng.uniform(0.5, 1.5, m)
    risk = in_turns(loss, X, np.ones(m), strength, s, intercept=False, threads=threads)
    risk.source.home.size, risk.source.home.together = m, 1
    state, heights = DualAscent().start(risk, np.zeros(3), 0.0), []
    for _ in range(8):
        state.walk(risk, rng)
        a, weights = state.a, risk.source.s
        w = X.T @ (weights * a) / (-strength * m)
        np.testing.assert_allclose(state.w, w, rtol=1e-10, atol=1e-12)
        conjugates = [si * loss.conjugate(ai, 1.0) for si, ai in zip(weights, a, strict=True)]
        heights.append(-sum(conjugates) / m - 0.5 * strength * w @ w)
    assert heights[0] > 0.0
    assert (np.diff(heights) >= -1e-12 * np.abs(heights[1:])).all(), heights


@pytest.mark.parametrize(("loss", "most"), [(Logistic(), 12), (Hinge(), 40)])
@pytest.mark.parametrize("effect", [0.01, 0.1, 1.0])
def test_few_passes_over_rows_that_are_slow_to_read(loss, most, effect):
    rng = np.random.default_rng(1)
    X = sparse.random_array((4000, 500), density=0.03, rng=rng, format="csr")
    X = sparse.csr_matrix(X.multiply(1.0 / np.sqrt(X.power(2).sum(axis=1) + 1e-12)[:, None]))
    y = np.where(X @ rng.normal(size=500) + 0.1 * rng.normal(size=4000) > 0.1, 1.0, -1.0)
    risk = in_turns(loss, X, y, 1.0 / (effect * 4000))  # ‖x_i‖ = 1
    result = solved(risk, gap=1e-3, resumable=False)
    assert result.stopped_by == "gap"
    assert risk.source.home.passes <= most


def test_nobody_rests_where_rows_are_slow_to_read():
    """Each step is small here and their sum is not: with examples at rest it took 24 passes."""
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 200)) * (rng.random((20_000, 200)) < 0.05)
    X /= np.sqrt((X * X).sum(axis=1, keepdims=True)) + 1e-9
    z = X @ rng.normal(size=200)
    y = np.where(z - np.median(z) + 0.05 * z.std() * rng.normal(size=20_000) > 0, 1.0, -1.0)
    risk = in_turns(Hinge(), X, y, 30.0 / 20_000)
    assert solved(risk, gap=1e-3, resumable=False).stopped_by == "gap"
    assert risk.source.home.passes <= 20


def dual_objective(risk, state, centre):
    """What sweeps and moves raise, at these dual variables alone."""
    loss, s, strength = risk.objective.loss, risk.source.s, state.strength
    y, a, m = risk.source.y, state.a, risk.m
    w, tilt = risk.source.combination(s * a) / (-strength * m), s @ a / m
    conjugates = sum(si * loss.conjugate(ai, yi) for si, ai, yi in zip(s, a, y, strict=True)) / m
    bent = 0.5 * strength * w @ w + 0.5 * state.bias_square / strength * tilt**2
    return centre * tilt - conjugates - bent, w, centre - state.bias_square / strength * tilt


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", DUAL)
def test_a_climb_raises_the_dual_objective_and_moves_weights_along(loss, intercept):
    case = Case(loss, 4, m=30, strength=1e-3, intercept=intercept)
    risk, rng, solver = case.risk, np.random.default_rng(0), DualAscent()
    state, risen = solver.start(risk, np.zeros(risk.d), 0.0), 0
    state.motion[loops.BIAS] = centre = 0.1 * intercept
    for _ in range(6):
        before = state.waypoint()
        state.walk(risk, rng)
        high = dual_objective(risk, state, centre)[0]
        climb(risk, state, [Move.onward(state, before)])
        higher, w, b = dual_objective(risk, state, centre)
        assert higher >= high - 1e-12 * abs(high), case
        np.testing.assert_allclose(state.w, w, atol=1e-9 * (1.0 + np.abs(w).max()))
        assert state.motion[loops.BIAS] == pytest.approx(b, abs=1e-9)
        risen += higher > high
    assert risen


@pytest.mark.parametrize("intercept", [False, True])
def test_a_climb_ends_at_the_best_point_of_a_plane(intercept):
    """For squares the model is exact, and no dual variable ends early."""
    case = Case("squared", 0, m=20, strength=0.05, intercept=intercept)
    risk, rng = case.risk, np.random.default_rng(0)
    state = DualAscent().start(risk, np.zeros(risk.d), 0.0)
    state.motion[loops.BIAS] = centre = 0.3 * intercept
    state.walk(risk, rng)
    before = state.waypoint()
    state.walk(risk, rng)
    state.a *= 1.3
    _, state.w, state.motion[loops.BIAS] = dual_objective(risk, state, centre)
    basis, start = [-state.a, state.a - before.a], state.a.copy()
    climb(risk, state, [Move.to_zero(state, 0.1), Move.onward(state, before)])
    best = state.a.copy()
    steps = np.linalg.lstsq(np.array(basis).T, best - start, rcond=None)[0]
    assert (steps > 1e-3).all()
    assert steps[0] < 0.9
    highest = dual_objective(risk, state, centre)[0]
    for k in range(2):
        for nudge in (-1e-2, 1e-2):
            state.a = best + nudge * basis[k]
            assert dual_objective(risk, state, centre)[0] < highest


def test_going_on_along_a_long_sweep_saves_sweeps(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((1000, 1300), density=0.05, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=1300) + rng.normal(size=1000) > 0.0, 1.0, -1.0)
    risk = problem(Hinge(), X, y, 1e-5, intercept=True)
    work = solved(risk, gap=1e-4).state.work
    monkeypatch.setattr("stepless.solvers.batch.dual_ascent._LONG", np.inf)
    assert work < 0.8 * solved(risk, gap=1e-4).state.work


def test_where_margins_are_hard_dual_variables_shrink_with_the_strength():
    X, y = (
        np.array([[2.0, 0.3], [1.0, -0.5], [-1.5, 0.2], [-1.0, -0.6]]),
        np.array([1, 1, -1, -1.0]),
    )
    tight = solved(problem(Hinge(), X, y, 1e-4), gap=1e-9)
    resumed = DualAscent().resume(problem(Hinge(), X, y, 5e-5), tight.state)
    np.testing.assert_allclose(resumed.a, 0.5 * tight.state.a, rtol=1e-6)
    np.testing.assert_allclose(resumed.w, tight.w, rtol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", DUAL)
def test_a_resumed_run_begins_above_the_dual_variables_it_was_left(loss, intercept):
    case = Case(loss, 2, m=40, intercept=intercept)
    runs, solver = [], DualAscent()
    for strength in (0.1, 0.05, 0.025, 0.05):
        objective = Objective(case.objective.loss, SquaredL2(strength), intercept=intercept)
        risk = LinearRisk(objective, case.risk.source)
        if runs:
            last = runs[-1].state
            kept = last.a.copy()
            resumed = solver.resume(risk, last)
            assert resumed.strength == strength
            begun = solver.start(risk, np.zeros(risk.d), 0.0)  # r² does not grow along a path
            assert resumed.bias_square == begun.bias_square
            np.testing.assert_allclose(resumed.q, begun.q, atol=1e-9 * begun.q.max())
            centre = float(last.motion[loops.BIAS]) + resumed.bias_square / strength * (
                risk.source.s @ last.a / risk.m
            )
            left = dual_objective(
                risk, replace(last, strength=strength, bias_square=begun.bias_square), centre
            )[0]
            high, w, _ = dual_objective(risk, resumed, centre)
            assert high >= left - 1e-9 * abs(left), case
            np.testing.assert_allclose(resumed.w, w, atol=1e-9 * (1.0 + np.abs(w).max()))
            solver.step(risk, resumed, np.random.default_rng(0))
            np.testing.assert_array_equal(last.a, kept)  # the old result stays as it was
        runs.append(solved(risk, gap=1e-3, start=Onward(runs[-1]) if runs else None))
        assert runs[-1].stopped_by == "gap", case
        cold = solved(risk, gap=1e-3)
        assert max(cold.lower_bound, runs[-1].lower_bound) <= min(
            cold.objective, runs[-1].objective
        )


def test_along_a_path_of_a_smooth_loss_most_strengths_take_few_steps():
    """22; extrapolated along log λ alone, dual variables took 31, and from nothing 42."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((1000, 3000), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=3000) + 0.3 * rng.normal(size=1000) > 0.0, 1.0, -1.0)
    run = Run(solver="dual-ascent", gap=1e-3)
    objective = Objective(Logistic(), SquaredL2(1.0))
    path = along_path(objective, [Source(X, y)], run, np.geomspace(1e-2, 1e-6, 15))
    assert sum(result.trace[-1].passes for _, [result] in path) <= 26
