"""The base class of players who are shown values only."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost, UndefinedCost, as_cost
from stepless.games.errors import GameError
from stepless.games.players.player import Player
from stepless.mirrors.interior import interior

_INSIDE = 1.0 - 2.0**-40  # share of the inner radius: rounding must not lead outside


class Bandit(Player):
    """A player with bandit feedback: it is shown f_t at the points that it asks for only.

    `play` returns the point, or the points, one per row. `observe` takes the values there, in that
    order, or a function, which it evaluates at these points only. From the values a subclass
    estimates ∇f_t, in ``g``.

    Every point lies in S. A ball of radius r around c lies in S (in the affine hull of S, of k
    dimensions), so one of radius ξr lies around every point of S_ξ = c + (1 − ξ)(S − c). The
    iterate z_t stays in S_ξ, and points are within δ_t = ξ_t r of it. ξ_t falls to 0, S_ξ grows to
    S.

    Attributes
    ----------
    points
        Points of the round, whose values are asked for; ``w`` is the decision in the ledger.
    z
        The iterate, in S_ξ; ξ is ``share``.
    interior_point, inner_radius
        c and r.
    """

    feedback = "values"
    takes_penalty = False

    lipschitz: float | None
    points: Array
    share: float

    def begin(self) -> None:
        self.interior_point, self.inner_radius, self.basis = interior(self.domain, self.d)
        self.k = self.d if self.basis is None else self.basis.shape[1]
        self.D = self.diameter
        self.z = self.interior_point
        self.squares = self.inverse_step = 0.0
        self.shares: list[float] = []
        self.inverse_steps: list[float] = []
        self.iterates: list[Array] = []
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Set ``share``, ``points`` and ``w`` of round t + 1."""

    @abstractmethod
    def estimate(self, values: Array) -> Array:
        """Estimate ∇f_t from the values at the points."""

    @abstractmethod
    def move(self, g: Array) -> Array:
        """Return the next iterate, and set ``inverse_step`` to the h_t of the step."""

    def play(self) -> Array:
        return self.points

    def observe(self, f: object) -> None:
        self.t += 1
        self.g = self.estimate(self.values_of(f))
        self.learn(self.g)

    def learn(self, g: Array, cost: Cost | None = None) -> None:
        self.shares.append(self.share)
        self.iterates.append(self.z)
        self.z = self.move(g)
        self.inverse_steps.append(self.inverse_step)
        self.prepare()

    def values_of(self, f: object) -> Array:
        """Return the values at the points; refuse what is not as many finite numbers."""
        if hasattr(f, "value") or callable(f):
            cost = as_cost(f)
            try:
                values = np.array([cost.value(w) for w in np.atleast_2d(self.points)])
            except UndefinedCost as error:
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
            raise GameError(self.t, f"the values at the points are not finite: {values}")
        return values

    @property
    def delta(self) -> float:
        """δ_t: the largest distance of a point from the iterate."""
        return self.share * self.inner_radius * _INSIDE

    def next_inverse_step(self, change: Array) -> float:
        """√(2 Σ‖change‖²)/D, which costs D√(2 Σ‖change‖²) and needs no constant."""
        self.squares += float(change @ change)
        return math.sqrt(2.0 * self.squares) / self.D

    def nearest(self, v: Array) -> Array:
        """Return the point of S_ξ nearest to v."""
        keep = 1.0 - self.share
        v = self.inside(self.interior_point + (v - self.interior_point) / keep)
        return self.interior_point + keep * (v - self.interior_point)

    def comparators(self, u: Array) -> Array:
        """u_t = c + (1 − ξ_t)(u − c), the point of S_ξ that replaces u in round t."""
        return u + np.array(self.shares)[:, None] * (self.interior_point - u)

    def telescoped(self, u: Array) -> Array:
        """½ Σ_{s≤t} h_s (‖z_s − u_s‖² − ‖z_{s+1} − u_s‖²), without its last, negative term."""
        iterates, targets = np.array(self.iterates), self.comparators(u)
        before = np.sum((iterates - targets) ** 2, axis=1)
        after = np.sum((iterates[1:] - targets[:-1]) ** 2, axis=1)
        h = np.array(self.inverse_steps)
        sums: Array = np.diff(h, prepend=0.0) * before
        sums[1:] += h[:-1] * (before[1:] - after)
        return 0.5 * np.cumsum(sums)

    def shrinkage(self, u: Array) -> Array:
        """Σ_{s≤t} ξ_s ‖u − c‖: times G it bounds Σ f_s(u_s) − f_s(u)."""
        return np.cumsum(self.shares) * float(np.linalg.norm(u - self.interior_point))
