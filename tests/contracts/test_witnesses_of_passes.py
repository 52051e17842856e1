"""Witnesses that passes over single examples leave: slopes, and the planes that these make."""

import numpy as np
import pytest
from scipy import sparse

from grids import SOAK
from stepless.certificates import Certifier
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Free,
    Hinge,
    L2Ball,
    Logistic,
    Objective,
    Poisson,
    Squared,
    SquaredL2,
    SquaredLp,
)
from stepless.proof import Interval
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import (
    EMGD,
    PGS,
    RDA,
    SOLVERS,
    AdaGrad,
    ClippedSGD,
    OnlineToBatch,
    Pegasos,
    Proximal,
)
from stepless.stopping import Stopping

PASSES = 6
ONE_BY_ONE = {
    name: kind()
    for name, kind in SOLVERS.items()
    if issubclass(LinearRisk, kind.needs)
    and kind.__module__.startswith(("stepless.solvers.online", "stepless.solvers.stochastic"))
    and name not in ("passive-aggressive", "arow")  # they know no penalty: nothing bounds a plane
} | {
    "adagrad-cmd": AdaGrad("cmd"),
    "adagrad-full": AdaGrad(matrix="full"),
    "rda-mean": OnlineToBatch(RDA()),
    "pegasos-batch": Pegasos("average", batch=7),
    "pgs-batch": PGS("random", batch=7),
    "proximal-bound": Proximal(strategy="bound"),
    "emgd-theory": EMGD("theory"),
    "clipped-sgd-theory": ClippedSGD(0.1, "theory"),
}
OBJECTIVES = [
    Objective(Logistic(), SquaredL2(1e-2), Free(), intercept=True),
    Objective(Logistic(), SquaredL2(1e-2), L2Ball(1.0), intercept=False),
    Objective(Hinge(), L1(1e-2), Free(), intercept=True),
    Objective(Squared(), ElasticNet(1e-2, 0.5), Box(-0.5, 0.5), intercept=False),
    Objective(Hinge(), SquaredL2(1e-4), Free(), intercept=True),
    Objective(Absolute(), SquaredLp(1e-2, 1.5), Free(), intercept=True),
    Objective(Poisson(), L1(1e-2), Box(-0.5, 0.5), intercept=False),
]


def risk_of(objective, m=150, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.7)
    z = X @ rng.normal(size=d) + 0.5 * rng.normal(size=m) + 0.3
    y = {"signs": np.where(z > 0.0, 1.0, -1.0), "reals": z, "counts": np.maximum(z, 0.0).round()}
    s = rng.choice([0.0, 0.5, 1.0, 3.0], m)
    return LinearRisk(objective, Source(sparse.csr_matrix(X), y[objective.loss.targets], s))


def settings():
    """Two objectives for each solver, and all that it accepts where time is no matter."""
    for k, (name, solver) in enumerate(ONE_BY_ONE.items()):
        fit = [objective for objective in OBJECTIVES if solver.lacks(objective) is None]
        assert fit, f"no objective for {name}"
        for n, objective in enumerate(fit):
            usual = n in (k % len(fit), (k + 2) % len(fit))
            yield pytest.param(name, objective, marks=[] if usual else [SOAK])


SETTINGS = list(settings())


@pytest.mark.parametrize(("name", "objective"), SETTINGS)
def test_planes_are_what_their_slopes_say(name, objective):
    risk, solver, rng = risk_of(objective), ONE_BY_ONE[name], np.random.default_rng(0)
    state, certifier = solver.start(risk, np.zeros(risk.d), 0.0), Certifier(objective, risk.d)
    lowest, best = np.inf, (np.zeros(risk.d), 0.0)
    for _ in range(PASSES):
        found = solver.step(risk, state, rng)
        value = risk.penalty(found.w) + risk.value(found.w, found.b)
        if found.objective is not None:
            assert found.objective == pytest.approx(value, rel=1e-12)
        if value < lowest:
            lowest, best = value, (found.w, found.b)
        if found.plane is None:  # an epoch is under way
            continue
        slopes = risk.source.s * found.plane.witness.slopes.whole
        g = risk.source.combination(slopes) / risk.m
        np.testing.assert_allclose(found.plane.a, g, rtol=1e-9, atol=1e-12)
        if objective.intercept:
            assert found.plane.tilt == pytest.approx(slopes.sum() / risk.m, abs=1e-9)
        certifier.learn(found.plane, lowest)
    proved = risk.verify(*best, certifier.witness()).lower_bound
    assert proved >= certifier.lower_bound - 1e-9 * lowest


