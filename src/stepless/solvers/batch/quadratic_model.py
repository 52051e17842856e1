"""The quadratic model of a proximal Newton step, and its minimum by coordinate descent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from stepless.arrays import Array
from stepless.compiled import coordinate_descent as loops
from stepless.data import Column, Source
from stepless.objective import Objective

_SWEEPS = 5  # between two steps of another kind
_LEAST = 1e-200  # curvature of a feature that is 0: a step of its weight is as long as can be
_REGULAR = 1e-12  # of the mean square of changes: keeps their combination finite
_CALM = 0.05  # of the weights that are not 0, so few more or less: their signs are about right
_PRODUCTS = 100  # with H in a step on a face, at most,
_NEAR = 0.1  # until its residual is so small a share of the first
_MANY = 2000  # features up to which the Hessian itself is formed,
_WORTH = 50  # if it takes no more products than so many per entry


class QuadraticModel(ABC):
    """q(v) = ⟨g, v − w⟩ + ½⟨v − w, H(v − w)⟩ + Ω(v) over a separable domain.

    H is the Hessian of the risk in the features of a source, with curvatures c, plus a diagonal
    `damping`. A free intercept has been minimised out of it: it moves by −⟨pull, v − w⟩.
    """

    pull: Array
    enough: float  # share of a model's gain that is worth no more sweeps
    rounds: int  # of sweeps, at most
    lasting: bool  # whether it is worth another step

    def __init__(self, objective: Objective, c: Column) -> None:
        self.c = c
        self.shares = objective.regularizer.elastic_shares
        self.terms = objective.regularizer, objective.domain
        self.penalty, self.project = objective.penalty, objective.domain.project

    @staticmethod
    def of(objective: Objective, source: Source, c: Column, damping: Array) -> QuadraticModel:
        """Return the model in the form that is the cheaper one."""
        curved = np.count_nonzero(c.whole) / source.shape[0]  # share of rows, that H is made of
        small = damping.size <= _MANY and curved * source.nnz <= 2 * _WORTH * source.shape[0]
        return (HessianModel if small else ColumnModel)(objective, source, c, damping)

    def minimum(self, w: Array, g: Array) -> tuple[Array, float]:
        """Return about the minimiser, and what the model promises for it: q(w) − q(v).

        Now and then, where that is lower, coordinate descent goes on from `elsewhere`: by
        Anderson's extrapolation (Bertrand and Massias, "Anderson acceleration of coordinate
        descent" (2021)), or from the minimum on the face of weights with their present signs. It
        ends when about a share `enough` of the gain is left.
        """
        v, path = w.copy(), np.empty((_SWEEPS + 1, w.size))
        kept, before, total = self.begin(w), self.penalty(w), 0.0
        signs: Array | None = None  # those of the face that v is the minimum of
        for _ in range(self.rounds):
            sweeps, total = self.descend(w, g, v, kept, path, (total, self.enough))
            ended = sweeps <= _SWEEPS
            if ended and signs is not None and np.array_equal(np.sign(v), signs):
                break
            signs, there = None, self.elsewhere(w, g, path[: min(sweeps, _SWEEPS) + 1])
            if there is not None:
                self.project(there)
                jump = self.begin(w, there)
                if self._height(w, g, there, jump) < self._height(w, g, v, kept):
                    v, kept, signs = there, jump, np.sign(there)
            if ended and signs is None:
                break
        return v, max(before - self._height(w, g, v, kept), 0.0)

    def _height(self, w: Array, g: Array, v: Array, kept: Any) -> float:
        return float(g @ (v - w)) + 0.5 * self.square(v - w, kept) + self.penalty(v)

    @abstractmethod
    def elsewhere(self, w: Array, g: Array, path: Array) -> Array | None:
        """Return weights from where descent may go on better than from a path's end, if any."""

    @abstractmethod
    def begin(self, w: Array, v: Array | None = None) -> Any:
        """Return what sweeps keep of v, which is w at first."""

    @abstractmethod
    def descend(
        self,
        w: Array,
        g: Array,
        v: Array,
        kept: Any,
        path: Array,
        stop: tuple[float, float],
    ) -> tuple[int, float]:
        """Sweep over the weights, as `compiled.coordinate_descent` says."""

    @abstractmethod
    def square(self, delta: Array, kept: Any) -> float:
        """Return ⟨δ, Hδ⟩."""


