"""Proxes, projections and floors against an independent solver, and to rounding where that can be."""

import math
import pickle
from fractions import Fraction

import clarabel
import numpy as np
import pytest
from numba import njit
from scipy import sparse

from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    Free,
    GroupsL2,
    GroupsLInf,
    Hinge,
    L1Ball,
    L2Ball,
    Nonnegative,
    RowsL2,
    RowsLInf,
    Simplex,
    SquaredL2,
    Zero,
)

D, K = 6, 3  # features, outputs
NAMES = ["a", "b", "a", "c", "b", "a"]


# -- an independent solver -------------------------------------------------------------------------


class Program:
    """min ½ xᵀ diag(P) x + ⟨q, x⟩, with x = (v, t) and constraints b − Ax in cones, by clarabel."""

    def __init__(self, n, extra=0):
        self.size, self.n = n + extra, n
        self.P, self.q = np.zeros(self.size), np.zeros(self.size)
        self.A, self.b, self.cones = [], [], []

    def require(self, A, b, cone):
        self.A.append(sparse.csc_matrix(A))
        self.b.append(np.asarray(b, dtype=float))
        self.cones.append(cone(len(b)))

    def at_most(self, A, b):
        self.require(A, b, clarabel.NonnegativeConeT)

    def unit(self, *columns):
        return sparse.eye(self.size, format="csr")[list(columns)]

    def longer(self, t, members):
        """x_t ≥ ‖x_members‖₂."""
        A = -self.unit(t, *members)
        self.require(A, np.zeros(1 + len(members)), clarabel.SecondOrderConeT)

    def larger(self, t, members):
        """x_t ≥ |x_j| for all members j."""
        above = sparse.vstack([self.unit(t)] * len(members))
        for sign in (1.0, -1.0):
            self.at_most(sign * self.unit(*members) - above, np.zeros(len(members)))

    def nearness(self):
        """How near the minimiser it comes: with cones of second order, to √ of the minimum's."""
        return 1e-4 if any("SecondOrder" in repr(cone) for cone in self.cones) else 1e-7

    def solve(self):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        # more than it can reach: it stops as near as it gets, and calls that almost solved
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-14
        settings.static_regularization_enable = False
        A = sparse.vstack(self.A, format="csc") if self.A else sparse.csc_matrix((0, self.size))
        b = np.concatenate(self.b) if self.b else np.zeros(0)
        P = sparse.diags(self.P, format="csc")
        found = clarabel.DefaultSolver(P, self.q, A, b, self.cones, settings).solve()
        assert "Solved" in str(found.status)
        return np.array(found.x)[: self.n], found.obj_val


def penalized(regularizer):
    """Return a programme whose objective is Ω of a D × K matrix, and the row ⟨Ω's bounds, x⟩."""
    cells = np.arange(D * K).reshape(D, K)
    groups = {
        L1: [[c] for c in cells.ravel()],
        ElasticNet: [[c] for c in cells.ravel()],
        RowsL2: list(cells),
        RowsLInf: list(cells),
        GroupsL2: [cells[[n == name for n in NAMES]].ravel() for name in "abc"],
        GroupsLInf: [cells[[n == name for n in NAMES]].ravel() for name in "abc"],
    }.get(type(regularizer), [])
    program = Program(D * K, len(groups))
    for t, members in enumerate(groups, start=D * K):
        largest = isinstance(regularizer, RowsLInf | GroupsLInf)
        (program.larger if largest else program.longer)(t, members)
    if not isinstance(regularizer, Zero):
        program.q[D * K :] = regularizer.alpha * getattr(regularizer, "ratio", 1.0)
    program.P[: D * K] = regularizer.strong_convexity()
    return program


ALL = [
    L1(0.4),
    ElasticNet(0.4, 0.3),
    ElasticNet(0.4, 0.0),
    ElasticNet(0.4, 1.0),
    SquaredL2(0.4),
    Zero(),
    RowsL2(0.7),
    RowsLInf(0.9),
    GroupsL2.of(1.3, NAMES),
    GroupsLInf.of(1.7, NAMES),
]


