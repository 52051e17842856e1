"""The regret bounds of DHS, round by round, in the form that their proofs give.

Each is a bound on Σ_{τ≤t} f_τ(x_τ) + φ(x_τ) − f_τ(x*) − φ(x*) for a fixed x* of the domain, less
the φ(x_1) that all of these proofs leave over (Corollary 4 assumes it to be 0). Updates are (3) for
averaging, (4) for mirror descent, with ψ_t = ½⟨x, H_t x⟩. A free intercept is a coordinate like any
other: that no penalty and no domain sees it changes nothing in the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from stepless.arrays import Array, Indices

_ALIKE = 1e-12  # by which a gradient may seem steeper than its bound


class Bound(Protocol):
    """`take` takes in x_t and g_t; it returns the bound after round t."""

    theorem: str

    def take(self, x: Array, g: Array) -> float: ...


class StronglyConvexMirror:
    """(δ/η + λ)‖x* − x_1‖²/2 + (η/2) Σ_j log(‖g_{1:t,j}‖₂²/δ + 1), η = G²/λ: Th. 13, mended.

    For H_t = δI + diag ‖g_{1:t,j}‖₂², a λ-strongly convex φ and G ≥ max|g|.
    """

    theorem = "Theorem 13"

    def __init__(self, best: Array, eta: float, delta: float, strength: float) -> None:
        self.best, self.eta, self.delta, self.strength = best, eta, delta, strength
        self.squares = np.zeros(best.size)
        self.first: float | None = None

    def take(self, x: Array, g: Array) -> float:
        if self.first is None:
            self.first = float(np.sum((self.best - x) ** 2))
        self.squares += g**2
        seen = self.squares[self.squares > 0.0]
        with np.errstate(divide="ignore"):
            logs = float(np.sum(np.log1p(seen / self.delta)))
        return 0.5 * ((self.delta / self.eta + self.strength) * self.first + self.eta * logs)


class Apart:
    """The sum of two bounds, for the weights and for an intercept with another η and metric.

    Corollary 4 is a sum over coordinates where H_t is diagonal: each may have its own H_jj/η.
    """

    def __init__(self, weights: Bound, intercept: Bound, d: int) -> None:
        self.weights, self.intercept, self.d = weights, intercept, d
        self.theorem = weights.theorem

    def take(self, x: Array, g: Array) -> float:
        d = self.d
        return self.weights.take(x[:d], g[:d]) + self.intercept.take(x[d:], g[d:])


class Diagonal:
    """H_t = δI + diag ‖g_{1:t,j}‖₂: blocks of one coordinate each."""

    theorem = "Theorem 6"

    def __init__(self, d: int, delta: float) -> None:
        self.delta = delta
        self.norms = np.zeros(d)  # ‖g_{1:t,j}‖₂

    def take(self, g: Array) -> None:
        """Add g²."""
        self.norms = np.hypot(self.norms, g)

    def matrix(self) -> Array:
        """The diagonal of H_t."""
        return self.delta + self.norms

    def trace(self) -> float:
        """γ_t = Σ_j ‖g_{1:t,j}‖₂."""
        return float(self.norms.sum())

    def largest(self, v: Array) -> float:
        """Return ‖v‖_∞²."""
        return self.longest(v) ** 2

    def longest(self, v: Array) -> float:
        """Return ‖v‖_∞."""
        return float(np.abs(v).max())

    def square(self, v: Array, power: int) -> float:
        """⟨v, H_t^power v⟩."""
        return float(self.matrix() ** power @ v**2)


class Roots:
    """H_t = δ_t I + the root of the block-diagonal part of G_t = Σ ggᵀ, in its eigenvectors' basis.

    δ_t is δ, but no less than a share of the longest gradient so far: H_t stays far enough from a
    singular matrix to be solved. The eigenvalues of G_t^½ are the singular values of the matrix of
    all gradients, which has the triangular factor that is kept here. Those of G_t itself would be
    known to 1e-16, their roots to 1e-8 only.
    """

    def __init__(self, blocks: Sequence[Indices], delta: float, share: float = 0.0) -> None:
        self.blocks, self.delta, self.share = list(blocks), delta, share
        self.factors = [np.zeros((at.size, at.size)) for at in blocks]
        self.roots = [np.zeros(at.size) for at in blocks]
        self.bases = [np.eye(at.size) for at in blocks]

    def take(self, g: Array) -> None:
        """Add ggᵀ."""
        self.delta = max(self.delta, self.share * self.longest(g))
        for k, at in enumerate(self.blocks):
            if g[at].any():
                self.factors[k] = np.linalg.qr(np.vstack([self.factors[k], g[at]])).R
                _, self.roots[k], self.bases[k] = np.linalg.svd(self.factors[k])

    def matrix(self) -> Array:
        """H_t."""
        H = self.delta * np.eye(sum(at.size for at in self.blocks))
        for at, roots, basis in zip(self.blocks, self.roots, self.bases, strict=True):
            H[np.ix_(at, at)] += (basis.T * roots) @ basis
        return H

    def trace(self) -> float:
        """Tr G_t^½."""
        return float(sum(roots.sum() for roots in self.roots))

    def largest(self, v: Array) -> float:
        """Return the largest ‖v_[i]‖² of a block i."""
        return max(float(v[at] @ v[at]) for at in self.blocks)

    def longest(self, v: Array) -> float:
        """Return the largest ‖v_[i]‖ of a block i."""
        return math.sqrt(self.largest(v))

    def square(self, v: Array, power: int) -> float:
        """⟨v, H_t^power v⟩."""
        parts = zip(self.blocks, self.roots, self.bases, strict=True)
        return sum(
            float(np.sum((self.delta + roots) ** power * (basis @ v[at]) ** 2))
            for at, roots, basis in parts
        )

    @property
    def theorem(self) -> str:
        """Theorem 8 is of one block; several are Corollary 14."""
        return "Theorem 8" if len(self.blocks) == 1 else "Corollary 14"


class Averaging:
    """(δ‖x*‖² + max_i ‖x*_[i]‖² tr G_t^½)/(2η) + η tr G_t^½ if δ ≥ max ‖g_[i]‖₂: (16), (18).

    Th. 6 for a diagonal, Th. 8 for a matrix, in blocks i Cor. 14, with its δ. If a gradient was
    longer, Corollary 3 on the run's own metrics, which needs δ > 0 only and lets δ_t rise:
    ⟨x*, H_t x*⟩/(2η) + (η/2) Σ_τ ⟨g_τ, H_{τ−1}⁻¹ g_τ⟩.
    """

    def __init__(self, best: Array, eta: float, metric: Diagonal | Roots) -> None:
        self.best, self.eta, self.metric, self.delta = best, eta, metric, metric.delta
        self.theorem = metric.theorem
        self.duals = 0.0

    def take(self, x: Array, g: Array) -> float:
        eta, delta, metric = self.eta, self.delta, self.metric
        self.duals += metric.square(g, -1)
        metric.take(g)
        if metric.longest(g) > delta * (1.0 + _ALIKE):
            self.theorem = "Corollary 3"
        if self.theorem == "Corollary 3":  # (11)
            return metric.square(self.best, 1) / (2.0 * eta) + 0.5 * eta * self.duals
        trace = metric.trace()
        pulled = delta * float(self.best @ self.best) + metric.largest(self.best) * trace
        return pulled / (2.0 * eta) + eta * trace


class MirrorDescent:
    """(δ‖x* − x_1‖² + max_{τ,i} ‖(x* − x_τ)_[i]‖² tr G_t^½)/(2η) + η tr G_t^½: (17), (19).

    Th. 6 with its δ, Th. 8; in blocks i it is what §8 calls a similar bound. If δ_t rises with a
    share of the longest gradient, Σ_τ (δ_τ − δ_{τ−1})‖x* − x_τ‖² stands for δ‖x* − x_1‖²:
    H_τ − H_{τ−1} has it more.
    """

    def __init__(self, best: Array, eta: float, metric: Diagonal | Roots) -> None:
        self.best, self.eta, self.metric = best, eta, metric
        self.theorem = metric.theorem
        self.before = 0.0  # δ_{τ−1}
        self.pulled = self.width = 0.0

    def take(self, x: Array, g: Array) -> float:
        away, metric = self.best - x, self.metric
        self.width = max(self.width, metric.largest(away))
        metric.take(g)
        self.pulled += (metric.delta - self.before) * float(away @ away)
        self.before = metric.delta
        trace = metric.trace()
        return (self.pulled + self.width * trace) / (2.0 * self.eta) + self.eta * trace


class PlainAveraging:
    """√t ‖x*‖²/(2η) + (η/2) Σ_τ ‖g_τ‖²/√max(τ − 1, 1): Cor. 3 with ψ_t = ½√t ‖x‖², ψ_0 = ψ_1.

    Eq. (9), whose 1/(2√T) stands where the sum of the 1/(2√τ) belongs.
    """

    theorem = "eq. (9)"

    def __init__(self, best: Array, eta: float) -> None:
        self.best, self.eta = best, eta
        self.t = 0
        self.duals = 0.0

    def take(self, x: Array, g: Array) -> float:
        self.duals += float(g @ g) / math.sqrt(max(self.t, 1))
        self.t += 1
        square = float(self.best @ self.best)
        return math.sqrt(self.t) * square / (2.0 * self.eta) + 0.5 * self.eta * self.duals


class PlainMirror:
    """√t max_τ ‖x* − x_τ‖²/(2η) + (η/2) Σ_τ ‖g_τ‖²/√τ: Cor. 4 with ψ_t = ½√t ‖x‖², eq. (8)."""

    theorem = "eq. (8)"

    def __init__(self, best: Array, eta: float) -> None:
        self.best, self.eta = best, eta
        self.t = 0
        self.duals = self.width = 0.0

    def take(self, x: Array, g: Array) -> float:
        self.t += 1
        self.duals += float(g @ g) / math.sqrt(self.t)
        away = self.best - x
        self.width = max(self.width, float(away @ away))
        return math.sqrt(self.t) * self.width / (2.0 * self.eta) + 0.5 * self.eta * self.duals
