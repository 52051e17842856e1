"""What of a gradient a domain can feel."""

from __future__ import annotations

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective import Domain


def along(domain: Domain, g: Array) -> Array:
    """The part of g (or of each row) in the directions u − w of the domain's points.

    A simplex has no direction in which all weights grow: ⟨g, u − w⟩ is the same for g less its
    mean, which is as much a subgradient of f over S, and shorter. Prices that rise together, or
    experts that all lose, then shorten no player's steps.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.objective import Simplex
    >>> along(Simplex(), np.array([3.0, 5.0]))
    array([-1.,  1.])
    """
    if not domain.simplex:
        return g
    return _centred(g) if g.ndim == 1 else g - g.mean(axis=1, keepdims=True)


@compiled("g[_]")
def _centred(g: Array) -> Array:
    return g - g.mean()
