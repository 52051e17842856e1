"""The base class of all players."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import ClassVar, Literal, Self

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.games.costs import Cost, NoGradient, UndefinedCost, as_cost
from stepless.games.errors import GameError
from stepless.jit import compiled
from stepless.objective import Domain, Regularizer

# Sizes of gradients and domains: even the square of one's rounding error is a number.
_LEAST, _MOST = 1e-64, 1e64
_NEGLIGIBLE = 1e-16 * _LEAST  # beside any gradient that was large enough


@dataclass(frozen=True)
class Run:
    """Decisions and gradients of a game, one row per round: a player's bound is evaluated on it.

    Attributes
    ----------
    plays
        w_t, T × d.
    gradients
        ∇f_t(w_t), or the player's estimate of it, T × d.
    """

    plays: Array
    gradients: Array

    def distances(self, u: Array) -> Array:
        """‖w_t − u‖² for each round."""
        squares: Array = np.sum((self.plays - u) ** 2, axis=1)
        return squares


class Player(ABC):
    """An online algorithm: it decides, round after round, before the cost is shown.

    `enter` begins a game and forgets the one before. Then `play` returns w_t and `observe` takes
    f_t, in turns. A subclass has `begin`, which sets ``w`` to w_1, `learn`, which moves it to
    w_{t+1}, and `bound`. ``w`` is replaced, never written into: earlier decisions do not change.

    Attributes
    ----------
    name
        Its name in `PLAYERS`, in ledgers and in the shell.
    theorem
        The theorem that `bound` evaluates, with its number in docs/papers.md; ``"none"`` for none.
    feedback
        ``"gradient"``: f_t with its gradient, at w_t or anywhere; ``"values"``: numbers only.
    expected
        True if the theorem bounds the expectation over the player's random draws.
    takes_penalty
        True if a game may have a penalty beside its costs.
    simplex_only
        True if it plays in a simplex only.
    needs_constraints
        True if a game must have constraints.
    cost_class
        The class of all costs that it can play.
    """

    name: ClassVar[str]
    theorem: str
    feedback: ClassVar[Literal["gradient", "values"]] = "gradient"
    expected: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True
    simplex_only: ClassVar[bool] = False
    needs_constraints: ClassVar[bool] = False
    cost_class: ClassVar[type[Cost]] = Cost  # type: ignore[type-abstract]

    domain: Domain
    d: int
    games_begun: int = 0
    t: int
    gradient_seen: bool  # one that is not 0
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
                f"{type(domain).__name__} extends to {extent:.3g}, but squares of distances can "
                f"overflow or vanish outside of {_LEAST:g} to {_MOST:g}: scale the weights"
            )
        if penalty is not None and not self.takes_penalty:
            raise ValueError(f"{self.name} takes no penalty: make it a part of each cost")
        if self.needs_constraints and not constraints:
            raise ValueError(f"{self.name} needs constraints: give Game constraints=[…]")
        self.games_begun += 1
        self.domain, self.d, self.t = domain, d, 0
        self.gradient_seen = False
        self.penalty, self.constraints = penalty, tuple(constraints)
        # Spawned, so that costs drawn from default_rng(seed) are independent of the player's draws.
        self.rng = np.random.default_rng(seed).spawn(1)[0]
        self.g = np.zeros(d)
        self.begin()
        return self

    def play(self) -> Array:
        """Return w_t; for a player that asks for several values, its points, one per row."""
        return self.w

    def observe(self, f: object) -> None:
        """Take in f_t: a cost, an array of costs, or any object with value(w) and gradient(w)."""
        self.t += 1
        cost = as_cost(f)
        if not isinstance(cost, self.cost_class):
            raise GameError(
                self.t,
                f"{self.name} needs costs of class {self.cost_class.__name__}, "
                f"not {type(f).__name__}; use mirror-prox",
            )
        self.g = self.gradient_of(cost, self.w)
        self.learn(self.g, cost)

    def suffer(self, values: Array) -> float:
        """Return the loss of the round, from the values at the points that were played."""
        return float(values[0])

    @abstractmethod
    def begin(self) -> None:
        """Set ``w`` to w_1, with nothing learned."""

    @abstractmethod
    def learn(self, g: Array, cost: Cost) -> None:
        """Move ``w`` to w_{t+1}, given g = ∇f_t(w_t); the cost can be evaluated elsewhere too."""

    @abstractmethod
    def bound(self, run: Run, u: Array) -> Array:
        """Bound Σ_{s≤t} f_s(w_s) − f_s(u) by the theorem, after each round of this run."""

    def gradient_of(self, cost: Cost, w: Array) -> Array:
        """Return the gradient at w; refuse one that is missing, misshapen or not finite."""
        try:
            g = cost.gradient(w)
        except NoGradient:
            raise GameError(
                self.t,
                f"{self.name} needs gradients, but the cost has values only: give it a gradient, "
                "or play bandit-two-point",
            ) from None
        except UndefinedCost as error:
            raise GameError(self.t, str(error)) from None
        if g.shape != (self.d,):
            raise GameError(
                self.t, f"the gradient has shape {g.shape}, but a decision has {self.d} weights"
            )
        top = _largest(g)
        if _LEAST <= top <= _MOST:
            self.gradient_seen = True
            return g
        return self.extreme_gradient(g, top)

    def extreme_gradient(self, g: Array, top: float) -> Array:
        """Return a tiny g, or 0 if it is negligible beside others; refuse one out of range."""
        if not math.isfinite(top):
            j = int(np.argmin(np.isfinite(g)))
            raise GameError(self.t, f"the gradient is not finite: entry {j} is {g[j]}")
        if top > _MOST or (top > 0.0 and not self.gradient_seen):
            raise GameError(
                self.t,
                f"the gradient's largest entry is {top:.3g}, but squares and quotients can "
                f"overflow or vanish outside of {_LEAST:g} to {_MOST:g}: scale the costs",
            )
        return g if top >= _NEGLIGIBLE else np.zeros(self.d)

    @property
    def diameter(self) -> float:
        """The largest distance between two points of the domain, or an upper bound on it."""
        if self.domain.simplex:
            return math.sqrt(2.0) * self.domain.radius()
        return float(min(2.0 * self.domain.radius(), self.domain.width() * math.sqrt(self.d)))

    def center(self) -> Array:
        """Return the point of the domain nearest to 0."""
        w = np.zeros(self.d)
        self.domain.project(w)
        return w

    def inside(self, w: Array) -> Array:
        """Project w onto the domain, in place, and return it."""
        enter(self.domain, w)
        return w

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in signature(type(self)).parameters}
        arguments = [f"{name}={value!r}" for name, value in given.items() if value is not None]
        return f"{type(self).__name__}({', '.join(arguments)})"


@compiled("g[_]")
def _largest(g: Array) -> float:
    """Return the largest |g_j|; NaN if one of them is."""
    top = 0.0
    for j in range(g.size):
        size = abs(float(g[j]))
        if math.isnan(size):
            return size
        top = max(top, size)
    return top
