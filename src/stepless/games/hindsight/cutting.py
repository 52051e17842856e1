"""The level method, for sums with kinks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stepless.arrays import Array
from stepless.certificates import GeneralPlanes, PolyhedralPlanes
from stepless.certificates.polyhedral_planes import lasso
from stepless.games.hindsight.problem import HindsightProblem
from stepless.mirrors.elastic import elastic_shares
from stepless.objective import Objective, Zero
from stepless.plane import Plane, Tangent
from stepless.proof import oracles
from stepless.proof.witness import Points
from stepless.solvers.batch.level_step import DUALS, LevelState, level_step


def cut(problem: HindsightProblem, w: Array, steps: int, goal: float) -> tuple[Array, float]:
    """Minimise by the level method; return the best point, and a lower bound on F.

    F is divided by a unit in which gradients are about 1, and shifted so that it is positive over
    all of S. If a penalty can be minimised together with planes, they leave it out, and the unit is
    T.
    """
    objective, unit = problem.objective, float(problem.T)
    apart = lasso(objective) is not None or objective.domain.separable
    if not apart and problem.penalty is not None and elastic_shares(problem.penalty) is not None:
        objective = replace(objective, regularizer=Zero())
    if objective.regularizer.zero:
        unit = float(problem.gradient_errors(w).max()) / problem.rounding or unit
    shift = problem.lower_bound(w, penalized=False) / unit
    if math.isinf(shift):  # an unbounded domain
        return w, -math.inf
    kind = GeneralPlanes if lasso(objective) is None else PolyhedralPlanes
    planes, level = kind(problem.d, duals=DUALS), LevelState()
    risk = ShiftedSum(problem, objective, unit, shift)
    best, lowest = w, math.inf
    for _ in range(steps):
        tangent = risk.tangent(w, 0.0)
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
    points = None if witness is None else witness.points
    bound = oracles.verify(risk, best, 0.0, points).lower_bound
    rounding = 4.0 * problem.rounding * (abs(bound) + abs(shift))
    return best, unit * (bound + shift - rounding)


class ShiftedSum:
    """R(w) = f(w)/unit − shift, with the penalty if the planes do not leave it out."""

    def __init__(
        self, problem: HindsightProblem, objective: Objective, unit: float, shift: float
    ) -> None:
        self.objective, self._problem, self._unit, self._shift = objective, problem, unit, shift
        self._errors = np.zeros(problem.d)  # of the gradients at all points so far

    def value(self, w: Array, b: float) -> float:
        """R(w)."""
        problem, f = self._problem, self._problem.f(w)
        if self.objective is not problem.objective:
            f += problem.T * problem.omega(w)
        return f / self._unit - self._shift

    def tangent(self, w: Array, b: float) -> Tangent:
        """R(w), and the tangent plane there."""
        problem, value, g = self._problem, self.value(w, b), self._problem.gradient(w)
        if self.objective is not problem.objective:
            shares = elastic_shares(problem.penalty, problem.T)
            assert shares is not None
            g = g + (shares[0] * np.sign(w) + shares[1] * w)
        errors = problem.gradient_errors(w) + 4.0 * problem.rounding * np.abs(g)
        self._errors = np.maximum(self._errors, errors / self._unit)
        point = Points(w[None].copy(), (0.0,), np.ones(1))
        g = g / self._unit
        return Tangent(value, 0.0, Plane(g, value - float(g @ w), witness=point))

    def rounding_error(self, w: Array, b: float, value: float) -> float:
        """Rounding error of that value of R(w)."""
        terms = self._problem.magnitude(w) / self._unit + 2.0 * (abs(value) + abs(self._shift))
        return self._problem.rounding * terms

    def gradient_error(self) -> Array:
        """Rounding error of each entry of a plane's gradient."""
        return self._errors

    def offset_error(self, w: Array, tangent: Tangent) -> float:
        """Rounding error of the offset of the plane at w."""
        inner = float(np.abs(tangent.plane.a) @ np.abs(w))
        return self.rounding_error(w, 0.0, tangent.value) + 2.0 * self._problem.rounding * inner
