"""Planes under the risk of a sum of kernels, and where they lead."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stepless.arrays import Array
from stepless.certificates import Certifier
from stepless.plane import Plane, Tangent
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers.solver import Finding


class KernelCuts:
    """The best point of a run, and planes that bound the objective, where that can be done.

    Planes come from the solver, from the points that it ends at, and from their own minimisers,
    which are offered too. Where there is no table of all kernels, slopes alone are kept.
    """

    def __init__(self, risk: KernelRisk) -> None:
        self._certifier: Certifier | None = None
        if risk.unproven is None:
            self._certifier = Certifier(risk.objective, risk.d, risk.planes())
        self._best = Finding(np.zeros(risk.d), 0.0, objective=math.inf)
        self._mean, self._looks = np.zeros(risk.d), 0  # of slopes, later ones more

    def look(
        self,
        risk: KernelRisk,
        w: Array,
        b: float,
        plane: Plane | None = None,
        most: int | None = None,
    ) -> Finding:
        """Evaluate at w; a minimiser of planes is offered if it has no more than `most` kernels."""
        tangent, certifier = risk.tangent(w, b), self._certifier
        self.offer(risk, w, tangent)
        if certifier is None:
            return self._best
        if risk.gram.table is None:  # planes would cost all kernels, each time anew
            self._claim(risk, certifier, w, plane)
        else:
            self._learn(risk, certifier, tangent, plane, most)
        return replace(self._best, lower_bound=certifier.lower_bound, claim=certifier)

    def _claim(self, risk: KernelRisk, certifier: Certifier, w: Array, plane: Plane | None) -> None:
        """Claim what slopes prove: those f is made of, and, ever less often, a mean of planes'."""
        # f = −Σ s_i a_i φ(x_i)/(λm), unless a budget cut it short
        certifier.accept(*risk.claim(-risk.objective.strength * risk.m * w))
        if plane is not None:
            self._looks += 1
            self._mean += (2.0 / (self._looks + 1.0)) * (risk.m * plane.a - self._mean)
            if self._looks & (self._looks - 1) == 0:  # it takes all kernels
                certifier.accept(*risk.claim(self._mean))

    def _learn(
        self,
        risk: KernelRisk,
        certifier: Certifier,
        tangent: Tangent,
        plane: Plane | None,
        most: int | None,
    ) -> None:
        if plane is not None:
            certifier.learn(plane, self._ceiling)
        lowest = certifier.learn(tangent.plane, self._ceiling)
        if lowest is not None:
            tangent = risk.tangent(lowest, self._best.b)
            certifier.learn(tangent.plane, self._ceiling)
            if most is None or np.count_nonzero(lowest) <= most:
                self.offer(risk, lowest, tangent)

    @property
    def _ceiling(self) -> float:
        """An objective that somewhere is met."""
        assert self._best.objective is not None
        return self._best.objective

    def offer(self, risk: KernelRisk, w: Array, tangent: Tangent) -> None:
        """Take a point for the best, if it is."""
        objective = risk.penalty(w) + tangent.value
        if objective < self._ceiling:
            self._best = Finding(w, tangent.b, objective=objective)
