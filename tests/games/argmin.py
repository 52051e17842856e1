"""The minimum of a linear function and a mirror map over a domain, by clarabel."""

import clarabel
import numpy as np
from scipy import sparse

from stepless.objective import Box, Free, L1Ball, L2Ball, LpBall, Nonnegative, Polytope, Simplex

_POLISH = 3
_TINY = 1e-11
_TIGHT = (1e-14, 1e-13, 1e-12, 1e-11, 1e-10)  # the first that clarabel meets


class _Cones:
    """Rows b − Ax ∈ K, for w and as many more variables as are asked for."""

    def __init__(self, d):
        self.size, self.rows, self.right, self.cones = d, [], [], []

    def more(self, count):
        self.size += count
        return np.arange(self.size - count, self.size)

    def add(self, cone, rows):
        """Each row is (right hand side, {variable: coefficient}): right + Σ coefficient·x ∈ K."""
        self.cones.append(cone)
        for right, row in rows:
            self.right.append(right)
            self.rows.append({j: -value for j, value in row.items()})

    def equal(self, rows):
        self.add(clarabel.ZeroConeT(len(rows)), rows)

    def positive(self, rows):
        self.add(clarabel.NonnegativeConeT(len(rows)), rows)

    def matrix(self):
        A = sparse.lil_matrix((len(self.rows), self.size))
        for i, row in enumerate(self.rows):
            for j, value in row.items():
                A[i, j] = value
        return A.tocsc(), np.array(self.right, dtype=float)


def argmin(domain, linear, *, H=0.0, entropy=0.0, norm=0.0, p=2.0, l1=0.0):
    """argmin over w of ⟨linear, w⟩ + ½⟨w, Hw⟩ + entropy·Σ(w log w − w) + norm·½‖w‖_p² + l1·‖w‖₁.

    A tuple of domains stands for what they have in common; H may be a number, a diagonal or a
    matrix. Good to about 1e-9 of the weights.
    """
    linear = np.asarray(linear, dtype=float)
    d = linear.size
    H = np.diag(np.broadcast_to(H, d)) if np.ndim(H) < 2 else np.asarray(H)
    scale = max(np.abs(linear).max(), np.abs(H).max(), entropy, norm, l1)
    cones = _Cones(d)
    slope = dict(enumerate(linear / scale))
    curve = {}
    for one in domain if type(domain) is tuple else (domain,):
        _enter(cones, one, d)
    if entropy:
        for j, t in enumerate(cones.more(d)):
            cones.add(clarabel.ExponentialConeT(), [(0, {t: -1}), (0, {j: 1}), (1, {})])
            slope[t] = entropy / scale
            slope[j] -= entropy / scale
    if norm:
        length = _norm(cones, d, p)
        curve[length] = norm / scale
    if l1:
        for j, t in enumerate(cones.more(d)):
            cones.positive([(0, {t: 1, j: -1}), (0, {t: 1, j: 1})])
            slope[t] = l1 / scale
    P = np.zeros((cones.size, cones.size))
    P[:d, :d] = H / scale
    for j, value in curve.items():
        P[j, j] = value
    q = np.zeros(cones.size)
    q[list(slope)] = list(slope.values())
    A, b = cones.matrix()
    P = sparse.csc_matrix(np.triu(P))
    for tight in _TIGHT:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tight
        found = clarabel.DefaultSolver(P, q, A, b, cones.cones, settings).solve()
        if found.status == clarabel.SolverStatus.Solved:
            break
    else:
        raise AssertionError(f"clarabel: {found.status}")
    w = np.array(found.x)[:d]
    if not entropy and (not norm or p == 2.0):
        return w
    # Cones of entropies and powers leave 1e-6: Newton's method, each step by clarabel, the rest.
    for _ in range(_POLISH):
        slope, curve = _expansion(w, entropy, norm, p)
        w = argmin(domain, linear + slope - curve @ w, H=H + curve, l1=l1)
    return w


def leader(domain, linear, mirror, height):
    """argmin over w of ⟨linear, w⟩ + height·Φ(w), Φ one of the house's mirror maps."""
    match mirror.name:
        case "euclidean":
            return argmin(domain, linear, H=height)
        case "entropy":  # M Σ (w log w − w − w log s)
            weight = height * mirror.mass
            return argmin(domain, linear - weight * np.log(mirror.scale), entropy=weight)
        case "p-norm":
            return argmin(domain, linear, norm=height / (mirror.p - 1.0), p=mirror.p)
    raise NotImplementedError(mirror.name)


def _expansion(w, entropy, norm, p):
    """Gradient and Hessian of entropy·Σ(w log w − w) + norm·½‖w‖_p², but for tiny weights."""
    slope, curve = np.zeros(w.size), np.zeros((w.size, w.size))
    size = np.maximum(np.abs(w), _TINY)
    if entropy:
        slope += entropy * np.log(size)
        curve += np.diag(entropy / size)
    if norm:
        length = (size**p).sum() ** (1.0 / p)
        v = np.sign(w) * (size / length) ** (p - 1.0)
        slope += norm * length * v
        curve += norm * (
            (p - 1.0) * np.diag((size / length) ** (p - 2.0)) + (2.0 - p) * np.outer(v, v)
        )
    return slope, curve


def _enter(cones, domain, d):
    match domain:
        case Free():
            pass
        case Nonnegative():
            cones.positive([(0, {j: 1}) for j in range(d)])
        case Box(low=low, high=high):
            cones.positive([(-low, {j: 1}) for j in range(d)])
            cones.positive([(high, {j: -1}) for j in range(d)])
        case Simplex(bound=bound):
            cones.positive([(0, {j: 1}) for j in range(d)])
            cones.equal([(-bound, dict.fromkeys(range(d), 1))])
        case L2Ball(bound=bound):
            rows = [(0, {j: 1}) for j in range(d)]
            cones.add(clarabel.SecondOrderConeT(d + 1), [(bound, {}), *rows])
        case L1Ball(bound=bound):
            sizes = cones.more(d)
            for j, t in enumerate(sizes):
                cones.positive([(0, {t: 1, j: -1}), (0, {t: 1, j: 1})])
            cones.positive([(bound, dict.fromkeys(sizes, -1))])
        case LpBall(bound=bound, p=p):
            cones.positive([(bound, {_norm(cones, d, p): -1})])
        case Polytope():
            for row, right in zip(domain.A, domain.b, strict=True):
                cones.positive([(right, dict(enumerate(-row)))])
        case _:
            raise NotImplementedError(domain)


def _norm(cones, d, p):
    """A variable no less than ‖w‖_p: |w_j| ≤ r_j^(1/p) t^(1 − 1/p), Σ r_j = t."""
    (length,) = cones.more(1)
    if p == 2.0:
        rows = [(0, {j: 1}) for j in range(d)]
        cones.add(clarabel.SecondOrderConeT(d + 1), [(0, {length: 1}), *rows])
        return length
    shares = cones.more(d)
    for j, r in enumerate(shares):
        cones.add(clarabel.PowerConeT(1.0 / p), [(0, {r: 1}), (0, {length: 1}), (0, {j: 1})])
    cones.equal([(0, {length: -1, **dict.fromkeys(shares, 1)})])
    return length
