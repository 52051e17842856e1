"""Weights that obey a user-defined inequality."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.active_set import nearest
from stepless.objective.assigning import assign, assign_multiple
from stepless.objective.domains.domain import Domain

_TIGHT = 1e-12  # relative to how deep 0 lies inside, or to the excess where the search began
_MOST_CUTS = 20_000  # a few for each weight are enough where the set is not very flat


class Constraint(Domain):
    """S = {w : c(w) ≤ 0} for a user-defined convex function c.

    A subclass has `excess`, which returns c(w), and `outward`, which writes a subgradient and
    returns c(w) as well; both are compiled. `project` comes of itself; c(0) < 0 keeps it inside. A
    subclass that knows its `radius` needs no penalty and gets certificates, tight with `vertex`.
    `check_constraint` says in one line what is wrong with it.

    Examples
    --------
    >>> class Ellipse(Constraint):
    ...     def excess(self, w):
    ...         return w[0] ** 2 + 4.0 * w[1] ** 2 - 1.0
    ...     def outward(self, w, g):
    ...         g[0], g[1] = 2.0 * w[0], 8.0 * w[1]
    ...         return self.excess(w)
    ...     def radius(self):
    ...         return 1.0
    >>> w = np.array([2.0, 1.0])
    >>> Ellipse().project(w)
    >>> w.round(4), bool(abs(Ellipse().excess(w)) < 1e-9)
    (array([0.9333, 0.1795]), True)
    """

    checked_by: ClassVar[str] = "check_constraint"

    @classmethod
    def required(cls) -> tuple[str, ...]:
        return "excess", "outward"

    def project(self, w: Array) -> None:
        approach(self, w)


@compiled("w[_]")
def approach(domain: Domain, w: Array) -> None:
    """Move w to the nearest point with c ≤ 0, by cuts.

    v is nearest to w in the polytope of all cuts ⟨g, v − v_t⟩ + c(v_t) ≤ 0 that hold it (Kelley's
    cuts, one at each v_t; ‖v − w‖ only grows). What is left of c(v) then is taken away by a step
    towards 0, if c(0) < 0: c is convex.
    """
    d = w.size
    v, g = w.copy(), np.zeros(d)
    depth = -_excess(domain, g)
    c = _outward(domain, v, g)
    enough = _TIGHT * (depth if depth > 0.0 else min(1.0, c))
    A, b = np.empty((d + 1, d)), np.empty(d + 1)
    count = 0
    for _ in range(_MOST_CUTS):
        if c <= enough:
            break
        size = math.sqrt(g @ g)
        if not size > 0.0:
            raise ValueError("no w obeys this constraint: its subgradient is 0 outside")
        assign_multiple(A[count], 1.0 / size, g)
        b[count] = (g @ v - c) / size
        count += 1
        active = np.zeros(count, dtype=np.bool_)
        assign(v, w)
        if not nearest(v, A[:count], b[:count], active):
            raise ValueError("no w obeys this constraint: its cuts leave no point")
        kept = 0
        for k in range(count):
            if active[k]:
                if kept < k:
                    assign(A[kept], A[k])
                    b[kept] = b[k]
                kept += 1
        count = min(kept, d)
        c = _outward(domain, v, g)
    else:
        raise ValueError("20000 cuts did not find the nearest point: write a `project` for it")
    if c > 0.0 and depth > 0.0:
        v *= depth / (depth + c)
    assign(w, v)


# A method that is called twice in one loop would be inlined twice.
@compiled()
def _excess(domain: Domain, w: Array) -> float:
    return domain.excess(w)


@compiled()
def _outward(domain: Domain, w: Array, g: Array) -> float:
    return domain.outward(w, g)
