"""Every solver, against the optima of other people's solvers and against the papers, line by line."""

import pickle

import numpy as np
import pytest

from contracts.problems import OF_ONE_OUTPUT, STRENGTHS, Case
from grids import SOAK
from stepless.minimization import minimize
from stepless.objective import LOSSES, Objective, SquaredL2
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping

BUNDLES = ["bundle", "bundle-linesearch", "proximal-bundle"]
# They minimise nothing but each example in turn, and know no penalty.
CORRECTING = ["passive-aggressive", "arow"]
CERTIFYING = [name for name in OF_ONE_OUTPUT if name not in CORRECTING]
BOUNDED = ["frank-wolfe"]  # that they want the domain to be
SEEDS = range(50)  # for each loss: 200 problems even for a solver that accepts four of ten


def accepted(solver, case):
    return solver.lacks(case.objective) is None


def fitting(name, *losses, **settings):
    """A case with the first of these losses that the solver accepts."""
    cases = [Case(loss, **settings) for loss in losses]
    if name in CORRECTING:
        cases = [case.unpenalised() for case in cases]
    if name in BOUNDED:
        cases = [case.bounded() for case in cases]
    return next(case for case in cases if accepted(SOLVERS[name](), case))


@pytest.fixture(scope="module")
def cases():
    return [Case(loss, seed) for seed in SEEDS for loss in LOSSES]


def some_losses(name):
    """Two that the solver knows, and others for the next: those that learn by example compile each."""
    solver, ridge = SOLVERS[name](), SquaredL2(1.0)
    known = [loss for loss, kind in LOSSES.items() if not solver.lacks(Objective(kind(), ridge))]
    k = 7 * list(SOLVERS).index(name)  # together all of them
    return [known[n % len(known)] for n in (k, k + 1)]


def is_batch(name):
    return SOLVERS[name].__module__.startswith("stepless.solvers.batch")


def some_of(names):
    """Solvers, and losses that are near enough to their limits after some passes."""
    return [
        pytest.param(name, loss, marks=[] if loss in some_losses(name) else [SOAK])
        for name in names
        for loss in LOSSES
        if loss != "poisson"
    ]


def layout_of(solver, loss):
    """Every solver and every loss has both, but each pair of them one: half as much to compile."""
    return ("dense", "sparse")[(list(SOLVERS).index(solver) + list(LOSSES).index(loss)) % 2]


@pytest.mark.parametrize(
    ("name", "losses"),
    [
        *((name, list(LOSSES) if is_batch(name) else some_losses(name)) for name in CERTIFYING),
        *(
            pytest.param(name, list(LOSSES), marks=SOAK)
            for name in CERTIFYING
            if not is_batch(name)
        ),
    ],
)
def test_the_lower_bound_is_never_above_the_optimum(name, losses, cases):
    tried = 0
    for case in cases:
        solver = SOLVERS[name]()
        known = accepted(solver, case.bounded() if name in BOUNDED else case)
        if case.loss not in losses or not known:
            continue
        case = case.laid(layout_of(name, case.loss))
        if name in BOUNDED:
            case = case.bounded()
        result = minimize(case.risk, solver, Stopping(gap=0.0, passes=12))
        slack = 1e-8 * max(case.best, 1e-3)  # the reference's own accuracy
        assert result.lower_bound <= case.best + slack, case
        assert result.objective >= case.best - slack, case
        assert np.isfinite(result.w).all(), case
        tried += 1
    assert tried >= (200 if losses == list(LOSSES) else 100)


