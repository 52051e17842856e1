"""Every batch solver leaves a witness, for every loss, penalty and domain that it knows.

What it proves is true: the intervals of all solvers of a problem hold the one optimum.
"""

import numpy as np
import pytest

from contracts.problems import PARAMETERS, examples
from grids import SOAK
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    LOSSES,
    Box,
    ElasticNet,
    Entropy,
    Free,
    HyperbolicEntropy,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Objective,
    Polytope,
    Quantile,
    Shrunk,
    Simplex,
    Spectrahedron,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.objective.regularizers import GroupsL2
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping

M, D, GAP = 40, 4, 1e-9
BATCH = [name for name in SOLVERS if SOLVERS[name].__module__.startswith("stepless.solvers.batch")]
OFTEN = ["hinge", "logistic", "squared"]
DOMAINS = [
    Free(),
    L2Ball(0.7),
    Box(-0.3, 0.5),
    Nonnegative(),
    L1Ball(0.8),
    Simplex(0.9),
    LpBall(0.8, 1.5),
    Polytope.of(np.vstack([np.eye(D), -np.eye(D), np.ones((1, D))]), np.ones(2 * D + 1)),
    Spectrahedron(0.9),
    Intersection(0.6, Nonnegative()),
    Shrunk(L1Ball(1.0), 0.2, np.zeros(D)),
]
PENALTIES = [
    Zero(),
    SquaredL2(0.05),
    L1(0.05),
    ElasticNet(0.05, 0.5),
    SquaredLp(0.05, 1.5),
    Entropy(0.05),
    HyperbolicEntropy(0.05),
    GroupsL2.of(0.05, [0, 0, 1, 1]),
]


def problems(loss, domain):
    """Risks of all penalties that go with a domain, half of them with an intercept."""
    X, y = examples(loss, 3, M, D)
    s = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], M)
    s[:2] = 1.0
    for n, penalty in enumerate(PENALTIES):
        intercept = (n + DOMAINS.index(domain)) % 2 == 0
        try:
            objective = Objective(
                LOSSES[loss](**PARAMETERS.get(loss, {})), penalty, domain, intercept
            )
        except ValueError:  # the two do not go together
            continue
        yield LinearRisk(objective, Source(X, y, s, threads=1))


def often(loss, domain):
    """Half of the common losses, others for the next domain; a polytope's vertices take long."""
    if loss not in OFTEN or isinstance(domain, Polytope):
        return False
    return (OFTEN.index(loss) + DOMAINS.index(domain)) % 2 == 0


@pytest.mark.parametrize(
    ("loss", "domain"),
    [
        pytest.param(
            loss,
            domain,
            marks=[] if often(loss, domain) else [SOAK],
            id=f"{loss}-{type(domain).__name__}",
        )
        for loss in LOSSES
        if LOSSES[loss]().outputs() == 1
        for domain in DOMAINS
    ],
)
def test_what_is_proved_is_true_and_near_what_was_claimed(loss, domain):
    for risk in problems(loss, domain):
        found = {}
        for name in BATCH:
            solver = SOLVERS[name]()
            if solver.lacks(risk.objective) is None:
                found[name] = minimize(risk, solver, Stopping(gap=GAP, passes=100))
        if not found:
            continue
        best = min(result.objective for result in found.values())
        for name, result in found.items():
            case = name, risk.objective, result.stopped_by, result.rel_gap
            assert result.witness is not None or result.lower_bound == 0.0, case
            assert result.lower_bound <= best, case
            assert result.rel_gap <= GAP or result.stopped_by != "gap", case
            again = risk.verify(result.w, result.b, result.witness)
            assert again.lower_bound == pytest.approx(result.lower_bound, rel=1e-9), case
            # not "rounding": what was claimed was proved
            assert result.stopped_by in ("gap", "passes"), case


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["smoothed-newton", "interior-point", "dual-ascent"])
def test_slopes_at_the_end_of_a_narrow_range(name, intercept):
    """1 − τ is a hundredth, and the slopes' rounding that of 1."""
    rng = np.random.default_rng(2)
    X, s = rng.normal(size=(400, D)), 3.0 * rng.random(400)
    y = X @ rng.normal(size=D) + rng.normal(size=400)
    objective = Objective(Quantile(0.99), SquaredL2(1e-3), intercept=intercept)
    risk = LinearRisk(objective, Source(X, y, s, threads=1))
    result = minimize(risk, SOLVERS[name](), Stopping(gap=1e-8, passes=300))
    assert result.stopped_by == "gap"
    assert 0.0 <= result.rel_gap <= 1e-8
