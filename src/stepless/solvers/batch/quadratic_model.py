"""The quadratic model of a proximal Newton step, and its minimum by coordinate descent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsymv

from stepless.arrays import Array, Indices
from stepless.compiled import coordinate_descent as loops
from stepless.compiled.blocks import SingleWeights, TurnedGroups
from stepless.data import Column, Source
from stepless.objective import Objective
from stepless.solvers.batch.axes import Axes, spans
from stepless.solvers.batch.factored_face import FactoredFace

Shares = tuple[Array, Array]  # of ℓ₁ and of the ridge, of each weight

_SWEEPS = 5  # between two steps of another kind
_LEAST = 1e-200  # curvature of a feature that is 0: a step of its weight is as long as can be
_SAME = 1e-12  # relative difference of curvatures
_REGULAR = 1e-12  # of the mean square of changes: keeps their combination finite
_LENGTHS = 1.0, 0.5, 0.25, 0.125  # of the way to another point
_HELD, _NEARER = 1e-3, 10.0  # of H's diagonal holds a step on a face after one that was too long,
_FREE = 1e-5  # so many times more after the next, and less after one that was not, down to this
_EVERY = 64  # features make up for a round of sweeps before the first face: their cost is alike
_CALM = 0.05  # of the weights that are not 0, so few more or less: their signs are about right
_PRODUCTS = 100  # with H in a step on a face, at most,
_NEAR = 0.1  # until its residual is so small a share of the first
FEW, _MANY = 500, 4000  # features of which the Hessian itself is formed, and if it serves often;
# and of more if, mostly,
_ENTRIES, _DENSE = 40, 2000  # so many are in a row, or in a dense one
_WHOLE = 100  # weights of a group up to which its own is formed, where all of it is not


class QuadraticModel(ABC):
    """q(v) = ⟨g, v − w⟩ + ½⟨v − w, H(v − w)⟩ + Ω(v) over a separable domain.

    H is the Hessian of the risk in the features of a source, with curvatures c, plus a diagonal
    `damping`. A free intercept has been minimised out of it: it moves by −⟨pull, v − w⟩. With a
    group lasso the model is turned to `axes`, and a group's damping is one number.
    """

    pull: Array
    enough: float  # share of a model's gain that is worth no more sweeps
    rounds: int  # of sweeps, at most
    lasting: bool  # whether it is worth another step
    rest: int  # rounds of sweeps before the first face; none if the last face was the right one

    def __init__(self, objective: Objective, c: Column, damping: Array) -> None:
        self.c, self.k = c, damping.size
        self.rest = self.k // _EVERY if self.lasting else 0
        self.penalize(objective)

    def penalize(self, objective: Objective) -> None:
        """Take the penalty and the domain of an objective of the same features."""
        omega, factors = objective.regularizer.factored(self.k)
        shares = omega.elastic_shares
        self.objective = objective
        self.shares = None if shares is None else (shares[0] * factors, shares[1] * factors)
        self.blocks: SingleWeights | TurnedGroups
        self.blocks = SingleWeights(objective.regularizer, objective.domain)
        self.axes: Axes | None = None
        self.penalty, self.project = objective.penalty, objective.domain.project

    def has_curvatures(self, c: Column) -> bool:
        """Return whether its own are these, but for rounding: no other model would be better."""
        pairs = zip(self.c.parts, c.parts, strict=True)
        return all(bool((np.abs(own - given) <= _SAME * own).all()) for own, given in pairs)

    @staticmethod
    def of(
        objective: Objective,
        source: Source,
        c: Column,
        damping: Array,
        often: bool,
        known: Known | None = None,
    ) -> QuadraticModel:
        """Return the model in the form that is the cheaper one; it may be worth many steps."""
        m, k = source.shape
        curved = np.count_nonzero(c.whole) / m  # share of rows, that H is made of
        row = (_DENSE if source.nnz == m * k else _ENTRIES) / max(curved, _LEAST)
        small = k <= FEW or (often and k <= _MANY) or (k * k <= 2 * source.nnz <= 2 * m * row)
        if not small:
            return ColumnModel(objective, source, c, damping)
        return HessianModel(objective, source, c, damping, known)

    def minimum(self, w: Array, g: Array) -> tuple[Array, float]:
        """Return about the minimiser, and what the model promises for it: q(w) − q(v).

        Every few sweeps coordinate descent goes on from elsewhere, where that is lower: towards the
        minimum on the face of weights with their present signs, or by Anderson's extrapolation
        (Bertrand and Massias, "Anderson acceleration of coordinate descent" (2021)). Where the way
        to a face's minimum was too long, the next is held near, as in the proximal point algorithm.
        It ends when about a share `enough` of the gain is left.
        """
        if self.axes:
            w, g = self.axes.turn(w), self.axes.turn(g)
        v, path = w.copy(), np.empty((_SWEEPS + 1, w.size))
        kept, before, total = self.begin(w), self.penalty(w), 0.0
        signs, exact = (
            np.empty(0),
            False,
        )  # of the last face, if v is the minimum that was held near
        rest, held = self.rest, 0.0
        for _ in range(self.rounds):
            sweeps, total = self.descend(w, g, v, kept, path, (total, self.enough))
            same = np.array_equal(np.sign(v), signs)
            if same and exact:
                self.rest = 0
                break
            signs, trail = np.empty(0), path[: min(sweeps, _SWEEPS) + 1]
            face = self.shares is not None and rest == 0 and _calm(trail)
            hold = 0.0 if same or held < _FREE else held
            there = self.on_face(w, g, v, self.shares, hold) if face and self.shares else None
            if there is None:
                v, kept, t = self._towards(w, g, v, kept, _extrapolated(trail), (1.0,))
                rest = max(rest - 1, 0)
            else:
                v, kept, t = self._towards(w, g, v, kept, there, _LENGTHS)
                if t == 1.0:
                    signs, exact, held = np.sign(v), hold == 0.0, held / _NEARER
                else:
                    rest = 1
                    held = max(_NEARER * held, _HELD) if hold or held < _FREE else held
            if sweeps <= _SWEEPS and t == 0.0:
                break
        promise = max(before - self._height(w, g, v, kept), 0.0)
        return self.axes.turn_back(v) if self.axes else v, promise

    def _turn(self, axes: Axes) -> None:
        self.axes, self.blocks, self.penalty = axes, axes.groups, axes.penalty

    def _towards(
        self, w: Array, g: Array, v: Array, kept: Any, there: Array, lengths: Sequence[float]
    ) -> tuple[Array, Any, float]:
        """Return lower weights on the way from v to others, what sweeps keep of them, and how far.

        Where an ℓ₁ penalty would change sign, weights stay 0. It is v, and 0, if none is lower.
        """
        height = self._height(w, g, v, kept)
        for t in lengths:
            at = v + t * (there - v)
            if self.shares is not None:
                at[(at * v < 0.0) & (self.shares[0] > 0.0)] = 0.0
            self.project(at)
            jump = self.begin(w, at)
            if self._height(w, g, at, jump) < height:
                return at, jump, t
        return v, kept, 0.0

    def _height(self, w: Array, g: Array, v: Array, kept: Any) -> float:
        return float(g @ (v - w)) + 0.5 * self.square(v - w, kept) + self.penalty(v)

    @abstractmethod
    def on_face(self, w: Array, g: Array, v: Array, shares: Shares, held: float) -> Array | None:
        """Return about the minimum of q without corners over the weights that are not 0 in v.

        There Ω is the sum of shares[0]·sign(v)·v + shares[1]·v²/2. To hold it near v, h·(x − v)²/2
        is added, h a share `held` of H's diagonal. None if H does not tell it.
        """

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

    def __init__(
        self,
        objective: Objective,
        source: Source,
        c: Column,
        damping: Array,
        known: Known | None = None,
    ) -> None:
        super().__init__(objective, c, damping)
        self.factored: FactoredFace | None = None  # the last face
        self.pull = np.zeros(self.k)
        if known is not None:
            self._take_over(known, source, damping)
            return
        k = self.k
        H = source.gram(c, objective.intercept)
        H += np.tril(H, -1).T
        if objective.intercept:
            self.pull = H[k, :k] / max(float(H[k, k]), _LEAST)
            H = H[:k, :k] - np.outer(self.pull, H[k, :k])
        diagonal = np.einsum("ii->i", H)
        diagonal += damping
        if lasso := objective.regularizer.group_lasso:
            H = self._turned(H, lasso)
            diagonal = np.einsum("ii->i", H)
        np.maximum(diagonal, _LEAST, out=diagonal)
        self.H = H

    def _take_over(self, known: Known, source: Source, damping: Array) -> None:
        """Form the rows and columns of H for features that another model has not."""
        model, before, places = known
        self.rest = model.rest
        if model.factored is not None:
            moved = np.full(model.k, -1)
            moved[before] = places
            self.factored = model.factored.moved(moved)
        new = np.flatnonzero(np.isin(np.arange(self.k), places, invert=True))
        rows = source.gram_rows(self.c, new)
        if self.objective.intercept:
            bend = max(float(self.c.whole.sum()), _LEAST)
            self.pull = source.combination(self.c) / bend
            rows -= np.outer(bend * self.pull[new], self.pull)
        at = np.arange(new.size), new
        rows[at] = np.maximum(rows[at] + damping[new], _LEAST)
        self.H = np.empty((self.k, self.k))
        self.H[np.ix_(places, places)] = model.H[np.ix_(before, before)]
        self.H[new], self.H[:, new] = rows, rows.T

    def _turned(self, H: Array, lasso: tuple[float, Indices, Indices]) -> Array:
        """Return H with the groups' own Hessians diagonal."""
        _, order, starts = lasso
        H = H[np.ix_(order, order)]
        axes, heights = Axes.of(lasso, [H[here, here] for here in spans(starts)])
        for here, Q, h in zip(spans(starts), axes.matrices, heights, strict=True):
            H[:, here] = H[:, here] @ Q
            H[here] = Q.T @ H[here]
            H[here, here] = np.diag(h)
        self._turn(axes)
        return H

    def on_face(self, w: Array, g: Array, v: Array, shares: Shares, held: float) -> Array | None:
        face, extra = np.flatnonzero(v), held * np.diagonal(self.H)
        right = (dsymv(1.0, self.H.T, w) - g - shares[0] * np.sign(v) + extra * v)[face]
        ridge = shares[1] + extra
        try:
            if self.factored is None or not self.factored.serves(face, ridge):
                self.factored = FactoredFace.of(self.H, face, ridge)
            found = self.factored.solve(self.H, face, ridge, right)
        except LinAlgError:
            self.factored = None
            return None
        there = np.zeros(v.size)
        there[face] = found
        return there

    def begin(self, w: Array, v: Array | None = None) -> Array:
        if v is None or not self.k:
            return np.zeros(w.size)
        found: Array = dsymv(1.0, self.H.T, v - w)  # reads half of H
        return found

    def descend(
        self, w: Array, g: Array, v: Array, kept: Array, path: Array, stop: tuple[float, float]
    ) -> tuple[int, float]:
        found: tuple[int, float] = loops.descend(self.blocks, self.H, (g, v, kept), path, stop)
        return found

    def square(self, delta: Array, kept: Array) -> float:
        return float(delta @ kept)


