"""Steps of mirror descent and mirror prox: which mirror map, and which part of the penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepless.arrays import Array
from stepless.mirrors import MIRRORS, Euclidean, Mirror, MirrorName, UnboundedEntropy
from stepless.objective import L1, Penalized, Regularizer
from stepless.registry import UnknownName
from stepless.risks.risk import WeightRisk
from stepless.solvers.batch.smoothness import FeatureMetric, needs_prox


@dataclass(frozen=True)
class MirrorSteps:
    """A mirror map, the part of the penalty that a step minimises, and the ridge by its tangent."""

    mirror: Mirror
    penalty: Regularizer | None
    ridge: float  # times w is the gradient that steps take of it

    @classmethod
    def of(cls, risk: WeightRisk, name: MirrorName | None) -> MirrorSteps:
        """Take the mirror map of that name, or the domain's default one."""
        objective = risk.objective
        name = name or _default(objective)
        if name == "euclidean":  # features standardised
            h = FeatureMetric.of(risk).h
            mirror: Mirror = Euclidean(objective.domain, risk.d, h, objective.outputs)
            return cls(mirror, objective.regularizer, 0.0)
        shares = objective.regularizer.elastic_shares
        assert shares is not None
        penalty = L1(shares[0]) if shares[0] > 0.0 else None
        if name == "entropy" and not objective.domain.simplex:
            unit = 1.0 / (float(risk.sizes.sum()) or 1.0)
            return cls(UnboundedEntropy(objective.domain, risk.d, unit), penalty, shares[1])
        return cls(MIRRORS[name](objective.domain, risk.d), penalty, shares[1])

    def move(self, w: Array, g: Array, step: float) -> Array:
        """argmin_v∈S step (⟨g, v⟩ + the rest of Ω(v)) + B(v, w)."""
        return self.mirror.move(w, g, step, self.penalty)


def needs_mirror(objective: Penalized, name: MirrorName | None) -> str | None:
    """Return what the objective lacks for steps in a mirror map, or None."""
    if name is not None and name not in MIRRORS:
        raise UnknownName("mirror", name, MIRRORS)
    name = name or _default(objective)
    domain = type(objective.domain).__name__
    if name == "euclidean":
        return needs_prox(objective)
    if objective.regularizer.elastic_shares is None:
        return (
            f"knows the penalties l1, l2, elasticnet and none in its {name} geometry; "
            "use mirror='euclidean'"
        )
    if name == "entropy" and not _multiplies(objective):
        return (
            f"needs weights that are not negative for the entropy, and {domain} lets them be; "
            "use domain='simplex' or 'nonnegative', or mirror='euclidean'"
        )
    if name == "p-norm" and not (objective.domain.free or _p_norm_ball(objective)):
        return (
            f"does not know {domain} in its p-norm geometry; "
            "use domain='free', 'l1_ball' or 'lp_ball', or mirror='euclidean'"
        )
    return None


def _default(objective: Penalized) -> MirrorName:
    if objective.regularizer.elastic_shares is not None:
        if _multiplies(objective):
            return "entropy"
        if _p_norm_ball(objective):
            return "p-norm"
    return "euclidean"


def _multiplies(objective: Penalized) -> bool:
    """Return whether the entropy's steps, which multiply weights, stay in the domain."""
    domain = objective.domain
    return domain.simplex or (domain.separable and domain.interval() == (0.0, math.inf))


def _p_norm_ball(objective: Penalized) -> bool:
    """Return whether the domain is a ball of a p-norm, p < 2."""
    p = objective.domain.ball_exponent
    return p is not None and p < 2.0
