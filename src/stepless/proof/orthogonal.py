"""Slopes that no feature without a penalty can lower: near any others, and exactly orthogonal.

Let v_i = s_i a_i be slopes, level where the intercept is free, of features N with the sums
g_j = Σ v_i x_ij/m, which are not quite 0. With y_i = (x_iN − c, 1)T, where T is regular and c any
centre, and numbers h_i² ≤ |v_i|/m, let

    Σ h_i² y_i y_iᵀ = K ≥ μI,   ρ = Σ v_i y_i/m = Tᵀ(g, 0),   τ = K⁻¹ρ,   ε = ‖ρ‖/μ · max ‖y_i‖.

Then the slopes v_i − m h_i²⟨y_i, τ⟩ have Σ y_i(…)/m = ρ − Kτ = 0: they are orthogonal to
N, and level. Each is θv_i with 1 − ε ≤ θ ≤ 1 + ε. Divided by 1 + ε they are orthogonal still, and
as shares of v_i have finite conjugates, at most θℓ*(a_i). What is changed by that, by a share of 2ε
at most, is counted.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.light import rowless
from stepless.compiled.products import moments
from stepless.data import Block, Source
from stepless.proof.frame import Frame, RoundedPlane
from stepless.proof.optimum_distance import too_large
from stepless.proof.rounding_error import NARROWER, WIDER


def largest_change(source: Source, free: bool, features: Indices, plane: RoundedPlane) -> float:
    """Return 2ε: what share of its size a slope is changed by at most; infinite if that is unknown.

    `plane` has the sums of all features, and the slopes that they are of.
    """
    m = source.shape[0]
    # not by their squares, which may be too small for a double
    present = source.narrowed(features).total(moments, (3, features.size))[0] > 0.0
    features = features[present]
    if not features.size:
        return 0.0
    if too_large(m, features.size + free):
        return math.inf
    some = source.narrowed(features)
    frame = Frame.of(some, free, some.column(_root_sizes, plane.slopes, m))
    if frame is None or not (root := frame.growth()) > 0.0:
        return math.inf
    near = RoundedPlane(plane.g[features], plane.error[features], 0.0, plane.slopes)
    share = frame.slope(near) / (root * root) * frame.reach() * WIDER
    return 2.0 * share if share < 1.0 else math.inf


@rowless
def _root_sizes(block: Block, slopes: Array, m: int) -> Array:
    """Return √(|v_i|/m) from below."""
    found: Array = np.sqrt(np.abs(slopes[0]) / m) * NARROWER
    return found
