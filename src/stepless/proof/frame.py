"""Coordinates in which predictions are verified to grow with the distance.

Predictions that differ by Δ at a distance of r have Σ h_i² Δ_i² ≥ μr² (`proof.optimum_distance`).
Of this μ is verified, T a guess: the inverse of a triangular factor of rows h_i(x_i − c, 1), with
any c, since b is free. For the rows y_i = (x_i − c, 1)T, computed with an error of at most η_i,
and K = Σ h_i² y_i y_iᵀ, computed with one of at most ε,

    √μ ≥ √(1 − ‖I − K‖ − ε) − √(Σ h_i² η_i²).

If that is above 0, T is regular: nothing else is needed of it. Features that are exactly dependent
on others are left out: each v has the same predictions as one without them. Dependence is proved by
small dyadic numbers whose products and sums are all exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from stepless.arrays import Array, Indices
from stepless.data import Column, Source
from stepless.data.triangle import chunks, independent, triangle, upper
from stepless.objective import Loss
from stepless.proof import losses
from stepless.proof.arithmetic import two_sums
from stepless.proof.rounding_error import NARROWER, TINY, WIDER
from stepless.rounding import UNIT

_LONGEST = 1e150  # row of T
_DYADIC = 16.0  # denominator of the coefficients of an exactly dependent feature


@dataclass(frozen=True)
class RoundedPlane:
    """⟨v, w⟩ − offset, which is below the risk for some v within error of g.

    Its slopes are s_i a_i: numbers and corrections.
    """

    g: Array
    error: Array
    offset: float
    slopes: Column


@dataclass(frozen=True)
class Frame:
    """Coordinates u of (v, b + ⟨v, c⟩) = Tu, all of about the same influence on predictions."""

    source: Source
    free: bool
    h: Column  # whose squares weigh squares of predictions
    centre: Array  # c
    kept: Indices  # features, after which the intercept comes, if any
    T: Array
    lengths: Array  # of T's rows, from above

    @classmethod
    def of(cls, source: Source, free: bool, h: Column) -> Frame | None:
        """Return coordinates, if there are any; `growth` says whether they are good."""
        centre, R = triangle(source, h, free)
        if not np.isfinite(R).all():
            return None
        kept, left, shares = independent(R, free)
        if not kept.size and not free:
            return None
        each = zip(left, shares.T, strict=True)
        if not all(is_combination(source, free, j, kept, t) for j, t in each):
            return None
        order = np.append(kept, source.shape[1]) if free else kept
        R = upper(R[:, order])
        scale = np.linalg.norm(R, axis=0)
        if not (scale > 0.0).all() or not R.diagonal().all():
            return None
        with np.errstate(over="ignore"):  # features so small are not known
            T = solve_triangular(R / scale, np.eye(order.size)) / scale[:, None]
            lengths = np.linalg.norm(T, axis=1) * WIDER
        known = bool(np.isfinite(T).all() and (lengths < _LONGEST).all())
        return cls(source, free, h, centre, order, T, lengths) if known else None

    def slope(self, plane: RoundedPlane) -> float:
        """Return γ = ‖Tᵀg‖ from above."""
        kept = self.kept[: self.kept.size - self.free]
        g, n = plane.g[kept], kept.size
        error = plane.error[kept] + 2.0 * (n + 4) * UNIT * np.abs(g)
        length = float(np.linalg.norm(g @ self.T[:n])) + float(error @ self.lengths[:n])
        return length * WIDER + TINY

    def reach(self) -> float:
        """Return the largest ‖(x_i − c, 1)T‖ from above, of rows with h_i > 0."""
        longest = 0.0
        for k, rows, _, A in chunks(self.source, self.centre, self.free):
            some = A[self.h.parts[k][rows] > 0.0][:, self.kept]
            length = np.linalg.norm(some @ self.T, axis=1)
            length += 2.0 * (self.kept.size + 4) * UNIT * (np.abs(some) @ self.lengths)
            longest = max(longest, float(length.max(initial=0.0)))
        return longest * WIDER

    def growth(self, loss: Loss | None = None, near: Column | None = None, r: float = 0.0) -> float:
        """Return √μ from below; for curvatures up to a distance of r, if a loss is given."""
        n, T = self.kept.size, self.T
        K, spill = np.zeros((n, n)), 0.0
        for k, rows, block, A in chunks(self.source, self.centre, self.free):
            some = A[:, self.kept]
            Y = some @ T
            eta = 2.0 * (n + 4) * UNIT * (np.abs(some) @ self.lengths)
            if loss is None or near is None:
                h = self.h.parts[k][rows]
            else:
                away = r * WIDER * (np.linalg.norm(Y, axis=1) + eta)
                ends = near.parts[k][:, rows] + np.array([-away, away])
                h = losses.curvature_roots(block, loss, ends, self.source.shape[0])
            Y *= h[:, None]
            K += Y.T @ Y
            spill += float(np.square(h * eta).sum()) * (1.0 + (h.size + 8) * UNIT)
        trace = float(K.trace())
        off = float(np.linalg.norm(np.eye(n) - K)) * (1.0 + (n * n + 8) * UNIT)
        off += 2.0 * (self.source.shape[0] + n + 8) * UNIT * trace
        least = (1.0 - off) * NARROWER
        if not least > 0.0:  # not a number, perhaps
            return 0.0
        return math.sqrt(least) - WIDER * (math.sqrt(spill) + 2.0 * UNIT * math.sqrt(trace))


def is_combination(source: Source, free: bool, j: int, kept: Indices, shares: Array) -> bool:
    """Return whether feature j is exactly a combination of others, with a constant if b is free.

    The shares are rounded to sixteenths; a product or sum that needs rounding proves nothing.
    """
    t = np.rint(_DYADIC * shares) / _DYADIC
    if not (np.abs(t) < 2.0**20).all():
        return False
    those = np.append(kept[t != 0.0], j)
    t = np.append(t[t != 0.0], -1.0)
    first: float | None = None if free else 0.0
    for _, _, block, A in chunks(source, np.zeros(source.shape[1]), False):
        left, exact = _exact_residual(A[block.s > 0.0], those, t)
        if not exact:
            return False
        first = left[0] if first is None and left.size else first
        if not (left == first).all():
            return False
    return True


def _exact_residual(A: Array, those: Array, t: Array) -> tuple[Array, bool]:
    """Return Σ t_j x_ij, and whether no operation was rounded."""
    total, exact = np.zeros(A.shape[0]), True
    for j, share in zip(those, t, strict=True):
        x = A[:, j]
        # a double of 24 binary digits times one of 25 at most
        whole = np.float32(share) == share and (x.astype(np.float32) == x).all()
        exact = exact and bool(whole or abs(share) in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0))
        term = share * x
        total, error = np.moveaxis(two_sums(total, term), -1, 0)
        exact = exact and not error.any()
    return total, exact
