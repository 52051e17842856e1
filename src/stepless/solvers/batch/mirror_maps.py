"""Mirror maps: the geometries in which mirror descent and mirror prox take their steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.mirrors import PNorm
from stepless.mirrors.elastic import elastic_shares, lasso_share
from stepless.mirrors.entropy import relative_entropy
from stepless.objective import L1, Free, L1Ball, LpBall, Nonnegative, Penalized, Simplex
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.smoothness import FeatureMetric, needs_prox

Mirror = Literal["euclidean", "entropy", "p-norm"]

_PRIOR = 0.1  # share of the uniform point in a start, for the entropy never leaves a weight of 0


@dataclass(frozen=True)
class MirrorMap:
    """A function Φ that is 1-strongly convex in some norm, and its divergence B.

    `move` takes a share of the penalty as it is; of the rest, `linear` gives the gradient.
    """

    objective: Penalized

    def enter(self, w: Array) -> Array:
        """Return a point of the domain near w, where Φ has a gradient."""
        w = w.copy()
        enter(self.objective.domain, w)
        return w

    def linear(self, w: Array) -> Array | float:
        """The gradient of that part of the penalty which is taken by its tangent: the ridge's."""
        return self.objective.strength * w

    def move(self, w: Array, g: Array, step: float) -> Array:
        """argmin_v∈S step (⟨g, v⟩ + the rest of Ω(v)) + B(v, w)."""
        raise NotImplementedError

    def divergence(self, v: Array, w: Array) -> float:
        """B(v, w) = Φ(v) − Φ(w) − ⟨∇Φ(w), v − w⟩."""
        raise NotImplementedError

    def dual_square(self, g: Array, w: Array) -> float:
        """The square of the dual norm of g, for points of the size of w."""
        raise NotImplementedError


@dataclass(frozen=True)
class Euclidean(MirrorMap):
    """Φ(w) = ½Σ h_j w_j², features standardised: for every penalty that has a prox."""

    metric: FeatureMetric

    def linear(self, w: Array) -> float:
        return 0.0

    def move(self, w: Array, g: Array, step: float) -> Array:
        return self.metric.descend(self.objective, w, g, 1.0 / step)

    def divergence(self, v: Array, w: Array) -> float:
        return 0.5 * self.metric.square(v - w)

    def dual_square(self, g: Array, w: Array) -> float:
        return self.metric.dual_square(g)


@dataclass(frozen=True)
class Entropy(MirrorMap):
    """Φ(w) = Σ w_j log w_j − w_j, for w ≥ 0: steps multiply weights, and none becomes 0.

    It is 1/Σw-strongly convex in ‖·‖₁. What a simplex asks for is a common factor.
    """

    first: float  # a weight where nothing better is known

    def enter(self, w: Array) -> Array:
        domain = self.objective.domain
        if isinstance(domain, Simplex):
            uniform = np.full(w.size, domain.bound / w.size)
            return uniform + (1.0 - _PRIOR) * (super().enter(w) - uniform) * w.any()
        w = np.maximum(w, 0.0)
        return w + _PRIOR * (w.mean() if w.any() else self.first / _PRIOR)

    def move(self, w: Array, g: Array, step: float) -> Array:
        domain = self.objective.domain
        powers = -step * (g + lasso_share(self.objective.regularizer))
        if isinstance(domain, Simplex):
            with np.errstate(divide="ignore"):  # some weights may have become 0
                powers += np.log(w)
            v = np.exp(powers - powers.max())
            return v * (domain.bound / float(v.sum()))
        return w * np.exp(np.minimum(powers, 1.0))  # none grows by more than e at once

    def divergence(self, v: Array, w: Array) -> float:
        return relative_entropy(v, w)

    def dual_square(self, g: Array, w: Array) -> float:
        return float(w.sum()) * float(np.abs(g).max(initial=0.0)) ** 2


@dataclass(frozen=True)
class Reflected(MirrorMap):
    """Φ of a map of `stepless.mirrors`: steps are taken in the dual, and reflected."""

    mirror: PNorm

    def move(self, w: Array, g: Array, step: float) -> Array:
        alpha = lasso_share(self.objective.regularizer)
        penalty = L1(alpha) if alpha else None
        return self.mirror.nearest(self.mirror.dual(w) - step * g, penalty, step)

    def divergence(self, v: Array, w: Array) -> float:
        return self.mirror.divergence(v, w)

    def dual_square(self, g: Array, w: Array) -> float:
        return self.mirror.dual_square(g)


def mirror_map(risk: WeightRisk, mirror: Mirror | None) -> MirrorMap:
    """The map of that name, or the domain's own."""
    objective = risk.objective
    kind = mirror or _own(objective)
    if kind == "entropy":
        return Entropy(objective, 1.0 / (float(risk.sizes.sum()) or 1.0))
    if kind == "p-norm":
        return Reflected(objective, PNorm(objective.domain, risk.d))
    return Euclidean(objective, FeatureMetric.of(risk))


def _own(objective: Penalized) -> Mirror:
    if _elastic(objective):
        if isinstance(objective.domain, Simplex | Nonnegative):
            return "entropy"
        if isinstance(objective.domain, L1Ball) or _rounded(objective):
            return "p-norm"
    return "euclidean"


def needs_mirror(objective: Penalized, mirror: Mirror | None) -> str | None:
    """What the objective lacks for a map."""
    kind = mirror or _own(objective)
    domain = type(objective.domain).__name__
    if kind == "euclidean":
        return needs_prox(objective)
    if not _elastic(objective):
        return (
            f"knows the penalties l1, l2, elasticnet and none in its {kind} geometry; "
            "use mirror='euclidean'"
        )
    if kind == "entropy" and not isinstance(objective.domain, Simplex | Nonnegative):
        return (
            f"needs weights that are not negative for the entropy, and {domain} lets them be; "
            "use domain='simplex' or 'nonnegative', or mirror='euclidean'"
        )
    known = isinstance(objective.domain, Free | L1Ball) or _rounded(objective)
    if kind == "p-norm" and not known:
        return (
            f"does not know {domain} in its p-norm geometry; "
            "use domain='free', 'l1_ball' or 'lp_ball', or mirror='euclidean'"
        )
    return None


def _elastic(objective: Penalized) -> bool:
    return elastic_shares(objective.regularizer) is not None


def _rounded(objective: Penalized) -> bool:
    """Whether the domain is an ℓ_p ball whose ‖·‖_p² is strongly convex."""
    return isinstance(objective.domain, LpBall) and 1.0 < objective.domain.p <= 2.0
