"""Step sizes that follow the variation of the costs."""

from __future__ import annotations

import math

from stepless.games.players.player import Player
from stepless.games.players.refusals import refuse_negative


class VariationStep:
    """The inverse step size h = 1/η of the next step; it never falls.

    It is max(`floor`, `slope` √V) for a known variation V. Otherwise V is the variation so far,
    and h is slope √V or, with `doubling`, the least of floor, 2·floor, 4·floor, … that is at least
    as large (§5.4.5: epochs of one η each). It is 0 until a cost has had a gradient.

    Examples
    --------
    >>> step_size = VariationStep(floor=1.0, slope=1.0, doubling=True)
    >>> for square in (0.5, 1.0, 1.0, 10.0):
    ...     step_size.update(square)
    ...     print(step_size.inverse_step)
    1.0
    2.0
    2.0
    4.0
    """

    def __init__(
        self, floor: float, slope: float, variation: float | None = None, doubling: bool = False
    ) -> None:
        self.slope, self.doubling, self.known = slope, doubling, variation is not None
        self.inverse_step = floor if variation is None else max(floor, slope * math.sqrt(variation))
        self.seen = 0.0

    def update(self, square: float) -> None:
        """Add the square of one more change of the gradient to the variation."""
        self.seen += square
        if self.known:
            return
        wanted = self.slope * math.sqrt(self.seen)
        if not self.doubling or self.inverse_step == 0.0:
            self.inverse_step = max(self.inverse_step, wanted)
        while self.inverse_step < wanted:
            self.inverse_step *= 2.0


def mirror_prox_step(
    spread: float, smoothness: float | None, variation: float | None
) -> VariationStep:
    """Return the step size of mirror prox: spread = max Φ − min Φ, R² = 2·spread."""
    spread = spread or 1.0  # a single point has none
    if smoothness is None:
        return VariationStep(0.0, 1.0 / math.sqrt(spread))
    # Th. 5.6: L/η for η = ½ min(1/√2, LR/√V). Linear costs do not need the factor 2.
    slope = (2.0 if smoothness else 1.0) / math.sqrt(2.0 * spread)
    return VariationStep(math.sqrt(8.0) * smoothness, slope, variation, doubling=True)


class VariationPlayer(Player):
    """A player that measures how costs change, and may know their smoothness and variation."""

    takes_penalty = False

    def __init__(
        self,
        mirror: str | None = None,
        smoothness: float | None = None,
        variation: float | None = None,
    ) -> None:
        refuse_negative(smoothness=smoothness, variation=variation)
        if variation is not None and smoothness is None:
            raise ValueError("a known variation needs the smoothness, too: give both")
        if variation == 0.0:
            raise ValueError(
                "variation includes the first gradient, ‖∇f_1(w_1)‖², so it is above 0; "
                "leave it out if it is unknown"
            )
        self.mirror, self.smoothness, self.variation = mirror, smoothness, variation

    @property
    def looks_back(self) -> bool:
        """True if it needs ∇f_t at the last decision too: §5.4.5 counts the change there."""
        return bool(self.smoothness) and self.variation is None
