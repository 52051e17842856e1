"""A random order of the examples."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Indices
from stepless.jit import compiled


def random_order(m: int, rng: np.random.Generator) -> Indices:
    """Return the numbers of m examples, shuffled."""
    order = np.arange(m, dtype=np.uint32)
    shuffle(order, rng.integers(2**64, dtype=np.uint64))
    return order


@compiled("order[_]")
def shuffle(order, seed):
    """Permute `order` in place (Fisher-Yates) from a 64-bit seed (splitmix64)."""
    state = np.uint64(seed)
    for k in range(order.size - 1, 0, -1):
        state += np.uint64(0x9E3779B97F4A7C15)
        r = state
        r = (r ^ (r >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        r = (r ^ (r >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        r = r ^ (r >> np.uint64(31))
        # the high bits times the count: no division, bias below 2^-32 for any size at hand
        j = np.int64(((r >> np.uint64(32)) * np.uint64(k + 1)) >> np.uint64(32))
        order[k], order[j] = order[j], order[k]
