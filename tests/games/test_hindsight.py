"""The best fixed decision against clarabel: never a false certificate, and a sharp one."""

import math

import clarabel
import numpy as np
import pytest
from scipy import sparse

from games.argmin import _Cones, _enter
from stepless.games import ExampleLoss, Growth, Linear, Quadratic, best_fixed
from stepless.games.costs import Cost
from stepless.games.hindsight import best as search, newton
from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Hinge,
    L1Ball,
    L2Ball,
    Logistic,
    Polytope,
    Simplex,
    Squared,
    SquaredL2,
)

D = 4
_A = np.random.default_rng(5).normal(size=(5, D))
DOMAINS = {
    "ball": L2Ball(1.5),
    "box": Box(-1.0, 2.0),
    "simplex": Simplex(2.0),
    "l1": L1Ball(1.3),
    "polytope": Polytope.of(np.vstack([_A, -_A]), np.linspace(0.4, 1.6, 10)),
}


def optimum(costs, sets, l1=0.0, ridge=0.0):
    """The least Σ f_t(w) + l1‖w‖₁ + (ridge/2)‖w‖², and where, by clarabel."""
    cones, H, c, k = _Cones(D), ridge * np.eye(D), np.zeros(D), 0.0
    slope = {}
    for one in sets:
        _enter(cones, one, D)
    for f in costs:
        match f:
            case Linear():
                c = c + f.c
            case Quadratic():
                H, c, k = H + f.H, c + f.c, k + f.k
            case Growth():
                (t,) = cones.more(1)
                slope[t] = 1.0
                row = dict(enumerate(f.r))
                cones.add(clarabel.ExponentialConeT(), [(0, {t: -1}), (1, {}), (0, row)])
            case ExampleLoss(loss=Squared()):
                H, c, k = H + np.outer(f.x, f.x), c - f.y * f.x, k + 0.5 * f.y**2
            case ExampleLoss():
                (t,) = cones.more(1)
                slope[t] = 1.0
                row = dict(enumerate(f.y * f.x))
                if isinstance(f.loss, Hinge):
                    cones.positive([(0, {t: 1}), (-1, {t: 1, **row})])
                elif isinstance(f.loss, Absolute):
                    x, minus = dict(enumerate(f.x)), dict(enumerate(-f.x))
                    cones.positive([(f.y, {t: 1, **minus}), (-f.y, {t: 1, **x})])
                else:
                    u, v = cones.more(2)
                    minus = {j: -value for j, value in row.items()}
                    exponential = clarabel.ExponentialConeT
                    cones.positive([(1, {u: -1, v: -1})])
                    cones.add(exponential(), [(0, {t: -1, **minus}), (1, {}), (0, {u: 1})])
                    cones.add(exponential(), [(0, {t: -1}), (1, {}), (0, {v: 1})])
    if l1:
        for j, t in enumerate(cones.more(D)):
            cones.positive([(0, {t: 1, j: -1}), (0, {t: 1, j: 1})])
            slope[t] = l1
    P, q = np.zeros((cones.size, cones.size)), np.zeros(cones.size)
    P[:D, :D], q[:D] = H, c
    q[list(slope)] = list(slope.values())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A, b = cones.matrix()
    found = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(P)), q, A, b, cones.cones, settings)
    found = found.solve()
    assert found.status == clarabel.SolverStatus.Solved
    return found.obj_val + k, np.array(found.x)[:D]


def stream(kind, seed, T=25):
    rng = np.random.default_rng([seed, len(kind)])
    C = rng.normal(size=(T, D))
    if kind == "linear":
        return [Linear(c) for c in C]
    if kind == "quadratic":
        return [Quadratic(np.outer(c, c), rng.normal(size=D), 0.3) for c in C]
    if kind == "singular":
        x = rng.normal(size=D)
        return [Quadratic(np.outer(x, x), c) for c in C]
    if kind == "growth":
        return [Growth(r) for r in np.exp(0.1 * C)]
    if kind == "mixed":
        return [Linear(c) for c in C] + [Quadratic.around(c, 0.3) for c in C]
    loss = {"hinge": Hinge(), "absolute": Absolute(), "logistic": Logistic(), "squared": Squared()}
    y = np.where(C @ np.ones(D) + rng.normal(size=T) > 0.0, 1.0, -1.0)
    return [ExampleLoss(loss[kind], x, t) for x, t in zip(C, y, strict=True)]


def judge(costs, domain, gap, penalty=None, constraints=(), l1=0.0, ridge=0.0):
    """No decision is better than clarabel's, and the certificate says how much worse it can be."""
    T = len(costs)
    least, v = optimum(costs, (domain, *constraints), T * l1, T * ridge)
    best = best_fixed(costs, domain, D, penalty, constraints)
    value = best.losses.sum()
    inside = best.w.copy()
    domain.project(inside)
    np.testing.assert_allclose(inside, best.w, atol=1e-12)
    assert all(c.excess(best.w) <= 1e-9 for c in constraints)
    omega = l1 * np.abs(best.w).sum() + 0.5 * ridge * best.w @ best.w
    np.testing.assert_allclose(best.losses, [f.value(best.w) + omega for f in costs], atol=1e-12)
    slack = 1e-6 * (1.0 + abs(least) + T)  # clarabel's own accuracy
    assert value >= least - slack
    assert value - best.gap <= least + slack  # the certificate
    if not constraints:  # to the last digit, at clarabel's point
        domain.project(v)
        omega = l1 * np.abs(v).sum() + 0.5 * ridge * v @ v
        there = [f.value(v) + omega for f in costs]
        assert value - best.gap <= math.fsum(there) + 1e-14 * np.abs(there).sum()
    assert best.gap <= gap * T
    return best


