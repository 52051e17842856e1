"""A lower bound where neither penalty nor domain bounds the weights: a ball holds an optimum.

Slopes a_i with Σ s_i a_i = 0 give L(v) = ⟨g, v⟩ − Σ s_i ℓ*(a_i, y_i)/m below the risk J, but g is
never exactly 0, and L has no minimum. If a ball around w holds an optimum, then L's minimum over
the ball is below J*. The ball is one of coordinates u: (v, b) = Tu, T any matrix, in which
|L(v) − L(w)| ≤ γr for γ = ‖Tᵀg‖ at a distance of r. Let E ≥ J(w) − L(w), the mean s_i e_i(z_i(w))
of e_i(z) = ℓ(z, y_i) − a_i z + ℓ*(a_i, y_i) ≥ 0; J(v) − L(v) is the mean s_i e_i(z_i(v)). If J is
above J(w) all over a sphere around w, then, being convex, also outside: an optimum is inside, and
J* ≥ L(w) − γr. With Δ_i = z_i(v) − z_i(w), on a sphere of radius r:

Curved. Let ℓ(·, y_i) have a curvature of c_i or more on an interval I_i that z_i stays in up to the
distance r, and Σ s_i c_i Δ_i²/m ≥ μr². On I_i, e_i is c_i-strongly convex and not negative: with
its minimiser ẑ_i there, e_i(z) ≥ c_i(z − ẑ_i)²/2. So z(w) is within √(2E) of ẑ, z(v) at least
√μr − √(2E) away from it (as root mean squares, weighted by s_i c_i), and

    J(v) ≥ L(w) − γr + (√μr − √(2E))²/2 > L(w) + E  if  r > 2(√(2E) + γ/√μ)/√μ.

Sharp. Let a_i lie between the slopes left and right of a corner k_i, and κ_i or more away from
them: e_i(z) ≥ κ_i|z − k_i|. Then Σ s_i κ_i|z_i(w) − k_i|/m ≤ E, and with Σ (s_i κ_i Δ_i/m)² ≥ μr²,

    J(v) ≥ L(w) − γr + Σ s_i κ_i |Δ_i|/m − E > L(w) + E  if  (√μ − γ)r > 2E.

Coercive. Let ℓ fall with a slope of θ or more left of all corners, and rise so right of them: as
ℓ ≥ 0, ℓ(z) ≥ θ|z − k| − θw for each corner k, if they are at most w apart. So at v and at w
Σ s_i θ_i|z_i − k_i|/m ≤ J + Σ s_i θ_i w_i/m, and, with Σ (s_i θ_i Δ_i/m)² ≥ μr², J(v) > J(w) if
√μr > 2(J(w) + Σ s_i θ_i w_i/m).

μ and γ are verified in `proof.frame`. Every rounding is counted: docs/certificates.md.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import rowless
from stepless.data import Block, Column, Source
from stepless.objective import Loss, Objective, Penalized, Zero
from stepless.proof import losses
from stepless.proof.frame import Frame, RoundedPlane
from stepless.proof.rounding_error import NARROWER, TINY, WIDER
from stepless.rounding import UNIT

FEATURES = 4000  # most columns,
PRODUCTS = 2e11  # and most products with them, for which an optimum's distance is verified


def unbounded(objective: Penalized) -> bool:
    """Return whether neither penalty nor domain bounds the weights."""
    return type(objective.regularizer) is Zero and bool(objective.domain.free)


def lower_bound(
    objective: Objective,
    source: Source,
    w: Array,
    z: Column,
    plane: RoundedPlane,
    ceiling: float,
    rounding: float,
) -> float:
    """Return a number below J at all weights and intercepts, −∞ if none is found.

    J is at most `ceiling` at w, whose predictions z err by `rounding` of their terms' sizes.
    """
    (m, d), loss, free = source.shape, objective.loss, objective.intercept
    if too_large(m, d + free):
        return -math.inf
    error = float((plane.error + (d + 4) * UNIT * np.abs(plane.g)) @ np.abs(w)) * WIDER
    rise = float(plane.g @ w)
    here = rise - error - plane.offset - 8.0 * UNIT * (abs(rise) + error + abs(plane.offset))
    E = (ceiling - here) * WIDER + 4.0 * UNIT * (abs(ceiling) + abs(here)) + TINY
    if not math.isfinite(E):
        return -math.inf
    found = math.inf
    if loss.offers("corners"):
        found = _sharp(loss, source, free, plane, E)
        if not found < E:
            found = min(found, _coercive(loss, source, free, plane, ceiling))
    elif loss.offers("curvature") and loss.unimodal:
        near = source.column(losses.prediction_ranges, z, rounding)
        found = _curved(loss, source, free, near, plane, E)
    lowest = here - found * WIDER - 4.0 * UNIT * (abs(here) + found)
    return lowest if math.isfinite(lowest) else -math.inf


def _curved(
    loss: Loss, source: Source, free: bool, near: Column, plane: RoundedPlane, E: float
) -> float:
    """Return γr of a loss with a curvature, whose predictions are `near`."""
    h = source.column(losses.curvature_roots, loss, near, source.shape[0])
    frame = Frame.of(source, free, h)
    if frame is None:
        return math.inf
    gamma = frame.slope(plane)
    r = 4.1 * (math.sqrt(2.0 * E) + gamma)
    if not (root := frame.growth(loss, near, r)) > 0.0:
        return math.inf
    needed = 2.0 * (math.sqrt(2.0 * E) + gamma / root) / root * WIDER
    return gamma * r if r > needed else math.inf


def _sharp(loss: Loss, source: Source, free: bool, plane: RoundedPlane, E: float) -> float:
    """Return γr of a piecewise-linear loss, by slopes inside of a corner's range."""
    h = source.column(_depth_in_corner, loss, plane.slopes, source.shape[0])
    frame = Frame.of(source, free, h)
    if frame is None:
        return math.inf
    gamma, root = frame.slope(plane), frame.growth()
    return gamma * 2.0 * E / (root - gamma) * WIDER if root > gamma * WIDER else math.inf