class HessianModel(QuadraticModel):
    """The model with its Hessian as a matrix; what sweeps keep is H(v − w)."""

    enough, rounds, lasting = 1e-3, 200, True  # sweeps are cheap, H is not

    def __init__(self, objective: Objective, source: Source, c: Column, damping: Array) -> None:
        super().__init__(objective, c)
        k = damping.size
        H = source.gram(c, objective.intercept)
        H += np.tril(H, -1).T
        self.pull = np.zeros(k)
        if objective.intercept:
            self.pull = H[k, :k] / max(float(H[k, k]), _LEAST)
            H = H[:k, :k] - np.outer(self.pull, H[k, :k])
        diagonal = np.einsum("ii->i", H)
        diagonal += damping
        np.maximum(diagonal, _LEAST, out=diagonal)
        self.H = H

    def elsewhere(self, w: Array, g: Array, path: Array) -> Array | None:
        there = None
        if self.shares is not None and _calm(path):
            there = self._on_face(w, g, path[-1], *self.shares)
        return _extrapolated(path) if there is None else there

    def _on_face(self, w: Array, g: Array, v: Array, corner: float, ridge: float) -> Array | None:
        """Return the minimum over weights with the signs of v, if H tells it."""
        face = np.flatnonzero(v)
        signs = np.sign(v[face])
        right = (self.H @ w - g)[face] - corner * signs
        H = self.H[np.ix_(face, face)]
        np.einsum("ii->i", H)[:] += ridge
        try:
            found = cho_solve(cho_factor(H, overwrite_a=True, check_finite=False), right)
        except LinAlgError:
            return None
        there = np.zeros(v.size)
        there[face] = np.where(found * signs > 0.0, found, 0.0)
        return there

    def begin(self, w: Array, v: Array | None = None) -> Array:
        return np.zeros(w.size) if v is None else self.H @ (v - w)

    def descend(
        self, w: Array, g: Array, v: Array, kept: Array, path: Array, stop: tuple[float, float]
    ) -> tuple[int, float]:
        found: tuple[int, float] = loops.descend(*self.terms, self.H, (g, v, kept), path, stop)
        return found

    def square(self, delta: Array, kept: Array) -> float:
        return float(delta @ kept)


class ColumnModel(QuadraticModel):
    """The model with the columns of X, without their means if the intercept is free.

    What sweeps keep is CX(v − w), and ⟨p, w − v⟩ of p = √β pull, β the curvature in b.
    """

    enough, rounds, lasting = 0.3, 1, False  # a sweep costs more than new slopes

    def __init__(self, objective: Objective, source: Source, c: Column, damping: Array) -> None:
        super().__init__(objective, c)
        self.source, self.whole = source, c.whole
        self.damping, self.pull, self.p = damping, np.zeros(damping.size), np.zeros(damping.size)
        self.h = source.squares(c) + damping
        if objective.intercept:
            bend = max(float(self.whole.sum()), _LEAST)
            self.pull = source.combination(c) / bend
            self.p = np.sqrt(bend) * self.pull
            self.h -= self.p**2
        np.maximum(self.h, np.maximum(damping, _LEAST), out=self.h)

    def elsewhere(self, w: Array, g: Array, path: Array) -> Array | None:
        if self.shares is None:
            return _extrapolated(path)
        if not _calm(path):
            return None
        return self._on_face(w, g, path[-1], *self.shares)

    def _on_face(self, w: Array, g: Array, v: Array, corner: float, ridge: float) -> Array:
        """Return about the minimum over weights with the signs of v, others being 0.

        It is found by conjugate gradients with the preconditioner diag(H).
        """
        signs = np.sign(v)
        free = (signs != 0.0).astype(float)
        r = -free * (g + self.product(v - w) + corner * signs + ridge * v)
        scale = free / (self.h + ridge)
        delta, p = np.zeros(v.size), scale * r
        energy = first = float(r @ p)
        for _ in range(_PRODUCTS):
            if not energy > _NEAR**2 * first:
                break
            Hp = free * (self.product(p) + ridge * p)
            if not (bend := float(p @ Hp)) > 0.0:  # by rounding
                break
            step = energy / bend
            delta += step * p
            r -= step * Hp
            before, energy = energy, float(r @ (scale * r))
            p = scale * r + (energy / before) * p
        there: Array = v + delta
        there[there * signs < 0.0] = 0.0
        return there

    def product(self, delta: Array) -> Array:
        """Return Hδ."""
        moves = self.source.split(self.whole * self.source.predictions(delta))
        found = self.source.combination(moves) + self.damping * delta
        found -= self.p * float(self.p @ delta)
        return found

    def begin(self, w: Array, v: Array | None = None) -> tuple[Array, Array]:
        if v is None:
            return np.zeros(self.whole.size), np.zeros(1)
        moves = self.whole * self.source.predictions(v - w)
        return moves, np.array([-float(self.p @ (v - w))])

    def descend(
        self,
        w: Array,
        g: Array,
        v: Array,
        kept: tuple[Array, Array],
        path: Array,
        stop: tuple[float, float],
    ) -> tuple[int, float]:
        columns, given = (*self.source.columns, self.whole), (w, g, self.h, self.damping, self.p)
        found: tuple[int, float] = loops.descend_columns(
            *self.terms, columns, given, (v, *kept), path, stop
        )
        return found

    def square(self, delta: Array, kept: tuple[Array, Array]) -> float:
        moves, [shift] = kept
        here = self.whole > 0.0
        along = float((moves[here] ** 2 / self.whole[here]).sum())
        return along + float(self.damping @ delta**2) - float(shift) ** 2


def _calm(path: Array) -> bool:
    """Return whether the last sweep changed few signs: they are about right."""
    changed = np.count_nonzero(np.sign(path[-1]) != np.sign(path[-2]))
    return bool(changed <= _CALM * np.count_nonzero(path[-1]))


def _extrapolated(path: Array) -> Array:
    """Return the combination of a path's points, with shares of sum 1, that moves least."""
    changes = np.diff(path, axis=0)
    products = changes @ changes.T
    products.flat[:: products.shape[0] + 1] += _REGULAR * products.trace()
    shares = np.linalg.solve(products, np.ones(products.shape[0]))
    there: Array = shares @ path[1:] / shares.sum()
    return there
