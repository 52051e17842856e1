"""ClippedSGD beside a plain transcription of MAH Alg. 1, and its theorem on many runs."""

import math

import numpy as np
import pytest
from scipy import sparse

from contracts.problems import Case
from stepless import LinearClassifier
from stepless.compiled import clipped_descent
from stepless.compiled.clipped_descent import Stage
from stepless.compiled.shuffle import shuffle
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Hinge, Huber, L2Ball, Logistic, Objective, Squared, SquaredL2, Zero
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import ClippedSGD, Newton
from stepless.solvers.stochastic.target_theorem import Theorem, TheoremConstants
from stepless.stopping import Stopping


def projected(w, centre, reach, ball):
    """On both balls at once, by Dykstra's alternating projections."""

    def onto(point, middle, radius):
        away = np.linalg.norm(point - middle)
        return point if away <= radius else middle + (point - middle) * radius / away

    p, q = np.zeros_like(w), np.zeros_like(w)
    for _ in range(5000):
        before = w
        near = onto(w + p, centre, reach)
        p = w + p - near
        w = onto(near + q, 0.0, ball)
        q = near + q - w
        if np.abs(w - before).max() < 1e-14:
            break
    return w


def rounds(X, y, s, loss, stage, centre, b, order):
    """The iterates of a stage of MAH Alg. 1, steps 5 to 10, the ridge's gradient not clipped."""
    w, iterates, clipped, stopped = centre, [centre], 0, 0
    for i in order:
        g = s[i] * loss.slope(X[i] @ w + b, y[i]) * X[i]
        v = np.sign(g) * np.minimum(stage.clip, np.abs(g))  # (3.4)
        clipped += (v != g).any()
        free = w - stage.step * (stage.strength * w + v)
        w = projected(free, centre, stage.reach, stage.ball)  # (3.5)
        stopped += np.abs(w - free).max() > 1e-12
        iterates.append(w)
    return np.array(iterates), clipped, stopped


@pytest.mark.parametrize("ball", [math.inf, 1.2])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_iterates_are_those_of_the_paper(layout, ball):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.6)
    y, s = np.sign(rng.normal(size=30)), rng.uniform(0.2, 2.0, size=30)
    source = Source(sparse.csr_matrix(X) if layout == "sparse" else X, y, s, threads=1)
    risk = LinearRisk(Objective(Logistic(), SquaredL2(0.3)), source)
    centre = rng.normal(size=6)
    centre *= 1.1 / np.linalg.norm(centre)
    b = 0.2
    stage = Stage(0.3, 0.25, 0.35, 0.4, ball, b)
    order = rng.integers(30, size=200).astype(np.uint32)
    expected, clipped, stopped = rounds(X, y, source.s, Logistic(), stage, centre, b, order)
    assert clipped > 50
    assert stopped > 5

    v, total, motion = np.zeros(6), np.zeros(6), np.zeros(6)
    motion[clipped_descent.SCALE] = 1.0
    for t in range(200):  # a round a call, so that every iterate can be seen
        shift, scale = motion[clipped_descent.SHIFT], motion[clipped_descent.SCALE]
        w = (1.0 + shift) * centre + scale * v
        np.testing.assert_allclose(w, expected[t], atol=1e-10, err_msg=str(t))
        clipped_descent.descend(risk.problem, stage, order[t : t + 1], centre, v, total, motion)
    shifts, scales = motion[clipped_descent.SHIFTS], motion[clipped_descent.SCALES]
    mean = (shifts * centre + scales * v + total) / 200
    np.testing.assert_allclose(mean, expected[:-1].mean(axis=0), atol=1e-11)  # (3.2)

    at_once = np.zeros(6), np.zeros(6), np.array([1.0, 0, 0, 0, 0, 0])
    clipped_descent.descend(risk.problem, stage, order, centre, *at_once)
    again = at_once[2]
    mean = (
        again[clipped_descent.SHIFTS] * centre + again[clipped_descent.SCALES] * at_once[0]
    ) / 200
    np.testing.assert_allclose(mean + at_once[1] / 200, expected[:-1].mean(axis=0), atol=1e-11)


