"""What every player does."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.games.costs import Cost, NoGradient, Undefined, as_cost
from stepless.games.errors import GameError
from stepless.jit import compiled
from stepless.objective import Domain, Regularizer

_LEAST, _MOST = (
    1e-64,
    1e64,
)  # of gradients and domains: even rounding's share of one, squared, is a number
_NOTHING = 1e-16 * _LEAST  # beside any that was large enough


@dataclass(frozen=True)
class Run:
    """What a player's theorem is evaluated on: one row a round.

    Attributes
    ----------
    plays
        w_t, T × d.
    gradients
        ∇f_t(w_t), or what the player took for it, T × d.
    """

    plays: Array
    gradients: Array

    def distances(self, u: Array) -> Array:
        """‖w_t − u‖² for each round."""
        return np.sum((self.plays - u) ** 2, axis=1)


class Player(ABC):
    """Someone who decides, round after round, before the cost is shown.

    `enter` begins a game and forgets the one before. Then `play` says w_t and `observe` shows f_t,
    in turns. A subclass has `begin`, which sets ``w`` to w_1, `learn`, which moves it to w_{t+1},
    and `bound`. ``w`` is replaced, never written into: what was played stays as it was.

    Attributes
    ----------
    name
        What it is called, in the shell too.
    theorem
        Which theorem `bound` evaluates, with its number in docs/papers.md.
    feedback
        ``"gradient"``: f_t with its gradient, at w_t or anywhere; ``"values"``: numbers only.
    expected
        Whether the theorem is one on the expectation over the player's own dice.
    takes_penalty
        Whether a game may have a penalty beside its costs.
    """

    name: ClassVar[str]
    theorem: str
    feedback: ClassVar[Literal["gradient", "values"]] = "gradient"
    expected: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True

    domain: Domain
    d: int
    entries: int = 0  # how many games it has begun
    t: int
    moved: bool
    w: Array
    g: Array
    rng: np.random.Generator
    penalty: Regularizer | None
    constraints: tuple[Domain, ...]

    def enter(
        self,
        domain: Domain,
        d: int,
        *,
        penalty: Regularizer | None = None,
        constraints: Sequence[Domain] = (),
        seed: int = 0,
    ) -> Self:
        """Begin a game of d weights over this domain.

        Domain, penalty, constraints and seed are those of a `Game`; the domain must be bounded.
        """
        if not isinstance(d, Integral) or d < 1:
            raise ValueError(f"a decision has a whole number of weights, at least 1, not d={d}")
        for admitted in (domain, *constraints):
            admitted.admit(d)
        extent = float(min(domain.radius(), domain.reach()))
        if math.isinf(extent):
            raise ValueError(
                f"{self.name} needs a bounded domain, and {type(domain).__name__} is not: "
                "use domain='ball' with the largest norm that a good decision may have"
            )
        if not _LEAST <= extent <= _MOST:
            raise ValueError(
                f"{type(domain).__name__} extends to {extent:.3g}; between {_LEAST:g} and "
                f"{_MOST:g} squares of distances are sure to be numbers: scale the weights"
            )
        if penalty is not None and not self.takes_penalty:
            raise ValueError(f"{self.name} knows no penalty apart: let it be a part of each cost")
        self.entries += 1
        self.domain, self.d, self.t = domain, d, 0
        self.moved = False  # whether a gradient was not 0
        self.penalty, self.constraints = penalty, tuple(constraints)
        # Dice of its own: costs drawn from default_rng(seed) must not be what it has thrown
        self.rng = np.random.default_rng(seed).spawn(1)[0]
        self.g = np.zeros(d)
        self.begin()
        return self

    def play(self) -> Array:
        """w_t; of a player that asks for several values a round, the points, a row each."""
        return self.w

    def observe(self, f: Any) -> None:
        """Take in f_t: a cost, an array of costs, or any object with value(w) and gradient(w)."""
        self.t += 1
        cost = as_cost(f)
        self.g = self.gradient_of(cost, self.w)
        self.learn(self.g, cost)

    def suffer(self, values: Array) -> float:
        """The loss of the round, from the values at the points that were played."""
        return float(values[0])

    @abstractmethod
    def begin(self) -> None:
        """Stand at w_1, with nothing learned."""

    @abstractmethod
    def learn(self, g: Array, cost: Cost) -> None:
        """Move to w_{t+1} after g = ∇f_t(w_t); the cost can be asked elsewhere too."""

    @abstractmethod
    def bound(self, run: Run, u: Array) -> Array:
        """What the theorem allows for Σ_{s ≤ t} f_s(w_s) − f_s(u), after each round of this run."""

    def gradient_of(self, cost: Cost, w: Array) -> Array:
        """The gradient at w, once it is sure to be one."""
        try:
            g = cost.gradient(w)
        except NoGradient:
            raise GameError(
                self.t,
                f"{self.name} needs gradients, but only values are shown: give the cost a "
                "gradient, or play bandit-two-point",
            ) from None
        except Undefined as error:
            raise GameError(self.t, str(error)) from None
        if g.shape != (self.d,):
            raise GameError(
                self.t, f"the gradient has shape {g.shape}, but a decision has {self.d} weights"
            )
        top = _largest(g)
        if _LEAST <= top <= _MOST:
            self.moved = True
            return g
        return self.extreme(g, top)

    def extreme(self, g: Array, top: float) -> Array:
        """Return g, or 0 where it is nothing beside others; refuse one that no player can use."""
        if not math.isfinite(top):
            j = int(np.argmin(np.isfinite(g)))
            raise GameError(self.t, f"the gradient is not finite: entry {j} is {g[j]}")
        if top > _MOST or (top > 0.0 and not self.moved):
            raise GameError(
                self.t,
                f"the gradient's largest entry is {top:.3g}; between {_LEAST:g} and {_MOST:g} "
                "squares and quotients of gradients are sure to be numbers: scale the costs",
            )
        return g if top >= _NOTHING else np.zeros(self.d)

    @property
    def diameter(self) -> float:
        """The largest distance of two points of the domain, or a number above it."""
        if self.domain.simplex:
            return math.sqrt(2.0) * self.domain.radius()
        return float(min(2.0 * self.domain.radius(), self.domain.width() * math.sqrt(self.d)))

    def center(self) -> Array:
        """The point of the domain nearest to 0."""
        w = np.zeros(self.d)
        self.domain.project(w)
        return w

    def inside(self, w: Array) -> Array:
        """Move w, which is written into, to the nearest point of the domain."""
        enter(self.domain, w)
        return w

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in signature(type(self)).parameters}
        told = [f"{name}={value!r}" for name, value in given.items() if value is not None]
        return f"{type(self).__name__}({', '.join(told)})"


@compiled("g[_]")
def _largest(g: Array) -> float:
    """The largest |g_j|; NaN if one of them is."""
    top = 0.0
    for j in range(g.size):
        size = abs(g[j])
        if math.isnan(size):
            return size
        top = max(top, size)
    return top
