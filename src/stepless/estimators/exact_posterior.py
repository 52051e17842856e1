"""What a Gaussian process knows of its latent function, all kernels of the examples at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.compiled import smooth
from stepless.data.gram import Gram, between, lengths, parts
from stepless.minimize import minimize
from stepless.objective import Logistic, Objective, SquaredL2
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers.batch.kernel_newton import KernelNewton, KernelSystem
from stepless.stopping import Stopping
from stepless.watchers import Watcher


class ExactPosterior:
    """The posterior of a latent f, taken for the Gaussian at its mode with the curvature there.

    The prior is v·k. The mode minimises ‖f‖²/(2vm) + the mean logistic loss, which is minus the
    posterior's logarithm, divided by m; Newton's method finds its coefficients.
    """

    def __init__(
        self,
        gram: Gram,
        signs: Array,
        variance: float,
        stopping: Stopping,
        watchers: Iterable[Watcher] = (),
    ) -> None:
        m, table = gram.size, gram.table
        assert table is not None
        strength = 1.0 / (variance * m)
        objective = Objective(Logistic(), SquaredL2(strength), intercept=False)
        risk = KernelRisk(objective, gram, signs)
        self.result = minimize(risk, KernelNewton(), stopping, watchers=watchers)
        self._kernel, self._X, self._variance = gram.kernel, gram.X, variance
        self._slopes, self._h = np.empty(m), np.empty(m)
        self._f = gram.predictions(self.result.w)
        smooth.survey(risk.block(table), self._slopes, self._h, objective.loss, self._f, 0.0)
        self._curved = KernelSystem(table, self._h / m, strength)
        self.log_marginal_likelihood = (
            -m * self.result.objective - 0.5 * self._curved.log_determinant
        )

    def at(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of f(x) for each row (Rasmussen and Williams 2006, Alg. 3.2)."""
        mean, variance = np.empty(X.shape[0]), np.empty(X.shape[0])
        for part in parts(X.shape[0], self._X.shape[0]):
            kernels = between(self._kernel, X[part], self._X)
            mean[part] = kernels @ self.result.w
            variance[part] = lengths(self._kernel, X[part]) - self._curved.quadratic_forms(kernels)
        return mean, self._variance * np.maximum(variance, 0.0)

    def rises(self, table: Array, changes: list[Array]) -> Array:
        """Slopes of the log marginal likelihood as v·K, K the table, changes in some directions.

        Rasmussen and Williams 2006, Alg. 5.1: both by itself and because the mode moves.
        """
        K = self._variance * table
        R = self._curved.inverse() / self._variance  # (K + W⁻¹)⁻¹
        KR = K @ R
        spread = K.diagonal() - np.einsum("ij,ij->i", KR, K)
        bend = -0.5 * spread * self._h * -np.tanh(0.5 * self._f)  # ∂W/∂f = W(1 − 2π)
        found = []
        for C in changes:
            along = C @ -self._slopes
            moved = along - KR @ along  # of the mode
            own = -0.5 * float(self._slopes @ along) - 0.5 * float(np.einsum("ij,ij->", R, C))
            found.append(own + float(bend @ moved))
        return np.array(found)
