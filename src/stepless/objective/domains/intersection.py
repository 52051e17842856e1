"""Weights of another domain that are no longer than a radius."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.assigning import assign, assign_multiple
from stepless.objective.domains.domain import Domain, is_thin
from stepless.objective.multipliers import length
from stepless.rounding import UNIT

_ULP = 2.0 * UNIT
_TRIALS = 200  # bisection alone would end by then
_FAR = 1e6  # radii: from there, a projection is as good as a minimum of a linear function
_WIDE = 4.0  # ratio of a bracket's ends above which its middle is the geometric one


class Intersection(Domain):
    """S = {w of the domain : ‖w‖ ≤ R}: a ball's part of any domain.

    Its nearest point to y is the domain's to y/(1 + μ), with the ball's multiplier μ. The domain
    must reach into the ball, at best into its inside; R is the `bound`.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> S = Intersection(0.8, Simplex(1.0))
    >>> w = np.array([2.0, 0.0])
    >>> S.project(w)
    >>> w.round(4), round(float(np.linalg.norm(w)), 9)
    (array([0.7646, 0.2354]), 0.8)
    """

    _coerce: ClassVar[dict[str, Any]] = {"bound": float}
    bound: float
    domain: Domain

    def _check(self) -> None:
        if not 0.0 < self.bound < math.inf:
            raise ValueError(f"a ball needs a positive radius, not {self.bound:g}")
        if not isinstance(self.domain, Domain):
            raise ValueError(
                f"an intersection needs a domain, such as Simplex(1.0), not {self.domain!r}"
            )

    @property
    def thin(self) -> bool:
        return self.domain.thin

    @property
    def nonnegative(self) -> bool:
        return self.domain.nonnegative

    @property
    def lasso_first(self) -> bool:
        return self.domain.lasso_first

    def offers(self, *methods: str) -> bool:  # type: ignore[override]
        """Return whether it has these methods: those of a constraint only if its domain has."""
        constraint = [name for name in methods if name in ("excess", "outward")]
        return super().offers(*methods) and self.domain.offers(*constraint)

    def admit(self, d: int) -> None:
        self.domain.admit(d)
        least = np.zeros(d)
        self.domain.project(least)
        shortest = float(np.linalg.norm(least))
        if shortest > self.bound:
            raise ValueError(
                f"no point of {type(self.domain).__name__} is as short as {self.bound:g}; "
                f"a radius above {shortest:g} would do"
            )

    def project(self, w: Array) -> None:
        project_within(self.domain, w, self.bound)

    def excess(self, w: Array) -> float:
        return max(length(w) - self.bound, self.domain.excess(w))

    def outward(self, w: Array, g: Array) -> float:
        inner, over = self.domain.outward(w, g), length(w) - self.bound
        if over > inner:
            assign_multiple(g, 1.0 / (over + self.bound), w)
        return max(inner, over)

    def into_span(self, w: Array) -> None:
        self.domain.into_span(w)

    def vertex(self, g: Array, w: Array) -> None:
        lowest_within(self.domain, g, w, self.bound)

    def radius(self) -> float:
        return min(self.bound, self.domain.radius())

    def reach(self) -> float:
        return min(self.bound, self.domain.reach())

    def width(self) -> float:
        return min(2.0 * self.bound, self.domain.width())

    def floor(self, a: Array) -> float:
        # ⟨a, w⟩ = ⟨a + μv, w⟩ − μ⟨v, w⟩ for any μ and v: those of the minimum make it tight
        v = np.empty(a.size)
        mu = lowest_within(self.domain, a, v, self.bound)
        steepness, pull = float(np.linalg.norm(a)), mu * float(np.linalg.norm(v))
        rounding = _ULP * (a.size + 2) * (steepness + pull) * self.bound
        below = max(
            -self.bound * steepness,
            self.domain.floor_within(a, self.bound),
            self.domain.floor_within(a + mu * v, self.bound) - self.bound * pull,
        )
        return below - rounding

    def floor_within(self, a: Array, radius: float) -> float:
        return max(self.floor(a), self.domain.floor_within(a, radius))


@compiled("w[_]", plain=is_thin)
def project_within(domain: Domain, w: Array, bound: float) -> None:
    """Replace w by the domain's nearest point that is no longer than the bound."""
    y, least = w.copy(), np.zeros(w.size)
    _enter(domain, w)
    if not bound < length(w) < math.inf:
        return
    _enter(domain, least)
    # A projection moves no two points apart: from here on none is too long.
    low = max(bound - length(least), 0.0) / length(y)
    assign(w, least)
    search(domain, y, low, 1.0, w, bound)


@compiled("g[d] w[d]", plain=is_thin)
def lowest_within(domain: Domain, g: Array, w: Array, bound: float) -> float:
    """Write w, a minimiser of ⟨g, ·⟩ over what the ball leaves of a domain; return its multiplier.

    It is the domain's nearest point to −g/μ, or, where the ball does not matter, to one far out.
    """
    steepness, least = length(g), np.zeros(w.size)
    w[:] = 0.0
    _enter(domain, least)
    _enter(domain, w)
    if not steepness > 0.0:
        return 0.0
    y = -g / steepness
    low, high = max(bound - length(least), 0.0), bound + length(least)
    while high < _FAR * bound:
        assign_multiple(w, high, y)
        _enter(domain, w)
        if length(w) > bound:
            assign(w, least)
            return steepness / search(domain, y, low, high, w, bound)
        low, high = high, 8.0 * high
    assign_multiple(w, low, y)
    _enter(domain, w)
    return steepness / low


@compiled("y[d] w[d]", plain=is_thin)
def search(domain: Domain, y: Array, low: float, high: float, w: Array, bound: float) -> float:
    """Write w: of the domain's nearest points to multiples t of y, the longest within the bound.

    Return t. Between brackets: false position, an end that stays counting half (Illinois), or
    their middle where they lie far apart. On entry w is what t = 0 leads to.
    """
    v = np.empty(y.size)
    assign_multiple(v, low, y)
    _enter(domain, v)
    below = length(v) - bound
    if below <= 0.0:
        assign(w, v)
    else:  # by rounding alone
        low, below = 0.0, length(w) - bound
    assign_multiple(v, high, y)
    _enter(domain, v)
    above = length(v) - bound
    side = 0
    for trial in range(_TRIALS):
        if high > _WIDE * low:
            t = math.sqrt(low * high) if low > 0.0 else 0.125 * high
        elif trial % 4 == 3:
            t = 0.5 * (low + high)
        else:
            t = (low * above - high * below) / (above - below)
        if not low < t < high:
            t = 0.5 * (low + high)
        if not low < t < high or below == 0.0:
            break
        assign_multiple(v, t, y)
        _enter(domain, v)
        size = length(v) - bound
        if size <= 0.0:
            assign(w, v)
            low, below = t, size
            above *= 0.5 if side < 0 else 1.0
            side = -1
        else:
            high, above = t, size
            below *= 0.5 if side > 0 else 1.0
            side = 1
        if high - low <= _ULP * high:
            break
    return low


# A method that is called twice in one loop would be inlined twice.
@compiled("w[_]", plain=is_thin)
def _enter(domain: Domain, w: Array) -> None:
    domain.project(w)
