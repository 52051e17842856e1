"""argmin_w Φ(w) − ⟨θ, w⟩ + α‖w‖₁ + β‖w‖²/2 over a domain, by somebody else's cone programme."""

import clarabel
import numpy as np
from scipy import sparse

from stepless.objective import (
    Box,
    Free,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Nonnegative,
    Polytope,
    Shrunk,
    Simplex,
)


class Programme:
    """min ½xᵀPx + ⟨q, x⟩, b − Ax of cones; x begins with w, an affine image of which has limits."""

    def __init__(self, d):
        self.d, self.n = d, d
        self.P, self.q = {}, {}
        self.rows, self.b, self.cones = [], [], []

    def more(self, k):
        self.n += k
        return np.arange(self.n - k, self.n)

    def add(self, cone, *lines):
        """Each line is ({variable: coefficient}, constant): coefficients·x + constant, of the cone."""
        for coefficients, constant in lines:
            self.rows.append({v: -c for v, c in coefficients.items()})
            self.b.append(constant)
        self.cones.append(cone)

    def quadratic(self, variables, weight):
        for v in variables:
            self.P[v] = self.P.get(v, 0.0) + weight

    def linear(self, variables, weights):
        for v, c in zip(variables, np.broadcast_to(weights, len(variables)), strict=True):
            self.q[v] = self.q.get(v, 0.0) + c

    def lasso(self, scale=1.0, shift=None):
        """Variables t ≥ |scale·w + shift|."""
        shift = np.zeros(self.d) if shift is None else shift
        t = self.more(self.d)
        for j in range(self.d):
            for sign in (1.0, -1.0):
                self.add(
                    clarabel.NonnegativeConeT(1), ({t[j]: 1.0, j: sign * scale}, sign * shift[j])
                )
        return t

    def p_norm(self, p, scale=1.0, shift=None):
        """A variable N ≥ ‖scale·w + shift‖_p."""
        shift = np.zeros(self.d) if shift is None else shift
        (N,), r = self.more(1), self.more(self.d)
        for j in range(self.d):
            self.add(
                clarabel.PowerConeT(1.0 / p),
                ({r[j]: 1.0}, 0.0),
                ({N: 1.0}, 0.0),
                ({j: scale}, shift[j]),
            )
        self.add(clarabel.ZeroConeT(1), ({N: 1.0} | dict.fromkeys(r, -1.0), 0.0))
        return N

    def within(self, domain, scale=1.0, shift=None):
        """Let scale·w + shift be of the domain."""
        d, up = self.d, clarabel.NonnegativeConeT(1)
        shift = np.zeros(d) if shift is None else shift
        match domain:
            case Nonnegative():
                self.within(Polytope(-np.eye(d), np.zeros(d)), scale, shift)
            case Box(low=low, high=high):
                self.within(Polytope(np.eye(d), np.full(d, high)), scale, shift)
                self.within(Polytope(-np.eye(d), np.full(d, -low)), scale, shift)
            case Simplex(bound=bound):
                self.within(Nonnegative(), scale, shift)
                self.add(
                    clarabel.ZeroConeT(1), (dict.fromkeys(range(d), scale), shift.sum() - bound)
                )
            case Polytope():
                for a, b in zip(domain.A, domain.b, strict=True):
                    self.add(up, (dict(enumerate(-scale * a)), b - a @ shift))
            case L2Ball(bound=bound):
                lines = [({j: scale}, shift[j]) for j in range(d)]
                self.add(clarabel.SecondOrderConeT(d + 1), ({}, bound), *lines)
            case L1Ball(bound=bound):
                self.add(up, (dict.fromkeys(self.lasso(scale, shift), -1.0), bound))
            case LpBall(bound=bound, p=p):
                self.add(up, ({self.p_norm(p, scale, shift): -1.0}, bound))
            case Intersection(bound=bound, domain=inner):
                self.within(L2Ball(bound), scale, shift)
                self.within(inner, scale, shift)
            case Shrunk(domain=inner, share=share, center=c):
                grow = 1.0 / (1.0 - share)
                self.within(inner, scale * grow, c + (shift - c) * grow)
            case _:
                assert isinstance(domain, Free)

    def solve(self, metric=None):
        P, A = np.zeros((self.n, self.n)), np.zeros((len(self.rows), self.n))
        for v, c in self.P.items():
            P[v, v] = c
        if metric is not None:
            P[: self.d, : self.d] += metric
        for i, row in enumerate(self.rows):
            for v, c in row.items():
                A[i, v] = c
        q = np.zeros(self.n)
        q[list(self.q)] = list(self.q.values())
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(np.triu(P)),
            q,
            sparse.csc_matrix(A),
            np.array(self.b),
            self.cones,
            settings,
        )
        solution = solver.solve()
        assert str(solution.status) in ("Solved", "AlmostSolved", "InsufficientProgress")
        return np.array(solution.x[: self.d])


def least(mirror, theta, lasso=0.0, ridge=0.0):
    """The minimiser for a mirror map."""
    programme, w = Programme(mirror.d), np.arange(mirror.d)
    programme.linear(w, -theta)
    programme.quadratic(w, ridge)
    programme.within(mirror.domain)
    if lasso:
        programme.linear(programme.lasso(), lasso)
    if mirror.name == "euclidean":
        programme.quadratic(w, 1.0)
    elif mirror.name == "entropy":
        t = programme.more(mirror.d)
        for j in w:
            programme.add(
                clarabel.ExponentialConeT(), ({t[j]: -1.0}, 0.0), ({j: 1.0}, 0.0), ({}, 1.0)
            )
        programme.linear(t, mirror.mass)
        programme.linear(w, -mirror.mass * (1.0 + np.log(mirror.scale)))
    else:
        programme.quadratic([programme.p_norm(mirror.p)], 1.0 / (mirror.p - 1.0))
    return programme.solve()


def nearest_in(domain, w, H):
    """argmin_v ½(v − w)ᵀH(v − w) over the domain."""
    programme = Programme(w.size)
    programme.linear(np.arange(w.size), -H @ w)
    programme.within(domain)
    return programme.solve(H)
