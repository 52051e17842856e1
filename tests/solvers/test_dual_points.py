"""The bounds of the piecewise-linear solvers, against the dual objective written out in numpy."""

import numpy as np
import pytest

from contracts.problems import Case
from stepless.solvers import InteriorPoint, SmoothedNewton


def dual(case, beta):
    """Dual objective of shares β of the corners' rises, and the mean of the slopes they make.

    Each corner counts by itself, which for two of them proves a little less than their sum does.
    """
    loss, s = case.objective.loss, case.s / case.s.sum()
    low, k, rise = loss.corners(case.y)
    a = low + (rise * beta).sum(axis=0)
    first = np.array([loss.value(z, y) for z, y in zip(k[0], case.y, strict=True)]) - low * k[0]
    conjugate = (rise * beta * k).sum(axis=0) - first
    whole = np.array([loss.conjugate(ai, yi) for ai, yi in zip(a, case.y, strict=True)])
    assert (conjugate >= whole - 1e-12).all()
    g = case.X.T @ (s * a)
    return -s @ conjugate - g @ g / (2 * case.strength), s @ a


def levelled(case, beta):
    """Each β gives way by β(1 − β) times the same, until the slopes' mean is 0."""
    rise = case.objective.loss.corners(case.y)[2]
    s = case.s / case.s.sum()
    room = (s * rise * beta * (1 - beta)).sum()
    return beta - dual(case, beta)[1] / room * beta * (1 - beta)


LOSSES = ["hinge", "absolute", "epsilon_insensitive", "quantile"]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_interior_points_bound_is_its_dual_objective(loss, intercept):
    compared = 0
    for seed in range(3):
        case = Case(loss, seed, strength=1e-2, intercept=intercept)
        solver, rng = InteriorPoint(), np.random.default_rng(0)
        state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
        for _ in range(9):
            bound = solver.step(case.risk, state, rng).lower_bound
            if not np.isfinite(bound):
                continue
            (beta, *_), *_ = state.point.parts
            beta = levelled(case, beta) if intercept else beta
            height, tilt = dual(case, beta)
            assert abs(tilt) < 1e-12 or not intercept
            assert bound == pytest.approx(height, rel=1e-9, abs=1e-9), case
            compared += 1
    assert compared >= 15


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_smoothed_slopes_bound_is_its_dual_objective(loss, intercept):
    for seed in range(3):
        case = Case(loss, seed, strength=1e-2, intercept=intercept)
        solver, rng = SmoothedNewton(), np.random.default_rng(0)
        state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
        for _ in range(9):
            centre, width = state.centre.parts[0].copy(), state.width
            finding = solver.step(case.risk, state, rng)
            p = case.X @ finding.w + finding.b
            beta = np.clip(centre + (p - case.objective.loss.corners(case.y)[1]) / width, 0, 1)
            height, tilt = dual(case, beta)
            # slopes are level to a share of the smoothing's cost, which the bound gives away
            first, _, rise = case.objective.loss.corners(case.y)
            sizes = np.abs(first + (rise * beta).sum(axis=0))
            depth = case.risk.value_at(p) / (case.s @ sizes / case.s.sum())
            lost = abs(tilt) * depth if intercept else 0.0
            assert lost <= 0.1 * state.cost + 1e-9
            height += tilt * finding.b - lost  # of slopes that are not level, at this intercept
            assert finding.lower_bound == pytest.approx(height, rel=1e-6, abs=1e-6), case
