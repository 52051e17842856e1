"""The exact evaluator against definitions, inequalities and brute force."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from proof import errors
from proof.arithmetic import INFINITY, exact, mp, real, rounded
from proof.exact import (
    conjugate,
    dual,
    kernel_dual,
    kernel_objective,
    least,
    level,
    level_shares,
    objective,
    penalty,
    shares,
    slope_interval,
    value,
    violation,
)
from proof.losses import joint, kind
from proof.problems import DOMAINS, LOSSES, PENALTIES, problem
from stepless.kernels import Gaussian, LinearKernel, Polynomial
from stepless.objective import (
    L1,
    Box,
    ElasticNet,
    Entropy,
    Free,
    GroupsL2,
    Hinge,
    HyperbolicEntropy,
    Intersection,
    L1Ball,
    L2Ball,
    Logistic,
    LpBall,
    MulticlassHinge,
    Nonnegative,
    Polytope,
    PSDCone,
    RowsLInf,
    Shrunk,
    Simplex,
    Softmax,
    Spectrahedron,
    Squared,
    SquaredL2,
    SquaredLp,
    Zero,
)

TINY = mp.mpf(2) ** -200
NOTHING = mp.mpf(2) ** -19_000
losses = pytest.mark.parametrize("loss", errors.LOSSES, ids=repr)


def inner(a, z):
    return real(sum((exact(ac) * exact(zc) for ac, zc in zip(a, z, strict=True)), Fraction(0)))


@losses
def test_fenchel_and_young(loss):
    rng = np.random.default_rng(0)
    for _ in range(60):
        y = errors.target(loss, rng)
        z, a = errors.prediction(loss, rng, y), errors.dual_point(loss, rng, y)
        ell = value(loss, z, y)
        if joint(loss):
            own = int(y)
            a = [exact(ac) for ac in a]
            a[own] = -sum(ac for c, ac in enumerate(a) if c != own)
            assert ell + conjugate(loss, a, y) >= inner(a, z) - TINY * (1 + ell)
            kept = 1 - Fraction(1, 2**500)  # rounding must not make them more than 1
            p = [rounded(real(pc)) * kept for pc in shares(loss, z, y)]
            p[own] -= sum(p)
            gap = ell + conjugate(loss, p, y) - inner(p, z)
            size = ell + max(abs(real(zc)) for zc in z)
        else:
            a, z = exact(a), exact(z)
            size = ell + abs(real(a * z))
            assert ell + conjugate(loss, a, y) - real(a * z) >= -TINY * size
            for slope in map(rounded, slope_interval(loss, z, y)):
                gap = ell + conjugate(loss, slope, y) - real(slope * z)
                size = ell + abs(real(slope * z)) + abs(real(slope)) + NOTHING
                assert abs(gap) <= TINY * size
            continue
        assert abs(gap) <= TINY * (1 + size)


@losses
def test_a_conjugate_is_the_largest_difference(loss):
    if joint(loss):
        return
    rng = np.random.default_rng(1)
    y = 1.0 if loss.targets != "reals" else 0.7
    low, high = errors._range(loss, y)
    low, high = max(low, -3.0), min(high, 3.0)
    for a in rng.uniform(low, high, size=3):
        best, width = 0.0, 30.0
        for _ in range(12):
            points = best + width * np.linspace(-1.0, 1.0, 41)
            heights = [float(real(a * exact(z))) - float(value(loss, z, y)) for z in points]
            best, width = points[int(np.argmax(heights))], 0.2 * width
        found = float(conjugate(loss, a, y))
        assert max(heights) <= found + 1e-9
        assert found - max(heights) <= 1e-6


@losses
def test_values_agree_with_the_library(loss):
    """Its doubles are within the declared units of 2^−53 of the truth."""
    values, slopes, conjugates = errors.measure(loss, 250, seed=1)
    of_value, of_slope, of_conjugate = errors.DECLARED[kind(loss)]
    assert values.natural <= of_value
    assert slopes.natural <= of_slope
    assert conjugates.natural <= of_conjugate
    assert max(of_value, of_conjugate) <= loss.ulps  # which the verifier counts


def member(domain, rng, size):
    """Return a random point of a domain, exactly inside, as fractions."""
    v = [exact(vj) for vj in rng.normal(size=size) * (rng.random(size) < 0.8)]
    total = sum(map(abs, v)) or Fraction(1)
    share = exact(rng.uniform(0.1, 1.0))
    match kind(domain):
        case "Free":
            return v
        case "Nonnegative":
            return [abs(vj) for vj in v]
        case "Box":
            low, high = exact(domain.low), exact(domain.high)
            return [low + (high - low) * exact(u) for u in rng.random(size)]
        case "Simplex":
            if not any(v):
                v = [Fraction(1)] * size
            total = sum(map(abs, v))
            return [abs(vj) / total * exact(domain.bound) for vj in v]
        case "PSDCone" | "Spectrahedron":
            n = math.isqrt(size)
            matrix = [v[i] * v[j] for i in range(n) for j in range(n)]
            trace = sum(v[i] ** 2 for i in range(n)) or Fraction(1)
            scale = exact(getattr(domain, "bound", 1.0)) * share / trace
            return [entry * scale for entry in matrix]
        case "Intersection" if kind(domain.domain) == "Simplex":
            w = member(domain.domain, rng, size)
            middle = [exact(domain.domain.bound) / size] * size
            while violation(domain, w) > 0:
                w = [(wj + c) / 2 for wj, c in zip(w, middle, strict=True)]
            return w
    # the others hold 0
    size = getattr(domain, "bound", 1.0)
    size = exact(size if math.isfinite(size) else np.abs(domain.b).max())  # an open polytope
    v = [vj / total * size * share for vj in v]
    while violation(domain, v) > 0:
        v = [vj / 2 for vj in v]
    return v


def slopes_at(given, w, b):
    """Return exact slopes of the loss at a point, one a example."""
    X = given.X.toarray() if sparse.issparse(given.X) else given.X
    K, loss = given.loss.outputs(), given.loss
    slopes = []
    for x, y in zip(X, given.y, strict=True):
        z = [inner(x, w[c::K]) for c in range(K)]
        z = [exact(zc) + exact(bc) for zc, bc in zip(z, b, strict=True)]
        if joint(loss):
            kept = 1 - Fraction(1, 2**500)
            slopes.append([rounded(real(pc)) * kept for pc in shares(loss, z, y)])
        else:
            low, high = slope_interval(loss, z[0], y)
            slopes.append((rounded(low) + rounded(high)) / 2)
    return slopes


def check_weak_duality(given, seed):
    rng = np.random.default_rng(seed)
    K, d = given.loss.outputs(), given.X.shape[1]
    b = rng.normal(size=K) if given.intercept else np.zeros(K)
    u, w = member(given.domain, rng, d * K), member(given.domain, rng, d * K)
    if kind(given.regularizer) == "Entropy":
        u, w = [abs(uj) for uj in u], [abs(wj) for wj in w]
    assert violation(given.domain, w) <= TINY
    terms = (given.loss, given.regularizer)
    J = objective(*terms, given.X, given.y, given.s, w, b)
    slopes = slopes_at(given, u, b)
    args = (*terms, given.domain, given.X, given.y, given.s, slopes, given.intercept)
    free = dual(*args)
    assert free <= J + TINY * (abs(J) + abs(free) if free > -INFINITY else 1)
    below = dual(*args, ceiling=J)
    assert below <= J * (1 + TINY) + TINY
    assert below >= free - TINY * abs(free)
    return J, below


@pytest.mark.parametrize("seed", range(40))
def test_weak_duality(seed):
    check_weak_duality(problem(seed), seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(40, 400))
def test_weak_duality_of_many(seed):
    check_weak_duality(problem(seed), seed)


def pairs():
    penalties = (
        Zero(),
        SquaredL2(0.3),
        L1(0.2),
        ElasticNet(0.3, 0.4),
        Entropy(0.3, 0.5),
        HyperbolicEntropy(0.3, 0.5),
        SquaredLp(0.3, 1.4),
        GroupsL2.of(0.3, [0, 1, 0]),
        RowsLInf(0.3),
    )
    inequalities = [[1, 1, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]]
    domains = (
        Free(),
        Nonnegative(),
        Box(-0.5, 1.0),
        L2Ball(0.8),
        L1Ball(0.9),
        LpBall(0.7, 1.4),
        Simplex(1.2),
        Intersection(0.9, Box(-0.5, 1.0)),
        Intersection(0.9, Simplex(1.0)),
        Intersection(0.6, L1Ball(0.8)),
        Polytope.of(inequalities, [1.0, 0.5, 0.5, 0.5]),
    )
    coupled = (SquaredLp, GroupsL2, RowsLInf)
    for omega in penalties:
        for S in domains:
            same = isinstance(omega, SquaredLp) and isinstance(S, LpBall)
            if isinstance(omega, coupled) and not (same or isinstance(S, Free)):
                continue
            if isinstance(S, Polytope) and not isinstance(omega, SquaredL2 | Zero):
                continue
            if isinstance(omega, L1 | ElasticNet) and isinstance(S, Simplex):
                continue
            yield omega, S


def brute(omega, S, g, ceiling, rng):
    """Return the lowest Ω + ⟨g, ·⟩ that a random search finds, the library's own Ω."""
    best, at = math.inf, np.full(3, 0.3)
    S.project(at)
    for k in range(80):
        trials = at + rng.normal(size=(60, 3)) * 2.0 ** (1 - k // 4)
        if isinstance(omega, Entropy):
            trials = np.abs(trials)
        for w in [at.copy(), *trials]:
            S.project(w)
            size = omega.total(w.reshape(3, 1))
            if size <= ceiling * (1 + 1e-12) and size + g @ w < best:
                best, at = size + g @ w, w
    return best


@pytest.mark.parametrize(
    ("omega", "S", "ceiling"),
    [
        pytest.param(
            *pair,
            ceiling,
            marks=[] if (k + n) % 2 == 0 else [pytest.mark.soak],
            id="-".join([*(type(term).__name__ for term in pair), str(ceiling)]),
        )
        for k, pair in enumerate(pairs())
        for n, ceiling in enumerate([math.inf, 0.3])
    ],
)
def test_least_against_brute_force(omega, S, ceiling):
    g = np.array([-0.9, 0.4, 1.1]) * (0.5 if isinstance(omega, Entropy | HyperbolicEntropy) else 1)
    found = float(least(omega, S, [exact(gj) for gj in g], ceiling))
    best = brute(omega, S, g, ceiling, np.random.default_rng(2))
    if found == -math.inf:
        assert best < -3.0
        return
    assert found <= best + 1e-9
    assert best - found <= 2e-3 * (1.0 + abs(found))


def test_least_over_matrices():
    g = np.array([0.3, -1.0, 0.2, -0.8])
    exactly = [exact(gj) for gj in g]
    values = np.linalg.eigvalsh((g.reshape(2, 2) + g.reshape(2, 2).T) / 2)
    assert float(least(Zero(), Spectrahedron(2.0), exactly)) == pytest.approx(2.0 * values[0])
    X = -g / 0.4
    PSDCone().project(X)
    at = 0.2 * X @ X + g @ X
    assert float(least(SquaredL2(0.4), PSDCone(), exactly)) == pytest.approx(at)
    X = -g / 0.4
    Spectrahedron(0.5).project(X)
    at = 0.2 * X @ X + g @ X
    assert float(least(SquaredL2(0.4), Spectrahedron(0.5), exactly)) == pytest.approx(at)
    center = [0.5, 0.2, 0.2, 0.5]
    shrunk = Shrunk(Spectrahedron(2.0), 0.25, center)
    at = 0.25 * np.dot(g, center) + 0.75 * 2.0 * values[0]
    assert float(least(Zero(), shrunk, exactly)) == pytest.approx(at)


def solve(A, v):
    """Gauss's elimination of fractions."""
    n = len(v)
    A = [[*row, vi] for row, vi in zip(A, v, strict=True)]
    for k in range(n):
        A[k] = [entry / A[k][k] for entry in A[k]]
        for i in range(n):
            if i != k:
                A[i] = [u - A[i][k] * w for u, w in zip(A[i], A[k], strict=True)]
    return [row[n] for row in A]


@pytest.mark.parametrize("intercept", [False, True])
def test_strong_duality_of_ridge_regression(intercept):
    rng = np.random.default_rng(3)
    m, d = 7, 3
    X, y, s = rng.normal(size=(m, d)), rng.normal(size=m), rng.uniform(0.1, 2.0, size=m)
    rows = [[*map(exact, x), Fraction(int(intercept))] for x in X]
    ss, yy, alpha = [exact(si) for si in s], [exact(yi) for yi in y], exact(0.3)
    A = [
        [sum(si * x[j] * x[k] for si, x in zip(ss, rows, strict=True)) / m for k in range(d + 1)]
        for j in range(d + 1)
    ]
    for j in range(d + 1):
        A[j][j] += alpha if j < d else (0 if intercept else 1)
    v = [
        sum(si * x[j] * yi for si, x, yi in zip(ss, rows, yy, strict=True)) / m
        for j in range(d + 1)
    ]
    *w, b = solve(A, v)
    J = objective(Squared(), SquaredL2(0.3), X, y, s, w, b)
    a = [
        sum(xj * wj for xj, wj in zip(x, [*w, b], strict=True)) - yi
        for x, yi in zip(rows, yy, strict=True)
    ]
    D = dual(Squared(), SquaredL2(0.3), Free(), X, y, s, a, intercept)
    assert abs(J - D) <= TINY * J
    assert dual(Squared(), SquaredL2(0.3), Free(), X, y, s, a, intercept, ceiling=J) >= D - TINY
    # in the kernel's words: λc = −s∘a/m
    c = [-si * ai / (m * alpha) for si, ai in zip(ss, a, strict=True)]
    assert abs(kernel_objective(Squared(), 0.3, LinearKernel(), X, y, s, c, b) - J) <= TINY * J
    assert abs(kernel_dual(Squared(), 0.3, LinearKernel(), X, y, s, a, intercept) - J) <= TINY * J


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Polynomial(3, 0.5, 1.0), LinearKernel()])
@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Softmax(3), MulticlassHinge(3)], ids=repr)
def test_weak_duality_of_kernels(kernel, loss):
    rng = np.random.default_rng(4)
    m, K = 6, loss.outputs()
    X = sparse.csr_array(rng.normal(size=(m, 3)).astype(np.float32))
    y = np.arange(m) % K if joint(loss) else np.where(np.arange(m) % 3 > 0, 1.0, -1.0)
    p = rng.dirichlet(np.ones(K + 1), size=m)[:, :K]
    slopes = p if joint(loss) else -y * p[:, 0]
    D = kernel_dual(loss, 0.2, kernel, X, y, None, slopes, True)
    for _ in range(5):
        c, b = rng.normal(size=(m, K)) * 10.0 ** rng.uniform(-2, 1), rng.normal(size=K)
        J = kernel_objective(loss, 0.2, kernel, X, y, None, c, b)
        assert D <= kernel_dual(loss, 0.2, kernel, X, y, None, slopes, True, ceiling=J) <= J