def test_a_scale_that_vanishes_is_folded_into_the_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    risk = LinearRisk(Objective(Squared(), SquaredL2(1.0)), Source(X, y, threads=1))
    stage, centre = Stage(1.0, 0.2, 5.0, 9.0, math.inf), rng.normal(size=3)
    order = rng.integers(40, size=400).astype(np.uint32)  # 0.8⁴⁰⁰ is below any hair
    expected, _, _ = rounds(X, y, np.ones(40), Squared(), stage, centre, 0.0, order)
    v, total, motion = np.zeros(3), np.zeros(3), np.array([1.0, 0, 0, 0, 0, 0])
    clipped_descent.descend(risk.problem, stage, order, centre, v, total, motion)
    shift, scale = motion[clipped_descent.SHIFT], motion[clipped_descent.SCALE]
    np.testing.assert_allclose((1.0 + shift) * centre + scale * v, expected[-1], atol=1e-9)


class Transcribed:
    """MAH Alg. 1 with the practical schedule of the docstring, in plain numpy."""

    def __init__(self, case, target):
        self.risk, self.target = case.risk, target
        self.X, self.y, self.s = case.X, case.y, case.risk.source.s
        loss, self.strength = case.objective.loss, case.strength
        squares = (self.s[:, None] * self.X**2).sum()
        self.beta = loss.smoothness() * squares / len(self.y) + self.strength
        self.w = np.zeros(self.X.shape[1])
        self.best, self.bound = math.inf, 0.0
        self.height = self.look(self.w)
        self.reach = math.sqrt(2 * (self.best - self.bound) / self.strength)
        self.steepness = 2 * self.beta * self.best

    def look(self, w):
        tangent = self.risk.tangent(w, getattr(self, "b", 0.0))
        self.b, a = tangent.b, tangent.plane.a
        J = self.strength / 2 * w @ w + tangent.value
        # min (λ/2)|w|² + ⟨a, w⟩ + offset
        self.bound = max(self.bound, tangent.plane.offset - a @ a / (2 * self.strength))
        self.best = min(self.best, J)
        return J

    def excess(self):
        return (self.best - self.bound) / 2 if self.target is None else self.target / 2

    def stage(self, order):
        m, loss = len(self.y), self.risk.objective.loss
        step = min(1 / self.beta, self.reach / math.sqrt(m * self.steepness))
        clip = 2 * max(1, 4 * self.best / self.excess()) * self.beta * self.reach
        stage = Stage(self.strength, step, clip, self.reach, math.inf)
        iterates, _, _ = rounds(self.X, self.y, self.s, loss, stage, self.w, self.b, order)
        g = [
            self.s[i] * loss.slope(self.X[i] @ w + self.b, self.y[i]) * self.X[i]
            for i, w in zip(order, iterates[:-1], strict=True)
        ]
        self.steepness = (np.clip(g, -clip, clip) ** 2).sum() / m
        self.w = iterates[:-1].mean(axis=0)
        J = self.look(self.w)
        if self.height <= J:
            self.reach = math.sqrt(self.reach**2 / 2 + self.excess() / self.beta)
        certain = math.sqrt(2 * (J - self.bound) / self.strength)
        self.reach, self.height = min(self.reach, certain), J


@pytest.mark.parametrize("target", [None, 0.05])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_the_practical_schedule_is_as_documented(loss, intercept, target):
    case = Case(loss, 2, strength=1e-2, intercept=intercept, layout="sparse")
    solver, twin = ClippedSGD(target), Transcribed(case, target)
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
    reaches = []
    for _ in range(12):
        finding = solver.step(case.risk, state, rng)
        order = np.arange(case.risk.m, dtype=np.uint32)
        shuffle(order, other.integers(2**64, dtype=np.uint64))
        twin.stage(order)
        # the search for an intercept ends within rounding of the risk, not of the intercept
        np.testing.assert_allclose(finding.w, twin.w, rtol=1e-5 if intercept else 1e-9)
        assert finding.b == pytest.approx(twin.b, rel=1e-5)
        reaches.append(state.reach)
    assert len(set(reaches)) > 2


