"""Gradient steps with one projection: the constraint draws by a multiplier that learns."""

from __future__ import annotations

import math
from typing import ClassVar

from stepless.compiled.one_projection import PrimalDual, Rule
from stepless.objective import Objective
from stepless.solvers.stochastic.one_projection import OneProjection, OneProjectionState


class SGDPD(OneProjection):
    """Stochastic gradients with one projection, by primal-dual updates.

    Solves      min_w Ω(w) + R(w) over c(w) ≤ 0, Ω = (λ/2)‖w‖² or 0
    Algorithm   MAH Alg. 12: w ← w − η(g + μ∇c(w)), shortened to the ball; μ ← [(1−γη)μ + ηc(w)]₊;
                the mean of the iterates is projected. η = γ/(2G₂²), γ = G₂²/√((G₁² + C₂²)T)
                (Th. 9.7), G₁² being the mean of ‖g‖², its variance included
    Guarantee   in a unit ball, with V = G₁² + C₂², the mean ŵ of T rounds has, in expectation,
                J(ŵ) − J* + √T [c(ŵ)]₊²/C ≤ 2√(V/T), C = 2(G₂²/√V + 2√V) (Lemma 9.11); where c
                grows by ρ or more for each unit of distance from the domain, its projection is
                within O(1/√T) of J* (Th. 9.7)
    Cost        O(d + nnz) per round and one subgradient of c: for a matrix X ⪰ 0 one eigenvector,
                where a projection takes all of them
    Needs       a domain with `excess` and `outward`; penalty l2 or none; λ > 0 or a bounded domain;
                a Lipschitz or a smooth loss
    Differs     Units: the ball has the radius r of the domain (or √(2J/λ) of the start), and c is
                counted G₁/G₂ times, so that in a unit ball μ is about 1: η is r² and μ's step is
                (G₁/G₂)² times the paper's. T is not asked for: phases are of 1, 2, 4, … passes,
                each from where the last one ended, with its root mean squares for G₁ and C₂ (the
                first: bounds); η ≤ 1/β for a β-smooth loss. After every pass the phase's mean is
                projected and evaluated: one projection per pass (`projections` counts them), none
                of which changes the iterates; with `rounds` exactly one. Examples come
                in random order, not drawn. The certificate is the tangent plane at the mean. A
                free intercept has AdaGrad's steps, and is made exact at the mean.

    Parameters
    ----------
    rounds
        T, if the whole run is to be one phase with one projection; None for state.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless import LinearRegressor, Polytope
    >>> rising = Polytope.of([[1, -1], [0, 1], [-1, 0]], [0, 2, 0])  # 0 ≤ w₁ ≤ w₂ ≤ 2
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = LinearRegressor("squared", penalty="none", domain=rising, solver="sgd-pd",
    ...                         fit_intercept=False, passes=500, gap=0.02)
    >>> bool(model.fit(X, [2.0, 1.0, 3.0]).rel_gap_ <= 0.02), model.coef_.round(1)
    (True, array([1.5, 1.5]))
    """

    name: ClassVar[str] = "sgd-pd"

    def rule(self, objective: Objective, state: OneProjectionState) -> Rule:
        scale = state.scale
        kappa = scale.gradient / scale.slant
        # in a unit ball, c counted κ times: G₁ ← r G₁, C₂ ← κ C₂, G₂ ← κ r G₂
        deviation = math.hypot(scale.ball * scale.gradient, kappa * scale.excess)
        eta = 0.5 / (deviation * math.sqrt(state.rounds))  # Th. 9.7
        eta = min(eta, scale.cap / scale.ball**2)
        step = scale.ball**2 * eta
        return PrimalDual(step, kappa**2 * eta, 2.0 * step * scale.slant**2)
