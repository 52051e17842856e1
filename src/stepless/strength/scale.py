"""Which penalties a strength can be chosen for, at what scale, and objectives at a strength."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stepless.objective import Objective
from stepless.objective.losses.bisected import Bisected
from stepless.objective.losses.envelope import Envelope
from stepless.regularization_path import critical_strength, strength_unit
from stepless.risks.linear_risk import LinearRisk

_WIDTH = 0.5  # of rounded corners, in units of predictions


def lacks(objective: Objective) -> str | None:
    """Return why the strength of this objective cannot be chosen, with a remedy; None if it can."""
    penalty = objective.regularizer
    known = penalty.norm_exponent is not None or penalty.elastic_shares is not None
    varied = "alpha" in penalty._fields
    if not (known and varied):
        other = "alpha='cv', or " if varied else ""
        return (
            "alpha='auto' knows the penalties l2, l1, elasticnet(ρ) and lp(p), not "
            f"{type(penalty).__name__}; use {other}penalty='l1'"
        )
    if objective.outputs > 1:
        return (
            f"alpha='auto' does not know {type(objective.loss).__name__}, a loss of several "
            "classes at once; use alpha='cv', or multi_class='ovr'"
        )
    return None


def with_strength(objective: Objective, strength: float) -> Objective:
    """Return the objective with its penalty at another strength."""
    return replace(objective, regularizer=objective.regularizer.with_strength(strength))


def unit(risk: LinearRisk) -> float:
    """Return the unit of strengths: it scales with features and targets as all of them do.

    Of a lasso it is the least strength at which all weights are 0.
    """
    critical = critical_strength(risk)
    return critical if math.isfinite(critical) else strength_unit(risk)


def smoothed(risk: LinearRisk) -> Objective:
    """Return the objective with corners of its loss rounded: by its Moreau envelope.

    Its width is half of the labels' unit, or of a constant's mean loss over its mean |slope|: of a
    quantile's loss, most of whose slopes are small, errors are not.
    """
    loss = risk.objective.loss
    if loss.offers("curvature"):
        return risk.objective
    mean = 0.0 if loss.targets == "signs" else _mean_error(risk)
    implicit = loss if loss.offers("implicit_slope") else Bisected(loss)
    return replace(risk.objective, loss=Envelope(implicit, _WIDTH * (mean or 1.0)))


def _mean_error(risk: LinearRisk) -> float:
    start = risk.tangent(np.zeros(risk.d), 0.0)
    witness = start.plane.witness
    assert witness is not None
    assert witness.slopes is not None
    steepness = float(risk.source.s @ np.abs(witness.slopes.whole)) / risk.m
    return start.value / steepness if steepness else 0.0
