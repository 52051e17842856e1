"""The smoothness of a risk along the steps taken, estimated as they go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.compiled import proximal_step, vertices
from stepless.intercept import Intercept
from stepless.objective import Objective, Penalized
from stepless.plane import Tangent
from stepless.risks.risk import Risk, WeightRisk

_LEAST = 1e-300  # its reciprocal is still a number
_HIGHER = 2.0  # after a step that was too long
_LOWER = 0.95  # after one that was not


@dataclass(frozen=True)
class FeatureMetric:
    """‖v‖² = Σ h_j v_j², with h_j the curvature along w_j: invariant to the units of features.

    For a sum over examples h_j is in proportion to the feature's variance. Steps in it are those on
    standardised features, at no extra cost, because a penalty's prox in a diagonal metric is known.
    Where a domain's projection in such a metric is not, all h_j are their mean.
    """

    h: Array
    mean: Array  # of each feature; 0 without an intercept

    @classmethod
    def of(cls, risk: WeightRisk) -> FeatureMetric:
        h = risk.curvatures()
        largest = float(h.max(initial=0.0))
        h = np.where(h > _LEAST, h, largest if largest > _LEAST else 1.0)
        if not risk.objective.domain.offers("project_in"):
            h = np.full_like(h, h.mean())
        return cls(h, risk.means)

    def square(self, v: Array) -> float:
        """Return ‖v‖²."""
        return float(v @ (self.h * v))

    def dual_square(self, g: Array) -> float:
        """Return ‖g‖²_* = Σ g_j²/h_j."""
        return float(g @ (g / self.h))

    def strong_convexity(self, objective: Penalized) -> float:
        """Return the strong convexity of the regularizer in this norm."""
        return objective.strength / float(self.h.max())

    def descend(self, objective: Penalized, w: Array, g: Array, L: float) -> Array:
        """Return argmin_v∈S ⟨g, v⟩ + Ω(v) + (L/2)‖v − w‖².

        Where Ω is μ-strongly convex that is its prox, projected in the metric LH + μ.
        """
        v, shape, heights = np.empty_like(w), (-1, objective.outputs), L * self.h
        arrays = w.reshape(shape), g.reshape(shape), heights.reshape(shape), v.reshape(shape)
        proximal_step.descend(objective.regularizer, *arrays)
        if objective.domain.offers("project_in"):
            proximal_step.enter(objective.domain, v, heights + objective.strength)
        else:
            vertices.enter(objective.domain, v)
        return v

    def follow(self, objective: Penalized, b: Intercept, move: Array) -> Intercept:
        """Return the intercept that keeps the mean prediction when the weights move."""
        if not objective.intercept:
            return b
        shift = self.mean @ move.reshape(-1, objective.outputs)
        return b - (float(shift[0]) if shift.size == 1 else shift)


@dataclass
class Smoothness:
    """L of R(v) ≤ R(w) + ⟨∇R(w), v − w⟩ + (L/2)‖v − w‖², wherever it was tried.

    It begins with ‖∇R‖²_*/(2R), which is never too large: R would fall below 0 otherwise.
    """

    L: float

    @classmethod
    def first(cls, tangent: Tangent, dual_square: float) -> Smoothness:
        steep = dual_square > 0.0 and tangent.value > 0.0
        return cls(dual_square / (2.0 * tangent.value) if steep else 1.0)

    def admits(
        self, risk: Risk, tangent: Tangent, move: Array, value: float, square: float
    ) -> bool:
        """Return whether the bound holds for a move of length √`square` to a risk of `value`.

        L rises if not; it falls a little if so, unless rounding may have decided.
        """
        rounding = rounding_error(risk, tangent.value)
        above = value - tangent.value - float(tangent.plane.a @ move)
        # false for NaN, which the loop of `minimize` handles
        if above > 0.5 * self.L * square + rounding:
            self.L *= _HIGHER
            return False
        if 0.5 * self.L * square > rounding:
            self.L *= _LOWER
        return True


def rounding_error(risk: Risk, value: float) -> float:
    """Return how far rounding may separate two sums over all examples that are equal."""
    return 1e-16 * (risk.m + 100) * abs(value)


def needs_smooth(objective: Penalized) -> str | None:
    """Return what is lacking if the risk is not smooth."""
    if objective.smooth:
        return None
    if not isinstance(objective, Objective):
        return "needs a risk that is smooth; use solver='proximal-bundle'"
    kind = type(objective.loss).__name__
    return f"needs a smooth loss, and {kind} has no smoothness constant; use solver='auto'"


def needs_prox(objective: Penalized) -> str | None:
    """Return what is lacking if the joint prox of penalty and domain is not the projected prox."""
    penalty, domain = objective.regularizer, objective.domain
    alone = domain.free or penalty.only_ridge
    single = penalty.by_weights and domain.separable
    if alone or single or (penalty.has_lasso and domain.lasso_first):
        return None
    return (
        f"does not know {type(penalty).__name__} and {type(domain).__name__} at once; "
        "use penalty='l2', or domain='free'"
    )