@pytest.mark.parametrize("regularizer", ALL, ids=repr)
def test_shrink_is_the_minimiser(regularizer):
    rng = np.random.default_rng(1)
    for spread in (0.0, 1.0, 2.0):
        w = rng.normal(size=(D, K))
        steps = 10.0 ** rng.uniform(-spread, spread, size=(D, K))
        program = penalized(regularizer)
        program.P[: D * K] += 1.0 / steps.ravel()
        program.q[: D * K] -= (w / steps).ravel()
        v, least = program.solve()
        regularizer.shrink(p := w.copy(), steps)
        height = regularizer.total(p) + np.sum((0.5 * p - w) * p / steps)
        assert height == pytest.approx(least, rel=1e-8)
        np.testing.assert_allclose(p.ravel(), v, atol=program.nearness())


NORMS = [r for r in ALL if r.strong_convexity() == 0.0 and not isinstance(r, Zero)]


@pytest.mark.parametrize("regularizer", NORMS, ids=repr)
@pytest.mark.parametrize("size", [0.1, 1.0, 4.0])
def test_floor_of_a_norm_is_the_minimum(regularizer, size):
    a = size * np.random.default_rng(2).normal(size=(D, K))
    for ceiling in (0.5, 3.0):
        program = penalized(regularizer)
        program.at_most(sparse.csc_matrix(program.q), [ceiling])
        program.q[: D * K] += a.ravel()
        _, least = program.solve()
        assert regularizer.floor(a, ceiling) == pytest.approx(least, abs=1e-7)
    steep = regularizer.floor(a, 1.0) < 0.0
    assert regularizer.floor(a, math.inf) == (-math.inf if steep else 0.0)
    assert regularizer.floor(1.1 * a, 2.0) <= regularizer.floor(a, 2.0)
    assert regularizer.floor(0.0 * a, math.inf) == 0.0


@pytest.mark.parametrize("regularizer", [r for r in ALL if r.strong_convexity() > 0.0], ids=repr)
def test_floor_of_a_ridge_is_the_minimum(regularizer):
    a = np.random.default_rng(3).normal(size=(D, K))
    program = penalized(regularizer)
    program.q[: D * K] += a.ravel()
    v, least = program.solve()
    assert regularizer.floor(a, math.inf) == pytest.approx(least, abs=1e-7)
    assert regularizer.floor(a, 1e9) == pytest.approx(least, abs=1e-7)
    # a ceiling that cuts the minimiser off
    ceiling = 0.1 * regularizer.total(v.reshape(D, K))
    if isinstance(regularizer, SquaredL2):
        radius = math.sqrt(2.0 * ceiling / regularizer.alpha)
        program.require(
            -sparse.vstack([sparse.csr_matrix((1, D * K)), program.unit(*range(D * K))]),
            np.append(radius, np.zeros(D * K)),
            clarabel.SecondOrderConeT,
        )
        _, least = program.solve()
        assert regularizer.floor(a, ceiling) == pytest.approx(least, abs=1e-7)
    assert regularizer.floor(a, ceiling) >= regularizer.floor(a, math.inf) - 1e-12


def test_floor_of_no_penalty():
    assert Zero().floor(np.zeros((2, 1)), math.inf) == 0.0
    assert Zero().floor(np.array([[0.0], [1e-300]]), 3.0) == -math.inf


def test_floor_of_an_elastic_net_that_is_nearly_a_lasso_uses_the_ceiling():
    a = np.array([[3.0], [0.1]])
    assert ElasticNet(1.0, 1.0 - 1e-12).floor(a, 2.0) == pytest.approx(L1(1.0).floor(a, 2.0))
    assert ElasticNet(1.0, 1.0).floor(a, 2.0) == L1(1.0).floor(a, 2.0)


# -- domains ---------------------------------------------------------------------------------------

DOMAINS = [L1Ball(1.3), L2Ball(1.3), Box(-0.2, 0.7), Simplex(1.3), Nonnegative(), Free()]


