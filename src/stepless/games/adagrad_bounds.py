"""The regret bounds of DHS, round by round, in the form that their proofs give.

Each is a bound on Σ_{τ≤t} f_τ(x_τ) + φ(x_τ) − f_τ(x*) − φ(x*) for a fixed x* of the domain, less
the φ(x_1) that all of these proofs leave over (Corollary 4 assumes it to be 0). Updates are (3) for
averaging, (4) for mirror descent, with ψ_t = ½⟨x, H_t x⟩. A free intercept is a coordinate like any
other: that no penalty and no domain acts on it changes nothing in the proofs.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from stepless.arrays import Array
from stepless.games.adagrad_metrics import BlockMetric, DiagonalMetric

_ALIKE = 1e-12  # relative: by how much rounding may make a gradient longer than δ


class Bound(Protocol):
    """A theorem of DHS: `after` takes in x_t and g_t, and returns the bound after round t."""

    theorem: str

    def after(self, x: Array, g: Array) -> float: ...


class StronglyConvexMirror:
    """(δ/η + λ)‖x* − x_1‖²/2 + (η/2) Σ_j log(‖g_{1:t,j}‖₂²/δ + 1), η = G²/λ: Th. 13, corrected.

    For H_t = δI + diag ‖g_{1:t,j}‖₂², a λ-strongly convex φ and G ≥ max|g|.
    """

    theorem = "Theorem 13"

    def __init__(self, best: Array, eta: float, delta: float, strength: float) -> None:
        self.best, self.eta, self.delta, self.strength = best, eta, delta, strength
        self.squares = np.zeros(best.size)
        self.first: float | None = None  # ‖x* − x_1‖²

    def after(self, x: Array, g: Array) -> float:
        if self.first is None:
            self.first = float(np.sum((self.best - x) ** 2))
        self.squares += g**2
        positive = self.squares[self.squares > 0.0]
        with np.errstate(divide="ignore"):
            logs = float(np.sum(np.log1p(positive / self.delta)))
        return 0.5 * ((self.delta / self.eta + self.strength) * self.first + self.eta * logs)


class WeightsAndIntercept:
    """The sum of two bounds, for the weights and for an intercept with another η and metric.

    Corollary 4 is a sum over coordinates if H_t is diagonal: each may have its own H_jj/η.
    """

    def __init__(self, weights: Bound, intercept: Bound, d: int) -> None:
        self.weights, self.intercept, self.d = weights, intercept, d
        self.theorem = weights.theorem

    def after(self, x: Array, g: Array) -> float:
        d = self.d
        return self.weights.after(x[:d], g[:d]) + self.intercept.after(x[d:], g[d:])


class Averaging:
    """(δ‖x*‖² + max_i ‖x*_[i]‖² tr G_t^½)/(2η) + η tr G_t^½ if δ ≥ max ‖g_[i]‖₂: (16), (18).

    Th. 6 for a diagonal, Th. 8 for a matrix, in blocks i Cor. 14, with its δ. If a gradient was
    longer, Corollary 3 on the run's own metrics, which needs δ > 0 only and lets δ_t rise:
    ⟨x*, H_t x*⟩/(2η) + (η/2) Σ_τ ⟨g_τ, H_{τ−1}⁻¹ g_τ⟩.
    """

    def __init__(self, best: Array, eta: float, metric: DiagonalMetric | BlockMetric) -> None:
        self.best, self.eta, self.metric, self.delta = best, eta, metric, metric.delta
        self.theorem = metric.theorem
        self.duals = 0.0  # Σ ⟨g, H⁻¹g⟩

    def after(self, x: Array, g: Array) -> float:
        eta, delta, metric = self.eta, self.delta, self.metric
        self.duals += metric.square(g, -1)
        metric.add(g)
        if metric.largest_norm(g) > delta * (1.0 + _ALIKE):
            self.theorem = "Corollary 3"
        if self.theorem == "Corollary 3":  # (11)
            return metric.square(self.best, 1) / (2.0 * eta) + 0.5 * eta * self.duals
        trace = metric.trace()
        distance = delta * float(self.best @ self.best) + metric.largest_square(self.best) * trace
        return distance / (2.0 * eta) + eta * trace


class MirrorDescent:
    """(δ‖x* − x_1‖² + max_{τ,i} ‖(x* − x_τ)_[i]‖² tr G_t^½)/(2η) + η tr G_t^½: (17), (19).

    Th. 6 with its δ, Th. 8; in blocks i it is what §8 calls a similar bound. If δ_t rises with a
    share of the longest gradient, Σ_τ (δ_τ − δ_{τ−1})‖x* − x_τ‖² replaces δ‖x* − x_1‖², because
    H_τ − H_{τ−1} contains it as well.
    """

    def __init__(self, best: Array, eta: float, metric: DiagonalMetric | BlockMetric) -> None:
        self.best, self.eta, self.metric = best, eta, metric
        self.theorem = metric.theorem
        self.before = 0.0  # δ_{τ−1}
        self.delta_part = self.width = 0.0

    def after(self, x: Array, g: Array) -> float:
        away, metric = self.best - x, self.metric
        self.width = max(self.width, metric.largest_square(away))
        metric.add(g)
        self.delta_part += (metric.delta - self.before) * float(away @ away)
        self.before = metric.delta
        trace = metric.trace()
        return (self.delta_part + self.width * trace) / (2.0 * self.eta) + self.eta * trace


class PlainBound:
    """A bound for ψ_t = ½√t ‖x‖²."""

    def __init__(self, best: Array, eta: float) -> None:
        self.best, self.eta, self.t = best, eta, 0
        self.duals = self.width = 0.0


class PlainAveraging(PlainBound):
    """√t ‖x*‖²/(2η) + (η/2) Σ_τ ‖g_τ‖²/√max(τ − 1, 1): Cor. 3 with ψ_t = ½√t ‖x‖², ψ_0 = ψ_1.

    Eq. (9), whose 1/(2√T) stands where the sum of the 1/(2√τ) belongs.
    """

    theorem = "eq. (9)"

    def after(self, x: Array, g: Array) -> float:
        self.duals += float(g @ g) / math.sqrt(max(self.t, 1))
        self.t += 1
        square = float(self.best @ self.best)
        return math.sqrt(self.t) * square / (2.0 * self.eta) + 0.5 * self.eta * self.duals


class PlainMirror(PlainBound):
    """√t max_τ ‖x* − x_τ‖²/(2η) + (η/2) Σ_τ ‖g_τ‖²/√τ: Cor. 4 with ψ_t = ½√t ‖x‖², eq. (8)."""

    theorem = "eq. (8)"

    def after(self, x: Array, g: Array) -> float:
        self.t += 1
        self.duals += float(g @ g) / math.sqrt(self.t)
        away = self.best - x
        self.width = max(self.width, float(away @ away))
        return math.sqrt(self.t) * self.width / (2.0 * self.eta) + 0.5 * self.eta * self.duals
