"""How far from given weights an optimum can be where no penalty and no domain bounds it.

Slopes a_i with Σ s_i a_i = 0 give L(v) = ⟨g, v⟩ − Σ s_i ℓ*(a_i, y_i)/m below the risk J, but g is
never exactly 0, and L has no minimum. If a ball around w holds an optimum, then L's minimum over
the ball is below J*. The ball is one of coordinates u: (v, b) = Tu, T any matrix, in which
|L(v) − L(w)| ≤ γr for γ = ‖Tᵀg‖ at a distance of r. Let E ≥ J(w) − L(w), the mean s_i e_i(z_i(w))
of e_i(z) = ℓ(z, y_i) − a_i z + ℓ*(a_i, y_i) ≥ 0; J(v) − L(v) is the mean s_i e_i(z_i(v)). If J is
above J(w) all over a sphere around w, so it is, being convex, outside: an optimum is inside, and
J* ≥ L(w) − γr. With Δ_i = z_i(v) − z_i(w), on a sphere of radius r:

Curved. Let ℓ(·, y_i) have a curvature of c_i or more on an interval I_i that z_i stays in up to the
distance r, and Σ s_i c_i Δ_i²/m ≥ μr². On I_i, e_i is c_i-strongly convex and not negative: with
its minimiser ẑ_i there, e_i(z) ≥ c_i(z − ẑ_i)²/2. So z(w) is within √(2E) of ẑ, z(v) at least
√μr − √(2E) away from it (as root mean squares, weighted by s_i c_i), and

    J(v) ≥ L(w) − γr + (√μr − √(2E))²/2 > L(w) + E  if  r > 2(√(2E) + γ/√μ)/√μ.

Sharp. Let a_i lie between the slopes left and right of a corner k_i, and κ_i or more away from
them: e_i(z) ≥ κ_i|z − k_i|. Then Σ s_i κ_i|z_i(w) − k_i|/m ≤ E, and with Σ (s_i κ_i Δ_i/m)² ≥ μr²,

    J(v) ≥ L(w) − γr + Σ s_i κ_i |Δ_i|/m − E > L(w) + E  if  (√μ − γ)r > 2E.

Coercive. Let ℓ fall by θ or more left of all corners, and rise so right of them: as ℓ ≥ 0,
ℓ(z) ≥ θ|z − k| − θw for each of them, w apart at most. So Σ s_i θ_i|z_i − k_i|/m ≤ J + Σ s_i θ_i
w_i/m at v and at w, and, with Σ (s_i θ_i Δ_i/m)² ≥ μr², J(v) > J(w) if √μr > 2(J(w) + Σ s_i θ_i
w_i/m).

μ is verified, T a guess: the inverse of a triangular factor of rows h_i(x_i − c, 1), with h_i² the
factors of Δ_i² above and any c, since b is free. For the rows y_i = (x_i − c, 1)T, as computed with
an error of η_i at most, and K = Σ h_i² y_i y_iᵀ, as computed with an error of ε,

    √μ ≥ √(1 − ‖I − K‖ − ε) − √(Σ h_i² η_i²).

If that is above 0, T is regular: nothing else is asked of it. Features that are exactly dependent
on others, shown by small dyadic numbers whose products and sums are all exact, are left out: each
v has the same predictions as one without them. Every rounding is counted: docs/certificates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from stepless.data import Block, Column, Source
from stepless.data.triangle import chunks, independent, triangle
from stepless.jit import compiled
from stepless.objective import Loss, Penalized, Zero
from stepless.proof.arithmetic import TINY, UNIT
from stepless.proof.products import CAREFUL, Care

REMEDY = "penalty='l2' with a small alpha"
_MANY = 4000  # columns up to which
_LARGEST = 2e11  # and products with them up to which an optimum's distance is verified
_NARROWER = 1.0 - 2.0**-40  # of a curvature as computed, at a prediction as computed
_WIDER = 1.0 + 2.0**-40
_DYADIC = 16.0  # denominator of the numbers by which a feature may be made of others


def unbounded(objective: Penalized) -> bool:
    """Whether neither penalty nor domain bounds the weights."""
    return type(objective.regularizer) is Zero and bool(objective.domain.free)


@dataclass(frozen=True)
class Plane:
    """⟨v, w⟩ − offset, which is below the risk for some v within blur of g.

    Its slopes are s_i a_i: numbers, and what they lack.
    """

    g: NDArray
    blur: NDArray
    offset: float
    slopes: Column


def bound(
    loss: Loss,
    source: Source,
    free: bool,
    w: NDArray,
    b: float,
    plane: Plane,
    ceiling: float,
    care: Care = CAREFUL,
) -> float:
    """A number below J at all weights and intercepts, −∞ if none is found; J(w, b) ≤ ceiling."""
    m, d = source.shape
    if _too_large(m, d + free):
        return -math.inf
    doubt = float((plane.blur + (d + 4) * UNIT * np.abs(plane.g)) @ np.abs(w)) * _WIDER
    here = float(plane.g @ w) - doubt - plane.offset
    E = (ceiling - here) * _WIDER + 4.0 * UNIT * (abs(ceiling) + abs(here)) + TINY
    if not math.isfinite(E):
        return -math.inf
    found = math.inf
    if loss.offers("corners"):
        found = _sharp(loss, source, free, plane, E)
        if not found < E:
            found = min(found, _coercive(loss, source, free, plane, ceiling))
    elif loss.offers("curvature") and loss.unimodal:
        found = _curved(loss, source, free, w, b, plane, E, care)
    return here - found * _WIDER - 4.0 * UNIT * abs(here)


def _curved(
    loss: Loss,
    source: Source,
    free: bool,
    w: NDArray,
    b: float,
    plane: Plane,
    E: float,
    care: Care,
) -> float:
    """γr of a loss with a curvature."""
    z = source.column(care.predictions, w, float(b))
    off = care.rounding(source.shape[1])
    near = source.column(_intervals, z, off)
    frame = Frame.of(source, free, source.column(_roots, loss, near, source.shape[0]))
    if frame is None:
        return math.inf
    gamma = frame.slope(plane)
    r = 4.1 * (math.sqrt(2.0 * E) + gamma)
    root = frame.least(loss, near, r)
    if not root > 0.0:
        return math.inf
    needed = 2.0 * (math.sqrt(2.0 * E) + gamma / root) / root * _WIDER
    return gamma * r if r > needed else math.inf


def _sharp(loss: Loss, source: Source, free: bool, plane: Plane, E: float) -> float:
    """γr of a piecewise-linear loss, by slopes that lie inside of a corner's range."""
    frame = Frame.of(source, free, source.column(_inside, loss, plane.slopes, source.shape[0]))
    if frame is None:
        return math.inf
    gamma, root = frame.slope(plane), frame.least()
    return gamma * 2.0 * E / (root - gamma) * _WIDER if root > gamma * _WIDER else math.inf


