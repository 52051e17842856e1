"""How fast a player goes that measures how costs change."""

from __future__ import annotations

import math

from stepless.games.players.player import Player
from stepless.games.players.refusals import nonnegative


class Pace:
    """The height h = 1/η of the next step: it never falls.

    It is max(`floor`, `slope` √V) for a variation V that is known. Else V is what was seen so far,
    and the height is slope √V itself or, with `doubling`, the least of floor, 2·floor, 4·floor, …
    that is no lower (§5.4.5: epochs of one η each). 0 stands for "not known yet": no cost has had
    a gradient.

    Examples
    --------
    >>> pace = Pace(floor=1.0, slope=1.0, doubling=True)
    >>> for square in (0.5, 1.0, 1.0, 10.0):
    ...     pace.rise(square)
    ...     print(pace.height)
    1.0
    2.0
    2.0
    4.0
    """

    def __init__(
        self,
        floor: float = 0.0,
        slope: float = 1.0,
        variation: float | None = None,
        doubling: bool = False,
    ) -> None:
        self.slope, self.doubling, self.known = slope, doubling, variation is not None
        self.height = floor if variation is None else max(floor, slope * math.sqrt(variation))
        self.seen = 0.0

    def rise(self, square: float) -> None:
        """Take in the square of one more change."""
        self.seen += square
        if self.known:
            return
        wanted = self.slope * math.sqrt(self.seen)
        if not self.doubling or self.height == 0.0:
            self.height = max(self.height, wanted)
        while self.height < wanted:
            self.height *= 2.0


def prox_pace(spread: float, smoothness: float | None, variation: float | None) -> Pace:
    """That of mirror prox: spread = max Φ − min Φ of its mirror map, R² = 2·spread."""
    spread = spread or 1.0  # a single point has none
    if smoothness is None:
        return Pace(slope=1.0 / math.sqrt(spread))
    # Th. 5.6: L/η for η = ½ min(1/√2, LR/√V). Linear costs need no smoothness to be overcome.
    slope = (2.0 if smoothness else 1.0) / math.sqrt(2.0 * spread)
    return Pace(math.sqrt(8.0) * smoothness, slope, variation, doubling=True)


class Paced(Player):
    """Who measures how costs change, and may know how smooth they are and how much they vary."""

    takes_penalty = False

    def __init__(
        self,
        mirror: str | None = None,
        smoothness: float | None = None,
        variation: float | None = None,
    ) -> None:
        nonnegative(smoothness=smoothness, variation=variation)
        if variation is not None and smoothness is None:
            raise ValueError("a known variation is of use with the smoothness only: give both")
        if variation == 0.0:
            raise ValueError(
                "variation counts the first gradient too, ‖∇f_1(w_1)‖², so it is above 0; "
                "leave it out if it is not known"
            )
        self.mirror, self.smoothness, self.variation = mirror, smoothness, variation

    @property
    def looks_back(self) -> bool:
        """Whether f_t is asked at the last decision too: §5.4.5 counts what changed there."""
        return bool(self.smoothness) and self.variation is None
