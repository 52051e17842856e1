"""Oracles against all labelings, optima against clarabel, certificates against both."""

from itertools import combinations, product

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.metrics import fbeta_score, roc_auc_score

from stepless import L1, Source, SquaredL2, Stopping
from stepless.minimization import minimize
from stepless.risks.metrics import metric_of
from stepless.solvers import Bundle, BundleLinesearch, ProximalBundle

METRICS = [
    ("f1", None),
    ("fbeta(2)", None),
    ("fbeta(0.3)", None),
    ("roc_auc", None),
    ("precision_at_k", 2),
    ("precision_at_k", 5),
    ("recall_at_k", 2),
    ("recall_at_k", 5),
    ("prbep", None),
]
THRESHOLDED = [metric for metric in METRICS if metric[0].startswith("f")]
IDS = [f"{name}, k={k}" for name, k in METRICS]


def problem(seed, m=8, d=3, positives=3, scale=1.0):
    rng = np.random.default_rng(seed)
    y = -np.ones(m)
    y[rng.permutation(m)[:positives]] = 1.0
    X = rng.normal(size=(m, d)) * scale + 0.5 * y[:, None] * rng.random(d)
    return X, y


def cuts(name, k, y):
    """Every labeling's plane over scores, a row each: cost + ⟨a, z⟩."""
    m, positive = len(y), y > 0
    P, N = positive.sum(), (~positive).sum()
    if name == "roc_auc":
        pairs = [(i, j) for i in np.flatnonzero(positive) for j in np.flatnonzero(~positive)]
        for wrong in product([0, 1], repeat=len(pairs)):
            a = np.zeros(m)
            for (i, j), flip in zip(pairs, wrong, strict=True):
                a[i] -= flip / (P * N)
                a[j] += flip / (P * N)
            yield sum(wrong) / (P * N), a
        return
    if name.startswith("f"):
        beta = 1.0 if name == "f1" else float(name[6:-1])
        for label in product([-1.0, 1.0], repeat=m):
            labels = np.array(label)
            found, called = (positive & (labels > 0)).sum(), (labels > 0).sum()
            cost = 1 - (1 + beta**2) * found / (beta**2 * P + called)
            yield cost, (labels - y) / 2 / P
        return
    k = P if name == "prbep" else k
    q = P if name == "recall_at_k" else k
    more, fewer = max(k - P, 0), max(P - k, 0)
    yield 1 - min(k, P) / q, np.zeros(m)
    for n in range(1, min(k, P, N - more) + 1):
        for high in combinations(np.flatnonzero(~positive), n + more):
            for low in combinations(np.flatnonzero(positive), n + fewer):
                a = np.zeros(m)
                a[list(high)] = n / len(high) / q
                a[list(low)] = -n / len(low) / q
                yield 1 - (min(k, P) - n) / q, a


def risk_of(name, k, X, y, penalty, intercept=False, s=None):
    return metric_of(name, k).risk(Source(X, y, s, threads=1), penalty, intercept)