def test_levelled_slopes_add_up_to_nothing():
    rng = np.random.default_rng(5)
    for _ in range(20):
        m, K = int(rng.integers(1, 9)), 3
        s = [exact(si) for si in 10.0 ** rng.uniform(-6, 6, size=m)]
        a = [exact(ai) for ai in rng.normal(size=m)]
        flat = level(a, s)
        assert sum(si * ai for si, ai in zip(s, flat, strict=True)) == 0
        assert all(abs(f) <= abs(ai) and f * ai >= 0 for f, ai in zip(flat, a, strict=True))
        y = rng.integers(K, size=m).tolist()
        p = [[exact(pc) for pc in pi] for pi in rng.dirichlet(np.ones(K), size=m)]
        for pi in p:
            pi[0] += 1 - sum(pi)
        mixed = level_shares(p, y, s)
        assert all(min(pi) >= 0 and sum(pi) == 1 for pi in mixed)
        for c in range(K):
            slope = [si * (pi[c] - (c == yi)) for si, pi, yi in zip(s, mixed, y, strict=True)]
            assert sum(slope) == 0


def test_infinite_conjugates_make_no_bound():
    X, y = np.ones((2, 1)), np.array([1.0, -1.0])
    args = (Hinge(), SquaredL2(1.0), Free(), X, y, None)
    assert dual(*args, [-np.nextafter(1.0, 2.0), 0.0]) == -INFINITY
    assert dual(*args, [-1.0, 1.0]) == 1
    shares_ = np.array([[0.0, 1.0, 1e-30], [0.1, 0.0, 0.2]])
    args = (Softmax(3), SquaredL2(1.0), Free(), X, [0, 1], None)
    assert dual(*args, shares_) == -INFINITY  # the first leave less than nothing
    assert dual(*args, shares_ * 0.5) > -INFINITY
    assert dual(Hinge(), Zero(), Free(), X, y, None, [-1.0, 1.0]) == 1
    assert dual(Hinge(), Zero(), Free(), X, y, None, [-1.0, 0.5]) == -INFINITY
    assert dual(Hinge(), Zero(), Free(), X, y, None, [-1.0, 0.5], True) == Fraction(1, 2)


