"""The bundle method for penalties and domains that are not Euclidean, against cone programmes."""

import math
import pickle
from itertools import pairwise

import clarabel
import numpy as np
import pytest
from scipy import sparse

from stepless import LinearClassifier
from stepless.certificates import CurvedPlanes, GeneralPlanes, Planes, PolyhedralPlanes
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    Entropy,
    Free,
    GroupsL2,
    GroupsLInf,
    Hinge,
    HyperbolicEntropy,
    L1Ball,
    L2Ball,
    Logistic,
    LpBall,
    Nonnegative,
    Objective,
    Regularizer,
    RowsL2,
    RowsLInf,
    Simplex,
    Softmax,
    SquaredL2,
    SquaredLp,
    Zero,
)
from stepless.objective.regularizers.groups import Groups
from stepless.risks.joint_risk import risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import FOBOS, RDA, AdaGrad, Bundle
from stepless.solvers.batch import level_step
from stepless.stopping import Stopping

# -- an independent solver -------------------------------------------------------------------------


class Program:
    """min ½ xᵀ diag(P) x + ⟨q, x⟩ + constant, rows b − Ax in cones, by clarabel."""

    def __init__(self):
        self.n, self.P, self.q, self.constant = 0, [], [], 0.0
        self.A, self.b, self.cones = [], [], []

    def new(self, count, cost=0.0, square=0.0):
        self.q += [cost] * count
        self.P += [square] * count
        self.n += count
        return np.arange(self.n - count, self.n)

    def row(self, *terms, constant=0.0):
        """A row Σ coefficient·x + constant, as (coefficients, columns) and what is left."""
        return terms, constant

    def require(self, cone, *rows):
        for terms, constant in rows:
            self.A.append({c: -v for v, c in terms})
            self.b.append(constant)
        self.cones.append(cone)

    def least(self):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        A = sparse.lil_matrix((len(self.A), self.n))
        for i, row in enumerate(self.A):
            for c, v in row.items():
                A[i, c] += v
        P = sparse.diags(self.P, format="csc")
        args = P, np.array(self.q), sparse.csc_matrix(A), np.array(self.b), self.cones, settings
        found = clarabel.DefaultSolver(*args).solve()
        assert "Solved" in str(found.status), found.status
        return found.obj_val + self.constant


def add_loss(program, loss, X, y, w, intercept):
    m = len(y)
    b = program.new(1)[0] if intercept else None
    t = program.new(m, 1.0 / m)
    for i in range(m):
        margin = [(y[i] * X[i, j], w[j]) for j in range(len(w))]
        if intercept:
            margin.append((y[i], b))
        if isinstance(loss, Hinge):
            rows = [((1.0, t[i]),), ((1.0, t[i]), *margin)]
            program.require(clarabel.NonnegativeConeT(2), (rows[0], 0.0), (rows[1], -1.0))
        else:  # exp(−t) + exp(−yz − t) ≤ 1
            p = program.new(2)
            minus = [(-v, c) for v, c in margin]
            for part, more in zip(p, ([], minus), strict=True):
                program.require(
                    clarabel.ExponentialConeT(),
                    (((-1.0, t[i]), *more), 0.0),
                    ((), 1.0),
                    (((1.0, part),), 0.0),
                )
            program.require(clarabel.NonnegativeConeT(1), (((-1.0, p[0]), (-1.0, p[1])), 1.0))


def add_sizes(program, w, cost):
    r = program.new(len(w), cost)
    for j, size in zip(w, r, strict=True):
        rows = [(((1.0, size), (sign, j)), 0.0) for sign in (1.0, -1.0)]
        program.require(clarabel.NonnegativeConeT(2), *rows)
    return r


def add_entropy(program, w, alpha, prior):
    """α Σ (w log(w/π) − w + π)."""
    e = program.new(len(w), alpha)
    for j, height in zip(w, e, strict=True):
        program.q[j] -= alpha
        program.constant += alpha * prior
        rows = (((-1.0, height),), 0.0), (((1.0, j),), 0.0), ((), prior)
        program.require(clarabel.ExponentialConeT(), *rows)


