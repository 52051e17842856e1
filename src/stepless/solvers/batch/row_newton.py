"""Newton steps with the lasso of rows, for several outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.light import light
from stepless.compiled.row_descent import sweep_rows
from stepless.data import Block, Source
from stepless.intercept import Intercept
from stepless.objective import Objective, Regularizer
from stepless.plane import Tangent
from stepless.proof.witness import Slopes
from stepless.risks.outputs_risk import OutputsRisk
from stepless.risks.risk import RowRisk
from stepless.solvers.solver import Finding

_FEWEST, _MORE = 200, 2  # rows that a working set gets, and how many times as many as are in use
_SWEEPS, _MOST_SWEEPS = 5, 320  # between two Newton steps: twice as many after one that was
_LONG = 0.5  # a shorter share of its length
_PRODUCTS = 25  # of conjugate gradients in a Newton step, at most,
_NEAR = 0.2  # until its residual is so small a share of the first
_LENGTHS = 1.0, 0.5, 0.25, 0.125  # of a Newton step
_LOOK = 4  # Newton steps on the same features as there are in all cost as much as a look at these
_SETTLED = 0.1  # of what the first of them gained: below, the next working set is due
_SLIGHT = 1e-9  # what is scaled by so little is scaled with its conjugates
_FLAT = 1e-10  # share of a feature's square below which a variance is rounding
_ROUNDED = 1e-12
_LEAST = 1e-300


@dataclass
class RowNewtonState:
    """Weights, their intercepts, and the tangent there, if it is known."""

    w: Array
    b: Intercept
    tangent: Tangent | None = None
    model: RowModel | None = None  # the last one
    sweeps: int = 0  # before a Newton step


class RowNewton:
    """Newton steps for several outputs, on the features in use and the best others.

    Solves      min_W α Σ_j ‖W_j‖₂ + Σ_c R_c(W_c, b_c), a row per feature, ℓ of bounded curvature β
    Algorithm   as `ProximalNewton`, for the model that has the loss's largest curvature everywhere,
                XᵀCX for each output with C = β diag(s)/m: no risk is above it, and least squares
                are equal to it. On a working set of rows it is minimised by sweeps of coordinate
                descent, a row at a time, and by Newton's method on the rows that are not 0, where
                the Hessian of ‖·‖ is (I − uuᵀ)/‖W_j‖, u = W_j/‖W_j‖: by conjugate gradients, with
                each row's own block as the preconditioner
    Guarantee   J falls at every step. At every step J − J* ≤ J + Σ s_i ℓ*(θa_i)/m + Ω*(−θG): a_i
                the slopes, G their plane, θ ≤ 1 the largest with all ‖θG_j‖ ≤ α
    Cost        per step a pass for the gradient and one to copy the working set's columns; there
                five passes or more a turn; memory O(mK + dK)
    Needs       several outputs, the penalty `row_lasso`, a finite smoothness; no domain
    Differs     from Newton's method: of losses but the squared one the curvature is a bound. A free
                intercept is minimised out.

    Examples
    --------
    >>> from stepless import LinearRegressor
    >>> model = LinearRegressor(penalty="l1/l2", alpha=0.1, solver="row-newton")
    >>> model.fit([[0.0], [1.0], [2.0]], [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]).rel_gap_ <= 1e-3
    True
    """

    name: ClassVar[str] = "row-newton"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        if objective.regularizer.row_lasso is None or objective.loss.targets != "rows":
            return "is for several outputs with penalty='l1/l2'; use solver='auto'"
        if not objective.domain.free:
            return "knows no domain; use solver='auto'"
        if not math.isfinite(objective.loss.smoothness()):
            return "needs a loss of bounded curvature for several outputs; use solver='auto'"
        return None

    def start(self, risk: OutputsRisk, w: Array, b: Intercept) -> RowNewtonState:
        return RowNewtonState(w.copy(), b, sweeps=_SWEEPS)

    def step(self, risk: OutputsRisk, state: RowNewtonState, rng: np.random.Generator) -> Finding:
        if state.tangent is not None:
            self._improve(risk, state, state.tangent)
        state.tangent = tangent = risk.tangent(state.w, state.b)
        state.b = tangent.b
        height = risk.penalty(state.w) + tangent.value
        bound, slopes = _dual(risk, tangent, height)
        return Finding(state.w, state.b, height, lower_bound=bound, claim=slopes)

    def _improve(self, risk: OutputsRisk, state: RowNewtonState, tangent: Tangent) -> None:
        """Minimise a model with the rows in use and others that would gain most."""
        K, alpha = risk.K, risk.objective.regularizer.row_lasso
        assert alpha is not None
        W, G = state.w.reshape(-1, K), tangent.plane.a.reshape(-1, K)
        used, slopes = W.any(axis=1), np.sqrt((G * G).sum(axis=1))
        others = np.flatnonzero(~used & (slopes > alpha))
        n = max(_FEWEST, _MORE * int(used.sum()))
        if others.size > n:
            order = np.argpartition(
                -slopes[others] / np.maximum(risk.source.sizes[others], _LEAST), n
            )
            others = others[order[:n]]
        rows: Indices = np.sort(np.append(np.flatnonzero(used), others))
        if not rows.size:
            return
        if state.model is None or not np.isin(rows, state.model.rows).all():
            state.model = RowModel.of(risk, rows)
        rows = state.model.rows
        model = replace(state.model, W=W[rows], G=G[rows])
        V, first = W[rows], math.inf
        turns = max(1, risk.source.nnz // (_LOOK * max(model.source.nnz, 1)))
        before = model.penalty(V)
        with single_threaded_blas():
            for _ in range(turns):
                V, t = model.newton_step(model.swept(V, state.sweeps))
                state.sweeps = _SWEEPS if t >= _LONG else min(2 * state.sweeps, _MOST_SWEEPS)
                height = model.height(V)
                gain, before = before - height, height
                first = gain if math.isinf(first) else first
                if not gain > _SETTLED * first:
                    break
        move, W = V - W[rows], W.copy()
        W[rows] = V
        state.w = W.ravel()
        if risk.objective.intercept:
            state.b = state.b - model.means @ move


@dataclass(frozen=True)
class RowModel:
    """⟨G, V − W⟩ + ½⟨V − W, H(V − W)⟩ + Ω(V), with H = XᵀCX − (ΣC) p pᵀ for every output.

    A free intercept has been minimised out: it moves by −pᵀ(V − W), with p = 0 if there is none.
    """

    source: Source  # with the model's features only
    c: Array  # the diagonal of C
    means: Array  # p
    h: Array  # the diagonal of H
    regularizer: Regularizer
    alpha: float
    rows: Indices  # of all weights
    W: Array
    G: Array

    @classmethod
    def of(cls, risk: OutputsRisk, rows: Indices) -> RowModel:
        """Return the model of some rows, around 0."""
        whole, penalty, means = risk.source, risk.objective.regularizer, risk.means[rows]
        source = whole if rows.size == whole.shape[1] else whole.narrowed(rows)
        c = (risk.one.smoothness() / risk.m) * whole.s
        squares = source.squares(c)
        h = np.maximum(squares - float(c.sum()) * means**2, np.maximum(_FLAT * squares, _LEAST))
        none = np.zeros((rows.size, risk.K))
        return cls(source, c, means, h, penalty, float(penalty.row_lasso or 0.0), rows, none, none)

    def moves(self, D: Array) -> Array:
        """Return C(X − 1pᵀ)D."""
        moves: Array = self.c[:, None] * (self.source.scores(D).whole - self.means @ D)
        return moves

    def product(self, D: Array) -> Array:
        """Return HD."""
        t = self.moves(D)
        return self.source.combinations(t) - np.outer(self.means, t.sum(axis=0))

    def height(self, V: Array) -> float:
        """Return the model's value at V."""
        D, some = V - self.W, self.c > 0.0
        square = float((self.moves(D)[some] ** 2 / self.c[some, None]).sum())
        return float((self.G * D).sum()) + 0.5 * square + self.penalty(V)

    def penalty(self, V: Array) -> float:
        """Return Ω(V)."""
        return self.alpha * float(np.sqrt((V * V).sum(axis=1)).sum())

    def swept(self, V: Array, sweeps: int) -> Array:
        """Return V after sweeps of coordinate descent."""
        columns, given = (*self.source.columns, self.c), (self.G, self.h, self.means)
        point = V.copy(), self.moves(V - self.W).T.copy(), np.zeros(V.shape[1])
        sweep_rows(self.regularizer, columns, given, point, sweeps)
        return point[0]

    def newton_step(self, V: Array) -> tuple[Array, float]:
        """Return lower weights on the way to the minimum over the rows that are not 0, and how far.

        They are V, and 0, if none are lower.
        """
        D, height = self.newton_direction(V), self.height(V)
        back = np.maximum(-(D * V).sum(axis=1) / np.maximum((V * V).sum(axis=1), _LEAST), 0.0)
        nearest = 1.0 / max(float(back.max()), 1.0)  # where the first row reaches its corner at 0
        for t in (*_LENGTHS, nearest):
            there = V + t * D
            there[t * back >= 1.0 - _ROUNDED] = 0.0
            if self.height(there) < height:
                return there, t
        return V, 0.0

    def newton_direction(self, V: Array) -> Array:
        """Solve for Newton's direction in the rows that are not 0, by conjugate gradients."""
        lengths = np.sqrt((V * V).sum(axis=1))[:, None]
        used = lengths > 0.0
        u = np.divide(V, lengths, where=used, out=np.zeros_like(V))
        bend = np.divide(self.alpha, lengths, where=used, out=np.zeros_like(lengths))
        steps, across = 1.0 / self.h[:, None], 1.0 / (self.h[:, None] + bend)

        def radial(D: Array) -> Array:
            part: Array = u * (u * D).sum(axis=1)[:, None]
            return part

        r = used * -(self.G + self.product(V - self.W) + self.alpha * u)
        D = np.zeros_like(V)
        p = z = across * r + (steps - across) * radial(r)
        energy = first = float((r * z).sum())
        for _ in range(_PRODUCTS):
            if not energy > _NEAR**2 * first:
                break
            Hp = used * (self.product(p) + bend * (p - radial(p)))
            if not (curvature := float((p * Hp).sum())) > 0.0:  # by rounding
                break
            D += (energy / curvature) * p
            r -= (energy / curvature) * Hp
            z = across * r + (steps - across) * radial(r)
            before, energy = energy, float((r * z).sum())
            p = z + (energy / before) * p
        return D


def _dual(risk: OutputsRisk, tangent: Tangent, height: float) -> tuple[float, Slopes | None]:
    """Return a lower bound on J*, which is at most `height`, and the slopes that prove it."""
    plane, objective = tangent.plane, risk.objective
    witness = plane.witness
    alpha, most = objective.regularizer.row_lasso, plane.a.reshape(-1, risk.K)
    if witness is None or witness.slopes is None or alpha is None:
        return 0.0, None
    critical = objective.regularizer.critical_strength(most)
    share = min(1.0, alpha / max(critical, _LEAST))
    slopes = risk.source.column(_times, witness.slopes, share)
    offset = share * plane.offset  # of conjugates that are not above 0 at 0
    if share < 1.0 - _SLIGHT and risk.one.offers("conjugate"):
        offset = -risk.conjugates(slopes)
    least = objective.least(share * plane.a, np.zeros(()), height)
    return least + offset, Slopes(slopes)


@light
def _times(block: Block, slopes: Array, share: float) -> Array:
    return share * slopes
