"""Cutting planes under ‖w‖₁ or no penalty: the minimum of both is a linear programme."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from stepless.arrays import Array
from stepless.certificates.general_planes import GeneralPlanes
from stepless.objective import Penalized


def lasso(objective: Penalized) -> float | None:
    """Return the α of Ω(w) = α‖w‖₁, 0 for none, where domain and penalty are polyhedral."""
    shares, domain = objective.regularizer.elastic_shares, objective.domain
    if not (domain.separable or domain.simplex or domain.ball_exponent == 1.0):
        return None
    return None if shares is None or shares[1] > 0.0 else shares[0]


class PolyhedralPlanes(GeneralPlanes):
    """Planes for Ω(w) = α‖w‖₁ or 0: free, in a box, an ℓ₁ ball, a simplex, or not negative.

    min α1ᵀ(p + n) + t over ⟨a_i, p − n⟩ + b_i ≤ t, t, p, n ≥ 0, by HiGHS. No weight of the optimum
    is larger than J/α at any point. HiGHS is exact to about 1e-7; its dual point is made feasible,
    and proves what it proves. Where HiGHS gives up, the last dual point is still one.
    """

    def maximise_dual(
        self, objective: Penalized, ceiling: float, alpha: Array, known: float
    ) -> Array:
        strength, domain = lasso(objective), objective.domain
        assert strength is not None
        n, d = self.A.shape
        reach = min(domain.reach(), ceiling / strength if strength > 0.0 else math.inf)
        low, high = domain.interval() if domain.separable else (-math.inf, math.inf)
        up, down = (end if end < math.inf else reach for end in (high, -low))
        if domain.nonnegative:
            down = 0.0
        bounds = np.zeros((2 * d + 1, 2))
        bounds[:, 1] = np.concatenate([np.full(d, up), np.full(d, down), [math.inf]])
        sums = np.append(np.ones(2 * d), 0.0)[None]
        rows, right = np.column_stack([self.A, -self.A, -np.ones(n)]), -self.b
        if domain.ball_exponent == 1.0:
            rows, right = np.vstack([rows, sums]), np.append(right, domain.radius())
        found = linprog(
            np.append(np.full(2 * d, strength), 1.0),
            A_ub=rows,
            b_ub=right,
            A_eq=sums if domain.simplex else None,
            b_eq=[domain.radius()] if domain.simplex else None,
            bounds=bounds,
            method="highs",
        )
        w = np.zeros(d)
        if found.status == 0:
            alpha[:] = np.maximum(-found.ineqlin.marginals[:n], 0.0)
            alpha /= max(float(alpha.sum()), 1.0)
            w = found.x[:d] - found.x[d : 2 * d]
        domain.project(w)  # HiGHS is as exact about bounds
        return w