def add_penalty(program, penalty, w):
    match penalty:
        case L1():
            add_sizes(program, w, penalty.alpha)
        case ElasticNet():
            add_sizes(program, w, penalty.alpha * penalty.ratio)
            for j in w:
                program.P[j] += penalty.alpha * (1.0 - penalty.ratio)
        case SquaredL2():
            for j in w:
                program.P[j] += penalty.alpha
        case RowsL2() | RowsLInf() | GroupsL2() | GroupsLInf():
            order, starts = np.arange(len(w)), np.arange(len(w) + 1)
            if isinstance(penalty, Groups):
                order, starts = penalty.order, penalty.starts
            for first, last in pairwise(starts):
                t, members = program.new(1, penalty.alpha)[0], w[order[first:last]]
                rows = [(((1.0, c),), 0.0) for c in (t, *members)]
                if isinstance(penalty, RowsL2 | GroupsL2):
                    program.require(clarabel.SecondOrderConeT(len(rows)), *rows)
                    continue
                for j in members:
                    sides = [(((1.0, t), (sign, j)), 0.0) for sign in (1.0, -1.0)]
                    program.require(clarabel.NonnegativeConeT(2), *sides)
        case SquaredLp():  # r_j^{1/p} n^{1−1/p} ≥ |w_j|, Σ r_j ≤ n
            n = program.new(1, 0.0, penalty.alpha / (penalty.p - 1.0))[0]
            r = program.new(len(w))
            for j, part in zip(w, r, strict=True):
                rows = [(((1.0, c),), 0.0) for c in (part, n, j)]
                program.require(clarabel.PowerConeT(1.0 / penalty.p), *rows)
            terms = ((1.0, n), *((-1.0, part) for part in r))
            program.require(clarabel.NonnegativeConeT(1), (terms, 0.0))
        case Entropy():
            add_entropy(program, w, penalty.alpha, penalty.prior)
        case HyperbolicEntropy():  # the entropies of both signs, in the best of all ways
            up, down = program.new(len(w)), program.new(len(w))
            for side in (up, down):
                add_entropy(program, side, penalty.alpha, 0.5 * penalty.scale)
            for j, p, n in zip(w, up, down, strict=True):
                program.require(clarabel.ZeroConeT(1), (((1.0, p), (-1.0, n), (-1.0, j)), 0.0))


def add_domain(program, domain, w):
    match domain:
        case Box():
            for j in w:
                rows = (((1.0, j),), -domain.low), (((-1.0, j),), domain.high)
                program.require(clarabel.NonnegativeConeT(2), *rows)
        case Nonnegative() | Simplex():
            for j in w:
                program.require(clarabel.NonnegativeConeT(1), (((1.0, j),), 0.0))
            if isinstance(domain, Simplex):
                terms = tuple((1.0, j) for j in w)
                program.require(clarabel.ZeroConeT(1), (terms, -domain.bound))
        case L1Ball():
            r = add_sizes(program, w, 0.0)
            terms = tuple((-1.0, size) for size in r)
            program.require(clarabel.NonnegativeConeT(1), (terms, domain.bound))
        case L2Ball():
            rows = [(((1.0, j),), 0.0) for j in w]
            program.require(clarabel.SecondOrderConeT(len(w) + 1), ((), domain.bound), *rows)
        case LpBall():  # r_j^{1/p} R^{1−1/p} ≥ |w_j|, Σ r_j ≤ R
            r = program.new(len(w))
            for j, part in zip(w, r, strict=True):
                rows = (((1.0, part),), 0.0), ((), domain.bound), (((1.0, j),), 0.0)
                program.require(clarabel.PowerConeT(1.0 / domain.p), *rows)
            terms = tuple((-1.0, part) for part in r)
            program.require(clarabel.NonnegativeConeT(1), (terms, domain.bound))


class Case:
    """A risk and its true minimum."""

    def __init__(self, loss, penalty, domain=Free(), seed=0, intercept=True, m=40, d=5, size=1.0):
        rng = np.random.default_rng([seed, d])
        self.X = size * rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.7)
        z = self.X @ rng.normal(size=d) / size + 0.5 * rng.normal(size=m) + 0.3
        self.y = np.where(z > 0.0, 1.0, -1.0)
        self.y[:2] = 1.0, -1.0
        objective = Objective(loss, penalty, domain, intercept=intercept)
        X = sparse.csr_matrix(self.X) if seed % 2 else self.X
        self.risk = LinearRisk(objective, Source(X, self.y, threads=1))
        program = Program()
        w = program.new(d)
        add_loss(program, loss, self.X, self.y, w, intercept)
        add_penalty(program, penalty, w)
        add_domain(program, domain, w)
        self.best = program.least()

    def run(self, gap=1e-5, passes=600):
        return minimize(self.risk, Bundle(), Stopping(gap=gap, passes=passes))