def _coercive(loss: Loss, source: Source, free: bool, plane: Plane, ceiling: float) -> float:
    """γr of a piecewise-linear loss that rises on both sides."""
    parts = source.map(_growth, loss, source.shape[0])
    frame = Frame.of(source, free, Column([part[0] for part in parts]))
    if frame is None:
        return math.inf
    wide, root = math.fsum(part[1] for part in parts), frame.least()
    r = 2.0 * (ceiling + wide) / root * _WIDER if root > 0.0 else math.inf
    return frame.slope(plane) * r


def lacking(
    loss: Loss, source: Source, free: bool, w: NDArray, b: float, fitted: bool
) -> str | None:
    """Why no bound was verified near weights that a solver left, and what to do.

    None where they are `fitted`, so that there is nothing to prove, unless classes are separable.
    """
    (m, d), n = source.shape, source.shape[1] + free
    margins = source.column(CAREFUL.predictions, w, float(b))
    least = min(source.map(_margin, margins, CAREFUL.rounding(d)))
    if loss.targets == "signs" and least > 0.0:
        return (
            "the classes are separable: all examples lie on their side of the weights found, by "
            f"{least:.2g} at least, and the risk falls towards 0 as weights grow; use {REMEDY}"
        )
    if fitted:
        return None
    if _too_large(m, n):
        return (
            f"without a penalty a gap is certified up to {_MANY} features and {_LARGEST:g} products"
            f" of them, not for {d} features of {m} examples; use {REMEDY}"
        )
    curved = loss.offers("curvature") and loss.unimodal
    if not (curved or loss.offers("corners")):
        return (
            "without a penalty a gap is certified for losses with corners or with a unimodal "
            f"curvature, and {type(loss).__name__} says neither; use {REMEDY}"
        )
    left = independent(triangle(source, source.column(_even), free)[1], free)[1]
    if left.size:
        named = f"feature {left[0]} depends" if left.size == 1 else f"{left.size} features depend"
        return (
            f"{named} on others to within rounding (rank {n - left.size} of {n}"
            f"{', with the intercept' if free else ''}), so that weights may be large without "
            f"changing a prediction; drop {'it' if left.size == 1 else 'them'}, or use {REMEDY}"
        )
    return (
        "no distance of an optimum from the weights found could be verified: the loss is flat along"
        " some direction, and perhaps no weights are best, as where classes are separable but for "
        f"a few examples; use {REMEDY}"
    )


