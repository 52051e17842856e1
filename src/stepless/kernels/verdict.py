"""What an example's loss says of its predictions."""

from __future__ import annotations

from stepless.jit import FAST, compiled


@compiled(fastmath=FAST)
def judge(loss, z, y, s, a):
    """Write a = s ∂ℓ(z, y); return sℓ, its tangent's offset sℓ − ⟨a, z⟩, its sizes, any a ≠ 0."""
    here = s * loss.slopes(z, y, a)
    offset = here
    rough = here
    moved = False
    for c in range(z.size):
        a[c] *= s
        offset -= a[c] * z[c]
        rough += abs(a[c] * z[c])
        moved = moved or a[c] != 0.0
    return here, offset, rough, moved
