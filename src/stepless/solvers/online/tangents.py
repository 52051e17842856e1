"""The finding of a pass: a point, and tangents at the predictions before learning."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import oracle
from stepless.data import Column, sum_blocks
from stepless.plane import Plane
from stepless.proof.witness import Slopes
from stepless.risks.risk import RowRisk
from stepless.solvers.solver import Finding


def finding_of_pass(risk: RowRisk, w: Array, b: float, order: Indices, scores: Array) -> Finding:
    """Return the point (w, b), its objective, and the mean of the losses' tangents at these scores.

    The scores are the pass's predictions, in its order. A tangent lies under its loss wherever it
    is taken; for examples that the pass left out it is taken at 0.
    """
    source, objective, z = risk.source, risk.objective, np.zeros(risk.m)
    if objective.regularizer.zero and objective.domain.free:  # a plane has no minimum there
        return Finding(w, float(b))
    z[order] = scores
    slopes, sums = source.empty(), Column([np.empty(3) for _ in source.cuts])
    given = slopes, sums, objective.loss, source.split(z), (w, float(b))
    g = source.total(oracle.tangents, (risk.d,), *given) / risk.m
    offset, tilt, value = sum_blocks(sums.parts) / risk.m
    plane = Plane(g, float(offset), float(tilt), witness=Slopes(slopes))
    return Finding(w, float(b), objective=objective.penalty(w) + float(value), plane=plane)