def _margin(block: Block, z: NDArray, rounding: float) -> float:
    """The least y_i z_i, from below, of examples that count."""
    margins = block.y * (z[0] + z[1]) - 2.0 * (rounding + 4.0 * UNIT) * z[2]
    return float(margins[block.s > 0.0].min(initial=math.inf))


def _even(block: Block) -> NDArray:
    return np.sqrt(block.s)


@dataclass(frozen=True)
class Frame:
    """Coordinates u of (v, b − ⟨v, c⟩) = Tu, of which predictions make about as much each."""

    source: Source
    free: bool
    h: Column  # whose squares weigh squares of predictions
    centre: NDArray  # c
    kept: NDArray  # features, after which the intercept comes, if any
    T: NDArray
    lengths: NDArray  # of T's rows, from above

    @classmethod
    def of(cls, source: Source, free: bool, h: Column) -> Frame | None:
        """Coordinates, if there are any; whether they are good is seen from what is `least`."""
        centre, R = triangle(source, h, free)
        if not np.isfinite(R).all():
            return None
        kept, left, shares = independent(R, free)
        if not kept.size and not free:
            return None
        if not all(_made(source, free, j, kept, t) for j, t in zip(left, shares.T, strict=True)):
            return None
        order = np.append(kept, source.shape[1]) if free else kept
        R = np.linalg.qr(R[:, order], mode="r")
        scale = np.linalg.norm(R, axis=0)
        if not (scale > 0.0).all() or not R.diagonal().all():
            return None
        T = solve_triangular(R / scale, np.eye(order.size)) / scale[:, None]
        lengths = np.linalg.norm(T, axis=1) * _WIDER
        known = bool(np.isfinite(T).all() and (lengths < 1e150).all())
        return cls(source, free, h, centre, order, T, lengths) if known else None

    def slope(self, plane: Plane) -> float:
        """γ = ‖Tᵀg‖, from above."""
        kept = self.kept[: self.kept.size - self.free]
        g, n = plane.g[kept], kept.size
        blur = plane.blur[kept] + 2.0 * (n + 4) * UNIT * np.abs(g)
        length = float(np.linalg.norm(g @ self.T[:n])) + float(blur @ self.lengths[:n])
        return length * _WIDER + TINY

    def least(
        self, loss: Loss | None = None, near: Column | None = None, r: float = 0.0
    ) -> float:
        """√μ, from below; for curvatures up to a distance of r, if a loss is given."""
        n, T = self.kept.size, self.T
        K, spill = np.zeros((n, n)), 0.0
        for k, rows, block, A in chunks(self.source, self.centre, self.free):
            A = A[:, self.kept]
            Y = A @ T
            eta = 2.0 * (n + 4) * UNIT * (np.abs(A) @ self.lengths)
            if loss is None or near is None:
                h = self.h.parts[k][rows]
            else:
                away = r * _WIDER * (np.linalg.norm(Y, axis=1) + eta)
                ends = near.parts[k][:, rows] + np.array([-away, away])
                h = _roots(block, loss, ends, self.source.shape[0])
            Y *= h[:, None]
            K += Y.T @ Y
            spill += float(np.square(h * eta).sum())
        trace = float(K.trace())
        off = float(np.linalg.norm(np.eye(n) - K)) * (1.0 + (n * n + 8) * UNIT)
        off += 2.0 * (self.source.shape[0] + n + 8) * UNIT * trace
        least = (1.0 - off) * _NARROWER
        if not least > 0.0:  # not a number, perhaps
            return 0.0
        return math.sqrt(least) - _WIDER * (math.sqrt(spill) + 2.0 * UNIT * math.sqrt(trace))


