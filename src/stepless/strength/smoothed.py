"""The smooth objective that stands in for one with corners while its strength is chosen."""

from __future__ import annotations

from dataclasses import replace

from stepless.objective import Objective
from stepless.objective.losses.envelope import Envelope

_WIDTH = 0.25  # of what a prediction must move for the loss at weights of 0


def smoothed(objective: Objective, at_zero: float) -> Objective:
    """Return the objective, a loss without curvature being replaced by its Moreau envelope."""
    loss = objective.loss
    if loss.offers("curvature"):
        return objective
    scale = 1.0 if loss.targets == "signs" else at_zero / loss.lipschitz()
    return replace(objective, loss=Envelope(loss, _WIDTH * scale))
