"""The constants with which a target risk is reached (MAH Th. 3.2, mended)."""

from __future__ import annotations

import math
from dataclasses import dataclass

SHRINK = 0.5  # ε of MAH (3.6): what is left of Δ² after a stage, as in Cor. 3.3
SHARE = 0.25  # τ of MAH (3.6): the largest for which ξ = 4β/(ατ) is 16β/α, as Th. 3.5 needs
_RISK = 0.01  # δ: the probability that the theorem's bound fails


@dataclass(frozen=True)
class TheoremConstants:
    """The constants of the problem that the theorem depends on."""

    strength: float  # λ: every f_i = Ω + ℓ_i is λ-strongly convex
    smoothness: float  # β: every f_i is β-smooth
    entries: int  # p: the largest number of non-zero entries in a row
    reach: float  # Δ_1: a bound on the distance of the optimum from the start


@dataclass(frozen=True)
class Theorem:
    """MAH Th. 3.2: J(ŵ_{k+1}) ≤ (β/2)Δ_1² ε^k + (1 + τ/(1 − ε)) ε_prior after k stages.

    With probability 99 %, if examples are drawn independently and ε_prior ≥ J*. As printed, its
    constants do not carry its proof; these do (docs/papers.md):

    - Δ²_{k+1} = εΔ_k² + (2τ/β) ε_prior, as in the proof: (3.6) lacks the 2/β.
    - η = 1/(2ξβ√(PT₁)) and T₁ ≥ 64ξ²β²P/(αε)²: between (3.10) and (3.14) a factor d is lost. In
      its place stands P = (√p + ½)², p the most non-zeros in a row, ½ for the ridge's share of the
      gradient, which is not clipped.
    - 4ξβ√p, not 2ξβ√d: two points of a ball of radius Δ_k are up to 2Δ_k apart. For the same reason
      Lemma 3.7 would need twice its bias, but (ℓ')² ≤ 2βℓ is twice as good as Lemma 3.9.
    - ξ ≥ 16β/α (Th. 3.5) makes τ ≤ ¼; μ is ξ/8, not B/8.

    Examples
    --------
    >>> constants = TheoremConstants(strength=1.0, smoothness=2.0, entries=1, reach=1.0)
    >>> theorem = Theorem(constants, target=0.1)
    >>> theorem.clipping, theorem.stages, round(theorem.bound(theorem.stages), 3)
    (32.0, 5, 0.181)
    """

    constants: TheoremConstants
    target: float  # ε_prior

    @property
    def clipping(self) -> float:
        """ξ: gradients are clipped at γ_k = 2ξβΔ_k."""
        return 4.0 * self.constants.smoothness / (self.constants.strength * SHARE)

    @property
    def stages(self) -> int:
        """Stages after which the first term of the bound is no more than τ/(1 − ε) ε_prior."""
        first = 0.5 * self.constants.smoothness * self.constants.reach**2
        return max(1, math.ceil(_log(first * (1.0 - SHRINK) / (SHARE * self.target), SHRINK)))

    @property
    def rounds(self) -> int:
        """T₁: examples per stage."""
        xi, alpha, beta = self.clipping, self.constants.strength, self.constants.smoothness
        p = self.constants.entries
        peels = max(1, math.ceil(_log(xi * beta * self.constants.reach**2 / self.target, 0.5)))
        doubt = math.log(self.stages * peels / _RISK)
        noise = 4.0 * (xi**3 * beta * p + 4.0 * xi * beta * math.sqrt(p)) / (SHRINK * alpha) * doubt
        return math.ceil(max(noise, (8.0 * xi * beta / (alpha * SHRINK)) ** 2 * self._steepness))

    @property
    def step(self) -> float:
        """η."""
        root = math.sqrt(self._steepness * self.rounds)
        return 1.0 / (2.0 * self.clipping * self.constants.smoothness * root)

    def nearer(self, reach: float) -> float:
        """Return Δ_{k+1} after Δ_k."""
        floor = 2.0 * SHARE / self.constants.smoothness * self.target
        return math.sqrt(SHRINK * reach**2 + floor)

    def bound(self, stages: int) -> float:
        """Return the bound on the objective at the mean of the last stage."""
        start = 0.5 * self.constants.smoothness * self.constants.reach**2
        return start * SHRINK**stages + (1.0 + SHARE / (1.0 - SHRINK)) * self.target

    @property
    def _steepness(self) -> float:
        """P: ‖v‖² ≤ P γ² for a gradient v of which the loss's part is clipped at γ."""
        return (math.sqrt(self.constants.entries) + 0.5) ** 2


def _log(number: float, factor: float) -> float:
    """Return the power of the factor that brings the number down to 1."""
    return math.log(number) / -math.log(factor) if number > 1.0 else 0.0
