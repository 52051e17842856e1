"""Domains of curved and linear constraints, against somebody else's solver."""

import math
import pickle

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize

from stepless import (
    Constraint,
    LinearClassifier,
    LinearRisk,
    LpBall,
    Objective,
    Polytope,
    PSDCone,
    Source,
    Spectrahedron,
    SquaredL2,
    SquaredLp,
    check_domain,
)
from stepless.minimization import minimize
from stepless.objective import (
    DOMAINS,
    ElasticNet,
    L1Ball,
    L2Ball,
    Logistic,
    Nonnegative,
    Simplex,
)
from stepless.objective.eigenpair import lowest
from stepless.registry import named
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping


def conic(P, q, A, b, cones):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    parts = sparse.csc_matrix(P), q, sparse.csc_matrix(A), b, cones
    solution = clarabel.DefaultSolver(*parts, settings).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved")
    return np.array(solution.x), solution.obj_val


def polytope(seed, d=4, k=12):
    rng = np.random.default_rng(seed)
    A = np.vstack([rng.normal(size=(k, d)), np.eye(d), -np.eye(d)])
    return Polytope.of(A, A @ rng.normal(size=d) + rng.exponential(size=k + 2 * d))


@pytest.mark.parametrize("seed", range(6))
def test_polytopes_project_and_minimise_as_clarabel_does(seed):
    rng = np.random.default_rng(seed)
    S, w = polytope(seed), rng.normal(size=4) * 10.0 ** rng.uniform(-1, 3)
    cones = [clarabel.NonnegativeConeT(S.b.size)]
    expected, _ = conic(np.eye(4), -w, S.A, S.b, cones)
    v = w.copy()
    S.project(v)
    assert S.excess(v) <= 1e-10 * (1 + np.linalg.norm(v))
    np.testing.assert_allclose(v, expected, atol=1e-6 * (1 + np.linalg.norm(expected)))
    assert np.linalg.norm(v - w) <= np.linalg.norm(expected - w) * (1 + 1e-9)
    g = rng.normal(size=4)
    _, least = conic(np.zeros((4, 4)), g, S.A, S.b, cones)
    assert S.floor(g) <= least + 1e-8
    assert S.floor(g) == pytest.approx(least, abs=1e-5)
    S.vertex(g, v)
    assert g @ v == pytest.approx(least, abs=1e-7)
    check_domain(S)


def test_equations_written_as_two_inequalities():
    S = Polytope.of(np.vstack([np.ones(4), -np.ones(4), -np.eye(4)]), [1, -1, 0, 0, 0, 0])
    check_domain(S)
    rng = np.random.default_rng(0)
    for w in rng.normal(size=(20, 4)):
        ours, theirs = w.copy(), w.copy()
        S.project(ours)
        Simplex(1.0).project(theirs)
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_polytope_of_many_inequalities():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(300, 60))
    S = Polytope(A / np.linalg.norm(A, axis=1, keepdims=True), rng.exponential(size=300))
    w = 10.0 * rng.normal(size=60)
    v = w.copy()
    S.project(v)
    expected, _ = conic(np.eye(60), -w, S.A, S.b, [clarabel.NonnegativeConeT(300)])
    assert S.excess(v) <= 1e-10
    np.testing.assert_allclose(v, expected, atol=1e-6)
    again = v.copy()
    S.project(again)
    np.testing.assert_allclose(again, v, atol=1e-13)


def test_polytopes_compare_and_travel():
    S = polytope(0)
    assert pickle.loads(pickle.dumps(S)) == S == polytope(0) != polytope(1)
    assert hash(S) == hash(polytope(0))
    assert "20 inequalities for 4 weights" in repr(S)
    open_ended = Polytope.of([[1.0, 0.0]], [1.0])
    assert math.isinf(open_ended.radius())
    assert open_ended.floor(np.array([1.0, 0.0])) == -math.inf
    with pytest.raises(ValueError, match="unbounded polytope"):
        open_ended.vertex(np.ones(2), np.zeros(2))


@pytest.mark.parametrize("unit", [1e-25, 1e23])
def test_what_a_polytope_proves_does_not_hang_on_its_unit(unit):
    """A linear programme has absolute tolerances, and takes 1e20 for infinite."""
    S, a = polytope(0), np.array([1.0, -2.0, 0.5, 1.0])
    scaled = Polytope.of(S.A, unit * S.b)
    assert scaled.radius() == pytest.approx(unit * S.radius(), rel=1e-5)
    assert scaled.floor(a / unit) == pytest.approx(S.floor(a), rel=1e-6)