def test_the_theorems_constants_carry_its_proof():
    for scale in (
        TheoremConstants(1.0, 1.2, 1, 2.0),
        TheoremConstants(0.1, 3.0, 40, 7.0),
        TheoremConstants(1e-3, 1.0, 1000, 30.0),
    ):
        theorem = Theorem(scale, 0.05)
        xi, T, alpha, beta = theorem.clipping, theorem.rounds, scale.strength, scale.smoothness
        assert xi >= 16 * beta / alpha  # Th. 3.5
        p, stages = scale.entries, theorem.stages
        peels = math.ceil(math.log2(xi * beta * scale.reach**2 / 0.05))
        root = math.sqrt((math.sqrt(p) + 0.5) ** 2 * T)
        noise = (xi**3 * beta * p + 4 * xi * beta * math.sqrt(p)) * math.log(stages * peels / 0.01)
        assert 2 / (alpha * T) * (2 * xi * beta * root + noise) <= 0.5 * (1 + 1e-9)  # a ≤ ε
        assert 8 / (alpha * xi) == pytest.approx(2 * 0.25 / beta)  # b = 2τ/β
        # clipped at γ, with the ridge's share: ‖v‖ ≤ √P γ, and the step balances Δ²/2η and ηPγ²T/2
        gamma = 2 * xi * beta * 0.7
        assert 0.7**2 / (2 * theorem.step) == pytest.approx(
            theorem.step / 2 * (math.sqrt(p) + 0.5) ** 2 * gamma**2 * T
        )
        assert theorem.bound(stages) <= 2 * 0.05 * (1 + 1e-12)


