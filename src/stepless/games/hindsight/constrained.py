"""The least of a sum where constraints hold as well."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from stepless.arrays import Array
from stepless.objective import Domain, Intersection, L2Ball, Polytope

_MOST_CUTS = 300
_TIGHT = 1e-11  # of the domain's extent: as near as cuts come to a constraint

Solve = Callable[[Domain], tuple[Array, float]]


def within(
    domain: Domain, constraints: Sequence[Domain], d: int, solve: Solve
) -> tuple[Array, float]:
    """Solve over what a ball and linear inequalities leave, and cut off what breaks the others.

    The bound holds for all of the larger set (Kelley). What is left of a constraint's excess in the
    end is taken away by a step towards a point inside, if one is known.
    """
    sets = (domain, *constraints)
    balls = [S.radius() for S in sets if S.ball_exponent == 2.0]
    flat = [S.inequalities(d) for S in sets if S.offers("inequalities")]
    others = refuse_unknown(sets)
    radius = min(domain.radius(), math.sqrt(d) * domain.reach(), *balls)
    A = np.vstack([np.empty((0, d)), *(rows for rows, _ in flat)])
    b = np.concatenate([np.empty(0), *(heights for _, heights in flat)])
    w, bound = solve(_outer(radius, bool(balls) or not flat, A, b))
    for _ in range(_MOST_CUTS):
        cuts = [_cut(S, w) for S in others if S.excess(w) > _TIGHT * radius]
        if not cuts:
            break
        A = np.vstack([A, *(g for g, _ in cuts)])
        b = np.append(b, [height for _, height in cuts])
        w, bound = solve(_outer(radius, bool(balls) or not flat, A, b))
    return _inside(domain, constraints, w), bound


def refuse_unknown(sets: Sequence[Domain]) -> list[Domain]:
    """The sets that are neither balls nor flat; ValueError where one of them cannot be cut."""
    others = [S for S in sets if not (S.ball_exponent == 2.0 or S.offers("inequalities"))]
    for S in others:
        if not S.offers("excess", "outward"):
            raise ValueError(
                f"the best decision in {type(S).__name__} and other sets at once is not known, "
                "for it has no `excess` and `outward`"
            )
    return others


def _outer(radius: float, round_: bool, A: Array, b: Array) -> Domain:
    """{w : Aw ≤ b}, in a ball if it is round."""
    if not b.size:
        return L2Ball(radius)
    if round_:  # the ball's box keeps every linear programme bounded
        axes = np.eye(A.shape[1])
        A = np.vstack([A, axes, -axes])
        b = np.append(b, np.full(2 * A.shape[1], radius))
    sizes = np.linalg.norm(A, axis=1)
    polytope = Polytope(A / sizes[:, None], b / sizes, radius, radius)
    return Intersection(radius, polytope) if round_ else polytope


def _cut(S: Domain, w: Array) -> tuple[Array, float]:
    """c(w) + ⟨g, v − w⟩ ≤ 0 for all v of S."""
    g = np.zeros(w.size)
    excess = float(S.outward(w, g))
    return g, float(g @ w) - excess


def _inside(domain: Domain, constraints: Sequence[Domain], w: Array) -> Array:
    """A point of the domain next to w that obeys the constraints, if 0 leads to one."""
    over = max(float(c.excess(w)) for c in constraints)
    middle = np.zeros(w.size)
    domain.project(middle)
    depth = -max(float(c.excess(middle)) for c in constraints)
    if over > 0.0 and depth > 0.0:  # the excess is convex
        w = middle + (depth / (depth + over)) * (w - middle)
    domain.project(w)
    return w