class ColumnModel(QuadraticModel):
    """The model with the columns of X, without their means if the intercept is free.

    What sweeps keep is CX(v − w), and ⟨p, w − v⟩ of p = √β pull, β the curvature in b.
    """

    enough, rounds, lasting = 0.3, 1, False  # a sweep costs more than new slopes

    def __init__(self, objective: Objective, source: Source, c: Column, damping: Array) -> None:
        super().__init__(objective, c, damping)
        self.source, self.whole, self.columns = source, c.whole, source.columns
        self.damping, self.pull, self.p = damping, np.zeros(damping.size), np.zeros(damping.size)
        self.h = source.squares(c) + damping
        if objective.intercept:
            bend = max(float(self.whole.sum()), _LEAST)
            self.pull = source.combination(c) / bend
            self.p = np.sqrt(bend) * self.pull
            self.h -= self.p**2
        if lasso := objective.regularizer.group_lasso:
            self._turn_groups(lasso)
        np.maximum(self.h, np.maximum(self.damping, _LEAST), out=self.h)

    def _turn_groups(self, lasso: tuple[float, Indices, Indices]) -> None:
        """Turn to the axes of the groups' Hessians; bound those of large groups from above."""
        _, order, starts = lasso
        columns, rows = self.columns
        self.columns, p, damping = (columns, rows[order]), self.p[order], self.damping[order]
        sizes = np.diff(starts)
        places = np.append(0, np.cumsum(np.where(sizes <= _WHOLE, sizes**2, 0)))
        hessians, self.h = np.zeros(places[-1]), damping.copy()
        loops.add_block_hessians((*self.columns, self.whole), starts, places, hessians, self.h)
        blocks: list[Array | None] = []
        for n, here, place in zip(sizes, spans(starts), places, strict=False):
            if n > _WHOLE:
                blocks.append(None)
                continue
            H = hessians[place : place + n * n].reshape(n, n)
            H -= np.outer(p[here], p[here])
            np.einsum("ii->i", H)[:] += damping[here]
            blocks.append(H)
        axes, heights = Axes.of(lasso, blocks)
        for here, h in zip(spans(starts), heights, strict=True):
            if h.size:
                self.h[here] = h
        self._turn(axes)
        self.p, self.damping = axes.turn(self.p), damping
        self.enough, self.rounds = 0.1, 4  # the turn costs some sweeps

    def on_face(self, w: Array, g: Array, v: Array, shares: Shares, held: float) -> Array:
        # by conjugate gradients with the preconditioner diag(H)
        signs = np.sign(v)
        free = (signs != 0.0).astype(float)
        r = -free * (g + self.product(v - w) + shares[0] * signs + shares[1] * v)
        ridge = shares[1] + held * self.h
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
        return v + delta

    def product(self, delta: Array) -> Array:
        """Return Hδ."""
        moves = self.source.split(self.whole * self._predictions(delta))
        found = self.source.combination(moves)
        found = (self.axes.turn(found) if self.axes else found) + self.damping * delta
        found -= self.p * float(self.p @ delta)
        return found

    def _predictions(self, delta: Array) -> Array:
        return self.source.predictions(self.axes.turn_back(delta) if self.axes else delta)

    def begin(self, w: Array, v: Array | None = None) -> tuple[Array, Array]:
        if v is None:
            return np.zeros(self.whole.size), np.zeros(1)
        moves = self.whole * self._predictions(v - w)
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
        columns, given = (*self.columns, self.whole), (w, g, self.h, self.damping, self.p)
        found: tuple[int, float] = loops.descend_columns(
            self.blocks, columns, given, (v, *kept), path, stop
        )
        return found

    def square(self, delta: Array, kept: tuple[Array, Array]) -> float:
        moves, [shift] = kept
        here = self.whole > 0.0
        along = float((moves[here] ** 2 / self.whole[here]).sum())
        return along + float(self.damping @ delta**2) - float(shift) ** 2


# A model with the same curvatures, and where features that are in both are: in it, and in the new
Known = tuple[HessianModel, Indices, Indices]


def _calm(path: Array) -> bool:
    """Return whether the last sweep changed few signs: they are about right."""
    changed = np.count_nonzero(np.sign(path[-1]) != np.sign(path[-2]))
    return bool(changed <= _CALM * np.count_nonzero(path[-1]))


def _extrapolated(path: Array) -> Array:
    """Return the combination of a path's points, with shares of sum 1, that moves least."""
    changes = np.diff(path, axis=0)
    products = changes @ changes.T
    products.flat[:: products.shape[0] + 1] += max(_REGULAR * products.trace(), _LEAST)
    shares = np.linalg.solve(products, np.ones(products.shape[0]))
    there: Array = shares @ path[1:] / shares.sum()
    return there
