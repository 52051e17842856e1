"""Projected Newton's method."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.games.hindsight.problem import HindsightProblem
from stepless.mirrors import project_metric

_STEPS = 100
_DAMPING = 1e-9  # of the mean curvature, added for singular Hessians
_SHORTEST = 1e-9  # share of a step at which the line search gives up


def newton(problem: HindsightProblem, w: Array) -> Array:
    """Iterate w ← argmin_v∈S ⟨∇f(w), v − w⟩ + ½⟨v − w, ∇²f(w)(v − w)⟩, with a line search.

    Each argmin is the projection, in the Hessian's metric, of the unconstrained Newton step.
    """
    value = problem.f(w)
    for _ in range(_STEPS):
        g, H = problem.gradient(w), problem.hessian(w)
        assert H is not None
        mean, steep = float(H.trace()) / problem.d, float(np.linalg.norm(g))
        H = H + (_DAMPING * mean or steep or 1.0) * np.eye(problem.d)
        v = project_metric(problem.domain, w - np.linalg.solve(H, g), H)
        enter(problem.domain, v)
        move = v - w
        fall, noise = float(g @ move), problem.rounding * problem.magnitude(w)
        share = 1.0
        while not (after := problem.f(w + share * move)) <= value + 0.25 * share * fall + noise:
            share *= 0.5
            if share < _SHORTEST:
                return w
        w, value = w + share * move, after
        if fall >= -0.01 * noise:
            return w
    return w