def _coercive(loss: Loss, source: Source, free: bool, plane: RoundedPlane, ceiling: float) -> float:
    """Return γr of a piecewise-linear loss that rises on both sides."""
    parts = source.map(_growth_beyond_corners, loss, source.shape[0])
    frame = Frame.of(source, free, Column([part[0] for part in parts]))
    if frame is None:
        return math.inf
    wide, root = math.fsum(part[1] for part in parts), frame.growth()
    r = 2.0 * (ceiling + wide) / root * WIDER if root > 0.0 else math.inf
    return frame.slope(plane) * r


@rowless
def _depth_in_corner(block: Block, loss: Loss, slopes: Array, m: int) -> Array:
    """Return s_i κ_i/m from below, κ_i a slope's distance from the ends of its corner's range."""
    first, k, rise = loss.corners(block.y)
    rise = np.take_along_axis(rise, np.argsort(k, axis=0), axis=0)
    right = first + np.cumsum(rise, axis=0)
    share = np.where(block.s > 0.0, block.s, 1.0)
    a = slopes[0] / share
    inside = np.minimum(a - (right - rise), right - a).max(axis=0, initial=0.0)
    error = 8.0 * (len(k) + 2) * UNIT * (np.abs(first) + rise.sum(axis=0) + np.abs(a))
    below: Array = np.maximum(inside - error, 0.0) * block.s / m * NARROWER
    return below


@rowless
def _growth_beyond_corners(block: Block, loss: Loss, m: int) -> tuple[Array, float]:
    """Return s_i θ_i/m from below, θ_i the slope beyond all corners, and Σ s_i θ_i w_i/m."""
    first, k, rise = loss.corners(block.y)
    theta = np.maximum(np.minimum(-first, first + rise.sum(axis=0)), 0.0)
    h = theta * block.s / m * NARROWER
    wide = np.ptp(k, axis=0) + 8.0 * UNIT * np.abs(k).max(axis=0)
    return h, float(h @ wide) * (1.0 + (h.size + 64) * UNIT)


def too_large(m: int, n: int) -> bool:
    """Return whether m rows of n columns are too many to verify anything of them."""
    return n > FEATURES or m * n * n > PRODUCTS
