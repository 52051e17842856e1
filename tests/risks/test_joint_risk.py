"""The joint losses, their risk and its planes, against plain numpy in extended precision."""

import math

import numpy as np
import pytest
from scipy import sparse

from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Hinge, MulticlassHinge, Objective, Softmax, SquaredL2, Zero
from stepless.risks.joint_risk import JointRisk, risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping

EXACT = np.longdouble
LOSSES = {"hinge": MulticlassHinge, "softmax": Softmax}
LAYOUTS = {"dense": np.asarray, "sparse": sparse.csr_matrix}
NEAR = {"hinge": 1e-6, "softmax": 1e-9}  # relative height between the risk and its level plane


def plain(name, Z, y):
    """The losses, from their formulas."""
    Z, own = np.asarray(Z, dtype=EXACT), np.asarray(y, dtype=int)[:, None]
    Z = Z - np.take_along_axis(Z, own, axis=1)
    others = np.arange(Z.shape[1]) != own
    if name == "hinge":
        return np.maximum(np.where(others, Z + 1, Z).max(axis=1), 0)
    top = np.maximum(Z.max(axis=1), 0)
    far = top + np.log(np.exp(Z - top[:, None]).sum(axis=1))
    return np.where(top > 1, far, np.log1p((others * np.exp(np.minimum(Z, 1))).sum(axis=1)))


class Problem:
    """Examples of a kind, their risk, and the same in numpy."""

    def __init__(self, name, K, kind="noisy", *, seed=0, weighted=True, intercept=True, **layout):
        rng = np.random.default_rng([seed, K])
        m = {"rare": 200, "tiny": max(3, K)}.get(kind, 60)
        X, y = rng.normal(size=(m, max(4, K))), rng.integers(0, K, m)
        y[:K] = np.arange(K)
        if kind == "noisy":
            X = np.round(X * (rng.random(X.shape) < 0.7), 3)
            y[K:] = (X @ rng.normal(size=(X.shape[1], K)) + rng.normal(size=(m, K))).argmax(1)[K:]
        elif kind == "separable":
            X *= 0.1
            X[np.arange(m), y] += 5.0
        elif kind == "identical":
            X[:] = X[0]
        elif kind == "rare":
            y[y == K - 1] = 0
            y[7] = K - 1
        self.name, self.K, self.y = name, K, y
        self.X = X.astype(layout.get("dtype", float)).astype(float)
        self.s = rng.uniform(0.1, 2.0, m) if weighted else np.ones(m)
        X = LAYOUTS[layout.get("layout", "dense")](X.astype(layout.get("dtype", float)))
        objective = Objective(LOSSES[name](K), SquaredL2(0.1), intercept=intercept)
        self.source = Source(X, y.astype(float), self.s, threads=1)
        self.risk = risk_of(objective, self.source)
        self.rng = rng

    def weights(self, size=1.0):
        return size * self.rng.normal(size=(self.X.shape[1], self.K))

    def value(self, W, b=0.0):
        s = self.s.astype(EXACT)
        Z = self.X.astype(EXACT) @ W.astype(EXACT) + np.asarray(b, dtype=EXACT)
        return (s * plain(self.name, Z, self.y)).sum() / s.sum()

    def assert_below(self, plane, W, b, trials=40):
        """The plane lies under the risk: near (W, b), far from it, at other intercepts."""
        free = self.risk.objective.intercept
        for size in np.geomspace(1e-6, 1e3, trials):
            V = W + size * max(1.0, np.abs(W).max()) * self.rng.normal(size=W.shape)
            for shift in (0.0, size, 1e6 * size):
                u = b + shift * self.rng.normal(size=self.K) if free else np.zeros(self.K)
                height = plane.a.astype(EXACT) @ V.ravel().astype(EXACT) + EXACT(plane.offset)
                assert height - self.slack(V, u) <= self.value(V, u)
        assert plane.tilt == 0.0

    def slack(self, W, b=0.0):
        """What rounding may do to a plane, which grows with predictions."""
        return 1e-13 * (1.0 + np.abs(self.X).max() * np.abs(W).sum() + np.abs(b).sum())


def height(plane, W):
    return float(plane.a.astype(EXACT) @ W.ravel().astype(EXACT) + EXACT(plane.offset))


