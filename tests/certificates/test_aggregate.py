"""Lower bounds for any penalty and domain, against optima of clarabel and scipy."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from grids import grid
from stepless.certificates import Aggregate, Certifier
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Free,
    GroupsL2,
    GroupsLInf,
    Hinge,
    L1Ball,
    L2Ball,
    Logistic,
    MulticlassHinge,
    Nonnegative,
    Objective,
    Regularizer,
    RowsL2,
    RowsLInf,
    Simplex,
    Softmax,
    Squared,
    SquaredL2,
    Zero,
)
from stepless.plane import Plane
from stepless.risks.joint_risk import risk_of
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.fobos import FOBOS
from stepless.solvers.online.rda import RDA
from stepless.stopping import Stopping
from transcriptions import adagrad as papers

SOLVERS = {
    "adagrad-rda": AdaGrad,
    "adagrad-cmd": lambda: AdaGrad("cmd"),
    "rda": RDA,
    "fobos": FOBOS,
}
STRENGTHS = (1.0, 1e-1, 3e-2, 1e-2, 1e-3, 1e-5)


# -- problems and their optima ---------------------------------------------------------------------


class Case:
    """A small random problem, and what somebody else says that its minimum is."""

    def __init__(self, kind, seed, strength=None):
        loss, penalty, domain = KINDS[kind]
        rng = np.random.default_rng([seed, len(kind)])
        m, d = int(rng.integers(20, 61)), int(rng.integers(3, 9))
        self.strength = strength or STRENGTHS[seed % len(STRENGTHS)]
        self.intercept = bool((seed // 2) % 2)
        self.K = 3 if loss in (MulticlassHinge, Softmax) else 1
        self.X = np.round(rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.8), 3)
        z = self.X @ rng.normal(size=(d, self.K)) + 0.5 * rng.normal(size=(m, self.K))
        z += rng.normal(size=self.K)
        self.y = _targets(loss, z, rng)
        self.s = rng.choice([0.0, 0.5, 1.0, 3.0], m) if seed % 3 == 0 else np.ones(m)
        self.s[:3] = 1.0  # no class may lose all its weight
        self.groups = rng.integers(0, 3, d)
        self.loss = loss(self.K) if self.K > 1 else loss()
        size = float(10.0 ** rng.uniform(-0.5, 0.5))
        self.objective = Objective(
            self.loss, penalty(self.strength, self.groups), domain(size), self.intercept
        )
        self.risk = risk_of(self.objective, Source(self.X, self.y.astype(float), self.s, threads=1))
        self.best = self.value(*_optimum(self))

    def value(self, w, b):
        """J, from the formulas."""
        p, z = self.s / self.s.sum(), self.X @ w.reshape(-1, self.K) + b
        own = z[np.arange(len(z)), self.y.astype(int) % self.K][:, None]
        y = self.y[:, None]
        losses = {
            Hinge: lambda: np.maximum(0.0, 1.0 - y * z),
            Absolute: lambda: np.abs(z - y),
            Squared: lambda: 0.5 * (z - y) ** 2,
            Logistic: lambda: np.logaddexp(0.0, -y * z),
            MulticlassHinge: lambda: (z - own + (np.arange(self.K) != y)).max(
                axis=1, keepdims=True
            ),
            Softmax: lambda: np.logaddexp.reduce(z - own, axis=1, keepdims=True),
        }[type(self.loss)]()
        return _transcribed(self).value(w.reshape(-1, self.K)) + float(p @ losses[:, 0])

    def assert_true(self, result):
        """No bound above the optimum, no objective below it."""
        slack = 1e-8 * max(self.best, 1e-3)
        assert result.lower_bound <= self.best + slack, self
        assert result.objective >= self.best - slack, self
        b = np.broadcast_to(result.b, self.K)
        assert self.value(result.w, b) == pytest.approx(result.objective, rel=1e-10), self

    def __repr__(self):
        return f"{self.objective} {self.X.shape}"


def _targets(loss, z, rng):
    if loss in (MulticlassHinge, Softmax):
        y = z.argmax(axis=1)
        y[:3] = np.arange(3)
        return y
    if loss in (Absolute, Squared):
        return z[:, 0]
    y = np.where(z[:, 0] > np.median(z), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return np.where(rng.random(y.size) < 0.1, -y, y) if y.size > 30 else y


# from the strength, and the features' groups, to a penalty; from a size to a domain
KINDS = {
    "hinge, l1": (Hinge, lambda a, g: L1(a), lambda c: Free()),
    "absolute, l1": (Absolute, lambda a, g: L1(a), lambda c: Free()),
    "logistic, l1": (Logistic, lambda a, g: L1(a), lambda c: Free()),
    "hinge, elasticnet": (Hinge, lambda a, g: ElasticNet(a, 0.7), lambda c: Free()),
    "squared, elasticnet": (Squared, lambda a, g: ElasticNet(a, 0.3), lambda c: Free()),
    "hinge, groups l2": (Hinge, GroupsL2.of, lambda c: Free()),
    "squared, groups l2": (Squared, GroupsL2.of, lambda c: Free()),
    "absolute, groups linf": (Absolute, GroupsLInf.of, lambda c: Free()),
    "joint hinge, l1/l2": (MulticlassHinge, lambda a, g: RowsL2(a), lambda c: Free()),
    "joint hinge, l1/linf": (MulticlassHinge, lambda a, g: RowsLInf(a), lambda c: Free()),
    "joint hinge, groups l2": (MulticlassHinge, GroupsL2.of, lambda c: Free()),
    "softmax, l1": (Softmax, lambda a, g: L1(a), lambda c: Free()),
    "hinge, l1, box": (Hinge, lambda a, g: L1(a), lambda c: Box(-0.5 * c, c)),
    "logistic, none, box": (Logistic, lambda a, g: Zero(), lambda c: Box(-c, c)),
    "hinge, l1, nonnegative": (Hinge, lambda a, g: L1(a), lambda c: Nonnegative()),
    "absolute, l1, ball": (Absolute, lambda a, g: L1(a), L2Ball),
    "hinge, l2, l1 ball": (Hinge, lambda a, g: SquaredL2(a), L1Ball),
    "squared, none, l1 ball": (Squared, lambda a, g: Zero(), L1Ball),
    "absolute, l2, simplex": (Absolute, lambda a, g: SquaredL2(a), Simplex),
}


def _transcribed(case):
    """The penalty as the transcription of the paper writes it."""
    penalty, alpha = case.objective.regularizer, case.strength
    cells = np.arange(case.X.shape[1] * case.K).reshape(-1, case.K)
    groups = [cells[case.groups == g].ravel() for g in np.unique(case.groups)]
    match penalty:
        case L1():
            return papers.l1(alpha)
        case ElasticNet():
            return papers.elastic_net(alpha * penalty.ratio, alpha * (1.0 - penalty.ratio))
        case SquaredL2():
            return papers.ridge(alpha)
        case RowsL2():
            return papers.rows_l2(alpha)
        case RowsLInf():
            return papers.rows_linf(alpha)
        case GroupsL2():
            return papers.l2_groups(alpha, groups)
        case GroupsLInf():
            return papers.linf_groups(alpha, groups)
    return papers.no_penalty()


def _region(domain):
    match domain:
        case Box():
            return papers.box(domain.low, domain.high)
        case Nonnegative():
            return papers.nonnegative()
        case L1Ball():
            return papers.l1_ball(domain.bound)
        case L2Ball():
            return papers.l2_ball(domain.bound)
        case Simplex():
            return papers.simplex(domain.bound)
    return papers.everywhere()


def _optimum(case):
    """(w, b), by a cone programme, or, of exponentials, by L-BFGS-B in w₊ and w₋."""
    if isinstance(case.loss, Logistic | Softmax):
        return _smooth_optimum(case)
    d, K, free = case.X.shape[1], case.K, case.K * case.intercept
    kept = case.s > 0.0
    X, y, p = case.X[kept], case.y[kept], (case.s / case.s.sum())[kept]
    Z, n = papers.with_bias(X, case.intercept), d * K + free
    P, q, planes = np.zeros((n, n)), np.zeros(n), []
    if isinstance(case.loss, Squared):
        P, q = (Z.T * p) @ Z, -Z.T @ (p * y)
    elif isinstance(case.loss, Absolute):
        planes = [(np.array([z, -z]), np.array([-t, t])) for z, t in zip(Z, y, strict=True)]
    elif isinstance(case.loss, Hinge):
        planes = papers.planes_of_hinge(X, y, case.intercept)
    else:
        planes = papers.planes_of_crammer_singer(X, y, K, case.intercept)
    planes = [(share * A, share * b) for share, (A, b) in zip(p, planes, strict=bool(planes))]
    x = papers._cone_programme(
        P, q, _transcribed(case), _region(case.objective.domain), (d, K), planes, free
    )
    return x[: d * K], x[d * K :] if free else np.zeros(K)


def _smooth_optimum(case):
    d, K = case.X.shape[1], case.K
    domain, lasso = case.objective.domain, case.objective.regularizer
    alpha = lasso.alpha if isinstance(lasso, L1) else 0.0
    p, n = case.s / case.s.sum(), d * K
    signs = case.y[:, None] if K == 1 else np.eye(K)[case.y.astype(int)]

    def oracle(v):
        w, b = (v[:n] - v[n : 2 * n]).reshape(d, K), v[2 * n :]
        z = case.X @ w + (b if case.intercept else 0.0)
        if K == 1:
            a = -signs / (1.0 + np.exp(signs * z))
            value = np.logaddexp(0.0, -signs * z)[:, 0]
        else:
            total = np.logaddexp.reduce(z, axis=1)
            a, value = np.exp(z - total[:, None]) - signs, total - (signs * z).sum(axis=1)
        g = (case.X.T @ (p[:, None] * a)).ravel()
        tail = p @ a if case.intercept else np.zeros(0)
        return p @ value + alpha * v[: 2 * n].sum(), np.concatenate([g + alpha, alpha - g, tail])

    bounds = [(0.0, None if isinstance(domain, Free) else domain.high)] * n
    bounds += [(0.0, None if isinstance(domain, Free) else -domain.low)] * n
    bounds += [(None, None)] * (K * case.intercept)
    v = np.zeros(len(bounds))
    for _ in range(20):  # it stops early now and then
        found = scipy_minimize(
            oracle,
            v,
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-11},
        )
        before, v = oracle(v)[0], min(v, found.x, key=lambda u: oracle(u)[0])
        if not found.fun < before * (1 - 1e-12):
            break
    return v[:n] - v[n : 2 * n], v[2 * n :] if case.intercept else np.zeros(K)


# -- whole runs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_above_the_optimum(kind):
    for seed, passes in zip(range(2), (30, 40), strict=True):
        case = Case(kind, seed, STRENGTHS[(seed + 3 * len(kind)) % len(STRENGTHS)])
        # one solver for each kind: to compile all of them for all kinds takes minutes
        solver = list(SOLVERS.values())[list(KINDS).index(kind) % len(SOLVERS)]()
        case.assert_true(minimize(case.risk, solver, Stopping(gap=0.0, passes=passes)))


@pytest.mark.parametrize("kind", ["hinge, l1", "logistic, l1", "hinge, elasticnet", "softmax, l1"])
def test_the_certificate_is_of_use_where_the_penalty_is_moderate(kind):
    for name, strength, most in itertools.product(
        ("adagrad-cmd", "adagrad-rda"), (0.1, 0.03), (0.1,)
    ):
        gaps = []
        for seed in (200, 203):
            case = Case(kind, seed, strength)
            result = minimize(case.risk, SOLVERS[name](), Stopping(gap=most, passes=200))
            case.assert_true(result)
            gaps.append(result.rel_gap)
        assert min(gaps) <= most, (name, gaps)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_run_that_begins_where_another_ended(name):
    """Planes of another strength are still true."""
    solver = SOLVERS[name]()
    before = None
    for strength in (1.0, 0.1, 0.03, 0.1):
        case = Case("hinge, l1", 2, strength)
        start = (np.zeros(case.risk.d), 0.0) if before is None else before
        if before is not None:
            # of the planes alone: the solver begins anew
            certifier = Certifier(case.objective, case.risk.d, before.planes)
            assert certifier.lower_bound <= case.best * (1 + 1e-8)
        before = minimize(case.risk, solver, Stopping(gap=0.0, passes=40), start=start)
        if strength == 1.0:
            case.assert_true(before)


# -- the planes that passes leave ------------------------------------------------------------------


def _assert_under(case, plane, rng, trials=60):
    for size in np.geomspace(1e-3, 1e3, trials):
        w, b = size * rng.normal(size=case.risk.d), size * rng.normal() * case.intercept
        risk = case.risk.value(w, b)
        assert plane.a @ w + plane.tilt * b + plane.offset <= risk + 1e-10 * (1.0 + risk), case


def _planes(case, solver, start, passes=4):
    rng = np.random.default_rng(3)
    state = solver.start(case.risk, *start)
    findings = [solver.step(case.risk, state, rng) for _ in range(passes)]
    return [finding.plane for finding in findings if finding.plane is not None]


@pytest.mark.parametrize(
    ("name", "kind"),
    grid(SOLVERS, ["hinge, l1", "hinge, l2, l1 ball", "squared, elasticnet"]),
)
def test_planes_of_passes_lie_under_the_risk(name, kind):
    """Also of those with an early look, after 100 rounds, when all begins anew."""
    rng = np.random.default_rng(4)
    for seed in range(4):
        case = Case(kind, seed)
        planes = _planes(case, SOLVERS[name](), (np.zeros(case.risk.d), 0.0))
        assert len(planes) >= 3
        for plane in planes:
            _assert_under(case, plane, rng)


@pytest.mark.parametrize(("name", "kind"), grid(SOLVERS, ["hinge, l1", "hinge, l2, l1 ball"]))
def test_planes_of_a_warm_start_lie_under_the_risk(name, kind):
    rng = np.random.default_rng(5)
    for seed in range(4):
        case = Case(kind, seed)
        start = (3.0 * rng.normal(size=case.risk.d), 1.0 * case.intercept)
        for plane in _planes(case, SOLVERS[name](), start):
            _assert_under(case, plane, rng)


# -- one plane of many -----------------------------------------------------------------------------

PAIRS = {
    repr(pair): pair
    for pair in [
        (L1(0.3), Free()),
        (ElasticNet(0.3, 0.4), Free()),
        (ElasticNet(0.3, 0.0), Free()),
        (GroupsL2.of(0.3, [0, 1, 0, 2]), Free()),
        (GroupsLInf.of(0.3, [0, 1, 0, 2]), Free()),
        (RowsL2(0.3), Free()),
        (RowsLInf(0.3), Free()),
        (L1(0.3), Box(-0.5, 2.0)),
        (L1(0.3), Nonnegative()),
        (L1(0.3), L2Ball(1.5)),
        (ElasticNet(0.3, 0.4), L1Ball(1.5)),
        (SquaredL2(0.3), Box(0.0, 1.0)),
        (SquaredL2(0.3), Simplex(1.5)),
        (SquaredL2(0.3), L2Ball(1.5)),
        (Zero(), L1Ball(1.5)),
        (Zero(), Simplex(1.5)),
    ]
}


def _points(objective, rng, ceiling, count):
    """Points of the domain with a penalty of at most the ceiling."""
    while count:
        w = 10.0 ** rng.uniform(-2, 1) * rng.normal(size=12) * (rng.random(12) < rng.uniform())
        objective.domain.project(w)
        if objective.penalty(w) <= ceiling:
            count -= 1
            yield w


def _axes(objective, signs, ceiling):
    """The farthest points along the axes, the rows and the middle: corners of what is allowed."""
    for v in (*np.diag(signs), signs, *(np.kron(np.eye(4), np.ones(3)) * signs)):
        for size in np.geomspace(1e3, 1e-2, 400):
            w = size * v
            objective.domain.project(w)
            if objective.penalty(w) <= ceiling:
                yield w
                break


@pytest.mark.parametrize("pair", PAIRS)
def test_least_is_below_all_that_it_speaks_of(pair):
    rng = np.random.default_rng(6)
    objective = Objective(Softmax(3), *PAIRS[pair], intercept=False)
    for size, ceiling in itertools.product((0.05, 0.3, 3.0), (1.0, 10.0)):
        a, blur = size * rng.normal(size=12), 0.1 * size * rng.random(12)
        for width in (np.zeros(12), blur):
            least = objective.least(a, width, ceiling)
            assert least <= 0.0 or isinstance(objective.domain, Simplex)
            axes = _axes(objective, -np.sign(a), ceiling)
            for w in (*axes, *_points(objective, rng, ceiling, 40)):
                for v in (a, a - width * np.sign(w), a + width * rng.uniform(-1, 1, 12)):
                    assert least <= objective.penalty(w) + v @ w + 1e-12


@pytest.mark.parametrize("pair", PAIRS)
def test_a_blend_is_below_the_planes(pair):
    rng = np.random.default_rng(7)
    objective = Objective(Softmax(3), *PAIRS[pair], intercept=False)
    certifier, planes = Certifier(objective, 12, Aggregate(12)), []
    for _ in range(12):
        planes.append(Plane(0.3 * rng.normal(size=12), rng.uniform()))
        certifier.learn(planes[-1], 5.0)
        for w in _points(objective, rng, 5.0, 20):
            heights = [p.a @ w + p.offset for p in planes]
            assert certifier.lower_bound <= objective.penalty(w) + max(0.0, *heights) + 1e-12


def test_a_blend_comes_to_be_as_high_as_it_can():
    """Of two planes that come again and again, against all their blends."""
    objective = Objective(Hinge(), L1(0.5), intercept=False)
    one, two = np.array([2.0, -1.0]), np.array([-2.0, 1.2])
    certifier = Certifier(objective, 2)
    for _ in range(30):
        for plane in (Plane(one, 0.9), Plane(two, 0.8)):
            certifier.learn(plane, 3.0)
    best = max(
        scale * (t * 0.9 + (1 - t) * 0.8)
        + objective.least(scale * (t * one + (1 - t) * two), np.zeros(2), 3.0)
        for t in np.linspace(0, 1, 201)
        for scale in np.linspace(0, 1, 21)
    )
    assert 0.9 * best <= certifier.lower_bound <= 1.01 * best


def test_without_a_ceiling_only_flat_planes_count():
    objective = Objective(Hinge(), L1(0.5), intercept=False)
    for slope, bound in ((0.4, 0.7), (0.6, 0.7 * 0.5 / 0.6)):
        certifier = Certifier(objective, 1)
        certifier.learn(Plane(np.array([slope]), 0.7))
        assert certifier.lower_bound == pytest.approx(bound, rel=5e-3)


@pytest.mark.parametrize("penalty", [L1(0.5), SquaredL2(0.5), ElasticNet(0.5)], ids=repr)
def test_planes_of_a_run_that_diverges_are_left_out(penalty):
    bad = [
        Plane(np.array([np.inf, 0.0]), 0.0),
        Plane(np.array([np.nan, 0.0]), 0.0),
        Plane(np.array([1e200, 0.0]), -1e200, 1.0),
        Plane(np.zeros(2), -np.inf),
        Plane(np.zeros(2), 0.3, np.nan),
        Plane(np.zeros(2), 0.3, np.inf),
    ]
    certifier = Certifier(Objective(Hinge(), penalty), 2)
    for plane in bad:
        certifier.learn(plane, 1.0)
    certifier.learn(Plane(np.array([0.1, 0.0]), 0.4, -1.0), 1.0)
    assert certifier.lower_bound == 0.0  # it waits for a partner
    certifier.learn(Plane(np.array([0.1, 0.0]), 0.4, 1.0), 1.0)
    assert 0.38 <= certifier.lower_bound <= 0.4
    for plane in bad:
        certifier.learn(plane, 1.0)
    assert 0.38 <= certifier.lower_bound <= 0.4


class OneSided(Regularizer):
    """α max(w, 0): free to fall, so that a slope of rounding's size and the wrong sign matters."""

    alpha: float = 0.5

    def value(self, wj):
        return self.alpha * max(wj, 0.0)

    def prox(self, vj, t):
        return vj - min(max(vj, 0.0), t * self.alpha)

    def conjugate(self, uj):
        return 0.0 if 0.0 <= uj <= self.alpha else math.inf

    def conjugate_gradient(self, uj):
        return 0.0


def test_a_regularizer_that_is_not_even_counts_its_worse_side():
    objective = Objective(Hinge(), OneSided())
    slopes, blur = np.array([-1e-17, -0.1]), np.full(2, 1e-15)
    assert objective.least(slopes, blur, math.inf) == -math.inf
    assert objective.least(np.zeros(2), np.zeros(2), math.inf) == 0.0
