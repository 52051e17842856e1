"""Losses of chains, against sums and maxima over all labelings, and other people's solvers."""

from itertools import pairwise, product

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from scipy.special import logsumexp

from stepless import L1, SOLVERS, SquaredL2, Stopping
from stepless.data import sequences as sequences_module
from stepless.data.sequences import Sequences
from stepless.minimization import minimize
from stepless.risks.chains import AllPairs, ChainHingeRisk, CRFRisk, SeenPairs
from stepless.risks.chains.decoding import best_labelings, tag_probabilities

K, FEATURES = 3, 4
LENGTHS = (1, 5, 2, 4)
COST = np.array([[0.0, 1.0, 3.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]])


def chains(seed, layout="sparse", pairs="all", threads=1):
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0], np.cumsum(LENGTHS)])
    X = rng.normal(size=(ends[-1], FEATURES)) * (rng.random((ends[-1], FEATURES)) < 0.6)
    y = rng.integers(K, size=ends[-1])
    words = Sequences(sparse.csr_matrix(X) if layout == "sparse" else X, ends, threads)
    kept = AllPairs(FEATURES, K) if pairs == "all" else SeenPairs.of(words.X, y, K)
    return X, y, ends, words, kept, rng.choice([0.0, 1.0, 2.5], len(LENGTHS)) + 0.5


def scores(X, ends, kept, w):
    """For each sequence all labelings, and the score of each."""
    emission = np.zeros((FEATURES, K))
    for j in range(FEATURES):
        for k in range(*map(int, kept.span(j))):
            emission[j, kept.tag(j, k)] = w[k]
    edges = w[kept.weights() :]
    T, start, end = edges[: K * K].reshape(K, K), edges[K * K : -K], edges[-K:]
    for first, last in pairwise(ends):
        z = X[first:last] @ emission
        labelings = list(product(range(K), repeat=last - first))
        yield (
            labelings,
            np.array(
                [
                    start[c[0]]
                    + end[c[-1]]
                    + sum(z[t, c[t]] for t in range(len(c)))
                    + sum(T[a, b] for a, b in pairwise(c))
                    for c in labelings
                ]
            ),
        )


def brute(X, y, ends, kept, s, w, cost=None):
    total = 0.0
    for i, (labelings, score) in enumerate(scores(X, ends, kept, w)):
        truth = tuple(y[ends[i] : ends[i + 1]])
        own = score[labelings.index(truth)]
        if cost is None:
            total += s[i] * (logsumexp(score) - own)
        else:
            costs = [sum(cost[a, b] for a, b in zip(truth, c, strict=True)) for c in labelings]
            total += s[i] * (np.max(score + costs) - own)
    return total / s.sum()


def risk_of(kind, case, regularizer):
    _, y, _, words, kept, s = case
    if kind == "crf":
        return CRFRisk(words, y, kept, K, regularizer, s)
    return ChainHingeRisk(words, y, kept, K, regularizer, s, cost=COST)


