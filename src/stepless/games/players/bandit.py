"""What players do who are shown values only."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost, Undefined, as_cost
from stepless.games.errors import GameError
from stepless.games.players.player import Player
from stepless.mirrors.interior import interior

_INSIDE = 1.0 - 2.0**-40  # of the room around a point, so that no rounding leads outside


class Bandit(Player):
    """A player who is shown numbers only: f_t at the points that it asks for.

    `play` returns the point, or the points, a row each. `observe` takes the values there, in that
    order, or a function that it asks for these values itself, and for nothing else. From them a
    subclass makes ``g``, its estimate of ∇f_t.

    Every point lies in S. A ball of radius r around c lies in S (in the affine hull of S, of k
    dimensions), so one of radius ξr lies around every point of S_ξ = c + (1 − ξ)(S − c): there
    the player stands, and asks no farther than δ_t = ξ_t r away. ξ_t falls to 0, S_ξ grows to S.

    Attributes
    ----------
    points
        Where the round's values are asked for; ``w`` is the decision that the ledger keeps.
    z
        Where the player stands: in S_ξ, ξ being ``share``.
    """

    feedback = "values"
    takes_penalty = False

    lipschitz: float | None
    points: Array
    z: Array
    share: float

    def begin(self) -> None:
        self.heart, self.room, self.basis = interior(self.domain, self.d)
        self.k = self.d if self.basis is None else self.basis.shape[1]
        self.across = self.diameter
        self.z = self.heart
        self.squares = self.height = 0.0
        self.shares: list[float] = []
        self.heights: list[float] = []
        self.starts: list[Array] = []
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Decide on the share, the points and w of round t + 1."""

    @abstractmethod
    def estimate(self, values: Array) -> Array:
        """∇f_t, as far as the values at the points tell."""

    @abstractmethod
    def move(self, g: Array) -> Array:
        """Where to stand next; sets ``height``, the h_t of the step."""

    def play(self) -> Array:
        return self.points

    def observe(self, f: Any) -> None:
        """Take in the values at the points, or a function to ask for them."""
        self.t += 1
        self.g = self.estimate(self.values_of(f))
        self.learn(self.g)

    def learn(self, g: Array, cost: Cost | None = None) -> None:
        self.shares.append(self.share)
        self.starts.append(self.z)
        self.z = self.move(g)
        self.heights.append(self.height)
        self.prepare()

    def values_of(self, f: Any) -> Array:
        """The values at the points, once they are sure to be numbers."""
        if hasattr(f, "value") or callable(f):
            cost = as_cost(f)
            try:
                values = np.array([cost.value(w) for w in np.atleast_2d(self.points)])
            except Undefined as error:
                raise GameError(self.t, str(error)) from None
        else:
            values = np.atleast_1d(np.asarray(f, dtype=np.float64))
        count = np.atleast_2d(self.points).shape[0]
        if values.shape != (count,):
            raise GameError(
                self.t,
                f"{self.name} asks for {count} value{'s' * (count > 1)}, but got an array of shape "
                f"{values.shape}: show f at the rows of play(), or f itself",
            )
        if not math.isfinite(values.sum()):
            raise GameError(self.t, f"the values at the points are {values}, which is not finite")
        return values

    @property
    def delta(self) -> float:
        """δ_t: how far away from where it stands the player may ask."""
        return self.share * self.room * _INSIDE

    def steeper(self, change: Array) -> float:
        """What h becomes: √(2 Σ‖change‖²)/D, which costs D√(2 Σ‖change‖²) and needs no constant."""
        self.squares += float(change @ change)
        return math.sqrt(2.0 * self.squares) / self.across

    def nearest(self, v: Array) -> Array:
        """The point of S_ξ nearest to v."""
        keep = 1.0 - self.share
        v = self.inside(self.heart + (v - self.heart) / keep)
        return self.heart + keep * (v - self.heart)

    def targets(self, u: Array) -> Array:
        """u_t = c + (1 − ξ_t)(u − c), the point of S_ξ that stands for u in round t."""
        return u + np.array(self.shares)[:, None] * (self.heart - u)

    def walked(self, u: Array) -> Array:
        """½ Σ_{s≤t} h_s (‖z_s − u_s‖² − ‖z_{s+1} − u_s‖²), without its last, negative term."""
        starts, targets, heights = np.array(self.starts), self.targets(u), np.array(self.heights)
        before = np.sum((starts - targets) ** 2, axis=1)
        after = np.sum((starts[1:] - targets[:-1]) ** 2, axis=1)
        sums = np.diff(heights, prepend=0.0) * before
        sums[1:] += heights[:-1] * (before[1:] - after)
        return 0.5 * np.cumsum(sums)

    def shrinking(self, u: Array) -> Array:
        """Σ_{s≤t} ξ_s ‖u − c‖: times G it is no less than Σ f_s(u_s) − f_s(u)."""
        return np.cumsum(self.shares) * float(np.linalg.norm(u - self.heart))
