"""The best intercept at fixed weights, by a line search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepless.arrays import Array
from stepless.fan import fan

Intercept = float | Array  # one number, or one per output of a joint loss

_TRIALS = 100  # of the search for the intercept; bisection alone would end by then
_FARTHER, _FARTHEST = 8.0, 1e100  # each step away is longer than the last, up to a length
_NEARER = 0.25  # each other probe is nearer to the first
_TIGHT = 1e-11  # relative height between the risk and its plane at which the search is over
_COARSE = 1e-8  # that where a round costs a journey, and the loss has corners: planes stay true


@dataclass(frozen=True)
class Cut:
    """R and its tangent line in b at fixed weights; `offset` is that of the plane in (w, b)."""

    b: float
    value: float
    slope: float
    offset: float

    @property
    def height(self) -> float:
        """The tangent line's value at b = 0."""
        return self.value - self.slope * self.b


Cuts = Callable[[list[float]], list[Cut]]


@dataclass(frozen=True)
class Bottom:
    """The cut at which R is least, and two whose tangents, blended by shares, are level in b."""

    best: Cut
    cuts: tuple[Cut, Cut]
    shares: tuple[float, float]
    level: bool = True  # False if R decreases without end: then only R ≥ 0 is known

    @property
    def parts(self) -> list[tuple[Cut, float]]:
        """Cuts with a positive share in the level plane."""
        both = zip(self.cuts, self.shares, strict=True)
        return [(cut, share) for cut, share in both if self.level and share > 0.0]


def bottom(cuts: Cuts, b: float, *, smooth: bool, free: bool, probes: int = 1) -> Bottom:
    """Minimise b ↦ R(w, b), starting from b; at 0 if the intercept is not free.

    `cuts` returns those at several b, as many as `probes` at once.
    """
    left, right = bracket(cuts, b, smooth, probes) if free else (cuts([0.0])[0],) * 2
    best = min(left, right, key=lambda found: found.value)
    if free and not left.slope <= 0.0 <= right.slope:
        return Bottom(best, (best, best), (1.0, 0.0), level=False)
    return Bottom(best, (left, right), levelling(left, right))


def bracket(cuts: Cuts, b: float, smooth: bool, probes: int = 1) -> tuple[Cut, Cut]:
    """Return cuts of b ↦ R(w, b) on both sides of its minimum (or one that touches it).

    If the loss is smooth, follow the secant of the slopes, doubled when it has moved one side
    twice, so that both close in. If it is piecewise linear, alternate between the secant, the
    point where the two tangents cross, and the middle. Several probes surround the secant.
    """
    left, right = _around(cuts, b, probes)
    tight = _TIGHT if smooth or probes == 1 else _COARSE
    moved = twice = ""
    for t in range(_TRIALS):
        if left.slope == 0.0 or left is right:
            return left, left
        if right.slope == 0.0:
            return right, right
        rise = right.slope - left.slope
        crossing = (left.height - right.height) / rise
        shares = levelling(left, right)
        bottom = shares[0] * left.height + shares[1] * right.height
        if min(left.value, right.value) - bottom <= tight * abs(bottom):
            break
        secant = left.b - left.slope * (right.b - left.b) / rise
        if smooth and t < _TRIALS // 2:
            over = secant - (left.b if twice == "left" else right.b)
            middle = secant + over if twice else secant
        elif probes > 1:
            middle = secant
        else:
            middle = (secant, crossing, (left.b + right.b) / 2)[t % 3]
        if not left.b < middle < right.b:
            middle = (left.b + right.b) / 2
            if not left.b < middle < right.b:
                break
        found = cuts(fan(middle, left.b, right.b, probes, _NEARER))
        below = max((cut for cut in found if cut.slope <= 0.0), key=_place, default=left)
        above = min((cut for cut in found if not cut.slope <= 0.0), key=_place, default=right)
        side = "right" if below is left else "left" if above is right else ""
        left, right = below, above
        moved, twice = side, side if side == moved and not twice else ""
    return left, right


def _around(cuts: Cuts, b: float, probes: int) -> tuple[Cut, Cut]:
    """Return cuts on both sides of the minimum, or one twice if there is none within reach."""
    reach = 1e-4 * (1.0 + abs(b))  # near the optimum the intercept hardly moves
    steps = [reach * _FARTHER**k for k in range((probes - 1) // 2)]
    found = sorted(cuts([b, *(b + side * step for step in steps for side in (-1, 1))]), key=_place)
    falling = [cut for cut in found if cut.slope < 0.0]
    left = falling[-1] if falling else found[0]
    right = left if len(falling) in (0, len(found)) else found[len(falling)]
    reach *= _FARTHER ** len(steps)
    while left is right and left.slope != 0.0 and reach < _FARTHEST:
        away = reach if left.slope < 0.0 else -reach
        for trial in cuts([left.b + away * _FARTHER**k for k in range(probes)]):
            if left.slope < 0.0:
                left, right = (left, trial) if trial.slope >= 0.0 else (trial, trial)
            else:
                left, right = (trial, right) if trial.slope <= 0.0 else (trial, trial)
            if left is not right:
                break
        reach *= _FARTHER**probes
    return left, right


def _place(cut: Cut) -> float:
    return cut.b


def levelling(left: Cut, right: Cut) -> tuple[float, float]:
    """Return the shares of two cuts that blend their slopes, opposite in sign, to 0.

    Each is computed by itself: where slopes differ by 10¹⁶, as an exponential's do, 1 − θ rounds
    to 0, and the plane would be taken for level when it is not.
    """
    if left is right:
        return 1.0, 0.0
    rise = right.slope - left.slope
    return right.slope / rise, -left.slope / rise
