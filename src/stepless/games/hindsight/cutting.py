"""Cutting planes under a sum that has corners."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.certificates import GeneralPlanes, PolyhedralPlanes
from stepless.certificates.polyhedral_planes import lasso
from stepless.games.hindsight.task import Task
from stepless.mirrors.elastic import elastic_shares
from stepless.objective import Objective, Zero
from stepless.plane import Plane, Tangent
from stepless.proof import oracles
from stepless.proof.witness import Points
from stepless.solvers.batch.level_step import DUALS, LevelState, level_step


def cut(task: Task, w: Array, steps: int, goal: float) -> tuple[Array, float]:
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
        unit = float(task.slope_errors(w).max()) / task.rounding or unit
    lift = task.lower_bound(w, penalized=False) / unit
    if math.isinf(lift):  # an unbounded domain
        return w, -math.inf
    kind = GeneralPlanes if lasso(objective) is None else PolyhedralPlanes
    planes, level, cuts = kind(task.d, duals=DUALS), LevelState(), Cuts(task, objective, unit, lift)
    best, lowest = w, math.inf
    for _ in range(steps):
        tangent = cuts.tangent(w, 0.0)
        if not math.isfinite(tangent.value):
            break
        value = tangent.value + objective.penalty(w)
        if value < lowest:
            best, lowest = w, value
        planes.add(tangent.plane)
        bound, w = level_step(objective, planes, best, lowest, level)
        if unit * (lowest - bound) <= goal:
            break
    witness = planes.witness()
    assert witness is None or isinstance(witness, Points)
    bound = oracles.verify(cuts, best, 0.0, witness).lower_bound
    rounding = 4.0 * task.rounding * (abs(bound) + abs(lift))
    return best, unit * (bound + lift - rounding)


class Cuts:
    """A task's f in a unit, lifted, with the penalty where that does not stay out of the planes."""

    def __init__(self, task: Task, objective: Objective, unit: float, lift: float) -> None:
        self.objective, self._task, self._unit, self._lift = objective, task, unit, lift
        self._errors = np.zeros(task.d)  # of the slopes at all points that were asked for

    def value(self, w: Array, b: Any) -> float:
        """R(w)."""
        task, f = self._task, self._task.f(w)
        if self.objective is not task.objective:
            f += task.T * task.omega(w)
        return f / self._unit - self._lift

    def tangent(self, w: Array, b: Any) -> Tangent:
        """R at w, and the plane that touches it there."""
        task, value, g = self._task, self.value(w, b), self._task.slope(w)
        if self.objective is not task.objective:
            g = g + _subgradient(task, w)
        errors = task.slope_errors(w) + 4.0 * task.rounding * np.abs(g)
        self._errors = np.maximum(self._errors, errors / self._unit)
        point = Points(w[None].copy(), (0.0,), np.ones(1))
        g = g / self._unit
        return Tangent(value, 0.0, Plane(g, value - float(g @ w), witness=point))

    def rounding_error(self, w: Array, b: Any, value: float) -> float:
        """How far R(w) may be from that value."""
        sizes = self._task.size(w) / self._unit + 2.0 * (abs(value) + abs(self._lift))
        return self._task.rounding * sizes

    def gradient_error(self) -> Array:
        """How far a plane's slopes may be off, weight by weight."""
        return self._errors

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """By how much the offset of the plane at w may be too high."""
        along = float(np.abs(tangent.plane.a) @ np.abs(w))
        return self.rounding_error(w, 0.0, tangent.value) + 2.0 * self._task.rounding * along


def _subgradient(task: Task, w: Array) -> Array:
    shares = elastic_shares(task.penalty, task.T)
    assert shares is not None
    return shares[0] * np.sign(w) + shares[1] * w
