"""Newton's system where no ridge makes it definite."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

from stepless.arrays import Array
from stepless.compiled.light import light
from stepless.data import Block, Column, Source, apply_numpy
from stepless.data.triangle import independent, triangle, upper
from stepless.risks.risk import RowRisk
from stepless.solvers.batch.newton_step import NewtonSystem, ridge_diagonal, unweighted

_MANY = 1500  # features,
_LARGEST = 1e11  # and products with them, up to which rows are factored


class OrthogonalSystem:
    """Σ c_i x_i x_iᵀ, each x_i with a last 1 if `ones`, solved by a QR of the rows √c_i x_i.

    It tolerates the square of the condition number that a Cholesky factor of the sum does, and
    features far from 0. Features that depend on others do not move.
    """

    def __init__(self, source: Source, c: Column, ones: bool) -> None:
        self.ones = ones
        h = source.column(apply_numpy, np.sqrt, c)
        self.centre, R = triangle(source, h, ones)
        self.order = independent(R, ones)[0]
        if ones and R[:, -1].any():
            self.order = np.append(self.order, self.centre.size)
        R = upper(R[:, self.order])
        self.scale = np.linalg.norm(R, axis=0)
        self.R = R / self.scale

    def solve(self, right: Array) -> Array:
        """Return the solution."""
        d, whole = self.centre.size, np.zeros(right.size)
        r = right.copy()
        if not self.order.size:
            return whole
        r[:d] -= self.centre * r[d:].sum()
        found = solve_triangular(self.R, r[self.order] / self.scale, trans=1)
        whole[self.order] = solve_triangular(self.R, found) / self.scale
        whole[d:] -= float(whole[:d] @ self.centre)
        return whole


AnySystem = NewtonSystem | OrthogonalSystem


def newton_system(risk: RowRisk, c: Column, thrifty: bool = True) -> AnySystem:
    """Return the system with Σ c_i x_i x_iᵀ + λI."""
    (m, d), objective = risk.source.shape, risk.objective
    n = d + objective.intercept
    if objective.strength > 0.0 or n > _MANY or m * n * n > _LARGEST:
        return NewtonSystem(risk.source, c, ridge_diagonal(risk), objective.intercept, thrifty)
    return OrthogonalSystem(risk.source, c, objective.intercept)


def raised_curvatures(risk: RowRisk, c: Column, share: float) -> Column:
    """Return curvatures s_i ℓ''_i/m, with a share of the largest in place of 0.

    A loss with linear pieces leaves too few of them for a step in every direction.
    """
    largest = max(risk.source.map(_largest, c, risk.m))
    return risk.source.column(_lift, c, share * largest / risk.m)


def unpenalized_bound(
    height: float, spread: float, gradient: Array, system: AnySystem | None
) -> float:
    """Return the bound on J* that a point's slopes claim without a penalty (`proof.reach`: Curved).

    It takes the distance to the optimum to be about that of Newton's step.
    """
    if system is None:
        return -math.inf
    gamma = math.sqrt(max(float(gradient @ system.solve(gradient)), 0.0))
    bound = height - spread - 4.0 * gamma * (math.sqrt(2.0 * max(spread, 0.0)) + gamma)
    return bound if math.isfinite(bound) else -math.inf


@light
def _largest(block: Block, c: Array, m: int) -> float:
    """Return the largest ℓ''_i."""
    return float(unweighted(block, c, m).max(initial=0.0))


@light
def _lift(block: Block, c: Array, least: float) -> Array:
    return np.where(c > 0.0, c, least * block.s)