def test_penalties_agree_with_the_library():
    rng = np.random.default_rng(6)
    for name in sorted(set(PENALTIES)):
        given = problem(7, loss="softmax", penalty=name, domain="free")
        K, d = given.loss.outputs(), given.X.shape[1]
        w = np.abs(rng.normal(size=(d, K)))
        found = float(given.regularizer.total(w))
        assert found == pytest.approx(float(penalty(given.regularizer, w.ravel(), K)), rel=1e-12)


def test_violations():
    up = np.nextafter(1.0, 2.0)
    ulp = mp.mpf(2) ** -52
    assert violation(L2Ball(1.0), [0.6, 0.8]) < ulp
    assert violation(L2Ball(1.0), [up, 0.0]) == ulp
    assert violation(L1Ball(2.0), [1.0, -1.5]) == 0.25
    assert violation(Box(-1.0, 3.0), [3.0, -2.0]) == 0.25
    assert violation(Simplex(2.0), [1.0, 1.5]) == 0.25
    assert violation(Simplex(2.0), [2.5, -0.5]) == 0.25
    assert violation(Nonnegative(), [4.0, -1.0]) == 0.25
    assert abs(violation(LpBall(1.0, 1.5), [2.0, 0.0]) - 1) < TINY
    assert violation(Intersection(1.0, Nonnegative()), [-1.0, 2.0]) > 1
    assert abs(violation(Spectrahedron(2.0), [3.0, 0.0, 0.0, 0.0]) - mp.mpf("0.5")) < TINY
    assert abs(violation(PSDCone(), [4.0, 0.0, 0.0, -1.0]) - mp.mpf("0.25")) < TINY
    assert violation(Polytope.of([[1.0]], [1.0]), [2.0]) > 0
    assert violation(Free(), [1e300]) == 0


def test_problems_are_what_they_say():
    seen = set()
    for seed in range(600):
        given = problem(seed)
        m, d = given.X.shape
        assert 1 <= m <= 40
        assert 1 <= d <= 8
        assert len(given.y) == m
        assert np.isfinite(given.X.data if sparse.issparse(given.X) else given.X).all()
        given.domain.admit(d * given.loss.outputs())
        seen |= {kind(given.loss), kind(given.regularizer), kind(given.domain)}
    assert len(seen) >= len(LOSSES) + len(set(PENALTIES)) + len(set(DOMAINS)) - 1
    assert repr(problem(3)) == repr(problem(3))
    np.testing.assert_array_equal(problem(4).y, problem(4).y)