def test_an_open_polytope_proves_no_more_than_a_length_does():
    quadrant = Polytope.of([[-1.0, 0.0], [0.0, -1.0]], [0.0, 0.0])
    a = np.array([1.0, -1e-9])  # which falls, by less than a programme's tolerance
    assert quadrant.floor(a) == -math.inf
    assert -2e-9 * 50.0 <= quadrant.floor_within(a, 50.0) <= -1e-9 * 50.0


def test_the_blur_of_a_lopsided_set_is_not_underestimated():
    segment = Polytope.of([[1, 1], [-1, -1], [1, 0], [-1, 0]], [0, 0, 1, 1])  # w₂ = −w₁
    blur = np.ones(2)
    assert segment.floor(blur) == pytest.approx(0.0, abs=1e-6)
    assert segment.support(blur) >= 2.0


@pytest.mark.parametrize("p", [1.05, 1.5, 2.0])
def test_lp_balls_project_as_a_cone_programme_does(p):
    rng = np.random.default_rng(0)
    for scale in (0.3, 3.0, 300.0):
        w = rng.normal(size=3) * scale
        v = w.copy()
        LpBall(0.7, p).project(v)
        # t_j ≥ |v_j|^p/R^(p−1), Σ t_j ≤ R: power cones t^(1/p) R^(1−1/p) ≥ |v|
        rows, b, cones = [], [], []
        for j in range(3):
            A = np.zeros((3, 6))
            A[0, 3 + j], A[2, j] = -1.0, -1.0
            rows, b = [*rows, A], [*b, 0.0, 0.7, 0.0]
            cones.append(clarabel.PowerConeT(1.0 / p))
        rows, b = [*rows, np.r_[np.zeros(3), np.ones(3)][None]], [*b, 0.7]
        cones.append(clarabel.NonnegativeConeT(1))
        P = np.diag(np.r_[np.ones(3), np.zeros(3)])
        expected, _ = conic(P, np.r_[-w, np.zeros(3)], np.vstack(rows), np.array(b), cones)
        assert (np.abs(v) ** p).sum() ** (1 / p) <= 0.7 * (1 + 1e-12)
        np.testing.assert_allclose(v, expected[:3], atol=1e-5)


