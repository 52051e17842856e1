"""What a fit would predict of each example had it been left out."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.lapack import dpotri
from scipy.optimize import brentq

from stepless.arrays import Array
from stepless.compiled import left_out as loops, oracle, smooth
from stepless.compiled.blas import single_threaded_blas
from stepless.data import Column, Source, apply_numpy, sum_blocks
from stepless.objective import Regularizer
from stepless.result import Result
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers.batch.newton_step import NewtonSystem

_FIXED = 1e200  # curvature along a weight that stays 0
_SATURATED = 0.05  # share of √w_i left by these regressions, below which they are too inexact
_PRECISE = 0.01  # share of the right-hand side at which conjugate gradients stop
_FAR = 8.0  # logarithm of the largest factor of approximate curvatures
_EXACT = 5e-2  # of that logarithm
_LEAST = 1e-300


def leave_one_out(risk: LinearRisk, result: Result) -> Column | None:
    """Return each example's prediction had the fit been made without it, approximately.

    Of a loss with a curvature. With A = Σ s_i c_i x_i x_iᵀ + m∇²Ω, c_i the loss's curvatures and
    a_i its slopes at the fit,

        z̃_i = z_i + s_i a_i u_i,    u_i = x_iᵀ(A − s_i c_i x_i x_iᵀ)⁻¹x_i = q_i/(1 − s_i c_i q_i),

    q_i = x_iᵀA⁻¹x_i: one Newton step from the fit towards that without example i, which is exact
    for the squared loss (Allen's PRESS). Rad and Maleki (JRSS B 82, 2020) prove that the mean loss
    at z̃ tends to the true leave-one-out risk even where d grows as fast as m. Weights that a lasso
    holds at 0 stay there: A is that of the others (Wang et al., ICML 2018). A free intercept is a
    feature 1 without a penalty. The slopes are those that prove the fit's gap: a dual solver's
    weights are made of them.

    Up to 1500 features A is inverted. With more of them, u_i are those of A's diagonal times one
    factor, for which Σ w_i p_i/Σ w_i(1 − p_i), p_i = s_i c_i q_i being the leverages and
    w_i = (s_i a_i)², is right. Both sums are estimated by ridge regressions of ±√w_i with random
    signs of a fixed seed, by conjugate gradients. None if these leave next to nothing: the fit goes
    through all examples, and what is left is the error of the method.
    """
    source, loss = risk.source, risk.objective.loss
    z = source.column(oracle.predictions, result.w, float(result.b))
    a, c = source.empty(), source.empty()
    source.update((a, c), smooth.survey, loss, z, 0.0)
    if result.witness is not None and result.witness.slopes is not None:
        a = source.column(apply_numpy, np.multiply, source.weights, result.witness.slopes)
    with single_threaded_blas():
        u = _pulls(risk, result.w, a, c)
    return None if u is None else source.column(loops.left_out, z, a, u)


def _pulls(risk: LinearRisk, w: Array, a: Column, c: Column) -> Column | None:
    """Return u_i, if they are known."""
    source, d, free = risk.source, risk.d, risk.objective.intercept
    ridge = risk.m * bends(risk.objective.regularizer, w)
    if free:
        ridge = np.append(ridge, 0.0)
    system, u = NewtonSystem(source, c, ridge, free, thrifty=False), source.empty()
    system.forcing = _PRECISE
    if system.factor is not None:
        source.update(u, loops.pulls, c, _inverse(system.factor, system.scale), d)
        return u
    weights = source.column(apply_numpy, _square_where, a, c)
    left = _left_share(source, weights, system)
    if left < _SATURATED:
        return None
    _diagonal_pulls(source, system, ridge[:d], weights, left, u)
    return u


def _diagonal_pulls(
    source: Source, system: NewtonSystem, ridge: Array, weights: Column, share: float, u: Column
) -> None:
    """Write u_i of a diagonal of the ridge and, times a factor, of the losses' curvatures.

    The factor is such that `share` of the weights is left.
    """
    h = system.diagonal[: ridge.size] - ridge

    def excess(log: float) -> float:
        given = system.c, weights, h, ridge, math.exp(log)
        fitted, left = sum_blocks(source.update(u, loops.diagonal_pulls, *given))
        return float(left - share * (fitted + left))

    low, high = excess(-_FAR), excess(_FAR)
    excess(brentq(excess, -_FAR, _FAR, xtol=_EXACT) if low * high < 0.0 else 0.0)


def _square_where(a: Array, c: Array) -> Array:
    """Return a_i², 0 where there is no curvature."""
    return np.where(c > 0.0, a * a, 0.0)


def _left_share(source: Source, weights: Column, system: NewtonSystem) -> float:
    """Return an estimate of Σ w_i(1 − p_i) / Σ w_i; 1 if no example has any."""
    total = float(sum_blocks(source.map(apply_numpy, np.sum, weights)))
    signs = source.split(np.random.default_rng(0).choice((-1.0, 1.0), source.shape[0]))
    targets = source.column(apply_numpy, _signed_roots, signs, weights, system.c)
    g = source.combination(targets)
    if system.ones:
        g = np.append(g, sum_blocks(source.map(apply_numpy, np.sum, targets)))
    v = system.solve(g)
    energy = 2.0 * float(g @ v) - float(v @ system.product(v))  # what is left is never too little
    return 1.0 - energy / total if total > 0.0 else 1.0


def _signed_roots(signs: Array, weights: Array, c: Array) -> Array:
    return signs * np.sqrt(weights * c)


def _inverse(factor: Array, scale: Array) -> Array:
    """Return the inverse of the matrix that was scaled to a diagonal of ones and factored."""
    upper = np.triu(dpotri(factor, lower=0)[0])
    upper *= scale
    upper *= scale[:, None]
    return np.ascontiguousarray(upper + np.triu(upper, 1).T)


def bends(penalty: Regularizer, w: Array) -> Array:
    """Return the second derivative of a penalty along each weight, next to infinity at a corner."""
    if penalty.elastic_shares is not None:
        lasso, ridge = penalty.elastic_shares
        return np.where((w == 0.0) & (lasso > 0.0), _FIXED, ridge)
    exponent = penalty.norm_exponent
    assert exponent is not None
    size = np.abs(w)
    if not size.any() or exponent == 2.0:
        return np.full(w.size, penalty.strong_convexity())
    # that of α‖w‖_p²/(2(p − 1)), all but a matrix of rank one
    with np.errstate(divide="ignore"):
        found = (size / np.linalg.norm(w, exponent)) ** (exponent - 2.0)
    limited: Array = np.minimum(penalty.strong_convexity() * found, _FIXED)
    return limited
