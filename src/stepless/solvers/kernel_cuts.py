"""Cutting planes under the risk of a kernel expansion."""

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
    """The best point of a run, and cutting planes that bound the objective, where possible.

    Planes come from the solver, from the points that it ends at, and from their own minimisers,
    which are candidates for the best point too. Without the Gram matrix only slopes are kept.
    """

    def __init__(self, risk: KernelRisk) -> None:
        self._certifier: Certifier | None = None
        if risk.unproven is None:
            self._certifier = Certifier(risk.objective, risk.d, risk.planes())
        self._best = Finding(np.zeros(risk.d), 0.0, objective=math.inf)
        self._mean, self._means = np.zeros(risk.d), 0  # of slopes; their number

    def evaluate(
        self,
        risk: KernelRisk,
        w: Array,
        b: float,
        plane: Plane | None = None,
        most: int | None = None,
    ) -> Finding:
        """Evaluate at w; the planes' minimiser counts if it has at most `most` support vectors."""
        tangent, certifier = risk.tangent(w, b), self._certifier
        self.keep_if_best(risk, w, tangent)
        if certifier is None:
            return self._best
        if risk.gram.table is None:  # each plane would cost the whole Gram matrix
            self._claim(risk, certifier, w, plane)
        else:
            if plane is not None:
                certifier.learn(plane, self._ceiling)
            lowest = certifier.learn(tangent.plane, self._ceiling)
            if lowest is not None:
                tangent = risk.tangent(lowest, self._best.b)
                certifier.learn(tangent.plane, self._ceiling)
                if most is None or np.count_nonzero(lowest) <= most:
                    self.keep_if_best(risk, lowest, tangent)
        return replace(self._best, lower_bound=certifier.lower_bound, claim=certifier)

    def _claim(self, risk: KernelRisk, certifier: Certifier, w: Array, plane: Plane | None) -> None:
        """Claim what slopes prove: those of f, and, ever less often, a mean of the planes'."""
        # f = −Σ s_i a_i φ(x_i)/(λm), unless a budget cut it short
        certifier.accept(*risk.claim(-risk.objective.strength * risk.m * w))
        if plane is not None:
            self._means += 1
            self._mean += (2.0 / (self._means + 1.0)) * (risk.m * plane.a - self._mean)
            if self._means & (self._means - 1) == 0:  # it costs the whole Gram matrix
                certifier.accept(*risk.claim(self._mean))

    @property
    def _ceiling(self) -> float:
        """The objective of the best point."""
        assert self._best.objective is not None
        return self._best.objective

    def keep_if_best(self, risk: KernelRisk, w: Array, tangent: Tangent) -> None:
        """Keep a point if it is better than the best so far."""
        objective = risk.penalty(w) + tangent.value
        if objective < self._ceiling:
            self._best = Finding(w, tangent.b, objective=objective)
