"""What every regularizer answers."""

from __future__ import annotations

from stepless.term import Term


class Regularizer(Term):
    """A convex function Ω(w) = Σ_j ω(w_j) ≥ 0, ω(0) = 0, the strength included.

    The methods are of one coordinate: `value` ω(w_j), `prox` argmin_v ω(v) + (v − w_j)²/(2 step),
    `conjugate` ω*(u_j) and `conjugate_gradient`, a maximiser v of u_j v − ω(v).
    """

    def value(self, wj):
        raise NotImplementedError

    def prox(self, wj, step):
        raise NotImplementedError

    def conjugate(self, uj):
        raise NotImplementedError

    def conjugate_gradient(self, uj):
        raise NotImplementedError

    def strong_convexity(self):
        """Return the largest μ for which Ω − μ‖·‖²/2 is convex."""
        return 0.0
