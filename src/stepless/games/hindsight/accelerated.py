"""Accelerated gradient steps over a domain."""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.games.hindsight.problem import HindsightProblem

_CHECK = 10  # steps from one lower bound to the next
_STALLED = 200  # steps without progress that end the search
_STEEPEST = 1e100


def accelerate(problem: HindsightProblem, w: Array, steps: int, goal: float) -> Array:
    """Take accelerated proximal gradient steps with restarts (FISTA), until the gap meets the goal.

    L, the inverse step size, is found by backtracking.
    """
    ahead, best, lowest, t = w, w, problem.value(w), 1.0
    L, bound, before = _first_curvature(problem, w), -math.inf, math.inf
    for step in range(1, steps + 1):
        f, g = problem.f(ahead), problem.gradient(ahead)
        noise = problem.rounding * problem.magnitude(ahead)
        while True:
            v = problem.step(ahead, g, L)
            move = v - ahead
            above = problem.f(v) - f - float(g @ move)
            if above <= 0.5 * L * float(move @ move) + noise or L > _STEEPEST:
                break
            L *= 2.0
        value = problem.value(v)
        if value < lowest:
            best, lowest = v, value
        if float((ahead - v) @ (v - w)) > 0.0:  # against the momentum
            t, ahead = 1.0, v
        else:
            after = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
            ahead, t = v + ((t - 1.0) / after) * (v - w), after
            if not math.isfinite(problem.f(ahead)):  # outside of S, costs need not be defined
                t, ahead = 1.0, v
        w = v
        L *= 0.97
        if step % _CHECK == 0:
            bound = max(bound, problem.lower_bound(best))
            if lowest - bound <= goal:
                break
        if step % _STALLED == 0:
            if before - lowest <= problem.rounding * problem.magnitude(best):
                break
            before = lowest
    return best


def _first_curvature(problem: HindsightProblem, w: Array) -> float:
    """Return the curvature along the first step, from two gradients."""
    g = problem.gradient(w)
    steep = float(np.linalg.norm(g))
    v = problem.step(w, g, steep or 1.0)
    length = float(np.linalg.norm(v - w))
    inside = math.isfinite(problem.f(v))
    change = float(np.linalg.norm(problem.gradient(v) - g)) if inside else steep
    return max(change / length if length > 0.0 else 0.0, 1e-6 * steep, 1e-300)
