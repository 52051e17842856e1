"""The posterior of a Gaussian process, from the Gram matrix of all examples."""

from __future__ import annotations

import numpy as np

from stepless.arrays import Array, Matrix
from stepless.compiled import smooth
from stepless.data.gram import Gram, between, lengths, parts
from stepless.minimization import minimize
from stepless.objective import Logistic, Objective, SquaredL2
from stepless.risks.kernel_risk import KernelRisk
from stepless.run import Watchers
from stepless.solvers.batch.kernel_newton import KernelNewton, KernelSystem
from stepless.stopping import Stopping


class ExactPosterior:
    """Laplace's approximation of the posterior of a latent f: the Gaussian at its mode.

    The prior is v·k. The mode minimises ‖f‖²/(2vm) + the mean logistic loss, minus the logarithm of
    the posterior divided by m; Newton's method finds its coefficients.
    """

    def __init__(
        self, gram: Gram, signs: Array, variance: float, stopping: Stopping, watchers: Watchers = ()
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
        determinant = self._curved.log_determinant
        self.log_marginal_likelihood = -m * self.result.objective - 0.5 * determinant

    def latent(self, X: Matrix) -> tuple[Array, Array]:
        """Return mean and variance of f(x) for each row (Rasmussen and Williams 2006, Alg. 3.2)."""
        mean, variance = np.empty(X.shape[0]), np.empty(X.shape[0])
        for part in parts(X.shape[0], self._X.shape[0]):
            kernels = between(self._kernel, X[part], self._X)
            mean[part] = kernels @ self.result.w
            variance[part] = lengths(self._kernel, X[part]) - self._curved.quadratic_forms(kernels)
        return mean, self._variance * np.maximum(variance, 0.0)

    def likelihood_slopes(self, table: Array, directions: list[Array]) -> Array:
        """Return the slopes of the log marginal likelihood as v·K, K the table, changes.

        Rasmussen and Williams 2006, Alg. 5.1: the explicit part, and that by the mode's move.
        """
        K = self._variance * table
        R = self._curved.inverse() / self._variance  # (K + W⁻¹)⁻¹
        KR = K @ R
        variance = K.diagonal() - np.einsum("ij,ij->i", KR, K)
        bend = -0.5 * variance * self._h * -np.tanh(0.5 * self._f)  # ∂W/∂f = W(1 − 2π)
        slopes = []
        for C in directions:
            along = C @ -self._slopes
            moved = along - KR @ along  # of the mode
            explicit = -0.5 * float(self._slopes @ along) - 0.5 * float(np.einsum("ij,ij->", R, C))
            slopes.append(explicit + float(bend @ moved))
        return np.array(slopes)
