"""The protocol of regularizers."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import numpy as np

from stepless.arrays import Array, Indices
from stepless.jit import compiled
from stepless.objective.declared import Declared
from stepless.rounding import UNIT

_MOST = 1e150  # its square is still a number
_CLOSE = 1.0 + 1e-9  # how near a multiplier must be: its error counts by its square


class Regularizer(Declared):
    """A convex function with the minimum 0, the strength included; finite at 0.

    Of one weight, where Ω(w) = Σ_j ω(w_j): `value`, `prox`, `prox_times`, `conjugate` and
    `conjugate_gradient`. A user-defined regularizer is a subclass with these except `prox_times`.

    Of all weights, an array with one row per feature and one column per output: `total`, `shrink`,
    `floor`, and of a single row `shrink_row`. For solvers that work in the dual, where Ω* is
    differentiable: `conjugate_total`, `conjugate_weights`, `conjugate_curvature`.

    Attributes
    ----------
    separable
        True if Ω is a sum over weights, all alike: the methods of one weight exist.
    by_weights
        True if Ω(w) = Σ_j f_j ω(w_j), all f_j ≥ 0: `factored`, `narrowed` and `prox_of` exist.
    by_rows
        True if Ω is a sum over rows: `shrink_row` exists, and `prox` for rows of one weight.
    nonnegative
        True if Ω is infinite as soon as a weight is negative.
    zero
        True if there is no penalty at all.
    elastic_shares
        α and β of a penalty Ω(w) = α‖w‖₁ + (β/2)‖w‖², both at least 0; None for others.
    norm_exponent
        p of a penalty Ω(w) = λ‖w‖_p²/(2(p − 1)), 1 < p ≤ 2, λ being its `strong_convexity`; None
        for others.
    group_lasso
        α, `order` and `starts`, see `Groups`, of a penalty Ω(w) = α Σ_g ‖w_g‖₂; None for others.
        It needs `narrowed`.
    row_lasso
        α of a penalty Ω(W) = α Σ_j ‖W_j‖₂ over rows; None for others.
    """

    checked_by: ClassVar[str] = "check_regularizer"
    separable: ClassVar[bool] = True
    by_rows: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False
    zero: ClassVar[bool] = False

    @property
    def by_weights(self) -> bool:
        return self.separable

    @property
    def elastic_shares(self) -> tuple[float, float] | None:
        return None

    @property
    def norm_exponent(self) -> float | None:
        return None

    @property
    def group_lasso(self) -> tuple[float, Indices, Indices] | None:
        return None

    @property
    def row_lasso(self) -> float | None:
        return None

    @property
    def only_ridge(self) -> bool:
        """True if Ω(w) = (β/2)‖w‖², β ≥ 0."""
        return self.elastic_shares is not None and self.elastic_shares[0] == 0.0

    @property
    def has_lasso(self) -> bool:
        """True if Ω(w) = α‖w‖₁ + (β/2)‖w‖² with α > 0."""
        return self.elastic_shares is not None and self.elastic_shares[0] > 0.0

    @classmethod
    def required(cls) -> tuple[str, ...]:
        return ("value", "prox", "conjugate", "conjugate_gradient") if cls.separable else ()

    def value(self, wj: float) -> float:
        """ω(w_j)."""
        raise NotImplementedError

    def prox(self, wj: float, step: float) -> float:
        """argmin_v ω(v) + (v − w_j)²/(2 step)."""
        raise NotImplementedError

    def prox_times(self, wj: float, step: float, times: int) -> float:
        """Return the prox applied `times` times."""
        for _ in range(times):
            before = wj
            wj = self.prox(wj, step)
            if wj == before:
                break
        return wj

    def prox_of(self, j: int, wj: float, step: float) -> float:
        """Return the prox of a weight of feature j: argmin_v f_j ω(v) + (v − w_j)²/(2 step)."""
        return self.prox(wj, step)

    def conjugate(self, uj: float) -> float:
        """ω*(u_j) = max_v u_j v − ω(v), or infinity."""
        raise NotImplementedError

    def conjugate_gradient(self, uj: float) -> float:
        """Return a maximiser v of u_j v − ω(v); anything where there is none."""
        raise NotImplementedError

    def admit(self, d: int) -> None:
        """Raise ValueError if Ω is not one of d features. Not for compiled code."""

    def factored(self, d: int) -> tuple[Regularizer, Array]:
        """Return ω and the factors f_j of d features. Not for compiled code."""
        return self, np.ones(d)

    def narrowed(self, features: Indices) -> Regularizer:
        """Return the penalty of these features, others having no weight. Not for compiled code."""
        return self

    def strong_convexity(self) -> float:
        """Return the largest μ for which Ω − μ‖·‖²/2 is convex."""
        return 0.0

    def total(self, w: Array) -> float:
        """Ω(w)."""
        sum_ = 0.0
        for j in range(w.shape[0]):
            for c in range(w.shape[1]):
                sum_ += self.value(w[j, c])
        return sum_

    def shrink_row(self, v: Array, steps: Array) -> None:
        """Replace one row of weights by its prox."""
        shrink_each(self, v, steps)

    def shrink(self, w: Array, steps: Array) -> None:
        """Replace w by argmin_v Ω(v) + Σ (v − w)²/(2 step), each weight with a step of its own."""
        for j in range(w.shape[0]):
            self.shrink_row(w[j], steps[j])

    def floor(self, a: Array, ceiling: float = math.inf) -> float:
        """Return the minimum of Ω(w) + ⟨a, w⟩ over all w with Ω(w) ≤ ceiling, or a number below it.

        Not for compiled code. Rounding may flip the sign of a slope next to 0, so the number must
        hold for slopes ±a_j of any signs, unless Ω is `nonnegative`: it is of use for even Ω only.
        """
        return -math.fsum(max(self.conjugate(-aj), self.conjugate(aj)) for aj in a.ravel())

    def critical_strength(self, a: Array) -> float:
        """Return the least α at which w = 0 minimises Ω(w) + ⟨a, w⟩, infinite if there is none.

        It is the dual norm of a if Ω is α times a norm. Without a corner at 0 no strength leaves
        all weights 0. Not for compiled code.
        """
        return math.inf

    def with_strength(self, alpha: float) -> Self:
        """Return the same penalty at another strength. Not for compiled code."""
        if "alpha" not in self._fields:
            name = "penalty='none'" if self.zero else type(self).__name__
            raise ValueError(f"{name} has no strength alpha to vary; use penalty='l2', or 'l1'")
        fields = dict(zip(self._fields, self, strict=True)) | {"alpha": alpha}
        return type(self)(**fields)

    def smooth_conjugate(self) -> bool:
        """Return whether Ω* is finite and differentiable everywhere: the methods below exist."""
        return self.strong_convexity() > 0.0

    def conjugate_total(self, u: Array) -> float:
        """Ω*(u), of an array as large as the weights. Not for compiled code."""
        return math.fsum(self.conjugate(uj) for uj in u.ravel().tolist())

    def conjugate_weights(self, u: Array) -> Array:
        """∇Ω*(u), the weights w that maximise ⟨u, w⟩ − Ω(w). Not for compiled code."""
        w = np.array(u, dtype=float)
        _link_each(self, w.reshape(-1))
        return w

    def conjugate_curvature(self, u: Array) -> tuple[Array, float, Array]:
        """D, f and r for which ∇²Ω*(u) is diag(D) + f rrᵀ, or less. Not for compiled code."""
        return np.full(u.shape, 1.0 / self.strong_convexity()), 0.0, np.zeros(u.shape)


@compiled("v[d] steps[d]")
def shrink_each(regularizer: Regularizer, v: Array, steps: Array) -> None:
    """Replace each weight by its prox."""
    for c in range(v.size):
        v[c] = regularizer.prox(v[c], steps[c])


@compiled("u[_]")
def _link_each(regularizer: Regularizer, u: Array) -> None:
    for j in range(u.size):
        u[j] = regularizer.conjugate_gradient(u[j])


def capped_floor(regularizer: Regularizer, a: Array, ceiling: float) -> float:
    """Return the minimum of Ω(w) + ⟨a, w⟩ over Ω(w) ≤ ceiling; Ω* must be smooth.

    It is the maximum over τ ≥ 1 of −τΩ*(−a/τ) − (τ − 1)·ceiling, where Ω(∇Ω*(−a/τ)) = ceiling if
    the ceiling binds. *Any* τ gives a number below, so an inexact one costs tightness, never truth.
    """

    def height(tau: float) -> float:
        conjugate, share = tau * regularizer.conjugate_total(a / -tau), (tau - 1.0) * ceiling
        return -conjugate - share - 8.0 * UNIT * (abs(conjugate) + share)

    def over(tau: float) -> bool:
        u = a / -tau
        conjugate = regularizer.conjugate_total(u)
        if math.isinf(conjugate):
            return True
        return not np.sum(u * regularizer.conjugate_weights(u)) - conjugate <= ceiling

    if math.isinf(ceiling) or not over(1.0):
        return -regularizer.conjugate_total(-a)
    low, high = 1.0, 2.0
    while over(high) and high < _MOST:
        low, high = high, high * high
    while high > _CLOSE * low:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (middle, high) if over(middle) else (low, middle)
    return height(high)


def positive(alpha: float) -> None:
    """Refuse a strength that is not positive and finite."""
    least = 1e-50  # weights are of size 1/α: they must not overflow
    if alpha == math.inf:
        raise ValueError("alpha must be finite, not inf: a penalty without bound leaves no weights")
    if not least <= alpha < math.inf:
        reason = f" (weights overflow below {least:g})" if 0.0 < alpha < least else ""
        raise ValueError(
            f"alpha must be positive, not {alpha:g}{reason}; for no penalty say penalty='none'"
        )


def norm_floor(alpha: float, dual: float, ceiling: float) -> float:
    """Return the minimum of α‖w‖ + ⟨a, w⟩ over α‖w‖ ≤ ceiling; a has the dual norm `dual`."""
    return 0.0 if dual <= alpha else ceiling * (1.0 - dual / alpha)
