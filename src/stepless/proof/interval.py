"""What is proved of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import NDArray


@dataclass(frozen=True)
class Interval:
    """J(w, b) is at most `objective`, and no w and b have a J below `lower_bound`."""

    objective: float
    lower_bound: float
    at_zero: float = field(default=0.0, compare=False)  # no b has a risk below it at w = 0
    # of the plane that proves the bound: the sizes of its slopes, weight by weight, from above
    steepness: NDArray | None = field(default=None, compare=False, repr=False)

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be at most."""
        return self.objective - self.lower_bound