def constrained(domain, n):
    program = Program(n, n if isinstance(domain, L1Ball) else 0)
    each = program.unit(*range(n))
    ones = sparse.csr_matrix(np.ones(n))
    if isinstance(domain, L1Ball):
        for j in range(n):
            program.larger(n + j, [j])
        program.at_most(ones @ program.unit(*range(n, 2 * n)), [domain.bound])
    elif isinstance(domain, L2Ball):
        A = -sparse.vstack([sparse.csr_matrix((1, n)), each])
        program.require(A, np.append(domain.bound, np.zeros(n)), clarabel.SecondOrderConeT)
    elif isinstance(domain, Box):
        program.at_most(each, np.full(n, domain.high))
        program.at_most(-each, np.full(n, -domain.low))
    elif isinstance(domain, Simplex | Nonnegative):
        program.at_most(-each, np.zeros(n))
        if isinstance(domain, Simplex):
            program.require(ones @ each, [domain.bound], clarabel.ZeroConeT)
    return program


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_project_in_is_the_nearest_point(domain):
    rng = np.random.default_rng(4)
    for spread, n in ((0.0, 8), (1.0, 8), (2.0, 8), (1.0, 1)):
        w = rng.normal(size=n)
        h = 10.0 ** rng.uniform(-spread, spread, size=n)
        program = constrained(domain, n)
        program.P[:n], program.q[:n] = h, -h * w
        v, least = program.solve()
        if spread == 0.0:
            domain.project(p := w.copy())
            np.testing.assert_allclose(p, v, atol=program.nearness())
        domain.project_in(p := w.copy(), h)
        assert np.sum(h * (0.5 * p - w) * p) == pytest.approx(least, rel=1e-8)
        np.testing.assert_allclose(p, v, atol=program.nearness())


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_floor_of_a_domain_is_the_minimum(domain):
    a = np.random.default_rng(5).normal(size=7)
    if math.isinf(domain.reach()):
        assert domain.floor(a) == -math.inf
        assert domain.floor(np.zeros(7)) == 0.0
        assert domain.floor(np.abs(a)) == (0.0 if isinstance(domain, Nonnegative) else -math.inf)
        return
    program = constrained(domain, 7)
    program.q[:7] = a
    _, least = program.solve()
    assert domain.floor(a) == pytest.approx(least, abs=1e-7)
    assert domain.floor(np.zeros(7)) == 0.0


def test_vertices():
    w, g = np.full(3, np.nan), np.array([0.5, -2.0, 1.0])
    L1Ball(3.0).vertex(g, w)
    np.testing.assert_array_equal(w, [0.0, 3.0, 0.0])
    Simplex(3.0).vertex(-g, w)
    np.testing.assert_array_equal(w, [0.0, 0.0, 3.0])
    Box(-1.0, 2.0).vertex(np.array([0.0, -1.0, 1.0]), w)
    np.testing.assert_array_equal(w, [0.0, 2.0, -1.0])
    Nonnegative().vertex(np.abs(g), w)
    assert not w.any()
    with pytest.raises(ValueError, match="no minimum"):
        Nonnegative().vertex(g, w)
    assert [d.width() for d in DOMAINS] == [2.6, 2.6, pytest.approx(0.9), 1.3, math.inf, math.inf]
    assert [d.reach() for d in DOMAINS] == [1.3, 1.3, 0.7, 1.3, math.inf, math.inf]


# -- to rounding -----------------------------------------------------------------------------------

METRICS = [(0.0, 0.0), (-2.0, 2.0), (-8.0, 8.0), (8.0, 8.0), (-8.0, -8.0)]


def exact_level(b, r, target):
    """θ where Σ (b_j − θ)₊/r_j = target, in rational numbers (DHS Fig. 3)."""
    value, slope = Fraction(0), Fraction(0)
    theta = None
    for bj, rj in sorted(zip(b, r, strict=True), reverse=True):
        if theta is not None and theta >= bj:
            break
        value, slope = value + bj / rj, slope + 1 / rj
        theta = (value - target) / slope
    return theta


def fractions(x):
    return [Fraction(float(xj)) for xj in x]