# -- the losses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("name", LOSSES)
def test_slopes_are_the_derivatives(name, K):
    rng, loss, a = np.random.default_rng(1), LOSSES[name](K), np.empty(K)
    for _ in range(100):
        z, y = 3.0 * rng.normal(size=K), int(rng.integers(K))
        value = loss.slopes(z, float(y), a)
        assert value == pytest.approx(float(plain(name, z[None], [y])[0]), rel=1e-13, abs=1e-15)
        for c in range(K):
            e = 1e-6 * (np.arange(K) == c)
            rise = plain(name, np.array([z + e, z - e], dtype=EXACT), [y, y])
            assert a[c] == pytest.approx(float(rise[0] - rise[1]) / 2e-6, abs=1e-6)
        assert abs(a.sum()) <= 1e-15
        assert a[y] <= 0.0
        assert np.delete(a, y).min() >= 0.0


@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_convex_and_not_negative(name, K):
    rng, loss, a = np.random.default_rng(2), LOSSES[name](K), np.empty(K)
    for _ in range(200):
        u, v = 10.0 ** rng.uniform(-2, 3) * rng.normal(size=(2, K))
        y, t = float(rng.integers(K)), rng.uniform()
        ends = t * loss.slopes(u, y, a) + (1 - t) * loss.slopes(v, y, a)
        assert 0.0 <= loss.slopes(t * u + (1 - t) * v, y, a) <= ends * (1 + 1e-12) + 1e-12
        # so is the plane of its slopes, whatever the point
        here = loss.slopes(u, y, a)
        assert here + a @ (v - u) <= loss.slopes(v, y, np.empty(K)) + 1e-9


@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("name", LOSSES)
def test_every_distribution_gives_a_plane_under_the_loss(name, K):
    rng, loss = np.random.default_rng(3), LOSSES[name](K)
    for _ in range(300):
        p = rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-2, 1)))
        z, y = 10.0 ** rng.uniform(-2, 3) * rng.normal(size=K), int(rng.integers(K))
        under = float(p @ z - z[y] + loss.base(p, float(y)))
        assert under <= plain(name, z[None], [y])[0] + 1e-12 * (1 + np.abs(z).max())
    corner = np.eye(K)[0]
    assert loss.base(corner, 0.0) == 0.0
    assert loss.base(corner, 1.0) == (name == "hinge")


@pytest.mark.parametrize("name", LOSSES)
def test_a_smoothed_loss_has_its_shares_as_slopes(name):
    rng, K, p = np.random.default_rng(4), 4, np.empty(4)
    loss = LOSSES[name](K)
    for sharpness in (1e-3, 0.1, 1.0, 30.0):
        for _ in range(20):
            z, y = rng.normal(size=K) / min(sharpness, 1.0), int(rng.integers(K))
            value = loss.share(z, float(y), sharpness, p)
            a, q, e = p - np.eye(K)[y], np.empty(K), 1e-5 / max(sharpness, 1e-2)
            assert p.min() >= 0.0
            assert p.sum() == pytest.approx(1.0, abs=1e-15)
            for c in range(K):
                ends = [
                    loss.share(z + sign * e * np.eye(K)[c], float(y), sharpness, q)
                    for sign in (1, -1)
                ]
                assert a[c] == pytest.approx((ends[0] - ends[1]) / (2 * e), abs=1e-6)
            exact = float(plain(name, z[None], [y])[0])
            if name == "hinge":  # smoothing lifts, by no more than log K/γ
                assert exact - 1e-12 <= value <= exact + math.log(K) / sharpness + 1e-12
            elif sharpness == 1.0:
                assert value == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("far", [30.0, 1e3, 1e6])