@pytest.mark.parametrize("scale", [1.0, 30.0, 2000.0])  # of the last, exponentials overflow
@pytest.mark.parametrize("pairs", ["all", "seen"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("kind", ["crf", "hinge"])
def test_values_are_those_of_all_labelings(kind, layout, pairs, scale):
    for seed in range(3):
        case = chains(seed, layout, pairs)
        X, y, ends, _, kept, s = case
        risk = risk_of(kind, case, SquaredL2(1.0))
        w = scale * np.random.default_rng(seed).normal(size=risk.d)
        truth = brute(X, y, ends, kept, s, w, None if kind == "crf" else COST)
        assert risk.value(w, 0.0) == pytest.approx(truth, rel=1e-11, abs=1e-11 * scale)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_the_gradient_is_that_of_finite_differences(scale):
    case = chains(0, pairs="seen")
    risk = risk_of("crf", case, SquaredL2(1.0))
    rng = np.random.default_rng(1)
    w = scale * rng.normal(size=risk.d)
    g = risk.value_and_gradient(w)[1]
    for j in range(risk.d):
        e = np.zeros(risk.d)
        e[j] = 1e-5
        slope = (risk.value(w + e, 0.0) - risk.value(w - e, 0.0)) / 2e-5
        assert g[j] == pytest.approx(slope, abs=1e-6 * max(1.0, scale * 1e-1))


@pytest.mark.parametrize("kind", ["crf", "hinge"])
def test_tangents_lie_below_everywhere(kind):
    risk = risk_of(kind, chains(2, pairs="seen"), SquaredL2(1.0))
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = 10.0 ** rng.uniform(-1, 3)
        here, there = size * rng.normal(size=(2, risk.d))
        tangent = risk.tangent(here, 0.0)
        lost = risk.offset_error(here, tangent) + risk.gradient_error() @ np.abs(there)
        height = tangent.plane.a @ there + tangent.plane.offset - lost
        assert height <= risk.value(there, 0.0) * (1.0 + 1e-13)


@pytest.mark.parametrize("scale", [1.0, 2000.0])
def test_labelings_and_probabilities_are_those_of_all_labelings(scale):
    X, _, ends, words, kept, _ = chains(3)
    w = scale * np.random.default_rng(3).normal(size=kept.weights() + K * K + 2 * K)
    labels, p = best_labelings(words, kept, K, w), tag_probabilities(words, kept, K, w)
    for i, (labelings, score) in enumerate(scores(X, ends, kept, w)):
        assert tuple(labels[ends[i] : ends[i + 1]]) == labelings[int(np.argmax(score))]
        shares = np.exp(score - logsumexp(score))
        for t in range(LENGTHS[i]):
            sums = [
                sum(q for c, q in zip(labelings, shares, strict=True) if c[t] == k)
                for k in range(K)
            ]
            np.testing.assert_allclose(p[ends[i] + t], sums, atol=1e-12 * scale)


def test_threads_do_not_change_the_answer(monkeypatch):
    monkeypatch.setattr(sequences_module, "_WORTH_A_BLOCK", 1)
    alone, together = chains(4), chains(4, threads=3)
    assert len(together[3].blocks()) > 1
    w = np.random.default_rng(4).normal(size=AllPairs(FEATURES, K).weights() + K * K + 2 * K)
    for kind in ("crf", "hinge"):
        one = risk_of(kind, alone, SquaredL2(1.0)).value_and_gradient(w)
        three = risk_of(kind, together, SquaredL2(1.0)).value_and_gradient(w)
        assert one[0] == three[0]
        np.testing.assert_array_equal(one[1], three[1])


def hinge_optimum(case, d, strength):
    """The quadratic programme with a constraint for each labeling, by clarabel."""
    X, y, ends, _, kept, s = case
    share = s / s.sum()
    rows, bounds, n = [], [], len(LENGTHS)
    unit = np.eye(d)
    features = [list(scores(X, ends, kept, unit[j])) for j in range(d)]
    for i in range(n):
        labelings = features[0][i][0]
        truth = tuple(y[ends[i] : ends[i + 1]])
        phi = np.array([features[j][i][1] for j in range(d)])
        own = phi[:, labelings.index(truth)]
        for c, column in zip(labelings, phi.T, strict=True):
            slack = np.zeros(n)
            slack[i] = -1.0
            rows.append(np.concatenate([column - own, slack]))
            bounds.append(-sum(COST[a, b] for a, b in zip(truth, c, strict=True)))
    strengths = np.broadcast_to(strength, d)
    P = sparse.diags(np.concatenate([strengths, np.zeros(n)]), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(len(bounds))]
    q = np.concatenate([np.zeros(d), share])
    A = sparse.csc_matrix(np.array(rows))
    return clarabel.DefaultSolver(P, q, A, np.array(bounds), cones, settings).solve().obj_val


@pytest.mark.parametrize("name", ["bundle", "proximal-bundle", "bundle-linesearch"])
def test_the_hinge_reaches_the_optimum_of_the_programme(name):
    for seed, strength in ((0, 0.3), (1, 0.02)):
        case = chains(seed, pairs="seen")
        risk = risk_of("hinge", case, SquaredL2(strength))
        best = hinge_optimum(case, risk.d, strength)
        gap = 1e-1 if name == "bundle-linesearch" else 1e-4
        result = minimize(risk, SOLVERS[name](), Stopping(gap=gap, passes=2000))
        assert result.stopped_by == "gap"
        assert result.lower_bound <= best * (1.0 + 1e-8)
        assert best * (1.0 - 1e-8) <= result.objective <= best * (1.0 + 1.01 * gap)


@pytest.mark.parametrize("name", ["lbfgs", "bundle", "proximal-bundle"])
def test_the_log_loss_reaches_scipys_optimum(name):
    for seed, strength in ((0, 0.3), (1, 1e-3)):
        risk = risk_of("crf", chains(seed, pairs="seen"), SquaredL2(strength))

        def objective(w, risk=risk, strength=strength):
            value, g = risk.value_and_gradient(w)
            return value + 0.5 * strength * w @ w, g + strength * w

        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000}
        best = scipy_minimize(
            objective, np.zeros(risk.d), jac=True, method="L-BFGS-B", options=options
        ).fun
        result = minimize(risk, SOLVERS[name](), Stopping(gap=1e-5, passes=3000))
        assert result.stopped_by == "gap"
        assert result.lower_bound <= best * (1.0 + 1e-9)
        assert result.objective <= best * (1.0 + 1.01e-5)


@pytest.mark.parametrize("kind", ["crf", "hinge"])
def test_weights_with_an_l1_penalty_reach_the_optimum(kind):
    risk = risk_of(kind, chains(5, pairs="seen"), L1(0.05))
    found = minimize(risk, SOLVERS["bundle"](), Stopping(gap=1e-4, passes=1000))
    assert found.stopped_by == "gap"
    if kind == "crf":
        other = minimize(risk, SOLVERS["lbfgs"](), Stopping(gap=1e-4, passes=1000))
        assert other.stopped_by == "gap"
        assert other.objective == pytest.approx(found.objective, rel=2e-4)
        assert other.lower_bound <= found.objective
        assert found.lower_bound <= other.objective
        assert (other.w == 0.0).any()


def test_certificates_are_never_false():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        strength = 10.0 ** rng.uniform(-4, 0)
        case = chains(seed, pairs="seen")
        risk = risk_of("hinge", case, SquaredL2(strength))
        best = hinge_optimum(case, risk.d, strength)
        result = minimize(
            risk, SOLVERS["bundle"](), Stopping(gap=0.0, passes=int(rng.integers(2, 60)))
        )
        assert result.lower_bound <= best + 1e-8 * max(best, 1e-3)
        assert result.objective >= best - 1e-8 * max(best, 1e-3)


@pytest.mark.parametrize(("kind", "name"), [("crf", "lbfgs"), ("hinge", "bundle")])
def test_a_penalty_may_change_and_planes_stay(kind, name):
    solver, stopping = SOLVERS[name], Stopping(gap=1e-5)
    risk = risk_of(kind, chains(6), SquaredL2(0.1))
    first = minimize(risk, solver(), stopping)
    assert len(minimize(risk, solver(), stopping, start=first).trace) == 1  # all is proved
    weaker = risk.under(SquaredL2(0.05))
    warm = minimize(weaker, solver(), stopping, start=first)
    cold = minimize(weaker, solver(), stopping)
    assert len(warm.trace) < len(cold.trace)
    assert warm.lower_bound <= cold.objective
    assert cold.lower_bound <= warm.objective
    if name == "bundle":  # its model is of all planes, where the other's is of the last few
        weights = minimize(weaker, solver(), stopping, start=(first.w, 0.0))
        assert len(warm.trace) < len(weights.trace)


def far_away(seed, offset):
    """Two features that are large and alike; what tells tags apart is their difference."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate([[0], np.cumsum(LENGTHS)])
    u = rng.integers(-512, 512, size=ends[-1]) / 256.0  # exact beside the offset
    y = rng.integers(K, size=ends[-1])
    near, far = (
        np.column_stack([u, np.ones(u.size)]),
        np.column_stack([u + offset, 0.0 * u + offset]),
    )
    return [
        (X, y, ends, Sequences(X, ends, 1), AllPairs(2, K), np.ones(len(LENGTHS)))
        for X in (near, far)
    ]


@pytest.mark.parametrize("offset", [2.0**29, 2.0**36])
@pytest.mark.parametrize("kind", ["crf", "hinge"])
def test_features_far_from_zero_prove_nothing_false(kind, offset, monkeypatch):
    """With so large a feature a tag's offset costs nothing; so the optimum is known otherwise."""
    monkeypatch.setitem(globals(), "FEATURES", 2)
    strength = 0.1
    for seed in range(4):
        near, far = far_away(seed, offset)
        risk, other = (risk_of(kind, case, SquaredL2(strength)) for case in (far, near))
        # of w₁ = −w₂ the penalty is twice that of w₁ alone, of the offset it is nearly 0
        strengths = np.full(other.d, strength)
        strengths[: 2 * K] = np.repeat([2.0 * strength, 1e-9], K)
        if kind == "hinge":
            best = hinge_optimum(near, other.d, strengths)
        else:

            def objective(w, other=other, strengths=strengths):
                value, g = other.value_and_gradient(w)
                return value + 0.5 * strengths @ w**2, g + strengths * w

            options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000}
            best = scipy_minimize(
                objective, np.zeros(other.d), jac=True, method="L-BFGS-B", options=options
            ).fun
        solver = SOLVERS["lbfgs" if kind == "crf" else "proximal-bundle"]
        for scale in (0.0, 0.3, 1.0):  # from 0, and from where features cancel
            start = scale * np.random.default_rng(seed).normal(size=risk.d)
            start[K : 2 * K] = -start[:K]
            found = minimize(risk, solver(), Stopping(gap=0.0, passes=15), start=(start, 0.0))
            assert found.lower_bound <= best * (1.0 + 1e-7)
            X, y, ends, _, kept, s = far
            cost = None if kind == "crf" else COST
            exact = brute(X.astype(np.longdouble), y, ends, kept, s, found.w, cost)
            assert found.objective >= exact + 0.5 * strength * found.w @ found.w