def draws(seed, metric):
    """Vectors and metrics of many kinds: ties, zeros, huge ranges, single ones."""
    rng = np.random.default_rng(seed)
    for n in (1, 2, 5, 30):
        vectors = [
            rng.normal(size=n),
            np.round(2.0 * rng.normal(size=n)),  # ties and zeros
            10.0 ** rng.uniform(-6.0, 6.0, size=n) * rng.choice([-1.0, 1.0], size=n),
            np.full(n, 3.0),
            0.7 ** np.arange(n),
        ]
        for w in vectors:
            yield w, 10.0 ** rng.uniform(*metric, size=n)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("bound", [1e-6, 1.0, 30.0])
def test_l1_ball_to_rounding(metric, bound):
    for w, h in draws(6, metric):
        v, hs, sizes = w.copy(), fractions(h), fractions(np.abs(w))
        L1Ball(bound).project_in(v, h)
        if sum(sizes) <= bound:
            np.testing.assert_array_equal(v, w)
            continue
        theta = exact_level([a * b for a, b in zip(hs, sizes, strict=True)], hs, Fraction(bound))
        exact = [max(s - theta / hj, 0) for s, hj in zip(sizes, hs, strict=True)]
        np.testing.assert_allclose(
            v, np.sign(w) * np.array(exact, dtype=float), rtol=0, atol=1e-14 * np.abs(w).max()
        )
        assert math.fsum(np.abs(v)) <= bound * (1 + 1e-15)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("bound", [1e-6, 1.0, 30.0])
def test_simplex_to_rounding(metric, bound):
    for w, h in draws(7, metric):
        v, hs = w.copy(), fractions(h)
        Simplex(bound).project_in(v, h)
        theta = exact_level(
            [a * b for a, b in zip(hs, fractions(w), strict=True)], hs, Fraction(bound)
        )
        exact = [max(wj - theta / hj, 0) for wj, hj in zip(fractions(w), hs, strict=True)]
        np.testing.assert_allclose(
            v, np.array(exact, dtype=float), rtol=0, atol=1e-14 * max(np.abs(w).max(), bound)
        )
        assert (v >= 0.0).all()
        assert math.fsum(v) == pytest.approx(bound, rel=1e-15)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("alpha", [1e-8, 1.0, 1e8])
def test_largest_weights_to_rounding(metric, alpha):
    for w, steps in draws(8, metric):
        v, sizes, s = w.copy(), fractions(np.abs(w)), fractions(steps)
        RowsLInf(alpha).shrink_row(v, steps)
        most = max(exact_level(sizes, s, Fraction(alpha)), 0)
        exact = np.array([float(min(size, most)) for size in sizes])
        np.testing.assert_allclose(
            v, np.sign(w) * exact, rtol=0, atol=1e-15 * w.size * np.abs(w).max()
        )
        if most < 0:
            assert not v.any()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("alpha", [1e-8, 1.0, 1e8])
def test_rows_lengths_to_rounding(metric, alpha):
    for w, steps in draws(9, metric):
        v = w.copy()
        RowsL2(alpha).shrink_row(v, steps)
        cut = alpha * np.longdouble(steps)
        if np.sum((w / cut) ** 2) <= 1:
            assert not v.any()
            continue
        # stationary: (w − v)/step = α v/‖v‖
        size = np.sqrt(np.sum(np.longdouble(v) ** 2))
        np.testing.assert_allclose(v, np.float64(w * (size / (size + cut))), rtol=1e-14)
        if np.ptp(steps) == 0.0:
            size = math.sqrt(math.fsum(w * w))
            np.testing.assert_allclose(v, w * (1.0 - cut / size), rtol=1e-13, atol=1e-15 * size)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("bound", [1e-6, 1.0, 30.0])
def test_l2_ball_to_rounding(metric, bound):
    for w, h in draws(10, metric):
        v = w.copy()
        L2Ball(bound).project_in(v, h)
        if math.sqrt(math.fsum(w * w)) <= bound:
            np.testing.assert_array_equal(v, w)
            continue
        assert math.sqrt(math.fsum(v * v)) == pytest.approx(bound, rel=2e-15)
        # stationary: h(w − v) = μv; the smallest h tells μ best
        j = np.where(w != 0.0, h, math.inf).argmin()
        mu = np.longdouble(h[j]) * (w[j] - np.longdouble(v[j])) / v[j]
        np.testing.assert_allclose(v, np.float64(w * (h / (h + mu))), rtol=2e-14)
        if np.ptp(h) == 0.0:
            L2Ball(bound).project(straight := w.copy())
            np.testing.assert_allclose(v, straight, rtol=1e-14)