def clarabel_optimum(planes, X, strength, intercept):
    """min (λ/2)‖w‖² + t over t ≥ cost + ⟨a, Xw + b⟩ for every labeling."""
    cost = np.array([c for c, _ in planes])
    A = np.array([a for _, a in planes])
    d = X.shape[1]
    shift = A.sum(axis=1, keepdims=True) * intercept
    G = sparse.csc_matrix(np.hstack([A @ X, shift, -np.ones((len(A), 1))]))
    H = sparse.diags([strength] * d + [1e-12, 0.0]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    q = np.zeros(d + 2)
    q[-1] = 1.0
    solver = clarabel.DefaultSolver(H, q, G, -cost, [clarabel.NonnegativeConeT(len(A))], settings)
    return solver.solve().obj_val


@pytest.mark.parametrize(("name", "k"), METRICS, ids=IDS)
def test_the_oracle_is_the_maximum_over_all_labelings(name, k):
    positives = 2 if name == "roc_auc" else 3
    for seed in range(12):
        X, y = problem(seed, positives=positives, scale=[1e-3, 0.3, 3.0][seed % 3])
        risk = risk_of(name, k, X, y, SquaredL2(1.0))
        planes = list(cuts(name, k, y))
        for w in np.random.default_rng(seed).normal(size=(4, 3)):
            z = X @ w
            known = max(cost + a @ z for cost, a in planes)
            value, g = risk.value_and_gradient(w)
            assert value == pytest.approx(known, abs=1e-12)
            assert risk.value(w, 0.0) == pytest.approx(known, abs=1e-12)
            tangent = risk.tangent(w, 0.0)
            assert tangent.value == value
            # the plane is that of a labeling that attains it
            assert tangent.plane.offset + g @ w == pytest.approx(known, abs=1e-12)
            np.testing.assert_array_equal(tangent.plane.a, g)


@pytest.mark.parametrize(("name", "k"), THRESHOLDED)
def test_the_counts_are_the_worst_of_all(name, k):
    """Larger problems, by all pairs of counts: β below 1 makes the best c rise and fall."""
    rng = np.random.default_rng(1)
    square = 1.0 if name == "f1" else float(name[6:-1]) ** 2
    for trial in range(40):
        P, N = rng.integers(1, 60, size=2)
        z = np.round(rng.normal(size=P + N) * 10 ** rng.uniform(-3, 1), trial % 4)
        y = np.repeat([1.0, -1.0], [P, N])
        risk = risk_of(name, k, z[:, None], y, SquaredL2(1.0), intercept=True)
        for b in rng.normal(size=3):
            missed = np.concatenate([[0.0], np.cumsum(np.sort(z[:P]) + b)])
            called = np.concatenate([[0.0], np.cumsum(-np.sort(-z[P:]) + b)])
            a, c = np.arange(P, -1, -1)[:, None], np.arange(N + 1)
            table = 1 - (1 + square) * a / (square * P + a + c)
            table = table + (called[None, :] - missed[:, None]) / P
            assert risk.value(np.ones(1), b) == pytest.approx(table.max(), abs=1e-12)


@pytest.mark.parametrize(("name", "k"), METRICS, ids=IDS)
def test_the_risk_bounds_the_metric(name, k):
    metric = metric_of(name, k)
    for seed in range(30):
        X, y = problem(seed, positives=1 + seed % 6)
        risk = metric.risk(Source(X, y), SquaredL2(1.0), False)
        w = np.random.default_rng(seed).normal(size=3) * 10 ** (seed % 3 - 1)
        assert risk.value(w, 0.0) >= 1 - metric.score(y > 0, X @ w) - 1e-12


@pytest.mark.parametrize(("name", "k"), METRICS, ids=IDS)
def test_slopes_are_those_of_finite_differences(name, k):
    X, y = problem(5, m=40, positives=9)
    risk = risk_of(name, k, X, y, SquaredL2(1.0))
    w, h = np.array([0.3, -0.2, 0.5]), 1e-7
    _, g = risk.value_and_gradient(w)
    for j, unit in enumerate(np.eye(3)):
        slope = (risk.value(w + h * unit, 0.0) - risk.value(w - h * unit, 0.0)) / (2 * h)
        assert g[j] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize(("name", "k"), THRESHOLDED)
def test_the_free_intercept_is_minimised_out_and_the_plane_is_level(name, k):
    rng = np.random.default_rng(2)
    for seed in range(10):
        X, y = problem(seed, m=30, positives=7)
        risk = risk_of(name, k, X, y, SquaredL2(1.0), intercept=True)
        w = rng.normal(size=3)
        tangent = risk.tangent(w, rng.normal())
        values = [risk.value(w, b) for b in np.linspace(-5, 5, 2001)]
        assert tangent.value <= min(values) + 1e-10
        assert tangent.value == pytest.approx(risk.value(w, tangent.b), abs=1e-12)
        assert tangent.plane.tilt == 0.0
        assert tangent.plane.offset + tangent.plane.a @ w == pytest.approx(tangent.value, abs=1e-9)
        for _ in range(100):
            v, b = rng.normal(size=3) * 3, 10 * rng.normal()
            assert risk.value(v, b) >= tangent.plane.offset + tangent.plane.a @ v


@pytest.mark.parametrize(("name", "k"), METRICS, ids=IDS)
@pytest.mark.parametrize("strength", [0.3, 1e-3])
def test_the_optimum_is_clarabels_and_no_bound_is_false(name, k, strength):
    for seed in range(4):
        X, y = problem(seed, positives=2 if name == "roc_auc" else 3)
        intercept = name.startswith("f") and seed % 2 == 0
        optimum = clarabel_optimum(list(cuts(name, k, y)), X, strength, intercept)
        risk = risk_of(name, k, X, y, SquaredL2(strength), intercept)
        for kind in (Bundle, ProximalBundle, BundleLinesearch):
            found = minimize(risk, kind(), Stopping(gap=1e-6, passes=200))
            assert found.lower_bound <= optimum + 1e-7
            assert found.objective >= optimum - 1e-7
            if kind is not BundleLinesearch:  # without a QP it takes its time
                assert found.stopped_by == "gap"
                assert found.objective == pytest.approx(optimum, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(("name", "k"), METRICS, ids=IDS)
def test_certificates_hold_where_rounding_matters(name, k):
    """Features far from 0, which neither differences of scores nor a free intercept see."""
    for seed in range(4):
        X, y = problem(seed, positives=2 if name == "roc_auc" else 3)
        X = np.round(X * 2**12) / 2**12  # so that shifted features are exact
        intercept = name.startswith("f")
        optimum = clarabel_optimum(list(cuts(name, k, y)), X, 0.1, intercept)
        far = X + 2.0**36 * np.array([1.0, -1.0, 1.0])
        risk = risk_of(name, k, far, y, SquaredL2(0.1), intercept)
        for kind in (Bundle, ProximalBundle):
            trace = minimize(risk, kind(), Stopping(gap=0.0, passes=60)).trace
            assert max(trace.lower_bound) <= optimum * (1 + 1e-8)
            assert min(trace.objective) >= optimum * (1 - 1e-8)


def test_the_roc_risk_is_the_mean_hinge_of_pairs_weighted_or_not():
    rng = np.random.default_rng(0)
    X, y = problem(3, m=60, positives=17)
    X = np.round(X, 1)  # ties
    for s in (None, rng.integers(0, 4, size=60).astype(float)):
        risk = risk_of("roc_auc", None, X, y, SquaredL2(1.0), s=s)
        weights = np.ones(60) if s is None else s
        for w in rng.normal(size=(5, 3)):
            z = X @ w
            hinge = np.maximum(0, 1 - (z[y > 0][:, None] - z[y < 0]))
            pairs = np.outer(weights[y > 0], weights[y < 0])
            assert risk.value(w, 0.0) == pytest.approx((pairs * hinge).sum() / pairs.sum())


@pytest.mark.parametrize(("name", "k"), METRICS, ids=IDS)
def test_sparse_is_dense_and_planes_are_kept_under_another_penalty(name, k):
    X, y = problem(7, m=50, positives=11)
    X[np.abs(X) < 0.5] = 0.0
    intercept = name.startswith("f")
    dense = risk_of(name, k, X, y, SquaredL2(0.01), intercept)
    thin = risk_of(name, k, sparse.csr_matrix(X), y, SquaredL2(0.01), intercept)
    first = minimize(dense, Bundle(), Stopping(gap=1e-4))
    other = minimize(thin, Bundle(), Stopping(gap=1e-4))
    assert first.objective == pytest.approx(other.objective, rel=2e-4)
    weaker = dense.under(SquaredL2(0.005))
    warm = minimize(weaker, Bundle(), Stopping(gap=1e-4), start=first)
    cold = minimize(weaker, Bundle(), Stopping(gap=1e-4))
    assert len(warm.trace) < len(cold.trace)
    assert warm.lower_bound <= cold.objective
    assert cold.lower_bound <= warm.objective


def test_another_penalty_has_the_linear_programmes_optimum():
    """‖w‖₁ with w = p − q, p and q ≥ 0: a linear programme."""
    X, y = problem(1)
    planes = list(cuts("f1", None, y))
    risk = risk_of("f1", None, X, y, L1(0.05), intercept=True)
    found = minimize(risk, Bundle(), Stopping(gap=1e-5))
    cost, A = np.array([c for c, _ in planes]), np.array([a for _, a in planes])
    G = np.hstack([A @ X, -A @ X, A.sum(axis=1, keepdims=True), -np.ones((len(A), 1))])
    bounds = [(0, None)] * 6 + [(None, None)] * 2
    known = linprog([0.05] * 6 + [0.0, 1.0], A_ub=G, b_ub=-cost, bounds=bounds).fun
    assert found.stopped_by == "gap"
    assert found.lower_bound <= known + 1e-9
    assert found.objective == pytest.approx(known, rel=2e-5)


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        positive = rng.random(50) < 0.3
        z = np.round(rng.normal(size=50) + positive, 1)
        for beta in (0.5, 1.0, 2.0):
            known = fbeta_score(positive, z > 0, beta=beta)
            assert metric_of(f"fbeta({beta})").score(positive, z) == pytest.approx(known)
        assert metric_of("roc_auc").score(positive, z) == pytest.approx(roc_auc_score(positive, z))
        # ties: the mean over all orders is the mean over random ones
        k = 12
        draws = [positive[np.lexsort([rng.random(50), -z])[:k]].mean() for _ in range(1000)]
        assert metric_of("precision_at_k", k).score(positive, z) == pytest.approx(
            np.mean(draws), abs=0.02
        )
        found = metric_of("precision_at_k", k).score(positive, z) * k / positive.sum()
        assert metric_of("recall_at_k", k / 50).score(positive, z) == pytest.approx(found)
        even = metric_of("precision_at_k", int(positive.sum())).score(positive, z)
        assert metric_of("prbep").score(positive, z) == even
    assert metric_of("f1").score(positive, -np.ones(50)) == 0.0


@pytest.mark.parametrize(
    ("name", "k", "sentence"),
    [
        ("f2", None, "there is no metric 'f2': did you mean 'f1'"),
        ("fbeta", None, r"needs β from 1e-6 to 1e6 in brackets, such as 'fbeta\(2\)', not nan"),
        ("fbeta(-1)", None, "needs β from 1e-6 to 1e6 .* not -1"),
        ("f1(2)", None, "'f1\\(2\\)' has no numbers in brackets"),
        ("precision_at_k", None, "metric='precision_at_k' needs k=: how many"),
        ("recall_at_k", 0, "k must be a whole number of examples, or a share .* not 0"),
        ("recall_at_k", 1.5, "k must be a whole number of examples, or a share .* not 1.5"),
        ("precision_at_k", True, "k must be a whole number"),
        ("precision_at_k", float("nan"), "k must be a whole number"),
        ("prbep", 3, "metric='prbep' has no k; leave k=3 out"),
        ("prbep(1)", None, "has no numbers in brackets"),
    ],
)
def test_what_makes_no_sense_is_refused(name, k, sentence):
    with pytest.raises(ValueError, match=sentence):
        metric_of(name, k)


@pytest.mark.parametrize(("name", "k"), [("roc_auc", None), ("recall_at_k", 2), ("prbep", None)])
def test_one_class_has_no_ranking(name, k):
    with pytest.raises(ValueError, match="not defined for examples of one class: there is no"):
        metric_of(name, k).score(np.ones(5, bool), np.arange(5.0))
    with pytest.raises(ValueError, match="no positive one"):
        metric_of(name, k).score(np.zeros(5, bool), np.arange(5.0))


def test_k_must_leave_a_choice():
    with pytest.raises(ValueError, match="k=5 leaves nothing to choose among 5 examples"):
        metric_of("precision_at_k", 5).score(np.ones(5, bool), np.arange(5.0))


@pytest.mark.parametrize("name", ["f1", "fbeta(2)", "fbeta(0.3)"])
def test_no_threshold_has_a_greater_f(name):
    rng = np.random.default_rng(4)
    metric = metric_of(name)
    for trial in range(40):
        positive = rng.random(30) < rng.choice([0.1, 0.5, 0.95])
        positive[0] = True
        z = np.round(rng.normal(size=30) + 2 * positive * (trial % 3), trial % 2)
        every = [z.min() - 1, *z, *(z + 1e-9)]
        best = max(metric.score(positive, z - t) for t in every)
        assert metric.score(positive, z - metric.threshold(positive, z)) == pytest.approx(best)
    assert metric.score(positive, np.zeros(30) - metric.threshold(positive, np.zeros(30))) > 0


def test_rankings_call_as_many_positive_as_they_pick():
    positive, z = np.arange(9) < 4, np.arange(9.0)
    for name, k, count in [("precision_at_k", 2, 2), ("recall_at_k", 0.3, 3), ("prbep", None, 4)]:
        assert (z > metric_of(name, k).threshold(positive, z)).sum() == count
    assert (z > metric_of("roc_auc").threshold(positive, z)).sum() == 4