def test_a_long_sequence_rounds_upwards():
    """The sum over all labelings is a product of as many factors as there are positions."""
    n, too_low = 3000, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, FEATURES)), rng.integers(K, size=n)
        words = Sequences(sparse.csr_matrix(X), np.array([0, n]))
        risk = CRFRisk(words, y, AllPairs(FEATURES, K), K, SquaredL2(1e-9))
        start = (rng.normal(size=risk.d), 0.0)
        found = minimize(risk, SOLVERS["lbfgs"](), Stopping(passes=1), start=start)
        exact = exact_log_loss(X, y, found.w)
        too_low += risk.value(found.w, 0.0) < exact
        assert exact <= found.objective - 0.5e-9 * found.w @ found.w <= exact * (1.0 + 1e-8)
    assert too_low > 0  # as computed


def exact_log_loss(X, y, w):
    """Of one long sequence, in more digits."""
    emission, edges = w[: FEATURES * K].reshape(-1, K), w[FEATURES * K :]
    z = X.astype(np.longdouble) @ emission
    T = edges[: K * K].reshape(K, K).astype(np.longdouble)
    z[0] += edges[K * K : -K]
    z[-1] += edges[-K:]
    own, forth = z[0, y[0]], z[0]
    for t in range(1, len(y)):
        top = forth.max()
        forth = np.log(np.exp(forth - top) @ np.exp(T)) + top + z[t]
        own += T[y[t - 1], y[t]] + z[t, y[t]]
    top = forth.max()
    return np.log(np.exp(forth - top).sum()) + top - own
