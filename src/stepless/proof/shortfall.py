"""Explain in a sentence why no bound was proved without a penalty."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import rowless
from stepless.data import Block, Source
from stepless.data.triangle import independent, triangle
from stepless.objective import Loss
from stepless.proof.frame import is_combination
from stepless.proof.optimum_distance import FEATURES, PRODUCTS, too_large
from stepless.proof.products import COMPENSATED, predictions
from stepless.rounding import UNIT

REMEDY = "penalty='l2' with a small alpha"


def shortfall(
    loss: Loss, source: Source, free: bool, w: Array, b: float, fitted: bool
) -> str | None:
    """Say why no bound was verified near the weights that a solver found, and what to do.

    None where they are `fitted`: there is nothing to prove, unless the classes are separable.
    """
    (m, d), n = source.shape, source.shape[1] + free
    margins = source.column(predictions, w, float(b))
    least = min(source.map(_margin, margins, COMPENSATED.rounding(d)))
    if loss.targets == "signs" and least > 0.0 and loss.value(4.0 * max(least, 1.0), 1.0) > 0.0:
        return (
            "the classes are separable: all examples lie on their side of the weights found, by "
            f"{least:.2g} at least, and the risk falls towards 0 as weights grow; use {REMEDY}"
        )
    if fitted:
        return None
    if too_large(m, n):
        return (
            f"without a penalty a gap is certified up to {FEATURES} features and {PRODUCTS:g} "
            f"products of them, not for {d} features of {m} examples; use {REMEDY}"
        )
    curved = loss.offers("curvature") and loss.unimodal
    if not (curved or loss.offers("corners")):
        return (
            "without a penalty a gap is certified for losses with corners or with a unimodal "
            f"curvature, and {type(loss).__name__} declares neither; use {REMEDY}"
        )
    kept, left, shares = independent(triangle(source, source.column(_root_weights), free)[1], free)
    exact = [is_combination(source, free, j, kept, t) for j, t in zip(left, shares.T, strict=True)]
    left = left[~np.array(exact, dtype=bool)]  # exact combinations of others do no harm
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


@rowless
def _margin(block: Block, z: Array, rounding: float) -> float:
    """Return the least y_i z_i from below, of examples with weight."""
    margins = block.y * (z[0] + z[1]) - 2.0 * (rounding + 4.0 * UNIT) * z[2]
    return float(margins[block.s > 0.0].min(initial=math.inf))


@rowless
def _root_weights(block: Block) -> Array:
    return np.sqrt(block.s)