@pytest.mark.parametrize("strength", [s for s in STRENGTHS if s != 1e-1])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["bundle", "proximal-bundle"])
def test_batch_solvers_reach_the_optimum(name, loss, strength):
    for seed in range(2):
        for intercept in (False, True):
            case = Case(loss, seed, strength=strength, intercept=intercept)
            gap = 1e-3 if name == "bundle" else 1e-5
            result = minimize(case.risk, SOLVERS[name](), Stopping(gap=gap, passes=2000))
            assert result.stopped_by == "gap", (case, result.rel_gap)
            assert result.objective <= case.best + 1.01 * gap * result.objective, case


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["newton", "smoothed-newton", "interior-point"])
def test_methods_of_the_second_order_reach_the_optimum(name, loss, strength):
    for seed in range(2):
        for intercept in (False, True):
            case = Case(loss, seed, strength=strength, intercept=intercept)
            if not accepted(SOLVERS[name](), case):
                assert LOSSES[loss]().offers("corners") == (name == "newton")
                continue
            result = minimize(case.risk, SOLVERS[name](), Stopping(gap=1e-6, passes=300))
            assert result.stopped_by == "gap", (case, result.rel_gap)
            assert result.objective <= case.best + 1.01e-6 * result.objective, case


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strength", [1.0, 1e-1, 1e-2])
def test_the_line_search_reaches_the_optimum(loss, strength):
    case = Case(loss, 0, strength=strength)
    result = minimize(case.risk, SOLVERS["bundle-linesearch"](), Stopping(gap=1e-2, passes=5000))
    assert result.stopped_by == "gap", (case, result.rel_gap)
    assert result.objective <= case.best + 1.01e-2 * result.objective


@pytest.mark.parametrize("name", BUNDLES)
def test_the_bundles_gap_never_rises(name, cases):
    for case in cases[:40]:
        solver, rng = SOLVERS[name](), np.random.default_rng(0)
        state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
        findings = [solver.step(case.risk, state, rng) for _ in range(10)]
        bounds = np.array([finding.lower_bound for finding in findings])
        # the planes' bound itself, before the loop keeps the best one
        assert (np.diff(bounds) >= -1e-9 * case.best).all(), (case, bounds)


@pytest.mark.parametrize("iterate", ["last", "average", "suffix"])
@pytest.mark.parametrize(
    ("name", "loss"), some_of(["subgradient", "pegasos", "adaptive", "proximal", "optimistic"])
)
def test_online_solvers_come_near_the_optimum(name, loss, iterate):
    case = Case(loss, 3, strength=1e-1, intercept=False)
    solver = SOLVERS[name](iterate=iterate)
    if not accepted(solver, case):
        assert name == "subgradient"
        assert loss in ("squared", "squared_hinge")
        return
    result = minimize(case.risk, solver, Stopping(gap=0.0, passes=300))
    assert result.objective <= 1.03 * case.best + 1e-3, (case, result.objective, case.best)


@pytest.mark.parametrize(("name", "loss"), some_of(["adagrad", "rda", "fobos"]))
def test_subgradients_come_near_the_optimum(name, loss):
    case = Case(loss, 3, strength=1e-1, intercept=False)
    result = minimize(case.risk, SOLVERS[name](), Stopping(gap=0.0, passes=300))
    assert result.objective <= 1.03 * case.best + 1e-3, (case, result.objective, case.best)


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_a_pickled_state_goes_on_identically(name):
    case = fitting(name, "hinge", "logistic", seed=1, strength=1e-2, intercept=True)
    solver = SOLVERS[name]()
    rngs = [np.random.default_rng(5), np.random.default_rng(5)]
    state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
    for _ in range(3):
        solver.step(case.risk, state, rngs[0])
        rngs[1].bit_generator.state = rngs[0].bit_generator.state
    copied = pickle.loads(pickle.dumps(state))
    for _ in range(3):
        here = solver.step(case.risk, state, rngs[0])
        there = solver.step(case.risk, copied, rngs[1])
        np.testing.assert_array_equal(here.w, there.w)
        assert here.b == there.b


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_a_seed_repeats_a_run_bit_for_bit(name):
    case = fitting(
        name, "hinge", "logistic", seed=1, strength=1e-3, intercept=True, layout="sparse"
    )
    first, second = (
        minimize(
            case.risk, SOLVERS[name](), Stopping(gap=0.0, passes=5), rng=np.random.default_rng(7)
        )
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.w, second.w)
    assert first.b == second.b
    assert first.lower_bound == second.lower_bound


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_dense_and_sparse_agree(name):
    results = []
    for layout in ("dense", "sparse"):
        case = fitting(
            name, "hinge", "logistic", seed=4, strength=1e-2, intercept=True, layout=layout
        )
        results.append(minimize(case.risk, SOLVERS[name](), Stopping(gap=0.0, passes=5)))
    # some steps are as long as the root of a gap, and rounding with it
    np.testing.assert_allclose(results[0].w, results[1].w, rtol=1e-6, atol=1e-8)