@pytest.mark.parametrize(("name", "objective"), SETTINGS)
def test_a_result_is_proved_again_by_its_witness(name, objective):
    risk = risk_of(objective)
    result = minimize(risk, ONE_BY_ONE[name], Stopping(gap=0.0, passes=PASSES))
    assert (result.witness is None) == (result.lower_bound == 0.0)
    again = risk.verify(result.w, result.b, result.witness)
    assert again == Interval(result.objective, result.lower_bound)
    assert result.lower_bound >= result.trace[-2].lower_bound - 1e-9 * result.objective


@pytest.mark.parametrize("intercept", [False, True])
def test_tangents_are_true_whatever_the_order(intercept):
    """Rows that a pass leaves out, or visits twice, do not make its plane wrong."""
    risk = risk_of(Objective(Logistic(), SquaredL2(1e-2), Free(), intercept=intercept))
    solver, rng = Pegasos(), np.random.default_rng(0)
    walk = solver.start(risk, np.zeros(risk.d), 0.0)
    for _ in range(5):
        order = rng.integers(risk.m, size=100, dtype=np.uint32)
        plane = solver.walk(risk, walk, order, rng).plane
        for w in rng.normal(size=(20, risk.d)):
            b = float(rng.normal()) if intercept else 0.0
            assert plane.a @ w + plane.tilt * b + plane.offset <= risk.value(w, b) + 1e-12


def test_room_for_planes_is_shared_with_their_witnesses():
    few, many = (risk_of(OBJECTIVES[0], m=m).planes().capacity for m in (150, 400_000))
    assert many < few
    assert many * 400_000 <= 2**26


@pytest.mark.parametrize("solver", [RDA(), AdaGrad("cmd")])
def test_slopes_are_those_before_an_example_was_learned(solver):
    risk = risk_of(Objective(Logistic(), SquaredL2(1e-2), Free(), intercept=True))
    loss, y = risk.objective.loss, risk.source.y
    here, there = (solver.start(risk, np.zeros(risk.d), 0.0) for _ in range(2))
    for seed in range(3):  # the first pass holds an early look
        order = np.random.default_rng(seed).permutation(risk.m).astype(np.uint32)
        rng = np.random.default_rng(0)
        slopes = solver.walk(risk, here, order, rng).plane.witness.slopes.whole
        z = solver.learn(risk, there, order, rng)[:, 0]
        expected = [loss.slope(*at) for at in zip(z, y[order], strict=True)]
        np.testing.assert_allclose(slopes[order], expected, rtol=1e-12)


@pytest.mark.parametrize("solver", [Pegasos(), PGS()])
def test_slopes_of_a_pass_begin_at_its_start(solver):
    """The first example is met at the start's weights, whichever row it is."""
    risk = risk_of(Objective(Logistic(), SquaredL2(1e-2), Free(), intercept=False))
    loss, y = risk.objective.loss, risk.source.y
    for first in (0, 7, risk.m - 1):
        order = np.roll(np.arange(risk.m, dtype=np.uint32), -first)
        state = solver.start(risk, np.zeros(risk.d), 0.0)
        slopes = solver.walk(risk, state, order, np.random.default_rng(0)).plane.witness
        assert slopes.slopes.whole[first] == pytest.approx(loss.slope(0.0, y[first]), rel=1e-12)
