"""Parts of Newton's methods: the linear system, the line search, the intercept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from stepless.arrays import Array
from stepless.compiled import oracle, products
from stepless.compiled.light import light
from stepless.data import Block, Column, Source, apply_numpy, sum_blocks
from stepless.fan import fan, narrowed
from stepless.objective import Objective, SquaredL2
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import RowRisk

_DENSE = 1500  # features up to which the Hessian itself is formed and factored
_PRECISE = 1e-14  # added to a diagonal of ones: what rounding leaves of a Hessian
_LEAST = 1e-300  # keeps a quotient finite
_ENOUGH = 8  # rows per feature, to factor instead of all
_LONG = 20  # entries of a long row, at least
_FORCING = 0.1  # conjugate gradients stop at this share of the right-hand side
_MOST_PRODUCTS = 100
_WAY = 18.0  # times the largest prediction: after moves of this size they are computed anew
_SEARCH = 0.1  # share of the first slope at which a line search is over
_TRIALS = 50
_SHORT, _FAR = 0.03, 4.0  # times a length are the extremes that are tried beside it
_DENSELY, _SPARSELY = 0.75, 0.25  # ratios of a fan: for a decent length, and for exact shifts
_SHARE = 8  # one example in eight is in the sample for a head start
_FEWEST = 2000
_MOST_EXAMPLES, _MOST_ENTRIES = 200_000, 10_000_000  # of a sample, whatever there are

Survey = Callable[[list[float]], Array]


class NewtonSystem:
    """Linear systems with Σ c_i x_i x_iᵀ + diag(damping); with `ones`, each x_i ends in a 1.

    Up to 1500 features it is factored. Where there are many more long rows than features, only some
    of the rows are; conjugate gradients do the rest, with these factors as preconditioner, or, for
    more features, with the diagonal. They stop at `forcing` times the right-hand side.
    """

    def __init__(
        self,
        source: Source,
        c: Column,
        damping: Array,
        ones: bool,
        thrifty: bool = True,
    ) -> None:
        self.source, self.c, self.damping, self.ones = source, c, damping, ones
        self.forcing = _FORCING
        self.exact = False
        self.factor: Array | None = None
        self.scale: Array  # of the factor, or else
        self.diagonal: Array
        if source.shape[1] <= _DENSE:
            some = self._some() if thrifty else c
            self.exact = some is c
            self.factor = self._factored(some)
        else:
            diagonal = source.total(_squares, damping.shape, c)
            if ones:
                diagonal[-1] = max(diagonal[-1], _LEAST)
            self.diagonal = diagonal + damping

    def solve(self, right: Array) -> Array:
        """Return the solution, or one near it."""
        return self._precondition(right) if self.exact else self._conjugate(right)

    def _precondition(self, r: Array) -> Array:
        if self.factor is None:
            return r / self.diagonal
        solution: Array = dpotrs(self.factor, self.scale * r, lower=0)[0]
        return self.scale * solution

    def _some(self) -> Column:
        """Return the weights of the rows to factor: every n-th, with n times its weight, or all."""
        (m, d), entries = self.source.shape, self.source.nnz
        # as many as cost no more than three products
        most = max(_ENOUGH * d, 12 * m * m / max(entries, 1))
        if entries < _LONG * m or m < 2 * most:
            return self.c
        count = sum_blocks(self.source.map(apply_numpy, np.count_nonzero, self.c))
        if (stride := int(count // most)) < 2:
            return self.c
        return self.source.column(_thinned, self.c, stride)

    def _factored(self, c: Column) -> Array:
        """Return factors of the matrix, scaled to a diagonal of ones."""
        H = self.source.gram(c, self.ones)
        diagonal = np.einsum("ii->i", H)
        diagonal += self.damping
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        H *= self.scale
        H *= self.scale[:, None]
        extra = _PRECISE
        while True:
            diagonal += extra
            factor, failed = dpotrf(H.T, lower=0)  # numpy's lower triangle is Fortran's upper one
            if not failed:
                return np.asarray(factor)
            extra *= 10.0

    def product(self, v: Array) -> Array:
        """Return the matrix times v."""
        d = self.source.shape[1]
        return self.source.total(products.hessian_product, v.shape, self.c, v, d) + self.damping * v

    def _conjugate(self, right: Array) -> Array:
        x, r = np.zeros_like(right), right
        v = z = self._precondition(r)
        rz = float(r @ z)
        enough = self.forcing**2 * rz
        for _ in range(_MOST_PRODUCTS):
            if rz <= enough:
                break
            q = self.product(v)
            length = rz / float(v @ q)
            x, r = x + length * v, r - length * q
            z = self._precondition(r)
            rz, before = float(r @ z), rz
            v = z + (rz / before) * v
        return x


def ridge_diagonal(risk: RowRisk) -> Array:
    """Return λ for each weight, and 0 for an intercept."""
    diagonal = np.full(risk.d + risk.objective.intercept, risk.objective.strength)
    diagonal[risk.d :] = 0.0
    return diagonal


def line_search(slope: float, derivatives: Callable[[list[float]], Any], probes: int = 1) -> float:
    """Return the length at which a convex function's derivative has fallen to a tenth of `slope`.

    Newton's method on the derivative, kept inside a bracket; exact in the end for a piecewise
    quadratic function, whose derivative is piecewise linear. `derivatives` gives the first two at
    each of the lengths that it is asked for, as many as `probes` at once.
    """
    low, high, t = 0.0, math.inf, 1.0
    for _ in range(_TRIALS):
        ends = math.log(max(low / t, _SHORT)), math.log(min(high / t, _FAR))
        trials = [t * math.exp(log) for log in fan(0.0, *ends, probes, _DENSELY)]
        found = list(zip(trials, derivatives(trials), strict=True))
        t, (first, second) = min(found, key=_height)
        if abs(first) <= _SEARCH * abs(slope):
            break
        low, high = narrowed(low, high, ((at, rise) for at, (rise, _) in found))
        t = t - first / second if second > 0.0 else math.nan
        if not low < t < high:
            t = 2.0 * low if math.isinf(high) else 0.5 * (low + high)
    return t


def level_intercept(tilts: Survey, probes: int = 1) -> tuple[float, Array]:
    """Return the shift of the intercept at which a convex risk's slope in it is about 0.

    `tilts` gives a row at each of the shifts that it is asked for, as many as `probes` at once:
    slope, curvature, how near 0 the slope must be, and more. The shift returned is one of the last;
    its row is returned too.
    """
    low, high, reach = -math.inf, math.inf, 1.0
    trials = fan(0.0, -reach, reach, probes, _SPARSELY)
    for _ in range(_TRIALS):
        found = list(zip(trials, tilts(trials), strict=True))
        near = [one for one in found if abs(one[1][0]) <= one[1][2]]
        here, row = near[0] if near else min(found, key=_height)
        if near:
            break
        low, high = narrowed(low, high, ((at, rise) for at, (rise, *_) in found))
        tilt, bend = row[:2].tolist()
        # a curvature of next to nothing would lead anywhere: steps grow by a factor only
        move = min(abs(tilt) / bend, reach) if bend > 0.0 else reach
        shift = here - math.copysign(move, tilt)
        reach *= 8.0
        if not low < shift < high:
            shift = 0.5 * (low + high)
            if not low < shift < high:
                break
        ends = max(low, shift - reach), min(high, shift + reach)
        trials = fan(shift, *ends, probes, _SPARSELY)
    return here, row


def advanced(survey: Survey, advance: Survey, probes: int, free: bool) -> tuple[float, Array]:
    """Advance to the best intercept if it is `free`; return the shift, and the row found there.

    `survey` returns rows as for `level_intercept`, and writes columns at the first shift. `advance`
    does so too, and computes the gradient there; if no shifts are given, at the columns as written.
    The first guess is most often good enough: it and all after it advance.
    """
    if not free:
        return 0.0, advance([0.0])[0]
    written = list[float]()

    def tilts(shifts: list[float]) -> Array:
        written.append(shifts[0])
        return (advance if len(written) > 1 else survey)(shifts)

    shift, row = level_intercept(tilts, probes)
    if shift != written[-1]:
        advance([shift])
    elif len(written) == 1:
        advance([])
    return shift, row


def _height(found: tuple[float, Any]) -> float:
    height = abs(found[1][0])
    return math.inf if math.isnan(height) else height


@dataclass
class Predictions:
    """p = Xw + b, updated with w, and the sum of their moves; plus an offset, if they have one."""

    p: Column
    offset: Column | None = None
    reach: float = 0.0  # the largest |p_i|, where it was last measured
    way: float = 0.0  # the sum of that before and after each move
    moved: bool = False  # since then

    @classmethod
    def of(cls, source: Source, w: Array, b: float) -> Predictions:
        if w.any():
            return cls(source.column(oracle.predictions, w, b))
        return cls(source.column(_constant, b))

    def shift(self, source: Source, b: float) -> None:
        """Follow a move of the intercept."""
        self.follow(source, 1.0, b)

    def follow(self, source: Source, move: Column | float, t: float) -> None:
        """Follow t times a move."""
        source.update(self.p, _follow, move, t)
        self.moved = True

    def leave(self, source: Source, before: Column, move: Column, t: float) -> None:
        """Be t times a move away from what they were before."""
        self.p, self.moved = source.column(_away, before, move, t), True

    def drifted(self, reaches: list[float]) -> bool:
        """Note the largest |p_i| of blocks; return whether rounding may have added up by now."""
        before, self.reach = self.reach, float(np.max(reaches))  # of which NaN is the highest
        if self.moved:
            self.way, self.moved = self.way + before + self.reach, False
        return self.way > _WAY * self.reach

    def renew(self, source: Source, w: Array, b: float) -> None:
        """Compute them from w and b."""
        self.p, self.way, self.moved = source.column(oracle.predictions, w, b), 0.0, False
        if self.offset is not None:
            source.update(self.p, _follow, self.offset, 1.0)


def step_of(risk: RowRisk, delta: Array) -> tuple[Array, float, Column]:
    """Return the moves of weights, intercept and predictions of a system's solution."""
    turn = np.ascontiguousarray(delta[: risk.d])
    turn_b = float(delta[-1]) if risk.objective.intercept else 0.0
    return turn, turn_b, risk.source.column(oracle.predictions, turn, turn_b)