def test_what_is_small_beside_the_weights_is_kept():
    rng = np.random.default_rng(13)
    w = 2.0**40 + rng.integers(0, 64, size=20) / 16.0
    theta = exact_level(fractions(w), fractions(np.ones(20)), Fraction(1.0))
    exact = [float(max(x - theta, 0)) for x in fractions(w)]
    for domain in (L1Ball(1.0), Simplex(1.0)):
        domain.project(v := w.copy())
        np.testing.assert_allclose(v, exact, rtol=1e-15)


@pytest.mark.parametrize("share", [1e-5, 0.9])
def test_many_weights_add_up_to_an_ulp(share):
    rng = np.random.default_rng(11)
    w, h = rng.uniform(size=300_000), 10.0 ** rng.uniform(-3.0, 3.0, size=300_000)
    for kind in (L1Ball, Simplex, L2Ball):
        size = (lambda v: math.sqrt(math.fsum(v * v))) if kind is L2Ball else math.fsum
        bound = share * size(w)
        for metric in (h, np.ones_like(h)):
            kind(bound).project_in(v := w.copy(), metric)
            assert bound * (1 - 1e-13) <= size(v) <= bound * (1 + 1e-15)
            kind(bound).project_in(again := v.copy(), metric)
            np.testing.assert_allclose(again, v, rtol=1e-14)


def test_a_level_is_found_in_few_passes_where_newton_is_slow():
    w = 0.5 ** np.arange(300.0)
    for h in (np.ones(300), w**2, 1.0 / w):
        L1Ball(1e-3).project_in(v := w.copy(), h)
        theta = exact_level(fractions(h * w), fractions(h), Fraction(1e-3))
        exact = [float(max(x - theta, 0) / y) for x, y in zip(fractions(h * w), fractions(h))]
        np.testing.assert_allclose(v, exact, rtol=1e-12, atol=1e-18)


def test_nothing_hides_what_is_not_a_number():
    for regularizer in (r for r in ALL if not isinstance(r, Zero)):
        w = np.full((D, K), 1e-3)
        w[0] = math.nan
        regularizer.shrink(w, np.ones((D, K)))
        assert np.isnan(w[0]).all(), regularizer
    for domain in DOMAINS:
        domain.project_in(w := np.full(3, math.nan), np.ones(3))
        assert np.isnan(w).all(), domain