SMOOTH = ["linear", "quadratic", "singular", "mixed", "logistic", "squared"]


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("domain", DOMAINS)
def test_smooth_costs(domain, kind):
    for seed in range(4):
        gap = 1e-7 if kind == "singular" else 1e-8  # flat but for one direction: rounding decides
        judge(stream(kind, seed), DOMAINS[domain], gap)


@pytest.mark.parametrize("kind", ["hinge", "absolute"])
@pytest.mark.parametrize("domain", DOMAINS)
def test_costs_with_corners(domain, kind):
    for seed in range(2):
        judge(stream(kind, seed), DOMAINS[domain], 1e-5)


def test_growth():
    for seed in range(5):
        best = judge(stream("growth", seed, T=300), Simplex(1.0), 1e-12)
        assert best.gap <= 1e-10


@pytest.mark.parametrize(
    ("penalty", "l1", "ridge"),
    [(L1(0.2), 0.2, 0.0), (SquaredL2(0.3), 0.0, 0.3), (ElasticNet(0.4, 0.25), 0.1, 0.3)],
    ids=["l1", "l2", "elastic"],
)
@pytest.mark.parametrize("domain", ["ball", "box", "simplex", "l1"])
def test_a_fixed_penalty(domain, penalty, l1, ridge):
    for kind, gap in (("linear", 1e-7), ("logistic", 1e-6), ("hinge", 1e-5)):
        judge(stream(kind, 1), DOMAINS[domain], gap, penalty, l1=l1, ridge=ridge)


@pytest.mark.parametrize(
    ("domain", "constraints"),
    [
        (L2Ball(1.5), [DOMAINS["polytope"]]),
        (L2Ball(1.5), [L1Ball(1.2)]),
        (L2Ball(1.5), [Box(-0.5, 0.8), L2Ball(1.1), L1Ball(1.2)]),
        (Box(-1.0, 1.0), [DOMAINS["polytope"]]),
        (L1Ball(1.3), [L2Ball(0.8)]),
        (Simplex(1.0), [Box(0.0, 0.4)]),
    ],
    ids=["polytope", "l1", "several", "flat", "turned", "capped"],
)
def test_constraints(domain, constraints):
    for kind in ("linear", "quadratic"):
        best = judge(stream(kind, 2), domain, 1e-5, constraints=constraints)
        assert best.gap < 1e-3


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_search_that_is_cut_short_claims_no_more(domain, monkeypatch):
    monkeypatch.setattr(search, "_ACCELERATED", (2, 2))
    monkeypatch.setattr(search, "_CUTS", (4, 4))
    monkeypatch.setattr(newton, "_STEPS", 1)
    loose = 0
    for kind in ("quadratic", "mixed", "logistic", "hinge", "absolute"):
        for seed in range(3):
            loose += judge(stream(kind, seed), DOMAINS[domain], np.inf).gap > 1e-4
    assert loose > 3


class Valley(Cost):
    """A function that tells no more than a subgradient."""

    d = D

    def __init__(self, c):
        self.c = c

    def value(self, w):
        return float(np.abs(w - self.c).max())

    def gradient(self, w):
        g, j = np.zeros(D), int(np.abs(w - self.c).argmax())
        g[j] = np.sign(w[j] - self.c[j])
        return g


def test_any_convex_function():
    rng = np.random.default_rng(0)
    costs = [Valley(c) for c in rng.normal(size=(40, D))]
    best = best_fixed(costs, L2Ball(1.0), D)
    assert best.gap < 1e-3
    for w in rng.normal(size=(300, D)):
        w = best.w + 0.3 * w
        L2Ball(1.0).project(w)
        assert sum(f.value(w) for f in costs) >= best.losses.sum() - best.gap


def test_values_alone_prove_nothing():
    seen = [np.zeros(2), np.array([0.6, 0.0]), np.array([0.0, 0.6])]
    best = best_fixed([lambda_cost() for _ in range(3)], L2Ball(1.0), 2, seen=seen)
    assert best.gap == np.inf
    np.testing.assert_array_equal(best.w, seen[1])


def lambda_cost():
    from stepless.games.costs import as_cost

    return as_cost(lambda w: (w[0] - 0.5) ** 2 + w[1] ** 2)


def test_what_cannot_be_met_is_refused():
    far = Polytope.of([[1.0] * D], [-10.0])
    with pytest.raises(ValueError, match="no "):
        best_fixed(stream("linear", 0), L2Ball(1.0), D, constraints=[far])
