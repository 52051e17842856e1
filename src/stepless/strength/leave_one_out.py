"""What a fit would predict of each example had it been left out."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.lapack import dpotri

from stepless.arrays import Array
from stepless.compiled import left_out as loops, oracle, smooth
from stepless.compiled.blas import single_threaded_blas
from stepless.data import Column, Source, apply_numpy
from stepless.objective import Regularizer
from stepless.result import Result
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers.batch.newton_step import NewtonSystem

_FIXED = 1e200  # curvature along a weight that stays 0
_FAINT = 1e-6  # share of an opposite term below which a curvature does not count
_ROUNDED = 1e-12  # of what a leverage leaves of 1
_LEAST = 1e-300


def leave_one_out(risk: LinearRisk, result: Result) -> Column:
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

    With no more features than examples A is inverted. With D the penalty's part, at least next to
    nothing, and C = diag(s_i c_i) likewise, u_i is otherwise 1/M_ii − 1/(s_i c_i), by Woodbury's
    formula, M = (XD⁻¹Xᵀ + C⁻¹)⁻¹, less M11ᵀM/1ᵀM1 with an intercept. Examples whose
    curvatures add up to less than one may have would not hold an intercept: it gets the difference.
    """
    source, loss = risk.source, risk.objective.loss
    z = source.column(oracle.predictions, result.w, float(result.b))
    a, c = source.empty(), source.empty()
    source.update((a, c), smooth.survey, loss, z, 0.0)
    if result.witness is not None and result.witness.slopes is not None:
        a = source.column(apply_numpy, np.multiply, source.weights, result.witness.slopes)
    ridge = risk.m * bends(risk.objective.regularizer, result.w)
    with single_threaded_blas():
        pulls = _pulls if risk.d <= risk.m else _dual_pulls
        return source.column(loops.left_out, z, a, pulls(risk, ridge, c))


def _slack(risk: LinearRisk, c: Column) -> float:
    """Return what is missing of the curvature of one example, to hold an intercept."""
    most = risk.objective.loss.smoothness()
    return max(most - float(c.whole.sum()), 0.0) if math.isfinite(most) else 0.0


def _pulls(risk: LinearRisk, ridge: Array, c: Column) -> Column:
    """Return u_i by the inverse of a matrix of the features."""
    free = risk.objective.intercept
    ridge = np.append(ridge, _slack(risk, c)) if free else ridge
    system, u = NewtonSystem(risk.source, c, ridge, free, thrifty=False), risk.source.empty()
    risk.source.update(u, loops.pulls, c, _inverse(system), risk.d)
    return u


def _dual_pulls(risk: LinearRisk, ridge: Array, c: Column) -> Column:
    """Return u_i by the inverse of a matrix of the examples."""
    source = risk.source
    ridge = np.maximum(ridge, _FAINT * source.squares(c))
    ease = 1.0 / np.where(ridge > 0.0, ridge, 1.0)
    columns = Source(source.columns[0], np.zeros(risk.d), threads=source.threads)
    bend = np.maximum(c.whole, _FAINT / max(columns.squares(ease).max(), _LEAST))
    system = NewtonSystem(columns, columns.split(ease), 1.0 / bend, ones=False, thrifty=False)
    M = _inverse(system)
    left = M.diagonal()
    if risk.objective.intercept:
        sums = M.sum(axis=0)
        left = left - sums**2 / (sums.sum() + _slack(risk, c))
    return source.split((1.0 / np.maximum(left / bend, _ROUNDED) - 1.0) / bend)


def _inverse(system: NewtonSystem) -> Array:
    """Return the inverse of the matrix that was scaled to a diagonal of ones and factored."""
    upper = np.triu(dpotri(system.factor, lower=0)[0])
    upper *= system.scale
    upper *= system.scale[:, None]
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