def _made(source: Source, free: bool, j: int, kept: NDArray, shares: NDArray) -> bool:
    """Whether feature j is a sum of others exactly; but for a constant, if there is an intercept.

    The shares are rounded to sixteenths, and products and sums must not be rounded at all.
    """
    t = np.rint(_DYADIC * shares) / _DYADIC
    if not (np.abs(t) < 2.0**20).all():
        return False
    those = np.append(kept[t != 0.0], j)
    t = np.append(t[t != 0.0], -1.0)
    first: float | None = None if free else 0.0
    for _, _, block, A in chunks(source, np.zeros(source.shape[1]), False):
        left, exact = _left(A[block.s > 0.0], those, t)
        if not exact:
            return False
        first = left[0] if first is None and left.size else first
        if not (left == first).all():
            return False
    return True


def _left(A: NDArray, those: NDArray, t: NDArray) -> tuple[NDArray, bool]:
    """Σ t_j x_ij, and whether all is exact."""
    total, exact = np.zeros(A.shape[0]), True
    for j, share in zip(those, t, strict=True):
        x = A[:, j]
        # a double of 24 binary digits times one of 25 at most
        whole = np.float32(share) == share and (x.astype(np.float32) == x).all()
        exact = exact and bool(whole or abs(share) in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0))
        term = share * x
        sum_ = total + term
        late = sum_ - total
        exact = exact and not ((total - (sum_ - late)) + (term - late)).any()
        total = sum_
    return total, exact


@compiled("block[m,_] z[3,m]")
def _intervals(block, z, rounding):
    """Where predictions are, by all that rounding may have done to them and to curvatures there."""
    _, y, s = block
    ends = np.empty((2, s.size))
    for i in range(s.size):
        off = abs(z[1, i]) + rounding * z[2, i] + 8.0 * UNIT * (1.0 + abs(z[0, i]) + abs(y[i]))
        ends[0, i], ends[1, i] = z[0, i] - off, z[0, i] + off
    return ends


@compiled("block[m,_] near[2,m]")
def _roots(block, loss, near, m):
    """Numbers whose squares are below s_i/m times the curvature anywhere in an interval."""
    _, y, s = block
    h = np.empty(s.size)
    for i in range(s.size):
        c = min(loss.curvature(near[0, i], y[i]), loss.curvature(near[1, i], y[i]))
        h[i] = math.sqrt(s[i] * c / m) * _NARROWER if 1e-280 < c < math.inf else 0.0
    return h


def _inside(block: Block, loss: Loss, slopes: NDArray, m: int) -> NDArray:
    """s_i κ_i/m, from below: how far a slope is from the ends of its corner's range."""
    first, k, rise = loss.corners(block.y)
    rise = np.take_along_axis(rise, np.argsort(k, axis=0), axis=0)
    right = first + np.cumsum(rise, axis=0)
    share = np.where(block.s > 0.0, block.s, 1.0)
    a = slopes[0] / share
    inside = np.minimum(a - (right - rise), right - a).max(axis=0, initial=0.0)
    doubt = 8.0 * (len(k) + 2) * UNIT * (np.abs(first) + rise.sum(axis=0) + np.abs(a))
    return np.maximum(inside - doubt, 0.0) * block.s / m * _NARROWER


def _growth(block: Block, loss: Loss, m: int) -> tuple[NDArray, float]:
    """s_i θ_i/m, from below: how steep a loss is beyond its corners; Σ s_i θ_i w_i/m."""
    first, k, rise = loss.corners(block.y)
    steep = np.maximum(np.minimum(-first, first + rise.sum(axis=0)), 0.0)
    h = steep * block.s / m * _NARROWER
    wide = np.ptp(k, axis=0) + 8.0 * UNIT * np.abs(k).max(axis=0)
    return h, float(h @ wide) * _WIDER


def _too_large(m: int, n: int) -> bool:
    return n > _MANY or m * n * n > _LARGEST