def test_a_ball_between_norms_is_the_ball_at_2():
    rng = np.random.default_rng(0)
    for w in rng.normal(size=(10, 5)) * 4.0:
        ours, theirs = w.copy(), w.copy()
        LpBall(1.3, 2.0).project(ours)
        L2Ball(1.3).project(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def triangle(n):
    """Rows that pack a symmetric matrix, its columns' upper parts in turn, as clarabel has it."""
    rows = []
    for j in range(n):
        for i in range(j + 1):
            row = np.zeros((n, n))
            row[i, j] = row[j, i] = 1.0 if i == j else math.sqrt(0.5)
            rows.append(row.ravel())
    return np.array(rows)


@pytest.mark.parametrize("domain", [Spectrahedron(1.5), PSDCone()], ids=repr)
def test_matrices_project_as_clarabel_does(domain):
    n, rng = 3, np.random.default_rng(0)
    pack = triangle(n)
    for scale in (0.1, 1.0, 30.0):
        W = rng.normal(size=(n, n)) * scale
        v = W.ravel().copy()
        domain.project(v)
        rows, b, cones = [-pack], [np.zeros(len(pack))], [clarabel.PSDTriangleConeT(n)]
        skew = [
            np.eye(n * n)[i * n + j] - np.eye(n * n)[j * n + i] for i in range(n) for j in range(i)
        ]
        rows, b, cones = [*rows, np.array(skew)], [*b, np.zeros(3)], [*cones, clarabel.ZeroConeT(3)]
        if isinstance(domain, Spectrahedron):
            rows, b = [*rows, np.eye(n).ravel()[None]], [*b, [domain.bound]]
            cones.append(clarabel.NonnegativeConeT(1))
        expected, _ = conic(np.eye(n * n), -W.ravel(), np.vstack(rows), np.concatenate(b), cones)
        V = v.reshape(n, n)
        assert (V == V.T).all()
        assert np.linalg.eigvalsh(V)[0] >= -1e-10
        np.testing.assert_allclose(v, expected, atol=1e-6 * scale)


def test_the_floor_of_matrices_is_the_lowest_eigenvalue():
    rng = np.random.default_rng(0)
    S = Spectrahedron(2.0)
    for _ in range(10):
        A = rng.normal(size=(5, 5))
        least = min(2.0 * np.linalg.eigvalsh((A + A.T) / 2)[0], 0.0)
        assert least - 1e-12 <= S.floor(A.ravel()) <= least
        X = np.empty(25)
        S.vertex(A.ravel(), X)
        assert A.ravel() @ X == pytest.approx(least)
    assert PSDCone().floor(np.eye(3).ravel()) == 0.0
    assert PSDCone().floor(-np.eye(3).ravel()) == -math.inf
    assert PSDCone().floor_within(np.diag([-3.0, -4.0, 1.0]).ravel(), 2.0) == pytest.approx(-10.0)
    assert Nonnegative().floor_within(np.array([-3.0, 1.0, -4.0]), 2.0) == -10.0


def spectra(n):
    rng = np.random.default_rng(n)
    tail = rng.random(20)
    yield rng.normal(size=n)
    yield np.r_[-1e-3 * (1 + 0.1 * rng.random(n - 20)), tail]  # many nearly equal
    yield np.r_[1e-3 * rng.normal(size=n - 20), tail]
    yield np.r_[np.zeros(n - 20), tail]
    yield np.zeros(n)
    yield np.ones(n)
    yield np.arange(n) * 1.0


@pytest.mark.parametrize("n", [5 * 5, 60, 200])
def test_the_lowest_eigenvalue_is_right_to_a_billionth(n):
    rng = np.random.default_rng(n)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    for e in spectra(n):
        X = (Q * e) @ Q.T
        X = np.ascontiguousarray((X + X.T) / 2)
        for guess in (np.zeros(n), Q[:, 0].copy(), Q[:, e.argmin()] + 0.1 * Q[:, 1]):
            u = guess.copy()
            value = lowest(X, u)
            size = max(np.abs(e).max(), 1e-300)
            assert abs(value - e.min()) <= 1e-9 * size
            assert np.linalg.norm(u) == pytest.approx(1.0)
            assert abs(u @ X @ u - value) <= 1e-12 * size


class Ellipsoid(Constraint):
    flatness: float = 10.0

    def excess(self, w):
        sum_ = -1.0
        for j in range(w.size):
            sum_ += (1.0 + self.flatness * j / w.size) * w[j] ** 2
        return sum_

    def outward(self, w, g):
        for j in range(w.size):
            g[j] = 2.0 * (1.0 + self.flatness * j / w.size) * w[j]
        return self.excess(w)

    def radius(self):
        return 1.0


@pytest.mark.parametrize("d", [2, 8])
def test_constraints_of_ones_own_are_projected_onto(d):
    rng, S = np.random.default_rng(d), Ellipsoid()
    h = 1.0 + 10.0 * np.arange(d) / d
    for scale in (0.1, 1.0, 20.0):
        w = rng.normal(size=d) * scale
        v = w.copy()
        S.project(v)
        A = np.vstack([np.zeros(d), -np.diag(np.sqrt(h))])
        expected, _ = conic(
            np.eye(d), -w, A, np.r_[1.0, np.zeros(d)], [clarabel.SecondOrderConeT(d + 1)]
        )
        assert S.excess(v) <= 1e-9
        np.testing.assert_allclose(v, expected, atol=2e-6)


def test_a_constraint_that_nothing_obeys_is_told():
    class Nowhere(Ellipsoid):
        def excess(self, w):
            return 1.0 + np.sum(w * w)

        def outward(self, w, g):
            for j in range(w.size):
                g[j] = 2.0 * w[j]
            return 1.0 + np.sum(w * w)

    with pytest.raises(ValueError, match="no w obeys this constraint"):
        Nowhere().project(np.array([3.0, 1.0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LpBall(0.0, 1.5), "positive radius, not 0"),
        (lambda: LpBall(1.0, 1.0), "1 < p ≤ 2, not 1; p = 1 is l1_ball"),
        (lambda: LpBall(1.0, 2.5), "1 < p ≤ 2, not 2.5"),
        (lambda: Spectrahedron(-1.0), "positive trace, not -1"),
        (lambda: Polytope.of([[1.0], [-1.0]], [-1.0, -1.0]), "no w obeys .*; loosen b"),
        (lambda: Polytope.of([[0.0, 0.0]], [-1.0]), "no w obeys"),
        (lambda: Polytope.of(np.eye(2), [1.0]), r"shapes \(2, 2\) and \(1,\)"),
        (lambda: Polytope.of([[math.inf]], [1.0]), "finite numbers"),
        (lambda: Polytope([[2.0]], [1.0]), "use the classmethod `of`"),
        (lambda: named("domain", "psd(0)", DOMAINS), "positive trace"),
        (
            lambda: Objective(Logistic(), SquaredLp(1.0, 1.5), LpBall(1.0, 1.2)),
            "same p in both, not 1.5 and 1.2",
        ),
        (
            lambda: Objective(Logistic(), SquaredLp(1.0, 1.5), L2Ball()),
            "same p in both, not 1.5 and 2",
        ),
        (lambda: Objective(Logistic(), SquaredLp(1.0, 1.5), Simplex()), "couples weights"),
    ],
)
def test_bad_input_gets_one_clear_sentence(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_names_make_domains():
    assert named("domain", "lp_ball(2, 1.3)", DOMAINS) == LpBall(2.0, 1.3)
    assert named("domain", "psd(3)", DOMAINS) == Spectrahedron(3.0)
    assert Objective(Logistic(), SquaredLp(1.0, 1.5), LpBall(1.0, 1.5)).domain.p == 1.5


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (Spectrahedron(), "5 weights are no square matrix, .*; 4 or 9 would be"),
        (PSDCone(), "5 weights are no square"),
        (polytope(0), "polytope is one of 4 weights, but there are 5"),
    ],
    ids=repr,
)
def test_data_that_do_not_fit_a_domain_are_refused(domain, message):
    source = Source(np.ones((3, 5)), np.array([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match=message):
        LinearRisk(Objective(Logistic(), SquaredL2(0.1), domain), source)


@pytest.mark.parametrize("name", ["adagrad", "rda", "fobos"])
def test_solvers_that_need_a_metric_say_so(name):
    lack = SOLVERS[name]().lacks(Objective(Logistic(), SquaredL2(0.1), Spectrahedron()))
    assert "which Spectrahedron has not (`project_in`); use solver='auto'" in lack
    both = Objective(Logistic(), SquaredLp(1.0, 1.5), LpBall(1.0, 1.5))
    assert "use domain='free', or solver='auto'" in SOLVERS[name]().lacks(both)


@pytest.mark.parametrize(
    "domain",
    [Spectrahedron(1.0), PSDCone(), polytope(3), LpBall(0.5, 1.3), Nonnegative()],
    ids=repr,
)
def test_a_ridge_and_a_domain_are_bounded_together(domain):
    """The minimum of a plane and the ridge over the domain, met, and never passed."""
    rng = np.random.default_rng(0)
    objective = Objective(Logistic(), SquaredL2(0.3), domain)
    for _ in range(20):
        a = rng.normal(size=4)
        p = -a / 0.3
        domain.project(p)
        if isinstance(domain, Spectrahedron | PSDCone):
            a = ((a.reshape(2, 2) + a.reshape(2, 2).T) / 2).ravel()
        least = 0.15 * p @ p + a @ p
        bound = objective.least(a, np.zeros(4), 1e3)
        assert bound <= least + 1e-13
        assert bound == pytest.approx(least, abs=1e-5)
        for blurred in a + 1e-3 * rng.uniform(-1, 1, size=(5, 4)):
            q = -blurred / 0.3
            domain.project(q)
            assert objective.least(a, np.full(4, 1e-3), 1e3) <= 0.15 * q @ q + blurred @ q


@pytest.mark.parametrize("domain", [L2Ball(0.8), L1Ball(0.8), LpBall(0.5, 1.3)], ids=repr)
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_a_lasso_and_a_ball_are_bounded_together(domain, ratio):
    """The minimum of a plane and an elastic net over a ball, met, and never passed."""
    rng = np.random.default_rng(0)
    objective = Objective(Logistic(), ElasticNet(0.4, ratio), domain)
    for _ in range(10):
        a, w = rng.normal(size=4), np.zeros(4)
        for _ in range(100):  # proximal gradient steps of length 5
            w -= 5.0 * (a + 0.4 * (1.0 - ratio) * w)
            w = np.sign(w) * np.maximum(np.abs(w) - 5.0 * 0.4 * ratio, 0.0)
            domain.project(w)
        least = objective.penalty(w) + a @ w
        bound = objective.least(a, np.zeros(4), 1e3)
        assert bound == pytest.approx(least, abs=1e-6)
        assert bound <= least + 1e-13
        blurred = objective.least(a, np.full(4, 1e-3), 1e3)
        assert blurred <= objective.penalty(w) + (a - 1e-3 * np.sign(w)) @ w


def test_auto_takes_a_solver_that_knows_the_domain():
    from stepless.solvers.auto import choose

    rng = np.random.default_rng(0)
    source = Source(rng.normal(size=(40, 4)), np.sign(rng.normal(size=40)))
    risk = LinearRisk(Objective(Logistic(), SquaredL2(0.1), Spectrahedron()), source)
    solver = choose(risk, 1e-3)
    assert solver.name == "sgd-pd"
    assert minimize(risk, solver, Stopping(gap=0.05, passes=100)).stopped_by == "gap"


class Ellipse(Constraint):
    """As in the docstring: a radius, no vertex."""

    def excess(self, w):
        return w[0] ** 2 + 4.0 * w[1] ** 2 - 1.0

    def outward(self, w, g):
        g[0], g[1] = 2.0 * w[0], 8.0 * w[1]
        return self.excess(w)

    def radius(self):
        return 1.0


class InBox(Ellipse):
    """One that knows its reach, too."""

    def reach(self):
        return 0.9


def test_without_a_vertex_the_radius_and_the_reach_bound():
    rng = np.random.default_rng(0)
    for a in rng.normal(size=(20, 2)):
        exact = -math.hypot(a[0], a[1] / 2.0)
        assert -np.linalg.norm(a) * (1.0 + 1e-12) <= Ellipse().floor(a) <= exact
    a = np.array([1.0, 0.0])
    assert Ellipse().floor(a) == pytest.approx(-1.0)
    assert InBox().floor(a) == pytest.approx(-0.9)  # the lesser of both
    assert InBox().floor(a) <= -0.9


@pytest.mark.parametrize("penalty", ["l2", "none"])
def test_a_constraint_without_a_vertex_is_fitted_and_its_bound_is_true(penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X @ [1.0, -2.0] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
    clf = LinearClassifier("logistic", penalty=penalty, alpha=0.1, domain=Ellipse(), passes=50)
    clf.fit(X, y)

    def height(v):
        ridge = 0.05 * v[:2] @ v[:2] if penalty == "l2" else 0.0
        return ridge + np.logaddexp(0.0, -y * (X @ v[:2] + v[2])).mean()

    inside = {"type": "ineq", "fun": lambda v: 1.0 - v[0] ** 2 - 4.0 * v[1] ** 2}
    best = scipy_minimize(height, np.zeros(3), constraints=inside, tol=1e-12).fun
    assert 0.0 < clf.lower_bound_ <= best + 1e-9
    assert clf.objective_ == pytest.approx(best, rel=1e-2)


@pytest.mark.parametrize(("A", "b"), [(np.zeros((0, 4)), []), ([[0.0, 0.0]], [1.0])])
def test_a_polytope_must_bound_something(A, b):
    with pytest.raises(ValueError, match="bounds something; use domain='free'"):
        Polytope.of(A, b)


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0])
def test_a_squared_norm_in_a_ball_of_it_is_bounded_together(p):
    """min over n ≤ R of (c/2)n² − ‖a‖_q n, whichever of penalty and ball binds."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        alpha, R = 10.0 ** rng.uniform(-2.0, 1.0), 10.0 ** rng.uniform(-1.0, 1.0)
        a, c = rng.normal(size=5), alpha / (p - 1.0)
        slope = np.linalg.norm(a, ord=p / (p - 1.0))
        n = min(slope / c, R)
        least = 0.5 * c * n * n - slope * n
        bound = Objective(Logistic(), SquaredLp(alpha, p), LpBall(R, p)).least(a, np.zeros(5), 1e9)
        assert bound <= least * (1.0 - 1e-15) + 1e-300
        assert bound == pytest.approx(least, rel=1e-9)


def test_a_squared_norm_in_a_ball_of_it_is_certified():
    from stepless.solvers.auto import choose

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    source = Source(X, np.sign(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=60)))
    risk = LinearRisk(Objective(Logistic(), SquaredLp(0.02, 1.5), LpBall(0.8, 1.5)), source)
    result = minimize(risk, choose(risk, 1e-3), Stopping(gap=1e-3, passes=1000))
    assert result.stopped_by == "gap"
    assert np.sum(np.abs(result.w) ** 1.5) ** (1 / 1.5) > 0.79  # both bind
