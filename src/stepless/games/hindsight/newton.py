"""Newton's method over a domain."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import enter
from stepless.games.hindsight.task import Task
from stepless.mirrors import project_metric

_STEPS = 100
_DAMPING = 1e-9  # of the mean curvature: a singular Hessian gets that much
_SHORTEST = 1e-9  # share of a step


def newton(task: Task, w: Array) -> Array:
    """Go to argmin_v∈S ⟨∇f(w), v − w⟩ + ½⟨v − w, ∇²f(w)(v − w)⟩, or on the way to it.

    Each is the nearest point, in the Hessian's metric, to where Newton's method would go freely.
    """
    value = task.f(w)
    for _ in range(_STEPS):
        g, H = task.slope(w), task.hessian(w)
        assert H is not None
        mean = float(H.trace()) / task.d
        steep = float(np.linalg.norm(g))
        H = H + (_DAMPING * mean or steep or 1.0) * np.eye(task.d)
        v = project_metric(task.domain, w - np.linalg.solve(H, g), H)
        enter(task.domain, v)
        move = v - w
        fall, noise = float(g @ move), task.rounding * task.size(w)
        share = 1.0
        while not (after := task.f(w + share * move)) <= value + 0.25 * share * fall + noise:
            share *= 0.5
            if share < _SHORTEST:
                return w
        w, value = w + share * move, after
        if fall >= -0.01 * noise:
            return w
    return w
