"""Our solvers, iterate by iterate, beside plain transcriptions of DLF and SVL."""

import math

import numpy as np
import pytest
from scipy import sparse

from stepless.compiled import descent
from stepless.data import Source
from stepless.objective import Hinge, L2Ball, Logistic, Objective, Squared, SquaredL2, Zero
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import (
    Adaptive,
    Bundle,
    BundleLinesearch,
    Optimistic,
    Pegasos,
    Proximal,
    ProximalBundle,
    Subgradient,
)
from transcriptions import batch as svl, online as dlf

LOSSES = {"hinge": Hinge(), "logistic": Logistic(), "squared": Squared()}


def unit_rows(seed, m=60, d=5):
    """Examples no longer than 1, so that our first radius is DLF's."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.6)
    X /= max(1.0, np.linalg.norm(X, axis=1).max())
    return X, np.where(X @ rng.normal(size=d) + 0.05 * rng.normal(size=m) > 0, 1.0, -1.0)


def risk_of(X, y, loss, strength, layout="dense", domain=None):
    regularizer = SquaredL2(strength) if strength else Zero()
    objective = Objective(LOSSES[loss], regularizer, intercept=False)
    if domain is not None:
        objective = Objective(LOSSES[loss], regularizer, domain, intercept=False)
    return LinearRisk(
        objective, Source(sparse.csr_matrix(X) if layout == "sparse" else X, y, threads=1)
    )


def our_iterates(solver, risk, order):
    """Every iterate: the kernel is called round by round on the same state."""
    walk, rng = solver.start(risk, np.zeros(risk.d), 0.0), np.random.default_rng(0)
    points, curvatures, radii = [np.zeros(risk.d)], [], []
    for start in range(0, len(order), solver.batch):
        rows = np.asarray(order[start : start + solver.batch], dtype=np.uint32)
        points.append(solver.walk(risk, walk, rows, rng).w)
        curvatures.append(walk.motion[descent.CURVATURE])
        radii.append(walk.motion[descent.RADIUS])
    return np.array(points), np.array(curvatures), np.array(radii)


def orders(m, rounds, seed=0):
    return np.random.default_rng(seed).integers(m, size=rounds)


def implied_ball(risk, strength):
    return math.sqrt(risk.value(np.zeros(risk.d), 0.0) / strength)


close = {"rtol": 1e-8, "atol": 1e-10}


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 7])
@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_pegasos_is_algorithm_1_on_its_ball(loss, strength, k, layout):
    X, y = unit_rows(1)
    risk, order = risk_of(X, y, loss, strength, layout), orders(60, 210)
    ball = implied_ball(risk, strength)
    theirs, S = dlf.projected_subgradient(
        X, y, svl.scalar_loss(loss), strength, order, batch=k, radius=ball
    )
    ours, curvatures, _ = our_iterates(Pegasos(batch=k), risk, order)
    np.testing.assert_allclose(ours, theirs, **close)
    np.testing.assert_allclose(curvatures, S, rtol=1e-12)


@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-4])
def test_subgradient_is_algorithm_1(strength):
    X, y = unit_rows(2)
    order = orders(60, 200)
    for domain, radius in ((None, math.inf), (L2Ball(0.7), 0.7)):
        theirs, _ = dlf.projected_subgradient(
            X, y, svl.scalar_loss("hinge"), strength, order, radius=radius
        )
        ours, _, _ = our_iterates(
            Subgradient(), risk_of(X, y, "hinge", strength, domain=domain), order
        )
        np.testing.assert_allclose(ours, theirs, **close)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-6])
def test_adaptive_is_bartletts(strength, k):
    X, y = unit_rows(3)
    risk, order = risk_of(X, y, "hinge", strength, "sparse"), orders(60, 200)
    ball = implied_ball(risk, strength)
    G = np.linalg.norm(X, axis=1).max() + strength * ball
    theirs, S = dlf.adaptive(
        X, y, svl.scalar_loss("hinge"), strength, order, G, ball, batch=k, radius=ball
    )
    ours, curvatures, _ = our_iterates(Adaptive(batch=k), risk, order)
    np.testing.assert_allclose(ours, theirs, **close)
    np.testing.assert_allclose(curvatures, S, rtol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("strength", [0.0, 1e-4, 1.0])
def test_proximal_is_algorithm_2(strength, loss):
    X, y = unit_rows(4)
    order, radius = orders(60, 200), 0.8
    risk = risk_of(X, y, loss, strength, domain=L2Ball(radius))
    ball = min(radius, implied_ball(risk, strength) if strength else radius)
    theirs, S = dlf.proximal(
        X,
        y,
        svl.scalar_loss(loss),
        strength,
        order,
        lambda t, g: np.linalg.norm(g),
        radius,
        radius=ball,
    )
    ours, curvatures, _ = our_iterates(Proximal(radius=radius), risk, order)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(curvatures, S, rtol=1e-8)


@pytest.mark.parametrize("strength", [0.0, 1e-3, 1.0])
def test_strategy_2_spends_its_curvature_at_once(strength):
    X, y = unit_rows(5)
    radius, order = 0.8, np.arange(60)
    risk = risk_of(X, y, "hinge", strength, domain=L2Ball(radius))
    ball = min(radius, implied_ball(risk, strength) if strength else radius)
    G = np.linalg.norm(X, axis=1).max() + strength * ball
    theirs, S = dlf.proximal_bound(
        X, y, svl.scalar_loss("hinge"), strength, order, G, radius, radius=ball
    )
    solver = Proximal(strategy="bound", radius=radius)
    walk = solver.start(risk, np.zeros(risk.d), 0.0)
    finding = solver.walk(risk, walk, order.astype(np.uint32), np.random.default_rng(0))
    np.testing.assert_allclose(walk.motion[descent.CURVATURE], S[-1], rtol=1e-4)
    np.testing.assert_allclose(finding.w, theirs[-1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("strength", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("accuracy", [0.0, 1e-2])
def test_optimistic_is_algorithm_3(strength, accuracy, layout):
    X, y = unit_rows(6)
    risk, order = risk_of(X, y, "hinge", strength, layout), orders(60, 250)
    ball = implied_ball(risk, strength)
    G = np.linalg.norm(X, axis=1).max() + strength * ball
    theirs = dlf.optimistic(
        X, y, svl.scalar_loss("hinge"), strength, order, G, accuracy=accuracy, radius=ball
    )
    ours, _, radii = our_iterates(Optimistic(accuracy=accuracy), risk, order)
    rounds = len(theirs[0])
    np.testing.assert_allclose(ours[:rounds], theirs[0], **close)
    np.testing.assert_allclose(radii[: len(theirs[2]) - 1], theirs[2][1:], rtol=1e-12)


def test_averages_are_averages_of_the_iterates():
    X, y = unit_rows(7)
    risk, order = risk_of(X, y, "hinge", 1e-2, "sparse"), np.arange(60)
    points, _, _ = our_iterates(Pegasos(), risk, order)
    for batch in (1, 8):
        if batch > 1:
            points, _, _ = our_iterates(Pegasos(batch=batch), risk, order)
        solver = Pegasos(iterate="average", batch=batch)
        walk = solver.start(risk, np.zeros(risk.d), 0.0)
        finding = solver.walk(risk, walk, order.astype(np.uint32), np.random.default_rng(0))
        np.testing.assert_allclose(finding.w, points[:-1].mean(axis=0), **close)


def test_a_random_iterate_is_one_of_the_iterates_and_all_are_as_likely():
    X, y = unit_rows(8, m=8)
    risk, order = risk_of(X, y, "hinge", 1e-1), np.arange(8)
    points, _, _ = our_iterates(Pegasos(), risk, order)
    counts, rng = np.zeros(8), np.random.default_rng(0)
    for _ in range(800):
        solver = Pegasos(iterate="random")
        walk = solver.start(risk, np.zeros(risk.d), 0.0)
        w = solver.walk(risk, walk, order.astype(np.uint32), rng).w
        distance = np.abs(points[:-1] - w).max(axis=1)
        assert distance.min() < 1e-10
        counts[distance.argmin()] += 1
    # points that coincide share their counts; every point that is distinct gets about a hundred
    assert counts.max() < 8 * 100
    assert (counts[counts > 0] > 60).all()


def test_the_suffix_average_covers_at_least_the_last_half():
    X, y = unit_rows(9)
    risk, order = risk_of(X, y, "hinge", 1e-2), np.arange(60)
    passes = 6
    points, _, _ = our_iterates(Pegasos(), risk, np.tile(order, passes))
    solver, rng = Pegasos(iterate="suffix"), np.random.default_rng(0)
    walk = solver.start(risk, np.zeros(risk.d), 0.0)
    for t in range(1, passes + 1):
        w = solver.walk(risk, walk, order.astype(np.uint32), rng).w
        first = 60 * {1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1}[t]
        np.testing.assert_allclose(w, points[first : 60 * t].mean(axis=0), **close)


def test_a_pass_leaves_the_mean_of_its_tangents():
    X, y = unit_rows(10)
    risk, order = risk_of(X, y, "logistic", 1e-2, "sparse"), np.arange(60)
    points, _, _ = our_iterates(Proximal(), risk, order)
    solver = Proximal()
    walk = solver.start(risk, np.zeros(risk.d), 0.0)
    plane = solver.walk(risk, walk, order.astype(np.uint32), np.random.default_rng(0)).plane
    value, slope = svl.scalar_loss("logistic")
    z = [float(X[i] @ points[i]) for i in order]
    slopes = np.array([slope(z[i], y[i]) for i in order])
    np.testing.assert_allclose(plane.a, slopes @ X / 60, **close)
    offsets = [value(z[i], y[i]) - slopes[i] * z[i] for i in order]
    assert plane.offset == pytest.approx(np.mean(offsets), rel=1e-10)


# -- batch ------------------------------------------------------------------------------------------


def our_steps(solver, risk, steps):
    state, rng = solver.start(risk, np.zeros(risk.d), 0.0), np.random.default_rng(0)
    return [solver.step(risk, state, rng) for _ in range(steps)]


@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-4])
def test_bundle_is_algorithm_1_of_svl(strength):
    X, y = unit_rows(11)
    risk = risk_of(X, y, "hinge", strength)
    iterates, J, lower, _ = svl.bmrm(
        svl.risk_oracle(X, y, svl.scalar_loss("hinge")), strength, risk.d, 12
    )
    findings = our_steps(Bundle(), risk, 12)
    for t, finding in enumerate(findings):
        scale = 1 + np.abs(iterates[t]).max()
        np.testing.assert_allclose(finding.w, iterates[t], atol=2e-5 * scale)
        assert finding.objective == pytest.approx(J[t], rel=1e-4)
        if t + 1 < len(lower):
            assert finding.lower_bound == pytest.approx(lower[t + 1], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-4])
def test_bundle_linesearch_is_section_5_of_svl(strength):
    X, y = unit_rows(12)
    risk = risk_of(X, y, "hinge", strength)
    oracle = svl.risk_oracle(X, y, svl.scalar_loss("hinge"))
    iterates = svl.bmrm_linesearch(oracle, strength, risk.d, 40)[0]
    for t, finding in enumerate(our_steps(BundleLinesearch(), risk, 40)):
        np.testing.assert_allclose(finding.w, iterates[t], **close)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("strength", [1e-1, 1e-3, 1e-6])
def test_proximal_bundle_is_algorithm_4(strength, loss):
    X, y = unit_rows(16)
    risk = risk_of(X, y, loss, strength)
    oracle = svl.risk_oracle(X, y, svl.scalar_loss(loss))
    iterates = svl.proximal_bundle(oracle, strength, risk.d, 20)[0]
    # at an example's kink all subgradients are right: from there on the two may part
    kinks = np.abs(1.0 - y * (iterates[:20] @ X.T)).min(axis=1) < 1e-9
    alike = int(kinks.argmax()) + 1 if loss == "hinge" and kinks.any() else 20
    assert alike >= 15
    for t, finding in enumerate(our_steps(ProximalBundle(phases=False), risk, alike)):
        scale = 1 + np.abs(iterates[t]).max()
        np.testing.assert_allclose(finding.w, iterates[t], atol=1e-5 * scale)


# -- regret -----------------------------------------------------------------------------------------


def adversary(m, d, seed):
    """A stream that contradicts itself: the same examples with alternating labels."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(m // 2, d)), 2, axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.tile([1.0, -1.0], m // 2)


