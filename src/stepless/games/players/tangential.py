"""Components of gradients along a domain."""

from __future__ import annotations

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective import Domain


def tangential_part(domain: Domain, g: Array) -> Array:
    """Return the component of g (or of each row) in the directions u − w of the domain's points.

    In a simplex the weights cannot all grow: ⟨g, u − w⟩ is the same for g less its mean, which is a
    subgradient of f over S, too, and shorter. So prices that rise together, or experts that all
    lose, do not shorten steps.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.objective import Simplex
    >>> tangential_part(Simplex(), np.array([3.0, 5.0]))
    array([-1.,  1.])
    """
    if not domain.simplex:
        return g
    return _centred(g) if g.ndim == 1 else g - g.mean(axis=1, keepdims=True)


@compiled("g[_]")
def _centred(g: Array) -> Array:
    return g - float(g.mean())
