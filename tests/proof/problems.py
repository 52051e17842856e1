"""Small random problems of every kind, some of them nasty: `problem(seed)`."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from stepless.objective import (
    L1,
    Absolute,
    Box,
    ElasticNet,
    Entropy,
    EpsilonInsensitive,
    Free,
    GroupsL2,
    GroupsLInf,
    Hinge,
    Huber,
    HyperbolicEntropy,
    Intersection,
    L1Ball,
    L2Ball,
    Logistic,
    LpBall,
    MulticlassHinge,
    Nonnegative,
    Objective,
    Poisson,
    Polytope,
    PSDCone,
    Quantile,
    RowsL2,
    RowsLInf,
    Simplex,
    SmoothedHinge,
    Softmax,
    Spectrahedron,
    Squared,
    SquaredHinge,
    SquaredL2,
    SquaredLp,
    Zero,
)

_LEAST_ALPHA, _MOST_ALPHA = 1e-49, 1e100
LOSSES = (
    "hinge",
    "squared_hinge",
    "smoothed_hinge",
    "logistic",
    "squared",
    "absolute",
    "epsilon_insensitive",
    "quantile",
    "huber",
    "poisson",
    "softmax",
    "multiclass_hinge",
)
PENALTIES = (
    "l2",
    "l2",
    "l2",
    "l1",
    "l1",
    "elastic_net",
    "entropy",
    "hyperbolic",
    "rows_l2",
    "rows_linf",
    "groups_l2",
    "groups_linf",
    "lp",
    "zero",
)
DOMAINS = (
    "free",
    "free",
    "ball",
    "l1_ball",
    "box",
    "simplex",
    "nonnegative",
    "lp_ball",
    "ball_of_box",
    "ball_of_simplex",
    "polytope",
    "psd",
    "psd_cone",
)
_COUPLED = ("rows_l2", "rows_linf", "groups_l2", "groups_linf")


@dataclass(frozen=True)
class Problem:
    """Examples and the terms of an objective; s is None for weights of 1."""

    seed: int
    loss: object
    regularizer: object
    domain: object
    intercept: bool
    X: object
    y: np.ndarray
    s: np.ndarray | None
    traits: tuple

    @property
    def objective(self):
        return Objective(self.loss, self.regularizer, self.domain, self.intercept)

    def __repr__(self):
        m, d = self.X.shape
        layout = "CSR" if sparse.issparse(self.X) else "dense"
        terms = f"{self.loss}, {self.regularizer}, {self.domain}, intercept={self.intercept}"
        weights = "" if self.s is None else ", weighted"
        return (
            f"problem({self.seed}): {terms}, {m} × {d} {layout} {self.X.dtype}{weights}, "
            f"{' '.join(self.traits)}"
        )


def problem(seed, loss=None, penalty=None, domain=None, layout=None):
    """Return the random problem of a seed; what is named is not left to chance.

    A layout is a type of numbers and whether the matrix is sparse.
    """
    rng = np.random.default_rng([seed, 20260])
    loss = loss or str(rng.choice(LOSSES))
    penalty, domain = pair(rng, penalty, domain)
    traits = []
    several = loss in ("softmax", "multiclass_hinge")
    K = int(rng.integers(2, 5)) if several else 1
    m, d = int(rng.integers(1, 41)), int(rng.integers(1, 9))
    if domain == "polytope":
        d = min(d, 4 if K == 1 else 2)
        K = min(K, 2)
    if domain in ("psd", "psd_cone"):
        d, K = (int(rng.choice([1, 4])), 1) if not several else (2, 2)

    X, size = features(rng, m, d, traits, layout)
    scale = _scale(rng, traits, "targets") if loss in _REAL else 1.0
    y = _targets(rng, loss, X / size, K, scale, traits)
    s = weights(rng, m, traits)

    weight = scale / size  # the size of a weight that explains the targets
    strength = 10.0 ** rng.uniform(-8, 3)
    traits.append(f"strength={strength:.0e}")
    slope = {"squared": scale, "huber": min(scale, 1.0), "poisson": float(y.mean()) + 1.0}
    steep = max(slope.get(loss, 1.0), 1e-300) * size  # the size of a slope of the risk
    terms = _penalty(rng, penalty, strength, steep, weight, d)
    S = _domain(rng, domain, weight * 10.0 ** rng.uniform(-2, 1), d * K, getattr(terms, "p", None))
    intercept = bool(rng.integers(2))
    given = Problem(seed, _loss(rng, loss, K, scale), terms, S, intercept, X, y, s, tuple(traits))
    given.objective  # refuses what does not fit
    return given


_REAL = ("squared", "absolute", "epsilon_insensitive", "quantile", "huber")


def pair(rng, penalty, domain):
    """Choose a penalty and a domain that `Objective` accepts together, and that have a minimum."""
    free_penalty, free_domain = penalty is None, domain is None
    while True:
        penalty = str(rng.choice(PENALTIES)) if free_penalty else penalty
        domain = str(rng.choice(DOMAINS)) if free_domain else domain
        alone = penalty in _COUPLED and domain != "free"
        other_norm = penalty == "lp" and domain not in ("free", "lp_ball")
        flat = penalty in ("l1", "elastic_net") and "simplex" in domain
        # no exact minimum is known of these
        unknown = domain in ("polytope", "psd", "psd_cone") and penalty not in ("l2", "zero")
        # few of those that may have no minimum at all
        open_ = penalty == "zero" and domain in ("free", "nonnegative", "psd_cone")
        rare = open_ and free_penalty and free_domain and rng.random() < 0.7
        if not (alone or other_norm or flat or unknown or rare):
            return penalty, domain
        if not (free_penalty or free_domain):
            raise ValueError(f"{penalty} and {domain} do not go together")


def _scale(rng, traits, name):
    """Return a power of ten: near 1 mostly, now and then far from it."""
    if rng.random() < 0.75:
        return 10.0 ** rng.uniform(-2, 2)
    power = float(rng.uniform(-30, 30))
    traits.append(f"{name}~1e{power:+.0f}")
    return 10.0**power


def features(rng, m, d, traits, layout=None):
    """Return X and the size of its entries."""
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < rng.choice([0.4, 0.8, 1.0]))
    if rng.random() < 0.2:
        X = np.round(4.0 * X) / 4.0  # ties and corners
        traits.append("rounded")
    if m > 2 and rng.random() < 0.25:
        X[rng.integers(m, size=m // 2)] = X[0]
        traits.append("duplicates")
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 3.0])
        traits.append("constant")
    if rng.random() < 0.2:
        X *= 10.0 ** rng.uniform(-3, 3, size=d)
        traits.append("uneven")
    offset = 0.0
    if rng.random() < 0.2:
        offset = 2.0 ** rng.integers(1, 37)
        X[:, rng.integers(d)] += offset
        traits.append(f"offset={offset:g}")
    X = X * _scale(rng, traits, "features")
    by_chance = np.float32 if rng.random() < 0.3 else np.float64, rng.random() < 0.4
    kind, thin = layout or by_chance
    X = np.clip(X, -3e38, 3e38).astype(kind)  # float32 ends there
    size = float(np.median(np.abs(X[X != 0]).astype(float))) if np.any(X) else 1.0
    return (sparse.csr_array(X) if thin else X), size


def _targets(rng, loss, X, K, scale, traits):
    """Return targets that suit a loss."""
    m, d = X.shape
    z = X @ rng.normal(size=(d, K)) / np.sqrt(d)
    z = z / max(float(np.abs(z).max()), 1.0) * 3.0  # an offset must not swallow the rest
    noise = rng.choice([0.0, 0.1, 1.0])
    z = z + rng.normal(size=K) + noise * rng.normal(size=(m, K))
    constant = rng.random() < 0.08
    if constant:
        traits.append("one target")
    if loss in ("softmax", "multiclass_hinge"):
        y = z.argmax(axis=1).astype(float)
        return np.full(m, float(rng.integers(K))) if constant else y
    z = z[:, 0]
    if loss in _REAL:
        y = np.full(m, z[0]) if constant else z
        return y * scale
    if loss == "poisson":
        y = rng.poisson(np.exp(np.clip(z, -3, 5))).astype(float)
        if rng.random() < 0.2:
            y = y * 10.0 ** rng.uniform(-6, 6)
            traits.append("scaled counts")
        if not y.any():
            y[0] = 1.0
        return np.full(m, y.max()) if constant else y
    middle = np.median(z) if rng.random() < 0.5 else 0.0
    y = np.where(z > middle, 1.0, -1.0)
    return np.full(m, rng.choice([-1.0, 1.0])) if constant else y


def weights(rng, m, traits):
    kind = rng.choice(["none", "none", "moderate", "extreme", "zeros"])
    if kind == "none":
        return None
    traits.append(f"{kind} weights")
    if kind == "moderate":
        return rng.uniform(0.1, 3.0, size=m)
    s = 10.0 ** rng.uniform(-6, 6, size=m) if kind == "extreme" else rng.uniform(0.1, 3.0, size=m)
    if kind == "zeros" or rng.random() < 0.3:
        s[rng.random(m) < 0.3] = 0.0
    s[rng.integers(m)] = 1.0
    return s


def _penalty(rng, name, strength, steep, weight, d):
    """Return a penalty that at strength 1 is of the size of the risk: slopes of size `steep`."""
    first = float(np.clip(strength * steep, _LEAST_ALPHA, _MOST_ALPHA))
    second = float(np.clip(strength * steep / weight, _LEAST_ALPHA, _MOST_ALPHA))
    groups = rng.integers(max(1, d // 2), size=d)
    match name:
        case "l2":
            return SquaredL2(second)
        case "l1":
            return L1(first)
        case "elastic_net":
            return ElasticNet(first, float(rng.choice([0.1, 0.5, 0.9, 1.0])))
        case "entropy":
            return Entropy(first, weight)
        case "hyperbolic":
            return HyperbolicEntropy(first, weight)
        case "rows_l2":
            return RowsL2(first)
        case "rows_linf":
            return RowsLInf(first)
        case "groups_l2":
            return GroupsL2.of(first, groups)
        case "groups_linf":
            return GroupsLInf.of(first, groups)
        case "lp":
            return SquaredLp(second, float(rng.choice([1.1, 1.5, 2.0])))
    return Zero()


def _domain(rng, name, radius, size, p):
    """Return a domain of this radius; a p-norm ball has the penalty's p, if it has one."""
    radius = float(np.clip(radius, 1e-60, 1e60))
    match name:
        case "ball":
            return L2Ball(radius)
        case "l1_ball":
            return L1Ball(radius)
        case "box":
            low = float(rng.choice([0.0, -1.0, -0.3]))
            return Box(low * radius, radius)
        case "simplex":
            return Simplex(radius)
        case "nonnegative":
            return Nonnegative()
        case "lp_ball":
            return LpBall(radius, p or float(rng.choice([1.1, 1.5, 2.0])))
        case "ball_of_box":
            return Intersection(radius, Box(-0.4 * radius, 0.8 * radius))
        case "ball_of_simplex":
            return Intersection(radius * float(rng.uniform(0.75, 0.95)), Simplex(radius / 2))
        case "polytope":
            A = np.vstack((rng.normal(size=(2, size)), np.eye(size), -np.eye(size)))
            b = radius * rng.uniform(0.2, 1.0, size=len(A))
            kept = len(A) if rng.random() < 0.7 else int(rng.integers(1, len(A)))  # unbounded
            return Polytope.of(A[:kept], b[:kept])
        case "psd":
            return Spectrahedron(radius)
        case "psd_cone":
            return PSDCone()
    return Free()


def _loss(rng, name, K, scale):
    match name:
        case "hinge":
            return Hinge()
        case "squared_hinge":
            return SquaredHinge()
        case "smoothed_hinge":
            return SmoothedHinge(float(10.0 ** rng.uniform(-1, 3)))
        case "logistic":
            return Logistic()
        case "squared":
            return Squared()
        case "absolute":
            return Absolute()
        case "epsilon_insensitive":
            return EpsilonInsensitive(float(rng.choice([0.0, 0.1, 1.0])) * scale)
        case "quantile":
            return Quantile(float(rng.choice([0.1, 0.25, 0.5, 0.9, 0.999])))
        case "huber":
            return Huber(float(rng.choice([0.1, 1.0, 10.0])) * scale)
        case "poisson":
            return Poisson()
        case "softmax":
            return Softmax(K)
    return MulticlassHinge(K)
