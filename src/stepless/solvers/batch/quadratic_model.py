"""The quadratic model of a proximal Newton step, and its minimum by coordinate descent."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array
from stepless.compiled import coordinate_descent as loops
from stepless.data import Column, Source
from stepless.objective import Objective

_SWEEPS = 5  # between two extrapolations
_MOST_ROUNDS = 200  # of so many sweeps
_LEAST = 1e-200  # curvature of a feature that is 0: a step of its weight is as long as can be
_REGULAR = 1e-12  # of the mean square of changes: keeps their combination finite


class QuadraticModel:
    """q(v) = ⟨g, v − w⟩ + ½⟨v − w, H(v − w)⟩ + Ω(v) over a separable domain.

    H is the Hessian of the risk in the features of a source, with curvatures c, plus a damping. Of
    a free intercept q is the minimum over it: of slope `tilt`, curvature `bend`.
    """

    def __init__(self, objective: Objective, source: Source, c: Column, damping: Array) -> None:
        self.objective, k = objective, damping.size
        H = source.gram(c, objective.intercept)
        H = H + np.tril(H, -1).T
        self.pull = np.zeros(k)  # of the weights on the intercept
        if objective.intercept:
            bend = max(float(H[k, k]), _LEAST)
            self.pull = H[k, :k] / bend
            H = H[:k, :k] - np.outer(self.pull, H[k, :k])
        diagonal = np.einsum("ii->i", H)
        diagonal += damping
        np.maximum(diagonal, _LEAST, out=diagonal)
        self.H = np.ascontiguousarray(H)

    def minimum(self, w: Array, g: Array, enough: float) -> tuple[Array, float]:
        """Return about the minimiser, and what the model promises for it: q(w) − q(v).

        Coordinate descent is extrapolated by Anderson's method (Bertrand and Massias, "Anderson
        acceleration of coordinate descent" (2021), Alg. 4), where that is lower. It ends when about
        a share `enough` of the gain is left.
        """
        objective = self.objective
        terms = objective.regularizer, objective.domain
        v, r, path = w.copy(), g.copy(), np.empty((_SWEEPS + 1, w.size))
        before, total = objective.penalty(w), 0.0
        for _ in range(_MOST_ROUNDS):
            sweeps, total = loops.descend(*terms, self.H, v, r, path, (total, enough))
            if sweeps <= _SWEEPS:
                break
            self._extrapolate(w, g, v, r, path)
        return v, max(before - self._height(w, g, v, r), 0.0)

    def _height(self, w: Array, g: Array, v: Array, r: Array) -> float:
        return 0.5 * float((g + r) @ (v - w)) + self.objective.penalty(v)

    def _extrapolate(self, w: Array, g: Array, v: Array, r: Array, path: Array) -> None:
        changes = np.diff(path, axis=0)
        products = changes @ changes.T
        products.flat[:: products.shape[0] + 1] += _REGULAR * products.trace()
        shares = np.linalg.solve(products, np.ones(products.shape[0]))
        there = shares @ path[1:] / shares.sum()
        self.objective.domain.project(there)
        slopes = g + self.H @ (there - w)
        if self._height(w, g, there, slopes) < self._height(w, g, v, r):
            v[:], r[:] = there, slopes
