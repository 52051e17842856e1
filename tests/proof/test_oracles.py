"""Intervals of risks with an oracle only: true, tight, the same again, and hard to fool."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from stepless import SOLVERS, SquaredL2, Stopping
from stepless.certificates.planes import MOST_POINTS
from stepless.data import Source
from stepless.data.sequences import Sequences
from stepless.minimization import minimize
from stepless.objective import L1, ElasticNet, L1Ball, OracleObjective, Zero
from stepless.plane import Plane, Tangent
from stepless.proof import oracles
from stepless.proof.witness import Points
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.risks.chains.crf_risk import CRFRisk
from stepless.risks.chains.hinge_risk import ChainHingeRisk
from stepless.risks.chains.pairs import AllPairs
from stepless.risks.metrics.f_risk import FRisk
from stepless.risks.metrics.pair_risk import PairRisk
from stepless.risks.metrics.top_risk import TopRisk
from stepless.risks.oracle_risk import OffsetRisk, OracleRisk
from stepless.risks.ranking import NDCG, AveragePrecision, Pairwise, RankingRisk
from stepless.structured import Multiclass
from stepless.structured.label_risk import LabelRisk
from stepless.structured.structured_risk import StructuredRisk

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(60, 5)) * 256) / 256 + 1.0
SIGNS = np.where(X @ [1.0, -2.0, 0.5, 0.0, 0.3] + rng.normal(size=60) > 0.3, 1.0, -1.0)
GRADES = np.clip(np.round(X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.normal(size=60)), 0, 3)
QID = np.repeat(np.arange(10), 6)
TAGS = rng.integers(3, size=60)
WORDS = Sequences(sparse.csr_matrix(X), np.arange(0, 61, 6))


class Deviations(OracleRisk):
    """The mean of |w_j − c_j|, smoothed or not."""

    def value_and_gradient(self, w):
        away = w - np.arange(1.0, w.size + 1.0)
        return float(np.abs(away).mean()), np.sign(away) / w.size


class MeanHinge(OffsetRisk):
    def section(self, w):
        z = X @ w

        class Along:
            def cut(self, b):
                margins = 1.0 - SIGNS * (z + b)
                return np.maximum(margins, 0.0).mean(), -(SIGNS * (margins > 0.0)).mean()

            def gradient(self, b):
                return -((SIGNS * (1.0 - SIGNS * (z + b) > 0.0)) @ X) / len(SIGNS)

        return Along()


def labels(kind, penalty):
    return kind(Multiclass.of(X, TAGS), X, TAGS.tolist(), penalty)


RISKS = {
    "own": lambda penalty: Deviations(5, penalty),
    "own, free intercept": lambda penalty: MeanHinge(5, penalty, m=60, intercept=True),
    "pairwise": lambda penalty: RankingRisk(Pairwise(), X, GRADES, penalty, qid=QID),
    "ndcg": lambda penalty: RankingRisk(NDCG(3), X, GRADES, penalty, qid=QID),
    "ap": lambda penalty: RankingRisk(AveragePrecision(), X, GRADES, penalty, qid=QID),
    "roc": lambda penalty: PairRisk(Source(X, SIGNS), penalty),
    "f1": lambda penalty: FRisk(Source(X, SIGNS), penalty, 1.0, True),
    "top": lambda penalty: TopRisk(Source(X, SIGNS), penalty, 10, 10),
    "crf": lambda penalty: CRFRisk(WORDS, TAGS, AllPairs(5, 3), 3, penalty),
    "hinge": lambda penalty: ChainHingeRisk(
        WORDS, TAGS, AllPairs(5, 3), 3, penalty, cost=1.0 - np.eye(3)
    ),
    "structured": lambda penalty: labels(StructuredRisk, penalty),
    "labels": lambda penalty: labels(LabelRisk, penalty),
}


def reference(risk):
    """A point that is better than any that a run to a gap of 1e-3 may rest at, and J there."""
    found = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-8, passes=1500))
    return found.w, risk.penalty(found.w) + risk.value(found.w, found.b)


@pytest.mark.parametrize("name", RISKS)
@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle", "bundle-linesearch"])
def test_the_interval_is_true_tight_and_the_same_again(name, solver):
    risk = RISKS[name](SquaredL2(0.1))
    _, lowest = reference(risk)
    found = minimize(risk, SOLVERS[solver](), Stopping(gap=1e-3, passes=2000))
    assert found.stopped_by == "gap"
    assert found.lower_bound <= lowest * (1.0 + 1e-12)
    assert lowest * (1.0 - 1e-7) <= found.objective
    assert isinstance(found.witness, Points)
    assert found.witness.calls <= MOST_POINTS
    for other in (risk, RISKS[name](SquaredL2(0.1))):  # nothing of the run is needed
        again = other.verify(found.w, found.b, found.witness)
        assert again.objective == found.objective
        assert again.lower_bound == found.lower_bound
        assert 0.0 < again.at_zero <= risk.value_at_zero() * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("solver", "penalty", "domain"),
    [
        ("mirror-descent", L1(0.05), None),
        ("mirror-descent", ElasticNet(0.05, 0.5), None),
        ("bundle", L1(0.05), None),
        ("bundle", ElasticNet(0.05, 0.5), None),
        ("lbfgs", SquaredL2(0.05), None),
        ("lbfgs", L1(0.05), None),
        ("accelerated", SquaredL2(0.05), None),
        ("frank-wolfe", Zero(), L1Ball(2.0)),
    ],
    ids=str,
)
def test_every_solver_leaves_points_that_prove_its_bound(solver, penalty, domain):
    risk = CRFRisk(WORDS, TAGS, AllPairs(5, 3), 3, penalty)
    if domain is not None:
        risk.objective = type(risk.objective)(penalty, domain, smooth=True)
    found = minimize(risk, SOLVERS[solver](), Stopping(gap=1e-3, passes=300))
    assert isinstance(found.witness, Points)
    assert found.witness.calls <= MOST_POINTS
    assert found.lower_bound > 0.5 * found.objective
    again = risk.verify(found.w, found.b, found.witness)
    assert again.lower_bound == found.lower_bound
    for w in found.w + 0.1 * rng.normal(size=(50, risk.d)):
        risk.objective.domain.project(w)
        assert risk.penalty(w) + risk.value(w, 0.0) >= found.lower_bound


def test_many_points_become_few_if_these_prove_enough():
    risk = RISKS["hinge"](SquaredL2(0.003))
    long = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-3))
    assert long.stopped_by == "gap"
    alpha = long.planes._duals[0] if long.planes.size else long.state.planes._duals[0]
    assert long.witness.calls <= np.count_nonzero(alpha)
    assert long.witness.shares.sum() <= 1.0 + 1e-12


class Exact(OracleRisk):
    """|w − 1| with one feature of 2^30 that cancels in w₂ − w₁, known exactly."""

    def value_and_gradient(self, w):
        away = 2.0**30 * w[0] - 2.0**30 * w[1] - 1.0
        return abs(away), np.sign(away) * np.array([2.0**30, -(2.0**30)])


def test_what_cancels_in_a_users_own_risk_is_counted():
    for seed in range(20):
        start = np.random.default_rng(seed).normal() * np.ones(2), 0.0
        found = minimize(
            Exact(2, SquaredL2(0.1)), SOLVERS["bundle"](), Stopping(gap=0.0, passes=8), start=start
        )
        u, v = (Fraction(number) for number in found.w.tolist())
        exact = abs(2**30 * u - 2**30 * v - 1) + Fraction(0.1) * (u * u + v * v) / 2
        assert Fraction(found.objective) >= exact
        # along (1, −1)·t: |2^31 t − 1| + 0.1 t² is least where the first vanishes
        assert Fraction(found.lower_bound) <= Fraction(0.1) / 2**62


class Off:
    """|w − 3|, of which all numbers are off by what is declared, in the direction that helps."""

    objective, tilt = OracleObjective(SquaredL2(1.0)), 0.0

    def value(self, w, b):
        return abs(w[0] - 3.0) - 0.1

    def tangent(self, w, b):
        plane = Plane(np.sign(w - 3.0) + 0.1, 3.0 + 0.1, self.tilt)
        return Tangent(self.value(w, b), 0.0, plane)

    def rounding_error(self, w, b, value):
        return 0.1

    def gradient_error(self):
        return np.full(1, 0.1)

    def offset_error(self, w, tangent):
        return 0.1


def test_what_is_declared_is_counted():
    risk, origin = Off(), Points(np.zeros((1, 1)), (0.0,), np.ones(1))
    found = oracles.verify(risk, np.zeros(1), 0.0, origin)
    assert 3.0 <= found.objective <= 3.001
    assert 2.49 <= found.lower_bound <= 2.5  # w²/2 + |w − 3| at w = 1
    assert 2.99 <= found.at_zero <= 3.0
    risk.tilt = 1e-9  # some intercept is below whatever it says
    assert oracles.verify(risk, np.zeros(1), 0.0, origin).lower_bound == 0.0


def test_shares_of_more_than_1_in_all_are_made_less():
    risk = Deviations(5, SquaredL2(10.0))
    lowest = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-9))
    points = lowest.witness
    for times in (1.0, 2.0, 1e6):
        more = Points(points.w, points.b, times * points.shares)
        found = risk.verify(np.ones(5), 0.0, more)
        assert found.lower_bound <= lowest.objective < found.objective
        assert found.at_zero <= 3.0


class Lying(Deviations):
    """Says something else than the truth on some calls, of which no check before the run heard."""

    found_right = True

    def __init__(self, wrong):
        super().__init__(5, SquaredL2(0.1))
        self.wrong, self.calls = wrong, [0]

    def value_and_gradient(self, w):
        self.calls[0] += 1
        return self.wrong(self.calls[0], *super().value_and_gradient(w))


@pytest.fixture(scope="module")
def truth():
    return minimize(Deviations(5, SquaredL2(0.1)), SOLVERS["bundle"](), Stopping(gap=1e-9))


@pytest.mark.parametrize("solver", ["bundle", "proximal-bundle", "bundle-linesearch"])
@pytest.mark.parametrize(
    "wrong",
    [
        lambda call, value, g: (value, -g if call == 3 else g),
        lambda call, value, g: (value, 2.0 * g if call == 2 else g),
        lambda call, value, g: (value + 1.0 if call == 4 else value, g),
    ],
    ids=["a gradient turned round", "a gradient too long", "a value too high"],
)
def test_what_an_oracle_says_wrongly_once_is_refused_or_proves_nothing(wrong, solver, truth):
    found, refused = None, ""
    try:
        found = minimize(Lying(wrong), SOLVERS[solver](), Stopping(gap=1e-6, passes=60))
    except ValueError as error:
        refused = str(error)
    if found is None:
        assert "its gradient of call" in refused
        return
    assert found.lower_bound <= truth.objective
    assert found.objective >= truth.lower_bound


def test_values_too_low_make_the_objective_too_low_by_no_more(truth):
    low = Lying(lambda call, value, g: (max(value - 1e-3, 0.0), g))
    found = minimize(low, SOLVERS["bundle"](), Stopping(gap=1e-6, passes=60))
    assert truth.lower_bound - 1e-3 <= found.objective
    assert found.lower_bound <= truth.objective


def test_planes_of_other_data_prove_nothing_false():
    """Planes that a run goes on from, though the risk has changed: the verifier asks anew."""

    class Moved(OracleRisk):
        where = 3.0

        def value_and_gradient(self, w):
            away = w - self.where
            return float(np.abs(away).mean()), np.sign(away) / w.size

    risk = Moved(4, SquaredL2(0.1))
    first = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-6))
    risk.where = 0.5
    truth = Moved(4, SquaredL2(0.1))
    truth.where = 0.5
    lowest = minimize(truth, SOLVERS["bundle"](), Stopping(gap=1e-8)).objective
    stale = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-6, passes=30), start=first)
    assert stale.lower_bound <= lowest <= stale.objective * (1.0 + 1e-9)


def test_the_margin_that_adapts_has_a_true_interval():
    for intercept in (False, True):
        risk = AdaptiveMargin(Source(X, SIGNS), 0.4, intercept=intercept)
        _, lowest = reference(risk)
        found = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-3, passes=300))
        assert found.lower_bound <= lowest * (1.0 + 1e-12)
        assert lowest * (1.0 - 1e-7) <= found.objective
        assert risk.verify(found.w, 0.0, found.witness).lower_bound == found.lower_bound


def pairs_of(name):
    """Pairs of rows (better, worse) and how much each counts in the mean, exactly."""
    if name == "roc":
        better, worse = np.flatnonzero(SIGNS > 0), np.flatnonzero(SIGNS < 0)
        share = Fraction(1, better.size * worse.size)
        return [(i, j, share) for i in better for j in worse]
    queries = []
    for q in range(10):
        rows = np.flatnonzero(q == QID)
        found = [(i, j) for i in rows for j in rows if GRADES[i] > GRADES[j]]
        if found:
            queries.append(found)
    return [(i, j, Fraction(1, len(queries) * len(q))) for q in queries for i, j in q]


@pytest.mark.parametrize("far", [0.0, 2.0**30])
@pytest.mark.parametrize("name", ["roc", "pairwise"])
def test_what_oracles_of_pairs_declare_is_true(name, far):
    """Of differences alone, which no shift changes: the truth is told by fractions."""
    shifted = X + far
    make = {
        "roc": lambda: PairRisk(Source(shifted, SIGNS), SquaredL2(0.1)),
        "pairwise": lambda: RankingRisk(Pairwise(), shifted, GRADES, SquaredL2(0.1), qid=QID),
    }
    risk, pairs = make[name](), pairs_of(name)
    exact = [[Fraction(v) for v in row] for row in X.tolist()]

    def truth(w):
        z = [
            sum(a * b for a, b in zip(row, map(Fraction, w.tolist()), strict=True)) for row in exact
        ]
        return sum(share * max(0, 1 - z[i] + z[j]) for i, j, share in pairs)

    draws = np.random.default_rng(1)
    places = [scale * draws.normal(size=5) for scale in (0.01, 0.3, 1.0, 10.0)]
    truths = [truth(w) for w in places]
    for w, known in zip(places, truths, strict=True):
        risk.begin()
        tangent = risk.tangent(w, 0.0)
        off = Fraction(risk.rounding_error(w, 0.0, tangent.value))
        assert abs(Fraction(tangent.value) - known) <= off
        error, lost = risk.gradient_error(), Fraction(risk.offset_error(w, tangent))
        for v, there in zip(places, truths, strict=True):
            height = Fraction(tangent.plane.offset) - lost
            for a, doubt, at in zip(
                tangent.plane.a.tolist(), error.tolist(), v.tolist(), strict=True
            ):
                height += Fraction(a) * Fraction(at) - abs(Fraction(doubt) * Fraction(at))
            assert height <= there
