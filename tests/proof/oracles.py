"""Risks with an oracle only, small and nasty, and their values from their definitions, exactly."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
from scipy import sparse

from proof.arithmetic import exact, mp, real, rows, vector
from proof.problems import features, weights
from stepless.data import Source
from stepless.data.sequences import Sequences
from stepless.objective import L1, ElasticNet, SquaredL2
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.risks.chains.crf_risk import CRFRisk
from stepless.risks.chains.hinge_risk import ChainHingeRisk
from stepless.risks.chains.pairs import AllPairs
from stepless.risks.metrics.f_risk import FRisk
from stepless.risks.metrics.pair_risk import PairRisk
from stepless.risks.metrics.top_risk import TopRisk
from stepless.risks.ranking import (
    NDCG,
    AssignedNDCG,
    AveragePrecision,
    Pairwise,
    RankingRisk,
    ReciprocalRank,
)
from stepless.structured import Multiclass
from stepless.structured.label_risk import LabelRisk
from stepless.structured.structured_risk import StructuredRisk

RANKINGS = {
    "pairwise": Pairwise,
    "ndcg": NDCG,
    "assigned_ndcg": AssignedNDCG,
    "average_precision": AveragePrecision,
    "reciprocal_rank": ReciprocalRank,
}
METRICS = ("roc", "f", "top")
CHAINS = {"crf": CRFRisk, "chain_hinge": ChainHingeRisk}
LABELS = {"structured": StructuredRisk, "labels": LabelRisk}
ORACLES = (*RANKINGS, *METRICS, *CHAINS, *LABELS, "adaptive_margin")


@dataclass(frozen=True)
class Known:
    """A risk, and its value in exact arithmetic: `value(w, b)`."""

    risk: object
    value: object
    traits: tuple

    def __repr__(self):
        given = f"{self.risk.objective.regularizer}, {self.risk.d} weights"
        return f"{type(self.risk).__name__}, {given}, {' '.join(self.traits)}"


def oracle(name, seed, penalty="l2", layout=None):
    """Return the random risk of a seed."""
    rng, traits = np.random.default_rng([seed, 20261]), [name]
    m, d = int(rng.integers(4, 17)), int(rng.integers(1, 6))
    X, size = features(rng, m, d, traits, layout)
    strength = 10.0 ** rng.uniform(-6, 2)
    traits.append(f"{m} × {d} {X.dtype} {'CSR' if sparse.issparse(X) else 'dense'}")
    first, second = (float(np.clip(strength * size**k, 1e-49, 1e100)) for k in (1, 2))
    omega = {"l2": SquaredL2(second), "l1": L1(first), "elastic_net": ElasticNet(first, 0.5)}
    make = _ranking if name in RANKINGS else _metric if name in METRICS else _labels
    make = {"adaptive_margin": _margin, **dict.fromkeys(CHAINS, _chain)}.get(name, make)
    risk, value = make(rng, name, X, omega[penalty], traits)
    return Known(risk, value, tuple(traits))


def _scores(X, w):
    """⟨w, x_i⟩ of each row."""
    w = vector(w)
    return [sum((xj * w[j] for j, xj in x.items()), Fraction(0)) for x in rows(X)]


# -- metrics ---------------------------------------------------------------------------------------


def _metric(rng, name, X, omega, traits):
    m = X.shape[0]
    y = np.where(rng.random(m) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = weights(rng, m, traits) if name == "roc" else None
    if s is not None:
        s[:2] = 1.0
    source = Source(X, y, s, threads=1)
    plus, minus = np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)
    P = plus.size
    if name == "roc":
        return PairRisk(source, omega), lambda w, b: _pairs(
            _scores(X, w), vector(source.s), plus, minus
        )
    if name == "f":
        square = float(rng.choice([0.25, 1.0, 4.0]))
        risk = FRisk(source, omega, square, bool(rng.integers(2)))
        return risk, lambda w, b: _f(_scores(X, w), exact(b), plus, minus, exact(square))
    k = int(rng.integers(1, m + 1))
    q = int(rng.choice([k, P]))
    return TopRisk(source, omega, k, q), lambda w, b: _top(_scores(X, w), plus, minus, k, q)


def _pairs(z, s, plus, minus):
    total = sum(s[i] * s[j] * max(Fraction(0), 1 - z[i] + z[j]) for i in plus for j in minus)
    return real(total / (sum(s[i] for i in plus) * sum(s[j] for j in minus)))


def _f(z, b, plus, minus, square):
    P = plus.size
    low, high = sorted(z[i] for i in plus), sorted((z[j] for j in minus), reverse=True)
    worst = max(
        1
        - (1 + square) * (P - u) / (square * P + P - u + c)
        + (sum(high[:c]) - sum(low[:u]) + (c - u) * b) / P
        for u in range(P + 1)
        for c in range(minus.size + 1)
    )
    return real(worst)


def _top(z, plus, minus, k, q):
    P = plus.size
    low, high = sorted(z[i] for i in plus), sorted((z[j] for j in minus), reverse=True)
    more, fewer, most = max(k - P, 0), max(P - k, 0), min(k, P)
    worst = least = 1 - Fraction(most, q)
    for n in range(1, min(most, minus.size - more) + 1):
        apart = sum(high[: n + more]) / (n + more) - sum(low[: n + fewer]) / (n + fewer)
        worst = max(worst, least + Fraction(n, q) * (1 + apart))
    return real(worst)


# -- rankings --------------------------------------------------------------------------------------


def _ranking(rng, name, X, omega, traits):
    m = X.shape[0]
    y = rng.integers(0, int(rng.choice([2, 4])), m).astype(float)
    y[:2] = 1.0, 0.0
    qid = np.sort(np.concatenate([[0, 0], rng.integers(0, 1 + m // 5, m - 2)]))
    kind = RANKINGS[name]
    loss = kind(int(rng.integers(1, 6))) if issubclass(kind, NDCG) else kind()
    risk = RankingRisk(loss, X, y, omega, qid=qid, threads=1)

    def value(w, b):
        z = _scores(X, w)
        found = []
        for q in np.unique(qid):
            of = sorted(np.flatnonzero(qid == q), key=lambda i: -y[i])
            relevant = y[of] > 0.0
            binary = name in ("average_precision", "reciprocal_rank")
            if (relevant.any() and not relevant.all()) if binary else y[of[0]] > y[of[-1]]:
                found.append(_LOSSES[name]([z[i] for i in of], y[of].astype(int), loss))
        return mp.fsum(found) / len(found)

    return risk, value


def _pairwise(z, y, loss):
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    return real(sum(max(Fraction(0), 1 - z[i] + z[j]) for i, j in pairs) / len(pairs))


def _discount(r):
    return 1 / mp.log(r + 2, 2)


def _worst_ranking(z, C, lost):
    """max over rankings of `lost(ranks of the first C)` + 2/(CN) Σ (z_j − z_i) of wrong pairs.

    Whatever ranks the relevant ones have, the worst order of either kind is by falling scores.
    """
    n = len(z)
    relevant, others = sorted(z[:C], reverse=True), sorted(z[C:], reverse=True)
    worst = -mp.inf
    for ranks in combinations(range(n), C):
        wrong = sum(
            (others[j] - relevant[i] for i, rank in enumerate(ranks) for j in range(rank - i)),
            Fraction(0),
        )
        worst = max(worst, lost(ranks) + real(2 * wrong / (C * (n - C))))
    return worst


def _average_precision(z, y, loss):
    C = int((y > 0).sum())
    return _worst_ranking(
        z, C, lambda ranks: real(1 - sum(Fraction(i + 1, r + 1) for i, r in enumerate(ranks)) / C)
    )


def _reciprocal_rank(z, y, loss):
    return _worst_ranking(z, int((y > 0).sum()), lambda ranks: real(1 - Fraction(1, ranks[0] + 1)))


def _ndcg(z, y, loss):
    n, k = len(y), min(loss.k, len(y))
    gains = [2 ** int(yi) - 1 for yi in y]
    ideal = mp.fsum(_discount(r) * gains[r] for r in range(k))
    total = mp.zero
    for C in range(1, n):
        if gains[C - 1] > gains[C]:
            best = mp.fsum(_discount(r) for r in range(min(C, k)))
            worst = _worst_ranking(
                z, C, lambda ranks: 1 - mp.fsum(_discount(r) for r in ranks if r < k) / best
            )
            total += (gains[C - 1] - gains[C]) * best / ideal * worst
    return total


def _assigned_ndcg(z, y, loss):
    n, k = len(y), min(loss.k, len(y))
    c = [_discount(r) if r < k else mp.zero for r in range(n)]
    gains = [2 ** int(yi) - 1 for yi in y]
    ideal = mp.fsum(c[r] * gains[r] for r in range(k))
    # the largest sum of products of two rows is that of both in order
    sorted_ = sorted((real(z[i]) - gains[i] / ideal for i in range(n)), reverse=True)
    means = [mp.fsum(c[r] for r in range(n) if y[r] == y[i]) / sum(y == y[i]) for i in range(n)]
    return 1 + mp.fdot(c, sorted_) - mp.fdot(means, [real(zi) for zi in z])


_LOSSES = {
    "pairwise": _pairwise,
    "ndcg": _ndcg,
    "assigned_ndcg": _assigned_ndcg,
    "average_precision": _average_precision,
    "reciprocal_rank": _reciprocal_rank,
}


# -- labelings -------------------------------------------------------------------------------------


def _chain(rng, name, X, omega, traits):
    m, d = X.shape
    K = int(rng.integers(2, 4))
    inner = np.sort(rng.choice(np.arange(1, m), size=max(1, m // 3), replace=False))
    ends = np.concatenate([[0], inner[np.diff(inner, prepend=-9) > 0], [m]])
    while np.diff(ends).max() > 4:  # labelings are counted one by one
        at = int(np.argmax(np.diff(ends)))
        ends = np.insert(ends, at + 1, ends[at] + 2)
    y, s = rng.integers(K, size=m), weights(rng, len(ends) - 1, traits)
    cost = np.round(rng.uniform(0.5, 2.0, size=(K, K)) * 8) / 8 * (1.0 - np.eye(K))
    more = {"cost": cost} if name == "chain_hinge" else {}
    words = Sequences(sparse.csr_matrix(X), ends, threads=1)
    risk = CHAINS[name](words, y, AllPairs(d, K), K, omega, s, **more)
    examples = rows(X)

    def value(w, b):
        w = vector(w)
        T, first, last = (w[at:] for at in (d * K, d * K + K * K, d * K + K * K + K))
        found = []
        for share, lo, hi in zip(vector(risk.problem.s), ends[:-1], ends[1:], strict=True):
            z = [
                [sum((xj * w[j * K + c] for j, xj in x.items()), Fraction(0)) for c in range(K)]
                for x in examples[lo:hi]
            ]

            def score(tags, z=z):
                inside = sum(T[a * K + c] for a, c in pairwise(tags))
                return (
                    sum(zt[c] for zt, c in zip(z, tags, strict=True))
                    + inside
                    + first[tags[0]]
                    + last[tags[-1]]
                )

            own = tuple(int(c) for c in y[lo:hi])
            truth = score(own)
            ahead = {tags: score(tags) - truth for tags in product(range(K), repeat=int(hi - lo))}
            if name == "chain_hinge":
                loss = real(
                    max(
                        by + sum(exact(cost[a, c]) for a, c in zip(own, tags, strict=True))
                        for tags, by in ahead.items()
                    )
                )
            else:
                top = max(ahead, key=ahead.get)
                rest = (mp.exp(real(by - ahead[top])) for t, by in ahead.items() if t != top)
                loss = real(ahead[top]) + mp.log1p(mp.fsum(rest))
            found.append(real(share) * loss)
        return mp.fsum(found) / len(found)

    return risk, value


def _labels(rng, name, X, omega, traits):
    X = (X.toarray() if sparse.issparse(X) else X).astype(float)
    m, d = X.shape
    K = int(rng.integers(2, 5))
    y = rng.integers(K, size=max(m, K))[:m]
    y[: min(m, K)] = np.arange(min(m, K))
    K = int(y.max()) + 1
    costs = np.round(rng.uniform(0.5, 3.0, size=(K, K)) * 8) / 8 * (1.0 - np.eye(K))
    s = weights(rng, m, traits)
    risk = LABELS[name](Multiclass.of(X, y, costs), X, y.tolist(), omega, s=s, threads=1)
    exactly = vector(np.ones(m) if s is None else s)

    def value(w, b):
        scores = [_scores(X, w[c * d : (c + 1) * d]) for c in range(K)]
        worst = [
            max(scores[c][i] - scores[y[i]][i] + exact(costs[y[i], c]) for c in range(K))
            for i in range(m)
        ]
        return real(sum(si * at for si, at in zip(exactly, worst, strict=True)) / sum(exactly))

    return risk, value


def _margin(rng, name, X, omega, traits):
    m = X.shape[0]
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    intercept = bool(rng.integers(2))
    if not intercept and rng.integers(2):
        y[:] = 1.0
    s = weights(rng, m, traits)
    if s is not None:
        s[:2] = 1.0
    source = Source(X, y, s, threads=1)
    sides = [np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)] if intercept else [np.arange(m)]
    most = len(sides) * min(float(source.s[side].sum()) for side in sides) / m
    nu = float(most * rng.choice([rng.uniform(0.01, 1.0), 0.5, 1.0]))
    risk = AdaptiveMargin(source, nu, intercept=intercept)
    s, worst = vector(source.s), exact(nu) * m / len(sides)

    def value(w, b):
        at = [exact(wj) + exact(cj) for wj, cj in zip(w, risk.centre, strict=True)]
        margins = [exact(yi) * zi for yi, zi in zip(y, _scores(X, at), strict=True)]
        total = Fraction(0)
        for side in sides:
            mass = sum(s[i] for i in side)
            total += sum(s[i] * margins[i] for i in side) / mass
            left = share = min(worst, mass)
            for i in sorted(side, key=lambda i: margins[i]):
                taken = min(left, s[i])
                total -= taken * margins[i] / share
                left -= taken
        return real(total)

    return risk, value
