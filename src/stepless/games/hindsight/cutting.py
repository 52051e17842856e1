"""Cutting planes under a sum that has corners."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stepless.certificates import GeneralPlanes, PolyhedralPlanes
from stepless.certificates.polyhedral_planes import lasso
from stepless.games.hindsight.task import Task
from stepless.mirrors.elastic import elastic_shares
from stepless.objective import Zero
from stepless.plane import Plane
from stepless.solvers.batch.level_step import DUALS, Level, level_step


def cut(task: Task, w: NDArray, steps: int, goal: float) -> tuple[NDArray, float]:
    """Go down by the level method; return the best point, and a bound below F.

    Planes lie under F in a unit in which slopes are about 1, lifted by what makes it positive over
    all of S. Where its minimum with a plane is known, a penalty stays out of them, and T is the
    unit.
    """
    objective, unit = task.objective, float(task.T)
    apart = lasso(objective) is not None or objective.domain.separable
    if not apart and task.penalty is not None and elastic_shares(task.penalty) is not None:
        objective = replace(objective, regularizer=Zero())
    if objective.regularizer.zero:
        unit = float(task.blur(w).max()) / task.rounding or unit
    lift = task.smooth_bound(w) / unit
    if math.isinf(lift):  # an unbounded domain
        return w, -math.inf
    kind = GeneralPlanes if lasso(objective) is None else PolyhedralPlanes
    planes, level = kind(task.d, duals=DUALS), Level()
    best, lowest, bound, sizes = w, math.inf, 0.0, np.ones(task.d)
    for _ in range(steps):
        f, g = task.f(w), task.slope(w)
        if objective is not task.objective:
            f, g = f + task.T * task.omega(w), g + _subgradient(task, w)
        if not math.isfinite(f):
            break
        value = f / unit - lift + objective.penalty(w)
        if value < lowest:
            best, lowest = w, value
        offset = (f - float(g @ w) - task.rounding * (task.size(w) + abs(f))) / unit - lift
        haze = float(task.blur(w).max() + 4.0 * task.rounding * np.abs(g).max()) / unit
        planes.add(Plane(g / unit, offset, haze=haze, sizes=sizes))
        bound, w = level_step(objective, planes, best, lowest, level)
        if unit * (lowest - bound) <= goal:
            break
    rounding = 4.0 * task.rounding * (abs(bound) + abs(lift))
    return best, unit * (bound + lift - rounding)


def _subgradient(task: Task, w: NDArray) -> NDArray:
    shares = elastic_shares(task.penalty, task.T)
    assert shares is not None
    return shares[0] * np.sign(w) + shares[1] * w
