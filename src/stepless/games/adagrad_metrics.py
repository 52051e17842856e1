"""Metrics H_t of AdaGrad, made of the gradients so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stepless.arrays import Array, Indices


class DiagonalMetric:
    """H_t = δI + diag ‖g_{1:t,j}‖₂: blocks of one coordinate each."""

    theorem = "Theorem 6"

    def __init__(self, d: int, delta: float) -> None:
        self.delta = delta
        self.norms = np.zeros(d)  # ‖g_{1:t,j}‖₂

    def add(self, g: Array) -> None:
        self.norms = np.hypot(self.norms, g)

    def matrix(self) -> Array:
        """The diagonal of H_t."""
        return self.delta + self.norms

    def trace(self) -> float:
        """γ_t = Σ_j ‖g_{1:t,j}‖₂."""
        return float(self.norms.sum())

    def largest_square(self, v: Array) -> float:
        return self.largest_norm(v) ** 2

    def largest_norm(self, v: Array) -> float:
        return float(np.abs(v).max())

    def square(self, v: Array, power: int) -> float:
        return float(self.matrix() ** power @ v**2)


class BlockMetric:
    """H_t = δ_t I + the root of the block-diagonal part of G_t = Σ ggᵀ, in its eigenvectors' basis.

    δ_t is at least δ, and at least `share` times the longest gradient so far: H_t stays far enough
    from a singular matrix to be solved. The eigenvalues of G_t^½ are the singular values of the
    matrix of all gradients, whose triangular factor is kept here. From G_t itself, known to 1e-16,
    its root would be known to 1e-8 only.
    """

    def __init__(self, blocks: Sequence[Indices], delta: float, share: float = 0.0) -> None:
        self.blocks, self.delta, self.share = list(blocks), delta, share
        self.factors = [np.zeros((at.size, at.size)) for at in blocks]
        self.roots = [np.zeros(at.size) for at in blocks]
        self.bases = [np.eye(at.size) for at in blocks]

    def add(self, g: Array) -> None:
        """Add ggᵀ."""
        self.delta = max(self.delta, self.share * self.largest_norm(g))
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

    def largest_square(self, v: Array) -> float:
        """Return the largest ‖v_[i]‖² of a block i."""
        return max(float(v[at] @ v[at]) for at in self.blocks)

    def largest_norm(self, v: Array) -> float:
        """Return the largest ‖v_[i]‖ of a block i."""
        return math.sqrt(self.largest_square(v))

    def square(self, v: Array, power: int) -> float:
        """⟨v, H_t^power v⟩."""
        return sum(
            float(np.sum((self.delta + roots) ** power * (basis @ v[at]) ** 2))
            for at, roots, basis in zip(self.blocks, self.roots, self.bases, strict=True)
        )

    @property
    def theorem(self) -> str:
        """Theorem 8 for one block, Corollary 14 for several."""
        return "Theorem 8" if len(self.blocks) == 1 else "Corollary 14"
