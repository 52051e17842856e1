"""Online gradient descent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.kernels.vertices import enter


class OGD(Player):
    """Online gradient descent.

    Plays       w_{t+1} = Π_S(w_t − ∇f_t(w_t)/h_t), h_t = G_t √t/D, or λt for costs that are
                λ-strongly convex; D is the diameter of S, G_t the steepest gradient so far
    Theorem     MAH Th. 2.8, 2.9, in the form of their proofs: against u no more than
                ½h_t max_{s≤t} ‖w_s − u‖² + ½ Σ_{s≤t} ‖g_s‖²/h_s ≤ 3DG√t/2; and
                ½ Σ_{s≤t} ‖g_s‖²/(λs) ≤ G²(1 + log t)/(2λ) where the costs are strongly convex
    Cost        one projection and O(d) a round
    Needs       gradients
    Differs     the steepest gradient so far stands for G, which need not be known; (2.6) prints
                G² Σ 1/(λt) where the proof has half of it

    Parameters
    ----------
    lipschitz
        G, the steepest gradient that can come, if it is known.
    strength
        λ, if all costs are known to be λ-strongly convex.

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

    def __init__(self, lipschitz: float | None = None, strength: float | None = None) -> None:
        self.lipschitz, self.strength = lipschitz, strength

    @property
    def theorem(self) -> str:  # type: ignore[override]
        return "MAH Theorem 2.8" if self.strength is None else "MAH Theorem 2.9"

    def begin(self) -> None:
        self.w = self.center()
        self.steepest = self.lipschitz or 0.0
        self.across = self.diameter
        self.heights: list[float] = []

    def learn(self, g: NDArray, cost: Cost) -> None:
        self.steepest = max(self.steepest, math.sqrt(g @ g))
        if self.strength is None:
            height = self.steepest * math.sqrt(self.t) / self.across
        else:
            height = self.strength * self.t
        self.heights.append(height)
        if height > 0.0:
            w = self.w - g / height
            enter(self.domain, w)
            self.w = w

    def bound(self, run: Run, u: NDArray) -> NDArray:
        squares, heights = np.sum(run.gradients**2, axis=1), np.array(self.heights)
        steps = np.divide(squares, heights, where=heights > 0.0, out=np.zeros(len(heights)))
        drift = 0.5 * np.cumsum(steps)
        if self.strength is not None:
            return drift  # (2.6)
        return 0.5 * heights * np.maximum.accumulate(run.distances(u)) + drift  # (2.5)
