"""Slopes of an example's loss in its predictions."""

from __future__ import annotations

from stepless.jit import FAST, compiled


@compiled(fastmath=FAST)
def weighted_slopes(loss, z, y, s, a):
    """Write a = s ∂ℓ(z, y); return whether any of it differs from 0."""
    loss.slopes(z, y, a)
    moved = False
    for c in range(z.size):
        a[c] *= s
        moved = moved or a[c] != 0.0
    return moved