def test_the_theorem_holds_on_runs_that_meet_its_assumptions():
    rng = np.random.default_rng(5)
    m, lam = 20_000, 1.0
    X = np.zeros((m, 3))
    X[np.arange(m), rng.integers(3, size=m)] = rng.choice([-0.5, 0.5, 0.4], size=m)
    y = X @ np.array([9.0, -7.0, 4.0]) + 0.1 * rng.normal(size=m)
    objective = Objective(Squared(), SquaredL2(lam), intercept=False)
    risk = LinearRisk(objective, Source(sparse.csr_matrix(X), y, threads=1))
    best = minimize(risk, Newton(), Stopping(gap=1e-12, passes=50))
    solver = ClippedSGD(target=best.objective, schedule="theory")
    passes, start = 0, np.array([-20.0, 15.0, 10.0])  # far off: J* is small beside βΔ₁²/2
    for seed in range(50):
        state, rng = solver.start(risk, start, 0.0), np.random.default_rng(seed)
        theorem = Theorem(state.constants, best.objective)
        assert theorem.constants.smoothness == 1.25
        assert np.linalg.norm(best.w - start) <= state.reach
        while state.stages < 3:
            stages, finding = state.stages, solver.step(risk, state, rng)
            passes += 1
            if state.stages > stages:
                assert finding.objective <= theorem.bound(state.stages), (seed, state.stages)
                # the step of the induction: the optimum is still in the next stage's ball
                assert np.linalg.norm(finding.w - best.w) <= state.reach, (seed, state.stages)
    assert passes >= 50 * 3 * theorem.rounds / m
    hopeless = ClippedSGD(target=0.9 * best.objective, schedule="theory")
    result = minimize(risk, hopeless, Stopping(gap=0.0, passes=10 * theorem.rounds // m))
    assert result.stopped_by == "solver"  # after the theorem's number of stages
    assert result.remark.startswith(f"target={0.9 * best.objective:g} is below")


def test_a_run_ends_when_its_target_is_reached():
    case = Case("logistic", 1, strength=1.0, intercept=False)
    target = 1.01 * case.best
    result = minimize(case.risk, ClippedSGD(target), Stopping(gap=0.0, passes=2000))
    assert result.stopped_by == "solver"
    assert result.objective <= target
    assert result.remark is None


def test_the_gap_is_certified_without_a_target():
    for loss in ("logistic", "squared", "huber", "squared_hinge", "smoothed_hinge"):
        case = Case(loss, 3, strength=1e-1, intercept=True)
        result = minimize(case.risk, ClippedSGD(), Stopping(gap=3e-2, passes=300))
        assert result.stopped_by == "gap", (loss, result.rel_gap)
        assert result.objective <= case.best * 1.031


def test_a_target_that_cannot_be_reached_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    clf = LinearClassifier("logistic", alpha=0.1, solver=ClippedSGD(0.01), passes=30)
    with pytest.warns(UserWarning, match=r"target=0.01 is below 0\.6\d+, which no weights can"):
        clf.fit(X, y)
    assert clf.lower_bound_ > 0.01


def test_what_it_needs_and_what_it_refuses():
    solver = ClippedSGD()
    assert "smooth loss" in solver.lacks(Objective(Hinge(), SquaredL2(1.0)))
    assert "strongly convex" in solver.lacks(Objective(Logistic(), Zero(), L2Ball(1.0)))
    assert solver.lacks(Objective(Logistic(), SquaredL2(1.0), L2Ball(1.0))) is None
    with pytest.raises(ValueError, match="schedule must be one of practical, theory"):
        ClippedSGD(schedule="fast")
    with pytest.raises(ValueError, match="needs target="):
        ClippedSGD(schedule="theory")
    with pytest.raises(ValueError, match="target must be a positive number, not -1"):
        ClippedSGD(target=-1.0)
    with pytest.raises(ValueError, match="target must be a positive number, not 0"):
        ClippedSGD(target=0.0)


@pytest.mark.parametrize("schedule", ["practical", "theory"])
def test_the_ball_is_respected(schedule):
    case = Case("logistic", 3, strength=1e-2, intercept=True)
    objective = Objective(Logistic(), SquaredL2(1e-2), L2Ball(0.3))
    risk = LinearRisk(objective, case.risk.source)
    result = minimize(risk, ClippedSGD(0.2, schedule), Stopping(gap=0.0, passes=60))
    reference = minimize(risk, ClippedSGD(), Stopping(gap=1e-2, passes=500))
    assert reference.stopped_by == "gap"
    for run in (result, reference):
        assert np.linalg.norm(run.w) <= 0.3 * (1 + 1e-12)


def test_examples_of_nothing_and_starts_at_the_optimum():
    X, y = np.zeros((5, 2)), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    risk = LinearRisk(Objective(Logistic(), SquaredL2(1.0)), Source(X, y, threads=1))
    result = minimize(risk, ClippedSGD(), Stopping(gap=1e-9, passes=10))
    np.testing.assert_array_equal(result.w, 0.0)
    assert result.stopped_by == "gap"

    case = Case("logistic", 1, strength=1e-1, intercept=True)
    result = minimize(case.risk, ClippedSGD(), Stopping(gap=1e-5, passes=3), start=(case.w, case.b))
    assert result.objective <= case.best * (1 + 1e-6)


def test_a_run_may_begin_where_only_rounding_is_left_of_a_gap():
    """J at the start and the bound there are the same number, or cross by a rounding."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        X, y = 1e-30 * rng.normal(size=(4, 1)), rng.normal(size=4)
        objective = Objective(Huber(0.035), SquaredL2(2.4e-45))
        risk = LinearRisk(objective, Source(X, y, rng.random(4)))
        found = minimize(risk, ClippedSGD(), Stopping(gap=1e-3, passes=2))
        assert found.lower_bound <= found.objective
