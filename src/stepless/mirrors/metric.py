"""Projections in the metric of any positive definite matrix."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import cho_factor, cho_solve, get_lapack_funcs

from stepless.arrays import AnyArray, Array
from stepless.compiled.vertices import enter
from stepless.mirrors.l1_ball_path import project_l1_ball
from stepless.mirrors.roots import falling_root
from stepless.objective import Constraint, Domain, Intersection, Shrunk
from stepless.objective.active_set import nearest

_invert = get_lapack_funcs("trtri", dtype=np.float64)


def project_metric(domain: Domain, w: Array, H: Array) -> Array:
    """argmin_v∈S ½(v − w)ᵀH(v − w), H symmetric and positive definite.

    In the coordinates u = Lᵀv, H = LLᵀ, it is a Euclidean projection: a dual active set finds it
    where linear inequalities make the domain, cuts where a convex function does. The ball alone is
    a secular equation, the ℓ₁ ball a path; a ball's part of a domain adds a multiplier to H.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> project_metric(Simplex(1.0), np.array([1.0, 0.5]), np.diag([1.0, 3.0]))
    array([0.625, 0.375])
    """
    if domain.free:
        return w.copy()
    v = _projected(domain, w, H)
    enter(domain, v)  # of what lies outside by rounding
    return v


def _projected(domain: Domain, w: Array, H: Array) -> Array:
    match domain:
        case Intersection():
            return _in_ball(domain, w, H)
        case Shrunk(domain=inner, share=share, center=center):
            grown = center + (w - center) / (1.0 - share)
            return share * center + (1.0 - share) * project_metric(inner, grown, H)
    if domain.offers("inequalities"):
        return _active_set(domain, w, H)
    if domain.ball_exponent == 2.0:
        return _secular(domain.radius(), w, H)
    if domain.ball_exponent == 1.0:
        return _in_l1_ball(domain, w, H)
    if domain.offers("excess", "outward") and not domain.offers("into_span"):
        return _cut(domain, w, H)
    raise ValueError(
        f"the nearest point of {type(domain).__name__} in the metric of a matrix is not "
        "known; use a player or solver with a diagonal metric"
    )


def _in_l1_ball(domain: Domain, w: Array, H: Array) -> Array:
    if np.abs(w).sum() <= domain.radius():
        return w.copy()
    found = project_l1_ball(domain.radius(), w, H)
    return _cut(domain, w, H) if found is None else found


@lru_cache(maxsize=64)
def _inequalities(domain: Domain, d: int) -> tuple[Array, Array]:
    return domain.inequalities(d)


def _active_set(domain: Domain, w: Array, H: Array) -> Array:
    A, b = _inequalities(domain, w.size)
    if (A @ w <= b).all():
        return w.copy()
    L = np.linalg.cholesky(H)
    inverse: Array = _invert(L, lower=1)[0]
    rows = A @ inverse.T
    lengths = np.sqrt(np.einsum("kj,kj->k", rows, rows))
    u = L.T @ w
    if not nearest(u, rows / lengths[:, None], b / lengths, np.zeros(b.size, dtype=np.bool_)):
        raise ValueError(
            "the matrix of the metric is too near a singular one to find the nearest point; "
            "add a multiple of the identity to it"
        )
    return inverse.T @ u


def _secular(bound: float, w: Array, H: Array) -> Array:
    """Solve ‖v‖ = bound, v = (H + μI)⁻¹Hw, by Newton's method on 1/‖v‖, which is concave in μ."""
    v, mu, pull, factor = w.copy(), 0.0, H @ w, _factor(H, 0.0)
    for _ in range(_TRIALS):
        size = float(np.linalg.norm(v))
        if size <= bound * _LONGER:
            break
        slope = float(v @ cho_solve(factor, v, check_finite=False))
        mu += size**2 / slope * (size - bound) / bound
        factor = _factor(H, mu)
        v = cho_solve(factor, pull, check_finite=False)
    return v


def _factor(H: Array, mu: float) -> tuple[Array, bool]:
    heavier = H.copy()
    heavier.flat[:: H.shape[0] + 1] += mu
    factor, lower = cho_factor(heavier, lower=True, overwrite_a=True, check_finite=False)
    return factor, lower


def _cut(domain: Domain, w: Array, H: Array) -> Array:
    L = np.linalg.cholesky(H)
    inverse = np.ascontiguousarray(_invert(L, lower=1)[0].T)
    u = L.T @ w
    enter(_Skewed(domain, inverse), u)
    return inverse @ u


class _Skewed(Constraint):
    """S = {u : Tu of the domain}, T a square matrix: the domain offers `excess` and `outward`."""

    domain: Domain
    T: Array

    def excess(self, u: Array) -> float:
        return self.domain.excess(self.T @ u)

    def outward(self, u: Array, g: Array) -> float:
        inner = g.copy()
        c = self.domain.outward(self.T @ u, inner)
        g[:] = inner @ self.T
        return c


def _in_ball(domain: Intersection, w: Array, H: Array) -> Array:
    """Find the ball's multiplier μ: argmin_v ½(v − w)ᵀH(v − w) + μ‖v‖²/2 over the other domain."""
    v = project_metric(domain.domain, w, H)
    if float(np.linalg.norm(v)) <= domain.bound:
        return v
    shortest = np.zeros_like(w)
    enter(domain.domain, shortest)
    if float(np.linalg.norm(shortest)) >= _TOUCHING * domain.bound:
        return shortest
    pull, identity = H @ w, np.eye(w.size)

    def over(mu: float) -> float:
        heavier = H + mu * identity
        lowest: AnyArray = np.linalg.solve(heavier, pull)
        v[:] = project_metric(domain.domain, lowest, heavier)
        return float(np.linalg.norm(v)) - domain.bound

    over(falling_root(over, 0.0, float(np.trace(H)) / w.size))
    return v


_TRIALS = 100  # of Newton's method, which takes a few
_LONGER = 1.0 + 1e-15  # by rounding alone
_TOUCHING = 1.0 - 1e-13  # a ball that has one point of the domain, for all that can be seen
