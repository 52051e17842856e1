"""Online gradient descent."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import refuse_nonpositive
from stepless.games.players.tangential import tangential_part


class OGD(Player):
    """Online gradient descent: a gradient step and a projection.

    Plays       w_{t+1} = Π_S(w_t − ∇f_t(w_t)/h_t), h_t = G_t √t/D, or λt for costs that are
                λ-strongly convex; D is the diameter of S, G_t the largest ‖∇f_s(w_s)‖ so far
    Theorem     MAH Th. 2.8, 2.9: in the form of their proofs, against u at most
                ½ Σ_{s≤t} (h_s − h_{s−1} − λ_s)‖w_s − u‖² + ½ Σ_{s≤t} ‖g_s‖²/h_s, where λ_s is the
                strong convexity that f_s itself declares. It is at most 3DG√t/2 for convex costs,
                and G²(1 + log t)/(2λ) for strongly convex ones and their h
    Cost        one projection and O(d) per round
    Needs       gradients
    Differs     the largest gradient so far replaces G, which need not be known; (2.5) is printed
                for a fixed step size only; (2.6) prints G² Σ 1/(λt), twice what the proof has. In a
                simplex the mean of g_t is subtracted

    Parameters
    ----------
    lipschitz
        G, an upper bound on ‖∇f_t‖, if it is known.
    strength
        λ, if all costs are known to be λ-strongly convex. A cost that does not declare it makes
        the bound loose, not false.

    Examples
    --------
    >>> from stepless import L2Ball
    >>> player = OGD().enter(L2Ball(1.0), 2)
    >>> for cost in ([1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]):
    ...     w = player.play()
    ...     player.observe(cost)
    >>> w
    array([-1.,  0.])
    """

    name = "ogd"
    takes_penalty = False

    def __init__(self, lipschitz: float | None = None, strength: float | None = None) -> None:
        refuse_nonpositive(lipschitz=lipschitz, strength=strength)
        self.lipschitz, self.strength = lipschitz, strength
        self.theorem = "MAH Theorem 2.8" if strength is None else "MAH Theorem 2.9"

    def begin(self) -> None:
        self.w = self.center()
        self.steepest = self.lipschitz or 0.0
        self.D = self.diameter
        self.inverse_steps: list[float] = []
        self.squares: list[float] = []
        self.strengths: list[float] = []

    def learn(self, g: Array, cost: Cost) -> None:
        g = tangential_part(self.domain, g)
        square = float(g @ g)
        self.steepest = max(self.steepest, math.sqrt(square))
        h = self.strength * self.t if self.strength else self.steepest * math.sqrt(self.t) / self.D
        self.inverse_steps.append(h)
        self.squares.append(square)
        self.strengths.append(cost.strength)
        if h > 0.0:
            self.w = self.inside(self.w - g / h)

    def bound(self, run: Run, u: Array) -> Array:
        h = np.array(self.inverse_steps)
        rises = np.diff(h, prepend=0.0) - np.array(self.strengths)
        steps = np.divide(self.squares, h, where=h > 0.0, out=np.zeros_like(h))
        return 0.5 * np.cumsum(rises * run.distances(u) + steps)  # (2.5), (2.6)