@pytest.mark.parametrize("kind", ["random", "adversarial"])
@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-4])
def test_regret_stays_under_the_theorems(strength, kind):
    X, y = unit_rows(14, m=200) if kind == "random" else adversary(200, 5, 14)
    order = np.arange(200)
    loss, radius = svl.scalar_loss("hinge"), 1.0
    risk = risk_of(X, y, "hinge", strength, domain=L2Ball(radius))
    ball = min(radius, implied_ball(risk, strength))
    rivals = [np.zeros(5), *np.random.default_rng(1).normal(size=(30, 5))]
    best = svl.optimum(X, y, "hinge", strength)[1]
    rivals = [ball * u / max(ball, np.linalg.norm(u)) for u in [*rivals, best]]

    G = 1.0 + strength * ball
    points, _, _ = our_iterates(Subgradient(), risk, order)
    worst = max(dlf.regret(X, y, loss, strength, order, points, u) for u in rivals)
    assert worst <= dlf.lemma_1(G, strength, 200) + 1e-9  # DLF Lemma 1

    points, curvatures, _ = our_iterates(Proximal(radius=radius), risk, order)
    worst = max(dlf.regret(X, y, loss, strength, order, points, u) for u in rivals)
    norms = [
        np.linalg.norm(dlf.subgradient_of_round(X, y, loss, strength, [i], points[i]))
        for i in order
    ]
    taus = dlf.taus(curvatures, strength)
    assert worst <= dlf.corollary_1(np.array(norms), strength, taus, radius) + 1e-9  # Cor. 1
    assert worst <= dlf.theorem_1(np.array(norms), strength, radius, 200) + 1e-9  # Th. 1
