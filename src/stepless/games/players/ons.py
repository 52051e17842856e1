"""Online Newton step."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import lowest
from stepless.games.costs import Cost
from stepless.games.players.curvature import exp_concave_curvature
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import refuse_negative, refuse_nonpositive
from stepless.games.players.tangential import tangential_part
from stepless.jit import FAST, compiled
from stepless.mirrors import project_metric

_BALANCED = 1e-9  # relative: the tolerance to which both halves of the bound are equal


class ONS(Player):
    """Online Newton step: steps in a metric made of gradients, for exp-concave costs.

    Plays       w_{t+1} = Π_S^{A_t}(w_t − A_t⁻¹g_t), A_t = ε_t I + Σ_{s≤t} β_s g_s g_sᵀ. β_t is the
                largest for which f_t(u) ≥ f_t(w_t) + z + ½β_t z², z = ⟨g_t, u − w_t⟩, on all of S:
                2(a − log(1 + a))/a² · α for an α-exp-concave cost, a = α max_u ⟨g_t, w_t − u⟩, or
                λ/‖g_t‖² for a λ-strongly convex one. ε_t = ε_{t−1} + τ_t, where τ_t balances
                r²τ_t = ⟨g_t, A_t⁻¹g_t⟩; r² is the mean square distance of two points of S
    Theorem     MAH Th. 2.14: in the form of its proof, against u at most
                ½ Σ_{s≤t} τ_s ‖w_s − u‖² + ⟨g_s, A_s⁻¹g_s⟩. If all ‖w_s − u‖ ≤ r it is at most
                twice what the best fixed ε, known beforehand, would give: with β ≤ all β_s,
                min_ε εr² + (d/β) log(1 + Σ β_s‖g_s‖²/(εd)), O(d log t); and 2r √(Σ‖g_s‖²) for any
                costs. For points u farther away, at most D²/r² times that, D the diameter of S
    Cost        one projection in the metric of a matrix and O(d³) per round; d² numbers
    Needs       gradients
    Differs     Th. 2.14's A_t has no ε, so that A_1 is singular, and its (1/α + GR) d log T lacks
                a factor (5 by Hazan, Agarwal, Kale). They have ε = 1/(βD)² and one
                β = ½ min(1/(4GD), α) for all rounds, G and α known. Here each round has its own β,
                inside A_t; it is that of exp-concavity itself, exact over S, while ½ and 1/(4GD)
                are steps of the lemma's proof; ε grows by the rule of Bartlett et al. (their
                Lemma 3.1 only needs that ⟨g, A⁻¹g⟩ falls in ε), so that costs without curvature
                still leave a regret of √t. r and not D, because decisions are seldom as far from
                the best one as two corners: in a simplex D²/r² is about d. There the mean of g_t is
                subtracted, which leaves a shorter subgradient over S

    Parameters
    ----------
    exp_concavity
        α, if exp(−αf) is concave for every cost f; None to use what each cost declares.
    distance
        r, if an upper bound on ‖w_t − u‖ is known for the best decision u.

    Examples
    --------
    >>> from stepless import Simplex
    >>> from stepless.games import Game, Growth
    >>> Game(ONS(), Simplex()).run([Growth([1.1, 1.0]), Growth([0.9, 1.0])] * 50).holds
    True
    """

    name = "ons"
    takes_penalty = False
    theorem = "MAH Theorem 2.14"

    def __init__(self, exp_concavity: float | None = None, distance: float | None = None) -> None:
        refuse_negative(exp_concavity=exp_concavity)
        refuse_nonpositive(distance=distance)
        self.exp_concavity, self.distance = exp_concavity, distance

    def begin(self) -> None:
        self.w = self.center()
        self.square = self.distance**2 if self.distance else self._mean_square()
        self.curved = np.zeros((self.d, self.d))  # Σ β g gᵀ
        self.ridge = 0.0  # ε
        self.added: list[float] = []  # τ
        self.duals: list[float] = []  # ⟨g, A⁻¹g⟩

    def learn(self, g: Array, cost: Cost) -> None:
        before, dual = self.ridge, 0.0
        g = tangential_part(self.domain, g)
        if g.any():
            step, beta = np.empty(self.d), self.curvature(g, cost)
            self.ridge = balance(self.curved, step, before, g, beta, self.square)
            dual = float(g @ step)
            self.w = project_metric(self.domain, self.w - step, self.metric())
        self.added.append(self.ridge - before)
        self.duals.append(dual)

    def metric(self) -> Array:
        """A_t."""
        return self.curved + self.ridge * np.eye(self.d)

    def curvature(self, g: Array, cost: Cost) -> float:
        """β_t."""
        alpha = cost.exp_concavity if self.exp_concavity is None else self.exp_concavity
        drop = float(g @ self.w) - self._lowest(g) if alpha > 0.0 else 0.0
        return max(exp_concave_curvature(alpha, drop), cost.strength / float(g @ g))

    def _lowest(self, g: Array) -> float:
        """Return the least ⟨g, u⟩ over S, or a lower bound on it."""
        if not self.domain.offers("vertex"):
            return self.domain.floor(g)
        u = np.empty(self.d)
        lowest(self.domain, g, u)
        return float(g @ u)

    def _mean_square(self) -> float:
        """Return the mean of ‖u − v‖² for u and v uniform in S, or an upper bound on it."""
        d, domain, bound = self.d, self.domain, self.domain.radius()
        if domain.simplex and d > 1:
            return 2.0 * bound**2 * (d - 1.0) / (d * (d + 1.0))
        if domain.ball_exponent == 1.0:
            return 4.0 * bound**2 * d / ((d + 1.0) * (d + 2.0))
        if domain.ball_exponent == 2.0:
            return 2.0 * bound**2 * d / (d + 2.0)
        if domain.separable:
            return d * domain.width() ** 2 / 6.0
        return self.diameter**2

    def bound(self, run: Run, u: Array) -> Array:
        return 0.5 * np.cumsum(np.array(self.added) * run.distances(u) + self.duals)


@compiled("g[d] step[d] M[d,d]", fastmath=FAST)
def balance(M: Array, step: Array, ridge: float, g: Array, beta: float, r2: float) -> float:
    """Add βggᵀ to M; write `step` = A⁻¹g, A = M + εI; return ε with (ε − ridge)r² = ⟨g, A⁻¹g⟩.

    The right-hand side is q at some ε and falls no faster than q²/(q + p(ε' − ε)), p = ‖A⁻¹g‖², by
    Jensen's inequality. The next ε is where that equals the left-hand side: never too large.
    """
    d, square, trace = g.size, 0.0, 0.0
    for j in range(d):
        for k in range(d):
            M[j, k] += beta * g[j] * g[k]
        square += g[j] * g[j]
        trace += M[j, j]
    L = np.empty((d, d))
    better = ridge + _positive_root(ridge + trace, square / r2)
    while True:
        e = better
        _solve(L, step, M, e, g)
        q, p = 0.0, 0.0
        for j in range(d):
            q += g[j] * step[j]
            p += step[j] * step[j]
        better = ridge + _positive_root(q / p - e + ridge, q * q / p / r2)
        if not better > e * (1.0 + _BALANCED):
            return float(e)


@compiled()
def _positive_root(b: float, c: float) -> float:
    """Return τ > 0 with τ(b + τ) = c."""
    return 2.0 * c / (b + math.sqrt(b * b + 4.0 * c))


@compiled(fastmath=FAST)
def _solve(L: Array, v: Array, M: Array, e: float, g: Array) -> None:
    """Write v = (M + eI)⁻¹g, and L, its Cholesky factor."""
    d = g.size
    for i in range(d):
        for j in range(i):
            rest = M[i, j]
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            L[i, j] = rest / L[j, j]
        rest, right = M[i, i] + e, g[i]
        for k in range(i):
            rest -= L[i, k] * L[i, k]
            right -= L[i, k] * v[k]
        L[i, i] = math.sqrt(rest)
        v[i] = right / L[i, i]
    for i in range(d - 1, -1, -1):
        v[i] /= L[i, i]
        for k in range(i):
            v[k] -= L[i, k] * v[i]