def fenchel_bound(objective: Objective, height: float, spread: float, residual: Array) -> float:
    """Return a lower bound on J*, by slopes a_i, one per example, and J at predictions p_i.

    J − J* ≤ Σ s_i (ℓ(p_i) + ℓ*(a_i) − a_i p_i)/m + ‖λw + g‖²/(2λ), g = Σ s_i a_i x_i/m: Fenchel's
    gap, of which `spread` is the sum and `residual` λw + g. With a free intercept it needs
    Σ s_i a_i = 0.
    """
    bound = height - spread - float(residual @ residual) / (2.0 * objective.strength)
    return bound if math.isfinite(bound) else -math.inf


@light
def _constant(block: Block, value: float) -> Array:
    return np.full(block.y.size, value)


@light
def unweighted(block: Block, slopes: Array, scale: float = 1.0) -> Array:
    """Return a_i from s_i a_i/scale; 0 where s_i is 0."""
    return np.divide(scale * slopes, block.s, out=np.zeros(slopes.size), where=block.s > 0.0)


@light
def largest(block: Block, p: Array) -> float:
    """Return the largest |p_i|."""
    return float(np.abs(p).max(initial=0.0))


@light
def _follow(block: Block, p: Array, move: Array | float, t: float) -> None:
    """Add to p: t times a move, of each or of all."""
    p += t * move


