"""What is proved of a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """J(w, b) is at most `objective`, and no w and b have a J below `lower_bound`."""

    objective: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be at most."""
        return self.objective - self.lower_bound
