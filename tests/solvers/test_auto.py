"""What `auto` takes fits, and what a solver that does not fit advises does."""

import itertools
import re

import numpy as np
import pytest

from contracts.turning import Turning
from stepless import Constraint, Polytope, Source
from stepless.design import Dense
from stepless.minimization import minimize
from stepless.objective import (
    DOMAINS,
    LOSSES,
    REGULARIZERS,
    Free,
    Hinge,
    Logistic,
    MulticlassHinge,
    Objective,
    Softmax,
    SquaredL2,
)
from stepless.risks.joint_risk import risk_of
from stepless.solvers import SOLVERS
from stepless.solvers.auto import choose
from stepless.stopping import Stopping


class Disc(Constraint):
    """The least that a constraint of one's own must say."""

    def excess(self, w):
        return float(w @ w) - 1.0

    def outward(self, w, g):
        g[:] = 2.0 * w
        return self.excess(w)

    def radius(self):
        return 1.0


X = np.random.default_rng(0).normal(size=(12, 4))
TARGETS = {
    "signs": np.where(X[:, 0] > 0.0, 1.0, -1.0),
    "classes": np.arange(12) % 4.0,
    "counts": np.ones(12),
}
OWN = [
    Polytope.of(np.vstack([np.eye(4), -np.eye(4)]), np.ones(8)),
    Polytope.of([[1, 1, 0, 0]], [1]),
]


def risks(loss):
    """Of this loss, with every penalty in every domain that it can be had in."""
    source = Source(X, TARGETS.get(loss.targets, X[:, 0]), threads=1)
    domains = [domain() for domain in DOMAINS.values()] + [*OWN, Disc()]
    for penalty, domain in itertools.product(REGULARIZERS.values(), domains):
        try:
            yield risk_of(Objective(loss, penalty(0.1), domain), source)
        except ValueError:  # they do not go together, and a test of its own says so
            continue


def fits(name, risk, objective):
    if name == "auto":
        return choose(risk_of(objective, risk.source), 1e-3).lacks(objective) is None
    return SOLVERS[name]().lacks(objective) is None


def named(lack):
    """The solvers that a sentence advises."""
    pairs = re.findall(r"solver='([\w-]+)'(?: or '([\w-]+)')?", lack)
    return [name for pair in pairs for name in pair if name]


ALL = [*(loss() for loss in LOSSES.values()), Softmax(4), MulticlassHinge(4)]


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_auto_fits_whatever_fits(loss):
    seen = 0
    for risk in risks(loss):
        objective = risk.objective
        able = [key for key, solver in SOLVERS.items() if solver().lacks(objective) is None]
        chosen = choose(risk, 1e-3)
        assert not able or chosen.lacks(objective) is None, (objective, chosen.name, able)
        seen += 1
    assert seen > 60


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_a_remedy_helps(loss):
    """Of the solvers advised one fits, or the sentence advises more than solvers."""
    for risk in risks(loss):
        for key, solver in SOLVERS.items():
            lack = solver().lacks(risk.objective)
            if lack is None or any(fits(other, risk, risk.objective) for other in named(lack)):
                continue
            assert re.search("penalty=|domain=|loss=|multi_class=|bundle solver", lack), (key, lack)
            if "penalty='l2'" in lack:  # at the latest with what it advises then
                with_ridge = Objective(risk.objective.loss, SquaredL2(0.1), risk.objective.domain)
                assert fits("auto", risk, with_ridge), (key, lack)
            if "domain='free'" in lack:
                free = Objective(risk.objective.loss, risk.objective.regularizer, Free())
                assert fits("auto", risk, free), (key, lack)


@pytest.mark.parametrize(
    ("loss", "features", "effect", "names"),
    [
        (Logistic(), 10, 1.0, "newton"),
        (Logistic(), 2000, 1.0, "dual-ascent, lbfgs"),
        (Logistic(), 2000, 1e4, "lbfgs"),
        (Hinge(), 10, 1.0, "dual-ascent, smoothed-newton, interior-point"),
        (Hinge(), 10, 10.0, "smoothed-newton, interior-point"),
        (Hinge(), 2000, 10.0, "dual-ascent, smoothed-newton"),
    ],
)
def test_few_passes_where_rows_are_slow_to_read(loss, features, effect, names):
    rows = np.random.default_rng(0).normal(size=(12_000, features)) / np.sqrt(features)
    y = np.where(rows[:, 0] > 0.0, 1.0, -1.0)
    objective = Objective(loss, SquaredL2(1.0 / (12_000 * effect)))
    source = Source(Turning.cut(Dense.of(rows), 100, 5), y)
    assert choose(risk_of(objective, source), 1e-3).name == names


@pytest.mark.parametrize("strength", [1e-2, 1e-9])
def test_more_features_than_examples_are_for_dual_ascent(strength):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(250, 300))
    y = np.where(rows[:, 0] + rng.normal(size=250) > 0.0, 1.0, -1.0)
    wide = risk_of(Objective(Hinge(), SquaredL2(strength)), Source(rows, y, threads=1))
    assert choose(wide, 1e-3).name == "dual-ascent, interior-point"
    found = minimize(wide, choose(wide, 1e-3), Stopping(gap=1e-3, passes=60))
    assert found.stopped_by == "gap"
    narrow = risk_of(wide.objective, Source(rows[:, :200], y, threads=1))
    assert "smoothed-newton" in choose(narrow, 1e-3).name


def test_separated_examples_leave_no_risk_to_divide_by():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 90))
    y = np.where(rows[:, 0] > 0.0, 1.0, -1.0)
    risk = risk_of(Objective(Hinge(), SquaredL2(1e-6)), Source(rows, y, threads=1))
    found = minimize(risk, SOLVERS["smoothed-newton"](), Stopping(gap=1e-3, passes=20))
    assert found.lower_bound <= found.objective < 1e-3  # without a warning of numpy's


def test_stochastic_solvers_are_the_last_where_rows_are_slow_to_read():
    source = Source(Turning.cut(Dense.of(X), 3, 2), TARGETS["signs"])
    l1 = Objective(Logistic(), REGULARIZERS["l1"](0.1))
    assert choose(risk_of(l1, source), 1e-3).name == "proximal-newton, accelerated"
    wide = Turning.cut(Dense.of(np.ones((6, 600))), 3, 2)
    wide.large = True
    large = Source(wide, TARGETS["signs"][:6])
    assert choose(risk_of(l1, large), 1e-3).name == "accelerated"
    disc = Objective(Logistic(), SquaredL2(0.1), Disc())
    assert fits("auto", risk_of(disc, source), disc)