@light
def _away(block: Block, p: Array, move: Array, t: float) -> Array:
    """Return p and t times a move."""
    return p + t * move


def _squares(block: Block, diagonal: Array, c: Array) -> None:
    """Add to each feature's place Σ c_i x_ij²; to one more place, if there is one, Σ c_i."""
    d = block.shape[1]
    products.squares(block, diagonal[:d], c)
    diagonal[d:] += c.sum()


@light
def _thinned(block: Block, c: Array, stride: int) -> Array:
    """Return every `stride`-th non-zero entry, times `stride`."""
    rows = np.flatnonzero(c)[::stride]
    some = np.zeros(c.size)
    some[rows] = stride * c[rows]
    return some


def checked_aim(aim: float) -> float:
    """Return a relative gap to reach; ValueError if it is none."""
    if not 0.0 <= aim < math.inf:
        raise ValueError(f"aim must be a relative gap, 0 or more, not {aim:g}")
    return aim


def head_start_sample(risk: RowRisk, fewest: int | None = None) -> RowRisk | None:
    """Return a sample of an eighth of the examples, or of less; None if it has too few.

    The `fewest` that are enough are 2000 and four per feature, if none are given.
    n examples cannot tell weights apart that a ridge of strength 1/n would not: its strength is at
    least a tenth of that, so that weights of rare features do not diverge.
    """
    entries = max(risk.source.nnz, 1)
    n = min(risk.m // _SHARE, _MOST_EXAMPLES, risk.m * _MOST_ENTRIES // entries)
    if n < (max(_FEWEST, 4 * risk.d) if fewest is None else fewest):
        return None
    every = risk.m // n
    rows = np.arange(n) * every + np.random.default_rng(n).integers(0, every, n)
    objective = risk.objective
    if objective.euclidean:
        objective = replace(objective, regularizer=SquaredL2(max(objective.strength, 0.1 / n)))
    return LinearRisk(objective, risk.source.take(rows))