KINDS = {
    "elasticnet": (ElasticNet(0.05, 0.6), Free()),
    "lasso as elasticnet": (ElasticNet(0.02, 1.0), Free()),
    "l1": (L1(0.02), Free()),
    "lp": (SquaredLp(0.05, 1.5), Free()),
    "lp, nearly the lasso": (SquaredLp(0.01, 1.1), Free()),
    "lp, the ridge": (SquaredLp(0.05, 2.0), Free()),
    "entropy": (Entropy(0.05, 0.5), Free()),
    "hyperbolic": (HyperbolicEntropy(0.05, 0.2), Free()),
    "l1/l2": (RowsL2(0.02), Free()),
    "l1/linf": (RowsLInf(0.02), Free()),
    "groups l2": (GroupsL2.of(0.03, list("aabbc")), Free()),
    "groups linf": (GroupsLInf.of(0.03, list("aabbc")), Free()),
    "none, box": (Zero(), Box(-0.3, 1.0)),
    "l1, box": (L1(0.02), Box(-0.3, 0.6)),
    "elasticnet, box": (ElasticNet(0.02, 0.5), Box(-0.3, 0.6)),
    "l2, box": (SquaredL2(0.05), Box(-0.3, 0.6)),
    "entropy, box": (Entropy(0.05, 0.5), Box(-0.3, 0.6)),
    "l1, nonnegative": (L1(0.02), Nonnegative()),
    "elasticnet, nonnegative": (ElasticNet(0.02, 0.5), Nonnegative()),
    "hyperbolic, nonnegative": (HyperbolicEntropy(0.05, 0.2), Nonnegative()),
    "none, l1 ball": (Zero(), L1Ball(1.2)),
    "l1, l1 ball": (L1(0.02), L1Ball(1.2)),
    "none, simplex": (Zero(), Simplex(1.5)),
    "l1, ball": (L1(0.02), L2Ball(0.7)),
    "elasticnet, ball": (ElasticNet(0.03, 0.6), L2Ball(0.7)),
    "elasticnet, l1 ball": (ElasticNet(0.03, 0.6), L1Ball(1.2)),
    "l1, lp ball": (L1(0.02), LpBall(0.9, 1.5)),
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=["hinge", "logistic"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_reaches_the_optimum(kind, loss, intercept):
    case = Case(loss, *KINDS[kind], seed=len(kind), intercept=intercept)
    result = case.run()
    assert result.stopped_by == "gap", result.rel_gap
    assert result.objective <= case.best * (1 + 1.1e-5)
    assert case.best * (1 - 1.1e-5) <= result.lower_bound <= case.best * (1 + 1e-7)
    w = result.w.copy()
    case.risk.objective.domain.project(w)
    np.testing.assert_allclose(w, result.w, atol=1e-12)


def random_kind(rng):
    alpha = float(10.0 ** rng.uniform(-5.0, 0.0))
    penalties = [
        L1(alpha),
        ElasticNet(alpha, float(rng.choice([0.0, 0.3, 0.95, 1.0]))),
        SquaredLp(alpha, float(rng.choice([1.05, 1.3, 1.8]))),
        Entropy(alpha, float(10.0 ** rng.uniform(-2.0, 1.0))),
        HyperbolicEntropy(alpha, float(10.0 ** rng.uniform(-2.0, 1.0))),
        RowsL2(alpha),
        Zero(),
    ]
    penalty = penalties[rng.integers(len(penalties))]
    bound = float(10.0 ** rng.uniform(-1.0, 1.0))
    domains = [Box(-bound, 0.5 * bound)]
    if isinstance(penalty, Zero | L1):
        domains.append(L1Ball(bound))
    if isinstance(penalty, L1 | ElasticNet) and penalty.has_lasso:
        domains += [L2Ball(bound), L1Ball(bound)]
    if isinstance(penalty, Zero):
        domains.append(Simplex(bound))
    elif not penalty.separable:
        domains = [Free()]
    else:
        domains += [Free(), Free(), Nonnegative()]
    return penalty, domains[rng.integers(len(domains))]


def test_no_bound_is_ever_above_the_optimum():
    rng = np.random.default_rng(0)
    for seed in range(60):
        penalty, domain = random_kind(rng)
        loss = Hinge() if rng.integers(2) else Logistic()
        size = float(rng.choice([1e-2, 1.0, 10.0]))
        m, d = int(rng.integers(5, 40)), int(rng.integers(1, 12))
        case = Case(loss, penalty, domain, seed, bool(rng.integers(2)), m, d, size)
        result = case.run(gap=0.0, passes=12)
        # the reference's own accuracy: exponential cones are solved to about 1e-7
        slack = 1e-6 * max(case.best, 1e-2)
        assert result.lower_bound <= case.best + slack, (seed, penalty, domain, loss)
        assert result.objective >= case.best - slack, (seed, penalty, domain, loss)


@pytest.mark.parametrize(
    "kind", ["elasticnet", "l1", "lp", "entropy", "groups l2", "none, simplex"]
)
def test_the_gap_never_rises(kind):
    case = Case(Hinge(), *KINDS[kind])
    solver, rng = Bundle(), np.random.default_rng(0)
    state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
    bounds = [solver.step(case.risk, state, rng).lower_bound for _ in range(25)]
    assert (np.diff(bounds) >= 0.0).all()


@pytest.mark.parametrize("kind", ["elasticnet", "l1", "groups l2"])
def test_a_full_bundle_still_reaches_the_optimum(kind, monkeypatch):
    monkeypatch.setattr("stepless.certificates.planes._MOST_PLANES", 12)
    case = Case(Hinge(), *KINDS[kind])
    result = case.run(gap=1e-3)
    assert result.state.planes.size == 12
    assert result.stopped_by == "gap"
    assert result.lower_bound <= case.best * (1 + 1e-7)


@pytest.mark.parametrize("kind", ["hyperbolic", "l1", "groups l2"])
def test_a_pickled_state_goes_on_identically(kind):
    case = Case(Logistic(), *KINDS[kind])
    solver, rng = Bundle(), np.random.default_rng(0)
    state = solver.start(case.risk, np.zeros(case.risk.d), 0.0)
    for _ in range(4):
        solver.step(case.risk, state, rng)
    copied = pickle.loads(pickle.dumps(state))
    for _ in range(10):
        here, there = solver.step(case.risk, state, rng), solver.step(case.risk, copied, rng)
        np.testing.assert_array_equal(here.w, there.w)
        assert here.lower_bound == there.lower_bound


@pytest.mark.parametrize("kinds", [(L1, L1), (ElasticNet, ElasticNet), (L1, ElasticNet)])
def test_planes_of_another_strength_are_still_true(kinds):
    before = None
    for kind, alpha in zip(kinds, (0.1, 0.01), strict=True):
        case = Case(Hinge(), kind(alpha))
        stopping = Stopping(gap=1e-4, passes=600)
        before = minimize(case.risk, Bundle(), stopping, start=before)
        assert before.stopped_by == "gap"
        assert before.lower_bound <= case.best * (1 + 1e-7)


def test_a_linear_programme_that_fails_costs_no_truth(monkeypatch):
    class Failed:
        status = 4

    monkeypatch.setattr(
        "stepless.certificates.polyhedral_planes.linprog", lambda *args, **kwargs: Failed()
    )
    case = Case(Hinge(), *KINDS["l1"])
    result = case.run(gap=1e-2)
    assert result.lower_bound <= case.best * (1 + 1e-7)
    assert result.rel_gap < 0.1  # the steps' own dual points prove something too


def test_a_programmes_answer_is_made_feasible(monkeypatch):
    class Rough:
        status = 0

        def __init__(self, n, d):
            self.x = np.zeros(2 * d + 1)
            self.ineqlin = type("Rows", (), {"marginals": np.full(n, -0.7)})

    def rough(cost, A_ub, **rest):
        return Rough(A_ub.shape[0], A_ub.shape[1] // 2)

    monkeypatch.setattr("stepless.certificates.polyhedral_planes.linprog", rough)
    case = Case(Hinge(), *KINDS["l1"])
    result = case.run(gap=0.0, passes=40)
    assert result.lower_bound <= case.best * (1 + 1e-7)


def test_level_steps_are_worth_it(monkeypatch):
    """Without them a model's corners are visited, one by one."""
    case = Case(Logistic(), L1(1e-3), m=60, d=12)
    assert case.run(gap=1e-3).trace[-1].passes < 100

    def kelley(objective, planes, best, lowest, level):
        return planes.lower_bound(objective, lowest)

    monkeypatch.setattr("stepless.solvers.batch.bundle.level_step", kelley)
    assert case.run(gap=1e-3).trace[-1].passes > 130
    assert level_step.level_step is not kelley


def test_what_it_does_not_know_is_said_in_a_sentence():
    for penalty, domain, message in [
        (
            Entropy(0.1),
            L1Ball(),
            "does not know Entropy with domain L1Ball; use solver='auto'",
        ),
        (SquaredL2(0.1), Simplex(), "does not know SquaredL2 with domain Simplex"),
        (Entropy(0.1), L2Ball(), "does not know Entropy with domain L2Ball"),
        (Zero(), Nonnegative(), "needs a penalty or a bounded domain"),
        (Zero(), Free(), "needs a penalty or a bounded domain"),
    ]:
        assert message in Bundle().lacks(Objective(Hinge(), penalty, domain))
    with pytest.raises(ValueError, match=r"solver 'newton' knows the penalties l2 .*'auto', or"):
        LinearClassifier(loss="logistic", penalty="l1", solver="newton").fit([[0.0], [1.0]], [0, 1])


def test_each_penalty_gets_its_planes():
    for penalty, kind in [
        (SquaredL2(0.1), Planes),
        (L1(0.1), PolyhedralPlanes),
        (Entropy(0.1), CurvedPlanes),
        (RowsL2(0.1), GeneralPlanes),
    ]:
        case_risk = LinearRisk(
            Objective(Hinge(), penalty), Source(np.eye(2), np.array([1.0, -1.0]))
        )
        assert type(Bundle().start(case_risk, np.zeros(2), 0.0).planes) is kind


class Own(Regularizer):
    """A penalty of one's own, strongly convex; of its conjugate's curvature only a bound is known."""

    alpha: float = 0.1

    def value(self, wj):
        return self.alpha * (0.5 * wj * wj + abs(wj))

    def prox(self, wj, step):
        return math.copysign(max(abs(wj) - step * self.alpha, 0.0) / (1.0 + step * self.alpha), wj)

    def conjugate(self, uj):
        return 0.5 * max(abs(uj) - self.alpha, 0.0) ** 2 / self.alpha

    def conjugate_gradient(self, uj):
        return math.copysign(max(abs(uj) - self.alpha, 0.0) / self.alpha, uj)

    def strong_convexity(self):
        return self.alpha


def test_a_penalty_of_ones_own():
    case = Case(Hinge(), ElasticNet(0.2, 0.5))  # the same
    case.risk = LinearRisk(Objective(Hinge(), Own(0.1)), case.risk.source)
    result = case.run()
    assert result.stopped_by == "gap"
    assert result.objective == pytest.approx(case.best, rel=1.1e-5)


@pytest.mark.parametrize(
    ("penalty", "solver"),
    [
        (SquaredLp(0.05, 1.5), FOBOS()),
        (Entropy(0.05, 0.5), AdaGrad()),
        (HyperbolicEntropy(0.05), RDA()),
    ],
    ids=lambda part: getattr(part, "name", repr(part)),
)
def test_the_methods_of_single_examples_agree(penalty, solver):
    case = Case(Hinge(), penalty, m=60)
    result = minimize(case.risk, solver, Stopping(gap=1e-2, passes=150))
    assert result.objective <= 1.05 * case.best
    assert 0.9 * case.best <= result.lower_bound <= case.best * (1 + 1e-7)


def test_a_joint_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(60, 3)), axis=1).astype(float)
    results = {}
    for penalty in (SquaredL2(0.01), SquaredLp(0.01, 2.0), ElasticNet(0.01, 0.0), L1(0.01)):
        risk = risk_of(Objective(Softmax(3), penalty), Source(X, y, threads=1))
        result = minimize(risk, Bundle(), Stopping(gap=1e-5, passes=600))
        assert result.stopped_by == "gap"
        results[type(penalty)] = result.objective
    assert results[SquaredLp] == pytest.approx(results[SquaredL2], rel=2e-5)
    assert results[ElasticNet] == pytest.approx(results[SquaredL2], rel=2e-5)
    assert results[L1] > results[SquaredL2]
