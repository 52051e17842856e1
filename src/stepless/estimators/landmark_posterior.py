"""The posterior of a Gaussian process, approximated by landmarks (Nyström)."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from stepless.arrays import Array, Matrix
from stepless.compiled import smooth
from stepless.data import Source
from stepless.data.gram import between, lengths, parts
from stepless.kernels import Kernel
from stepless.minimization import minimize
from stepless.objective import Logistic, Objective, SquaredL2
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Watchers
from stepless.solvers import Newton
from stepless.stopping import Stopping

_FLAT = 1e-12  # of the Gram matrix's largest eigenvalue: smaller directions are left out


class Landmarks:
    """Features φ(x) with ⟨φ(x), φ(x')⟩ ≈ k(x, x'): exact if x is a landmark (Nyström)."""

    def __init__(self, kernel: Kernel, S: Matrix) -> None:
        self.kernel, self.S = kernel, S
        sizes, axes = np.linalg.eigh(between(kernel, S, S))
        kept = sizes > _FLAT * sizes[-1]
        self._map = axes[:, kept] / np.sqrt(sizes[kept])

    def features(self, X: Matrix) -> Array:
        """Return φ(x), one row per example."""
        out = np.empty((X.shape[0], self._map.shape[1]))
        for part in parts(X.shape[0], self.S.shape[0]):
            out[part] = between(self.kernel, X[part], self.S) @ self._map
        return out


class LandmarkPosterior:
    """As `ExactPosterior`, of f = ⟨w, φ⟩: Newton's method on the weights of landmarks' features.

    The part of the prior's variance that the landmarks do not explain is added at each x.
    """

    def __init__(
        self,
        landmarks: Landmarks,
        features: Array,
        signs: Array,
        variance: float,
        stopping: Stopping,
        watchers: Watchers = (),
    ) -> None:
        source = Source(features, signs)
        m, n = source.shape
        strength = 1.0 / (variance * m)
        objective = Objective(Logistic(), SquaredL2(strength), intercept=False)
        risk = LinearRisk(objective, source)
        self.result = minimize(risk, Newton(), stopping, watchers=watchers)
        self._landmarks, self._variance = landmarks, variance
        slopes, h, z = np.empty(m), np.empty(m), source.predictions(self.result.w)
        smooth.survey(source.whole, slopes, h, objective.loss, z, 0.0)
        hessian = (features.T * h) @ features
        hessian.flat[:: n + 1] += 1.0 / variance
        self._factor = cho_factor(hessian, lower=True, check_finite=False)
        determinant = 2.0 * float(np.log(self._factor[0].diagonal()).sum()) + n * math.log(variance)
        self.log_marginal_likelihood = -m * self.result.objective - 0.5 * determinant

    def latent(self, X: Matrix) -> tuple[Array, Array]:
        """Return the mean and variance of f(x) for each row."""
        features = self._landmarks.features(X)
        inner = cho_solve(self._factor, features.T, check_finite=False)
        unexplained = lengths(self._landmarks.kernel, X) - np.einsum("ij,ij->i", features, features)
        variance = np.einsum("ij,ji->i", features, inner)
        variance += self._variance * np.maximum(unexplained, 0.0)
        return features @ self.result.w, variance