# -- many proxes in a row --------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0 - 1e-9, 1.0 - 1e-15, 1.0])
def test_a_billion_proxes_in_a_row(ratio):
    net, step, times = ElasticNet(1e-4, ratio), 1e-6, 10**9
    rate = step * 1e-4 * (1.0 - ratio)
    # the limit of small steps: w' = −αρ − α(1 − ρ)w
    time = times * step
    decay = math.exp(-time * 1e-4 * (1.0 - ratio))
    shared = -math.expm1(-times * math.log1p(rate)) / (rate or 1.0) * step if rate else time
    expected = 2.0 * decay - 1e-4 * ratio * shared
    assert net.prox_times(2.0, step, times) == pytest.approx(expected, rel=1e-8)
    assert net.prox_times(-2.0, step, times) == -net.prox_times(2.0, step, times)
    half = net.prox_times(net.prox_times(2.0, step, times // 2), step, times // 2)
    assert half == pytest.approx(net.prox_times(2.0, step, times), rel=1e-13)
    assert net.prox_times(1e-3, step, times) == 0.0 or ratio == 0.0


def test_prox_times_at_the_ends():
    for alpha in (1e-6, 0.3):
        for w in (-2.0, 0.0, 0.7):
            lasso, ridge = L1(alpha), SquaredL2(alpha)
            for times in (0, 1, 13):
                assert ElasticNet(alpha, 1.0).prox_times(w, 0.1, times) == pytest.approx(
                    lasso.prox_times(w, 0.1, times), rel=1e-14
                )
                assert ElasticNet(alpha, 0.0).prox_times(w, 0.1, times) == pytest.approx(
                    ridge.prox_times(w, 0.1, times), rel=1e-14
                )
    assert Zero().prox_times(3.0, 1.0, 10**9) == 3.0
    assert L1(1.0).prox_times(3.0, 1.0, 10**9) == 0.0
    assert math.copysign(1.0, L1(1.0).prox(-0.5, 1.0)) == 1.0  # never −0


# -- compiled --------------------------------------------------------------------------------------


@njit
def shrink_row(regularizer, v, steps):
    regularizer.shrink_row(v, steps)


@pytest.mark.parametrize("regularizer", [RowsL2(0.7), RowsLInf(0.9)], ids=repr)
def test_rows_when_compiled_and_in_single_precision(regularizer):
    rng = np.random.default_rng(12)
    v, steps = rng.normal(size=9), rng.uniform(0.1, 1.0, size=9)
    single = v.astype(np.float32)
    shrink_row(regularizer, single, steps)
    fast = v.copy()
    shrink_row(regularizer, fast, steps)
    regularizer.shrink_row(v, steps)
    np.testing.assert_allclose(fast, v, rtol=1e-14)
    np.testing.assert_allclose(single, v, rtol=1e-5)


# -- groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [GroupsL2, GroupsLInf])
def test_groups_are_values(kind):
    a, b = kind.of(0.5, ["x", "y", "x"]), kind.of(0.5, [3, 8, 3])
    assert a == b
    assert hash(a) == hash(b)
    assert a == pickle.loads(pickle.dumps(a))
    assert hash(a) == hash(pickle.loads(pickle.dumps(a)))
    assert a != kind.of(0.4, [3, 8, 3])
    assert a != kind.of(0.5, [3, 8, 8])
    assert a != L1(0.5)
    assert L1(0.5) != a
    assert GroupsL2.of(0.5, [0]) != GroupsLInf.of(0.5, [0])
    assert {a: 1}[b] == 1
    assert repr(a) == f"<{kind.__name__}(alpha=0.5): 2 groups of 3 features>"
    assert a._numba_type_ == pickle.loads(pickle.dumps(b))._numba_type_
    with pytest.raises(ValueError, match="read-only"):
        a.order[0] = 1
    assert (a, Hinge()) == (b, Hinge())


def test_groups_of_all_and_of_each():
    w, steps = np.array([[3.0], [-4.0]]), np.ones((2, 1))
    GroupsL2.of(1.0, [0, 0]).shrink(w, steps)
    np.testing.assert_allclose(w.ravel(), [2.4, -3.2])
    GroupsLInf.of(1.0, [0, 0]).shrink(w, steps)
    np.testing.assert_allclose(w.ravel(), [2.3, -2.3])  # 0.1 + 0.9 = 1
    for kind in (GroupsL2, GroupsLInf):
        v = np.array([[3.0], [-0.4]])
        kind.of(1.0, [0, 1]).shrink(v, steps)
        np.testing.assert_allclose(v.ravel(), [2.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, [0, 1], [0, 2]), "alpha must be positive, not 0"),
        ((1.0, [0, 0], [0, 2]), "order must name every feature once"),
        ((1.0, [0, 1], [0, 0, 2]), "starts must rise from 0 to the number of features"),
        ((1.0, [0, 1], [0, 1]), "starts must rise from 0 to the number of features"),
        ((1.0, [], [0]), "starts must rise from 0 to the number of features"),
    ],
)
def test_impossible_groups_get_one_clear_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        GroupsL2(*arguments)


def test_groups_of_other_features_are_refused():
    with pytest.raises(ValueError, match="another number of features"):
        GroupsL2.of(1.0, [0, 1]).total(np.ones((3, 1)))
    with pytest.raises(ValueError, match="one group, not an array of shape"):
        GroupsL2.of(1.0, [[0, 1]])
