"""AdaGrad as a player."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from stepless.arrays import AnyArray, Array, Indices
from stepless.compiled.proximal_step import descend, enter
from stepless.games.adagrad_bounds import Averaging, MirrorDescent
from stepless.games.adagrad_metrics import BlockMetric, DiagonalMetric
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import refuse_nonpositive
from stepless.mirrors import project_metric
from stepless.mirrors.elastic import elastic_shares

_SLIGHT = 2.0**-26  # share of a gradient's length: a positive but negligible curvature


class AdaGrad(Player):
    """AdaGrad: a step size for each weight, or a matrix of them, from the gradients so far.

    Plays       with H_t = δI + diag ‖g_{1:t,j}‖₂, or δI + (Σ ggᵀ)^½, whole or in blocks, by
                ``"mirror"``, DHS (4), argmin_S η⟨g_t, x⟩ + ηφ(x) + ½⟨x − w_t, H_t(x − w_t)⟩; by
                ``"averaging"``, DHS (3), argmin_S η⟨g_{1:t}, x⟩ + tηφ(x) + ½⟨x, H_t x⟩. φ is the
                game's penalty
    Theorem     DHS Th. 6, 8, Cor. 14: corrected as in docs/papers.md, against u at most
                (δ‖u − w_1‖₂² + max_s ‖u − w_s‖² γ)/(2η) + ηγ: in ‖·‖_∞, with
                γ = Σ_j ‖g_{1:t,j}‖₂, for a diagonal; in ‖·‖₂, with γ = tr (Σ ggᵀ)^½, for a matrix.
                For averaging u replaces u − w, and δ must be at least as large as any gradient,
                else Cor. 3
    Cost        one projection in a diagonal metric and O(d) per round; for matrices, O(d³) per
                round and d² numbers
    Needs       gradients; a penalty must be the ridge, or the lasso or elastic net in a simplex,
                or, for a diagonal, a sum over weights in a box
    Differs     η is the domain's: (∞-)diameter/√2 or radius (Cor. 7, 10). δ is negligible by
                ``"mirror"`` with a diagonal, else the size of the first nonzero gradient. If that
                was tiny, a matrix has more: δ_t is at least 2⁻²⁶ of the longest so far, and the
                bound contains Σ_s (δ_s − δ_{s−1})‖u − w_s‖² or δ_t‖u‖²

    Parameters
    ----------
    matrix
        ``"diagonal"``, ``"full"``, or the block of each weight, such as ``(0, 0, 1)``.
    update
        ``"mirror"`` or ``"averaging"``.
    eta, delta
        η and δ, in place of the defaults.

    Examples
    --------
    >>> from stepless import Box
    >>> from stepless.games import Game
    >>> rng = np.random.default_rng(0)
    >>> Game(AdaGrad(), Box(-1.0, 1.0)).run(rng.normal(size=(100, 3))).holds
    True
    """

    name = "adagrad"

    def __init__(
        self,
        matrix: Literal["diagonal", "full"] | Sequence[object] = "diagonal",
        update: Literal["mirror", "averaging"] = "mirror",
        *,
        eta: float | None = None,
        delta: float | None = None,
    ) -> None:
        if isinstance(matrix, str) and matrix not in ("diagonal", "full"):
            raise ValueError(
                f"matrix must be 'diagonal', 'full' or the block of each weight, not {matrix!r}"
            )
        if update not in ("mirror", "averaging"):
            raise ValueError(f"update must be 'mirror' or 'averaging', not {update!r}")
        refuse_nonpositive(eta=eta, delta=delta)
        self.matrix, self.update, self.eta, self.delta = matrix, update, eta, delta

    @property
    def theorem(self) -> str:  # type: ignore[override]
        return f"DHS {self._bound.theorem}"

    def begin(self) -> None:
        self.blocks = self._blocks()
        self._set_shares()
        self.w = self.center()
        self.step = self.eta or self._reach()  # η
        self.least = self.delta or 0.0  # δ
        self.metric = self._metric()
        self.sum = np.zeros(self.d)
        self._bound = self._theorem(self.w)

    def learn(self, g: Array, cost: Cost) -> None:
        if self.least == 0.0:
            slight = self.matrix == "diagonal" and self.update == "mirror"
            self.least = self.metric.largest_norm(g) * (_SLIGHT if slight else 1.0)
            if self.least == 0.0:
                return  # w_1 minimises φ: it stays
            self.metric.delta = self.least
        self.metric.add(g)
        H = self.metric.matrix() / self.step
        if self.update == "mirror":
            self.w = self._nearest(g, H, self.w, 1)  # (4)
        else:
            self.sum += g
            self.w = self._nearest(self.sum, H, np.zeros(self.d), self.t)  # (3)

    def bound(self, run: Run, u: Array) -> Array:
        if self.least == 0.0:
            return np.zeros(len(run.plays))  # all gradients were 0
        self._bound = self._theorem(u)
        # φ(w_1) − φ(w_{t+1}), which the proofs leave over, is not positive: w_1 minimises φ
        rounds = zip(run.plays, run.gradients, strict=True)
        return np.array([self._bound.after(w, g) for w, g in rounds])

    def _nearest(self, g: Array, H: Array, w: Array, times: int) -> Array:
        """Return argmin_S ⟨g, x⟩ + times·φ(x) + ½⟨x − w, H(x − w)⟩; H a diagonal or a matrix."""
        shares = self.shares
        if shares is None:
            v = np.empty(self.d)
            columns = (x.reshape(-1, 1) for x in (w, g / times, H / times, v))
            descend(self.penalty, *columns)
            enter(self.domain, v, H)
            return v
        if shares != (0.0, 0.0):
            g = g + times * shares[0]
        if H.ndim == 1 and self.domain.offers("project_in"):
            v = (H * w - g) / (H + times * shares[1])
            enter(self.domain, v, H + times * shares[1])
            return v
        H = np.diag(H) if H.ndim == 1 else H
        curved = H + times * shares[1] * np.eye(self.d)
        lowest: AnyArray = np.linalg.solve(curved, H @ w - g)
        return project_metric(self.domain, lowest, curved)

    def _set_shares(self) -> None:
        """Set α and β of a penalty α‖w‖₁ + β‖w‖²/2 that is smooth in S, or None for another."""
        shares = elastic_shares(self.penalty)
        if shares is not None and (shares[0] == 0.0 or self.domain.simplex):
            self.shares: tuple[float, float] | None = shares
            return
        single = self.penalty is None or (self.penalty.separable and self.domain.separable)
        if not single or self.matrix != "diagonal":
            raise ValueError(
                f"adagrad does not know the penalty {type(self.penalty).__name__} in "
                f"{type(self.domain).__name__} with this matrix: use SquaredL2, or play "
                "composite-mirror-prox"
            )
        self.shares = None

    def _blocks(self) -> list[Indices]:
        if isinstance(self.matrix, str):
            return [np.arange(self.d)]
        labels = list(self.matrix)
        if len(labels) != self.d:
            raise ValueError(
                f"matrix names the blocks of {len(labels)} weights, but a decision has {self.d}"
            )
        places: dict[object, list[int]] = {}
        for j, label in enumerate(labels):
            places.setdefault(label, []).append(j)
        return [np.array(at) for at in places.values()]

    def _reach(self) -> float:
        """η of Cor. 7, or of Cor. 10 for the largest block."""
        domain, mirror = self.domain, self.update == "mirror"
        if self.matrix == "diagonal":
            return float(domain.width() / math.sqrt(2.0) if mirror else domain.reach())
        size = math.sqrt(max(at.size for at in self.blocks))
        if mirror:
            return float(min(self.diameter, size * domain.width()) / math.sqrt(2.0))
        return float(min(domain.radius(), size * domain.reach()))

    def _metric(self) -> DiagonalMetric | BlockMetric:
        if self.matrix == "diagonal":
            return DiagonalMetric(self.d, self.least)
        return BlockMetric(self.blocks, self.least, _SLIGHT)

    def _theorem(self, u: Array) -> Averaging | MirrorDescent:
        kind = MirrorDescent if self.update == "mirror" else Averaging
        return kind(u, self.step, self._metric())
