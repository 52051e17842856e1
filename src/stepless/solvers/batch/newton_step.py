"""Parts of Newton's methods: the linear system, the line search, the intercept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from stepless.arrays import Array
from stepless.compiled import oracle
from stepless.compiled.light import light
from stepless.data import Block, Column, Source, apply_numpy, sum_blocks
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
_SHARE = 8  # one example in eight is in the sample for a head start
_FEWEST = 2000
_MOST_EXAMPLES, _MOST_ENTRIES = 200_000, 10_000_000  # of a sample, whatever there are


class NewtonSystem:
    """Linear systems with Σ c_i x_i x_iᵀ + diag(damping); with `ones`, each x_i ends in a 1.

    Up to 1500 features it is factored. Where there are many more long rows than features, only some
    of the rows are; conjugate gradients do the rest, with these factors as preconditioner, or, for
    more features, with the diagonal. They stop at a tenth of the right-hand side.
    """

    def __init__(
        self, source: Source, c: Column, damping: Array, ones: bool, thrifty: bool = True
    ) -> None:
        self.source, self.c, self.damping, self.ones = source, c, damping, ones
        self.exact = False
        self.factor: Array | None = None
        self.scale: Array  # of the factor, or else
        self.diagonal: Array
        if source.shape[1] <= _DENSE:
            some = self._some() if thrifty else c
            self.exact = some is c
            self.factor = self._factored(some)
        else:
            diagonal = source.squares(c)
            if ones:
                mass = sum_blocks(source.map(apply_numpy, np.add.reduce, c))
                diagonal = np.append(diagonal, max(mass, _LEAST))
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
        count = sum_blocks(self.source.map(apply_numpy, np.count_nonzero, self.c))
        # as many as cost no more than three products
        stride = int(count // max(_ENOUGH * d, 12 * m * m / max(entries, 1)))
        if stride < 2 or entries < _LONG * m:
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

    def _product(self, v: Array) -> Array:
        if not self.ones:
            return self.source.curved(self.c, v) + self.damping * v
        d = self.source.shape[1]
        turn = np.ascontiguousarray(v[:d]), float(v[d])
        pull = self.source.column(_weighted, self.c, *turn)
        tilt = sum_blocks(self.source.map(apply_numpy, np.add.reduce, pull))
        return np.append(self.source.combination(pull), tilt) + self.damping * v

    def _conjugate(self, right: Array) -> Array:
        x, r = np.zeros_like(right), right
        v = z = self._precondition(r)
        rz = float(r @ z)
        enough = _FORCING**2 * rz
        for _ in range(_MOST_PRODUCTS):
            if rz <= enough:
                break
            q = self._product(v)
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


def line_search(slope: float, derivatives: Callable[[float], tuple[float, float]]) -> float:
    """Return the length at which a convex function's derivative has fallen to a tenth of `slope`.

    Newton's method on the derivative, kept inside a bracket; exact in the end for a piecewise
    quadratic function, whose derivative is piecewise linear.
    """
    low, high, t = 0.0, math.inf, 1.0
    for _ in range(_TRIALS):
        first, second = derivatives(t)
        if abs(first) <= _SEARCH * abs(slope):
            break
        low, high = (low, t) if first > 0.0 else (t, high)
        t = t - first / second if second > 0.0 else math.nan
        if not low < t < high:
            t = 2.0 * low if math.isinf(high) else 0.5 * (low + high)
    return t


def level_intercept(tilt_at: Callable[[float], tuple[float, float]], tiny: float) -> float:
    """Return the shift of the intercept at which a convex risk's slope in it is about 0.

    `tilt_at` gives slope and curvature at a shift; the shift returned is the last it was asked for.
    """
    low, high, shift, reach = -math.inf, math.inf, 0.0, 1.0
    for _ in range(_TRIALS):
        here, (tilt, bend) = shift, tilt_at(shift)
        if abs(tilt) <= tiny:
            break
        low, high = (low, here) if tilt > 0.0 else (here, high)
        # a curvature of next to nothing would lead anywhere: steps grow by a factor only
        move = min(abs(tilt) / bend, reach) if bend > 0.0 else reach
        shift = here - math.copysign(move, tilt)
        reach *= 8.0
        if not low < shift < high:
            shift = 0.5 * (low + high)
            if not low < shift < high:
                break
    return here


@dataclass
class Predictions:
    """p = Xw + b, updated with w, and the sum of their moves."""

    p: Column
    reach: float  # the largest |p_i|
    way: float = 0.0  # the sum of that before and after each move

    @classmethod
    def of(cls, source: Source, w: Array, b: float) -> Predictions:
        p = source.column(oracle.predictions, w, b)
        return cls(p, float(np.max(source.map(_largest, p))))

    def shift(self, source: Source, b: float) -> None:
        """Follow a move of the intercept."""
        self._measure(source.update(self.p, _follow, 1.0, b))

    def follow(self, source: Source, move: Column, t: float, w: Array, b: float) -> None:
        """Follow t times a move to w and b; compute them anew when rounding may have added up."""
        self._measure(source.update(self.p, _follow, move, t))
        if self.way > _WAY * self.reach:
            fresh = self.of(source, w, b)
            self.p, self.reach, self.way = fresh.p, fresh.reach, 0.0

    def _measure(self, reaches: list[float]) -> None:
        before, self.reach = self.reach, float(np.max(reaches))  # of which NaN is the highest
        self.way += before + self.reach


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
def unweighted(block: Block, slopes: Array, scale: float = 1.0) -> Array:
    """Return a_i from s_i a_i/scale; 0 where s_i is 0."""
    return np.divide(scale * slopes, block.s, out=np.zeros(slopes.size), where=block.s > 0.0)


@light
def _largest(block: Block, p: Array) -> float:
    return float(np.abs(p).max(initial=0.0))


@light
def _follow(block: Block, p: Array, move: Array | float, t: float) -> float:
    """Add to p: t times a move, of each or of all; return the largest |p_i|."""
    p += t * move
    return _largest(block, p)


@light
def _thinned(block: Block, c: Array, stride: int) -> Array:
    """Return every `stride`-th non-zero entry, times `stride`."""
    rows = np.flatnonzero(c)[::stride]
    some = np.zeros(c.size)
    some[rows] = stride * c[rows]
    return some


def _weighted(block: Block, c: Array, w: Array, b: float) -> Array:
    """Return c_i(⟨w, x_i⟩ + b)."""
    z: Array = oracle.predictions(block, w, b)
    return c * z


def head_start_sample(risk: RowRisk) -> RowRisk | None:
    """Return a sample of an eighth of the examples, or of fewer; None if there are too few.

    n examples cannot tell weights apart that a penalty of strength 1/n would not: the strength is
    at least a tenth of that, so that weights of rare features do not diverge.
    """
    entries = max(risk.source.nnz, 1)
    n = min(risk.m // _SHARE, _MOST_EXAMPLES, risk.m * _MOST_ENTRIES // entries)
    if n < _FEWEST or n < 4 * risk.d:
        return None
    every = risk.m // n
    rows = np.arange(n) * every + np.random.default_rng(n).integers(0, every, n)
    strength = max(risk.objective.strength, 0.1 / n)
    objective = replace(risk.objective, regularizer=SquaredL2(strength))
    return LinearRisk(objective, risk.source.take(rows))
