"""The strength `alpha="scaled"`, the default: a share of a unit, from a look at the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array
from stepless.compiled import products
from stepless.compiled.light import light
from stepless.data import Block, Source, sum_blocks
from stepless.objective import Objective
from stepless.regularization_path import TINIEST
from stepless.risks.joint_risk import risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.user_terms import check_user_terms

UNSCALED = 1e-4  # where there is no unit
_SHARE = 1e-4  # of the unit of a strongly convex penalty
_SHARE_OF_CRITICAL = 3e-3  # of the least strength that leaves no weights
_SMALL = 0.25  # share of entries that are of smaller features than the typical one
_FLAT = 1e-10  # share of a feature's square below which a variance is rounding


def scaled_strength(objective: Objective, sources: Sequence[Source]) -> float:
    """Return the default strength of these problems, which have the same rows and one strength.

    It scales as the objective does: with the square of the features for a strongly convex penalty,
    with the features for one with a corner at 0, and with the loss. Repeated examples and their
    number change nothing, only shares do.

    With slopes a_i of the loss and the risk R at the best constant it is, for a penalty that is
    μ-strongly convex at strength 1 (l2, lp(p), the ridge of an elastic net), 1e-4 v²n·mean s_i a_i²
    / (μR); and for one with a corner at 0 (l1, elastic net, groups, rows) 3e-3 of the critical
    strength. The lesser of both, if there are both. n is the mean number of features that are not
    0, v the size of a typical one, and the critical strength is that of features rescaled to it.
    So a single feature of thousands, among others of ones, does not make the penalty too strong
    for these. A feature's size v_j is its deviation (with no intercept, its root mean square)
    divided by √p_j, p_j the share of examples where it is not 0; v is the lower quartile of them
    all, each with the weight p_j. With lp(p), n is to the power of 2 − 2/p, and times p − 1.

    Penalties without such a scale (entropies, user-defined ones), and data without any (all
    features 0, or equal targets), get 1e-4.

    Parameters
    ----------
    objective
        Its penalty is of strength 1.
    sources
        The examples of each problem (one-vs-rest has one per class), with weights of mean 1.

    Examples
    --------
    >>> from stepless.objective import Absolute, SquaredL2
    >>> X, y = np.eye(4), np.array([1.0, 2.0, 3.0, 4.0])
    >>> objective = Objective(Absolute(), SquaredL2())
    >>> alpha = scaled_strength(objective, [Source(X, y)])
    >>> np.isclose(scaled_strength(objective, [Source(10 * X, 1e6 * y)]) / alpha, 1e-4)
    np.True_
    """
    risks, penalty = [risk_of(objective, source) for source in sources], objective.regularizer
    check_user_terms(risks[0])
    known, strengths = _Sizes.of(sources[0], objective.intercept), list[float]()
    if (convexity := penalty.strong_convexity()) > 0.0:
        p = penalty.norm_exponent or 2.0
        unit = (p - 1.0) * known.typical**2 * known.entries ** (2.0 - 2.0 / p) / convexity
        strengths.append(_SHARE * unit * _mean(map(_mean_square_slope, risks)))
    shape = sources[0].shape[1], objective.outputs
    if math.isfinite(penalty.critical_strength(np.zeros(shape))):
        slopes = (r.tangent(np.zeros(r.d), 0.0).plane.a.reshape(shape) for r in risks)
        critical = (penalty.critical_strength(known.factors[:, None] * a) for a in slopes)
        strengths.append(_SHARE_OF_CRITICAL * _mean(critical))
    found = min(strengths, default=0.0)
    return found if TINIEST < found < math.inf else UNSCALED


class _Sizes(NamedTuple):
    """Sizes of features: v, n, and the factors v/v_j (0 for features that are constant)."""

    typical: float
    entries: float
    factors: Array

    @classmethod
    def of(cls, source: Source, centred: bool) -> _Sizes:
        """Measure the features in one pass."""
        m, d = source.shape
        shares, means, squares = source.total(products.moments, (3, d)) / m
        variances = squares - means**2 if centred else squares
        varied = np.flatnonzero(variances > _FLAT * squares)
        if not varied.size:
            return cls(0.0, 0.0, np.zeros(d))
        p = shares[varied]
        sizes = np.sqrt(variances[varied] / p)
        order = np.argsort(sizes)
        # continuous in the weights: examples that are repeated instead change rounding errors only
        middles = (np.cumsum(p[order]) - 0.5 * p[order]) / p.sum()
        typical = math.exp(np.interp(_SMALL, middles, np.log(sizes[order])))
        factors = np.zeros(d)
        factors[varied] = typical / sizes
        return cls(typical, float(p.sum()), factors)


def _mean_square_slope(risk: LinearRisk) -> float:
    """Return mean s_i‖a_i‖²/R at the best constant; 0 if it has no error."""
    alike = risk.alike_at_zero()
    start = alike.tangent(np.zeros(alike.d), 0.0)
    witness = start.plane.witness
    if witness is None or not start.value > 0.0:
        return 0.0
    parts = alike.source.map(_sum_of_squares, witness.slopes)
    return float(sum_blocks(parts)) / alike.m / start.value


@light
def _sum_of_squares(block: Block, slopes: Array) -> float:
    """Return Σ s_i‖a_i‖²."""
    with np.errstate(over="ignore"):
        return float(block.s @ (slopes.reshape(block.s.size, -1) ** 2).sum(axis=1))


def _mean(found: Iterable[float]) -> float:
    return float(np.mean(list(found)))
