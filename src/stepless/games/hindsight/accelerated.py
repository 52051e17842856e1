"""Accelerated gradient steps over a domain."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.hindsight.task import Task

_LOOK = 10  # steps from one certificate to the next
_STALLED = 200  # steps without progress that end the search
_STEEPEST = 1e100


def accelerate(task: Task, w: Array, steps: int, goal: float) -> Array:
    """Take proximal gradient steps from a point ahead, restarted where it leads up (FISTA).

    The steps' curvature L is found. It ends when the gap is within the goal.
    """
    ahead, best, lowest, t = w, w, task.value(w), 1.0
    L, bound, before = _first(task, w), -math.inf, math.inf
    for step in range(1, steps + 1):
        f, g = task.f(ahead), task.slope(ahead)
        noise = task.rounding * task.size(ahead)
        while True:
            v = task.step(ahead, g, L)
            move = v - ahead
            above = task.f(v) - f - float(g @ move)
            if above <= 0.5 * L * float(move @ move) + noise or L > _STEEPEST:
                break
            L *= 2.0
        value = task.value(v)
        if value < lowest:
            best, lowest = v, value
        if float((ahead - v) @ (v - w)) > 0.0:  # against the momentum
            t, ahead = 1.0, v
        else:
            after = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
            ahead, t = v + ((t - 1.0) / after) * (v - w), after
            if not math.isfinite(task.f(ahead)):  # beyond the domain, where costs may end
                t, ahead = 1.0, v
        w = v
        L *= 0.97
        if step % _LOOK == 0:
            bound = max(bound, task.lower_bound(best))
            if lowest - bound <= goal:
                break
        if step % _STALLED == 0:
            if before - lowest <= task.rounding * task.size(best):  # rounding is all that is left
                break
            before = lowest
    return best


def _first(task: Task, w: Array) -> float:
    """The curvature along the first step, from two slopes."""
    g = task.slope(w)
    steep = float(np.linalg.norm(g))
    v = task.step(w, g, steep or 1.0)
    length = float(np.linalg.norm(v - w))
    change = float(np.linalg.norm(task.slope(v) - g)) if math.isfinite(task.f(v)) else steep
    return max(change / length if length > 0.0 else 0.0, 1e-6 * steep, 1e-300)
