"""Minimisation over several sets at once, by cutting planes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from stepless.arrays import Array
from stepless.objective import Domain, Intersection, L2Ball, Polytope

_MOST_CUTS = 300
_TIGHT = 1e-11  # of the domain's radius: the violation that is left

Solve = Callable[[Domain], tuple[Array, float]]


def within(
    domain: Domain, constraints: Sequence[Domain], d: int, solve: Solve
) -> tuple[Array, float]:
    """Solve over a ball and linear inequalities, adding cutting planes of the other sets (Kelley).

    The bound holds over this larger set, so over the intersection, too. A step towards an interior
    point, if one is known, removes the violation that is left in the end.
    """
    sets = (domain, *constraints)
    balls = [S.radius() for S in sets if S.ball_exponent == 2.0]
    flat = [S.inequalities(d) for S in sets if S.offers("inequalities")]
    others = sets_to_cut(sets)
    radius = min(domain.radius(), math.sqrt(d) * domain.reach(), *balls)
    A = np.vstack([np.empty((0, d)), *(rows for rows, _ in flat)])
    b = np.concatenate([np.empty(0), *(heights for _, heights in flat)])
    for _ in range(_MOST_CUTS + 1):
        w, bound = solve(_outer(radius, bool(balls) or not flat, A, b))
        cuts = [_cut(S, w) for S in others if S.excess(w) > _TIGHT * radius]
        if not cuts:
            break
        A = np.vstack([A, *(g for g, _ in cuts)])
        b = np.append(b, [height for _, height in cuts])
    return _inside(domain, constraints, w), bound


def sets_to_cut(sets: Sequence[Domain]) -> list[Domain]:
    """Return the sets that need cutting planes; ValueError if one of them has none."""
    others = [S for S in sets if not (S.ball_exponent == 2.0 or S.offers("inequalities"))]
    for S in others:
        if not S.offers("excess", "outward"):
            raise ValueError(
                f"the best decision in {type(S).__name__} and other sets at once is not known, "
                "because it lacks `excess` and `outward`"
            )
    return others


def _outer(radius: float, round_: bool, A: Array, b: Array) -> Domain:
    """Return {w : Aw ≤ b}, intersected with a ball if it is round."""
    if not b.size:
        return L2Ball(radius)
    if round_:  # the ball's bounding box keeps every linear program bounded
        axes = np.eye(A.shape[1])
        A = np.vstack([A, axes, -axes])
        b = np.append(b, np.full(2 * A.shape[1], radius))
    sizes = np.linalg.norm(A, axis=1)
    polytope = Polytope(A / sizes[:, None], b / sizes, radius, radius)
    return Intersection(radius, polytope) if round_ else polytope


def _cut(S: Domain, w: Array) -> tuple[Array, float]:
    """Return g and h with ⟨g, v⟩ ≤ h for all v of S, from c(w) + ⟨g, v − w⟩ ≤ 0."""
    g = np.zeros(w.size)
    excess = float(S.outward(w, g))
    return g, float(g @ w) - excess


def _inside(domain: Domain, constraints: Sequence[Domain], w: Array) -> Array:
    """Return a point of the domain near w that obeys the constraints, if the centre obeys them."""
    over = max(float(c.excess(w)) for c in constraints)
    center = np.zeros(w.size)
    domain.project(center)
    depth = -max(float(c.excess(center)) for c in constraints)
    if over > 0.0 and depth > 0.0:  # the excess is convex
        w = center + (depth / (depth + over)) * (w - center)
    domain.project(w)
    return w
