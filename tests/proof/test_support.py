"""A few problems of the search for wrong zeros, and that it would find one."""

from collections import Counter

import numpy as np
import pytest

from proof.arithmetic import mp
from proof.lasso import CLOSE, minimum
from proof.problems import Problem
from proof.support import LAYOUTS, SOLVERS, Tally, Verdict, judged, posed
from stepless.objective import L1, Free, Huber, SmoothedHinge, Squared

DENSE = {"losses": ("squared", "logistic"), "layouts": LAYOUTS[:1]}


def test_weights_that_are_said_to_be_0_are_0(capsys):
    tally, auto = Tally(), [n for n in range(40) if SOLVERS[n % len(SOLVERS)] == "auto"]
    for number in auto:
        tally.hold(number, **DENSE)
    assert tally.faults == 0, capsys.readouterr().out
    total = sum(tally.counts.values(), Counter())
    assert total["problems"] == 28
    assert total["claims"] > 0.8 * total["0 in truth"] > 80
    assert total["0 in truth"] < total["weights"] - 20


def test_wrong_claims_and_intervals_are_found():
    given, verdict = next(
        (given, verdict)
        for given, verdict in (
            (posed(n, **DENSE), judged(posed(n, **DENSE), "auto")) for n in range(9)
        )
        if not verdict.true.all() and verdict.true.any() and verdict.optimum.lowest > 0
    )
    fit, optimum = verdict.fit, verdict.optimum
    assert verdict.faults == []
    sure, low, high = fit.certain_zeros_, fit.lower_bound_, fit.objective_
    fit.certain_zeros_ = np.ones_like(sure)
    wrong = Verdict(verdict.given, fit, optimum).faults
    assert len(wrong) == np.sum(~verdict.true), given
    fit.certain_zeros_ = sure
    fit.lower_bound_, fit.objective_ = high * (1.0 + 1e-12), high
    assert "above an optimum" in verdict.faults[0]
    fit.lower_bound_, fit.objective_ = low, low * (1.0 - 1e-12)
    assert "below the optimum" in verdict.faults[0]


def _lasso(X, y, alpha, loss=None, intercept=False):
    return Problem(0, loss or Squared(), L1(alpha), Free(), intercept, X, y, None, ())


@pytest.mark.parametrize("start", [0.0, 1.0, -3.0])
def test_the_optimum_is_that_of_a_closed_form(start):
    """Orthogonal features of length √m: w_j = c_j less α, towards 0, with c = Xᵀy/m; ties too."""
    X = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    c, alpha = np.array([2.0, -0.75, 0.5, 0.25]), 0.5
    found = minimum(_lasso(X, X @ c, alpha), np.full(4, start), 0.0)
    np.testing.assert_allclose([float(wj) for wj in found.w], [1.5, -0.25, 0.0, 0.0], atol=1e-30)
    assert found.certain(alpha) == [False, False, False, True]  # |g_2| = α
    assert found.violation < CLOSE
    best = 0.5 * (3 * 0.25 + 0.0625) + 0.5 * 1.75
    assert found.lowest <= best <= found.highest
    assert found.highest - best < 1e-40


@pytest.mark.parametrize("loss", [Squared(), Huber(0.25)])
def test_copies_share_their_slope(loss):
    """Of a feature, its copies and what is almost one: all that could be used is no certain 0."""
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 30))
    X = np.column_stack((x, -x, 2.0**-20 * x, (1.0 - 2.0**-40) * x, z, np.zeros(30), np.ones(30)))
    y = 3.0 * x + 0.1 * rng.normal(size=30)
    for w in (np.zeros(7), rng.normal(size=7)):
        found = minimum(_lasso(X, y, 0.1, loss, intercept=True), w, 0.3)
        assert found.violation < CLOSE
        assert found.certain(0.1) == [False, False, True, True, True, True, True]
        assert abs(found.highest - found.lowest) < 1e-40


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("gamma", [50.0, 400.0, 1e4])
def test_the_optimum_is_found_where_the_loss_is_all_but_linear(gamma, intercept):
    """Of x_i = y_i: the slope at the optimum, −1/(1 + exp(γ(w − 1))), is −α; the intercept 0."""
    y, alpha = np.array([1.0, -1.0, 1.0, -1.0]), 1.0 - 1e-9
    for start in (0.0, 1e9):
        given = _lasso(y[:, None], y, alpha, SmoothedHinge(gamma), intercept)
        found = minimum(given, np.array([start]), start)
        w = 1.0 - mp.log(mp.mpf(alpha) / (1 - mp.mpf(alpha))) / gamma
        assert abs(found.w[0] - w) < 1e-30
        assert found.violation < CLOSE
        assert found.highest - found.lowest < 1e-40