def test_softmax_keeps_what_is_small_against_1(far):
    """log(1 + e⁻ᶻ) is e⁻ᶻ, not 0, and so is the slope."""
    z, a = np.array([far, 0.0, 0.0]), np.empty(3)
    value = Softmax(3).slopes(z, 0.0, a)
    assert value == pytest.approx(2 * math.exp(-far), rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(a, math.exp(-far) * np.array([-2.0, 1.0, 1.0]), rtol=1e-12)
    assert Softmax(3).slopes(z, 1.0, a) == pytest.approx(far)
    np.testing.assert_allclose(a, [1.0, -1.0, 0.0], atol=1e-12)
    assert MulticlassHinge(3).slopes(z, 1.0, a) == far + 1.0
    assert MulticlassHinge(3).slopes(z, 0.0, a) == 0.0


def test_a_joint_loss_is_of_two_classes_at_least():
    for kind in LOSSES.values():
        with pytest.raises(ValueError, match="at least two classes"):
            kind(1)


# -- the risk --------------------------------------------------------------------------------------


def test_risk_of_a_loss():
    problem = Problem("hinge", 3)
    assert isinstance(problem.risk, JointRisk)
    source = problem.source.relabelled(np.where(problem.y > 0, 1.0, -1.0))
    assert type(risk_of(Objective(Hinge(), SquaredL2(0.1)), source)) is LinearRisk


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_value_and_tangent_without_an_intercept(name, layout, dtype):
    problem = Problem(name, 3, intercept=False, layout=layout, dtype=dtype)
    for size in (0.0, 1.0, 100.0):
        W = problem.weights(size)
        value = float(problem.value(W))
        assert problem.risk.value(W.ravel(), np.zeros(3)) == pytest.approx(value, rel=1e-13)
        tangent = problem.risk.tangent(W.ravel(), np.zeros(3))
        assert tangent.value == pytest.approx(value, rel=1e-13)
        np.testing.assert_array_equal(tangent.b, np.zeros(3))
        assert height(tangent.plane, W) == pytest.approx(value, rel=1e-11)
        problem.assert_below(tangent.plane, W, tangent.b)


@pytest.mark.parametrize("name", LOSSES)
def test_one_intercept_stands_for_all(name):
    """The loop begins at b = 0, a number; all of them may rise together."""
    problem = Problem(name, 3)
    w = problem.weights().ravel()
    for b in (0.0, 2.5):
        value = problem.risk.value(w, b)
        assert value == problem.risk.value(w, np.full(3, b))
        assert value == pytest.approx(problem.risk.value(w, 0.0), rel=1e-14)
    result = minimize(
        problem.risk, SOLVERS["bundle"](), Stopping(gap=0.1, passes=50), start=(w, 0.0)
    )
    assert result.stopped_by == "gap"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_layouts_have_the_same_level_planes(name, layout, dtype):
    problem = Problem(name, 3, layout=layout, dtype=dtype)
    W = problem.weights()
    tangent = problem.risk.tangent(W.ravel(), 0.0)
    assert tangent.value == pytest.approx(float(problem.value(W, tangent.b)), rel=1e-13)
    assert abs(tangent.value - height(tangent.plane, W)) <= NEAR[name] * tangent.value
    problem.assert_below(tangent.plane, W, tangent.b)


@pytest.mark.parametrize("kind", ["noisy", "rare", "separable", "identical", "tiny"])
@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("name", LOSSES)
def test_free_intercepts_are_minimised_out(name, K, kind):
    problem = Problem(name, K, kind, weighted=K != 3)
    for size in (0.0, 0.3, 30.0):
        W = problem.weights(size)
        for start in (np.zeros(K), 5.0 * problem.rng.normal(size=K)):
            tangent = problem.risk.tangent(W.ravel(), start)
            value = float(problem.value(W, tangent.b))
            assert tangent.value == pytest.approx(value, rel=1e-10, abs=1e-14)
            far = tangent.value - height(tangent.plane, W)
            # the plane is level, so this is also how far the intercepts are from the best
            near = 10.0 * NEAR[name] if kind == "identical" else NEAR[name]  # all examples are tied
            assert far <= near * value + problem.slack(W, tangent.b)
        problem.assert_below(tangent.plane, W, tangent.b, trials=12)


@pytest.mark.parametrize("kind", ["noisy", "rare", "separable", "identical"])
@pytest.mark.parametrize("name", LOSSES)
def test_huge_predictions(name, kind):
    problem = Problem(name, 3, kind)
    W = problem.weights(1e6)
    for start in (np.zeros(3), 1e6 * problem.rng.normal(size=3)):
        tangent = problem.risk.tangent(W.ravel(), start)
        value = float(problem.value(W, tangent.b))
        assert tangent.value == pytest.approx(value, rel=1e-9)
        far = tangent.value - height(tangent.plane, W)
        assert far <= 1e-4 * value + 1e-2 * (kind == "identical")  # 1e6 − 1e6 is a few 1e-10
        problem.assert_below(tangent.plane, W, tangent.b)


@pytest.mark.parametrize("name", LOSSES)
def test_an_example_of_weight_zero_is_none(name):
    """Also where it is of a class that is none."""
    problem = Problem(name, 3)
    kept = np.arange(60) % 4 > 0
    y = np.where(kept, problem.y, 3.0)
    s, W = np.where(kept, problem.s, 0.0), problem.weights()
    one = risk_of(problem.risk.objective, Source(problem.X, y, s, threads=1))
    other = risk_of(problem.risk.objective, Source(problem.X[kept], y[kept], s[kept], threads=1))
    tangents = [risk.tangent(W.ravel(), 0.0) for risk in (one, other)]
    assert tangents[0].value == pytest.approx(tangents[1].value, rel=NEAR[name])
    for tangent in tangents:
        assert height(tangent.plane, W) == pytest.approx(tangents[1].value, rel=NEAR[name])


@pytest.mark.parametrize("wrong", [-1.0, 3.0, 0.5, math.nan])
def test_targets_that_are_no_class_are_refused(wrong):
    problem = Problem("hinge", 3)
    y = problem.y.astype(float)
    y[20] = wrong
    with pytest.raises(ValueError, match=f"is of classes 0 to 2, not {wrong:g}"):
        risk_of(problem.risk.objective, problem.source.relabelled(y))


@pytest.mark.parametrize("name", LOSSES)
def test_a_class_without_examples_costs_no_truth(name):
    """Its intercept falls without end; the plane may be loose."""
    problem = Problem(name, 4)
    problem.y[problem.y == 3] = 0
    problem.risk = risk_of(
        problem.risk.objective, problem.source.relabelled(problem.y.astype(float))
    )
    for size in (0.0, 1.0, 1e3):
        W = problem.weights(size)
        tangent = problem.risk.tangent(W.ravel(), 0.0)
        assert tangent.value == pytest.approx(float(problem.value(W, tangent.b)), rel=1e-10)
        problem.assert_below(tangent.plane, W, tangent.b)


@pytest.mark.parametrize("name", LOSSES)
def test_a_tilt_that_underflows(name):
    """Two examples whose loss is 1e-300: what is left of the tilt is next to nothing."""
    X, y = np.array([[1.0], [-1.0], [1.0]]), np.array([0.0, 1.0, 0.0])
    risk = risk_of(Objective(LOSSES[name](2), SquaredL2(0.1)), Source(X, y, threads=1))
    for far in np.linspace(340.0, 400.0, 61):
        tangent = risk.tangent(np.array([far, -far]), 0.0)
        assert 0.0 <= tangent.value <= 1e-200
        assert np.isfinite(tangent.plane.a).all()
        assert abs(height(tangent.plane, np.array([far, -far]))) <= 1e-9


@pytest.mark.parametrize("name", LOSSES)
def test_threads_change_nothing(name):
    rng = np.random.default_rng(5)
    X, W = rng.normal(size=(42_000, 5)), rng.normal(size=(5, 3))
    y = (X @ W + rng.normal(size=(42_000, 3))).argmax(axis=1).astype(float)
    for intercept in (False, True):
        objective = Objective(LOSSES[name](3), SquaredL2(0.1), intercept=intercept)
        one, two = (risk_of(objective, Source(X, y, threads=threads)) for threads in (1, 2))
        assert len(one.source.blocks()) == len(two.source.blocks()) == 2
        here, there = (risk.tangent(W.ravel(), 0.0) for risk in (one, two))
        assert there.value == here.value
        np.testing.assert_array_equal(there.plane.a, here.plane.a)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_later_tangent_leaves_an_earlier_plane_alone(intercept):
    problem = Problem("softmax", 3, intercept=intercept)
    first, second = problem.weights().ravel(), problem.weights().ravel()
    plane = problem.risk.tangent(first, 0.0).plane
    before = plane.a.copy()
    problem.risk.tangent(second, 1.0)
    np.testing.assert_array_equal(plane.a, before)


def test_without_a_penalty_a_remark_says_that_no_bound_is_known():
    rng = np.random.default_rng(0)
    source = Source(rng.normal(size=(20, 2)), np.arange(20.0) % 3)
    risk = JointRisk(Objective(Softmax(3), Zero()), source)
    result = minimize(risk, SOLVERS["adagrad"](), Stopping(gap=1e-3, passes=3))
    assert result.stopped_by == "passes"
    assert "without a penalty" in risk.shortfall(result.w, result.b)


def test_predictions_of_a_run_that_diverges_have_a_tangent():
    source = Source(np.array([[1.0, 0.5], [-0.5, 2.0]]), np.array([0.0, 3.0]))
    risk = JointRisk(Objective(MulticlassHinge(4), SquaredL2(1.0)), source)
    rng = np.random.default_rng(0)
    for _ in range(40):
        w = 1e258 * rng.normal(size=8) * 10.0 ** rng.uniform(-3, 0, size=8)
        tangent = risk.tangent(w, np.zeros(4))
        assert np.isfinite(tangent.plane.a).all()
        assert np.isfinite(tangent.b).all()
