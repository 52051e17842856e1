"""AdaGrad with full matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from stepless.arrays import Array, Indices
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.rows import spread
from stepless.objective import FiniteSum, Objective
from stepless.solvers.online.updates import Memory, Setting

EXACT = 128  # weights of a block up to which its root is renewed every round
_GROWTH = 1.1  # of its trace, beyond which the root of a larger block is renewed
_NOTHING = 1e-12  # a curvature, relative to the largest, that counts as 0
_NOISE = 1e-13  # an eigenvalue of Σ ggᵀ, relative to the largest, that may be all rounding


@dataclass
class MatrixBlock:
    """Some of the weights, Σ ggᵀ of these, its trace, and H's eigenvectors and eigenvalues − δ."""

    places: Indices
    G: Array
    vectors: Array
    roots: Array
    trace: float = 0.0
    renewed: float = 0.0  # the trace when the root was computed

    def take(self, g: Array) -> None:
        """Add ggᵀ; renew the root if it is due."""
        self.G += np.outer(g, g)
        self.trace += float(g @ g)
        if g.size <= EXACT or self.trace >= _GROWTH * self.renewed:
            squares, self.vectors = eigh(self.G, check_finite=False)
            # The root of a rounded 0 is 1e-8, by which no pull, itself rounded, may be divided.
            self.roots = np.sqrt(np.where(squares > _NOISE * squares[-1], squares, 0.0))
            self.renewed = self.trace


@dataclass
class MatrixMemory(Memory):
    """`kept` holds Σg and the weights, `bias` the intercept, Σ of its slopes, their root."""

    blocks: list[MatrixBlock] = field(default_factory=list)


class FullMatrix:
    """Both updates with H_t = δI + G_t^½, block by block, in the eigenbasis of H."""

    def __init__(self, averaging: bool, by_blocks: bool, names: Sequence[object] | None) -> None:
        self.averaging, self.by_blocks, self.names = averaging, by_blocks, names

    @staticmethod
    def lacks(objective: Objective) -> str | None:
        """Return what an objective lacks for a full matrix."""
        if not objective.regularizer.only_ridge:
            return "knows the penalties l2 and none with a full matrix; use matrix='diagonal'"
        if not (objective.domain.free or objective.domain.ball_exponent == 2.0):
            return "knows the domains free and ball with a full matrix; use matrix='diagonal'"
        return None

    def fresh(self, setting: Setting, w: Array, b: Array) -> Memory:
        blocks = [
            MatrixBlock(at, np.zeros((at.size, at.size)), np.eye(at.size), np.zeros(at.size))
            for at in self._places(*w.shape)
        ]
        memory = MatrixMemory(np.zeros((2, w.size)), np.zeros((3, b.size)), blocks=blocks)
        memory.kept[1], memory.bias[0] = w.ravel(), b
        if self.averaging:
            pull, memory.bias[1] = setting.pulls(w, b)
            memory.kept[0] = pull.ravel()
        return memory

    def _places(self, d: int, K: int) -> list[Indices]:
        everything = np.arange(d * K).reshape(d, K)
        if not self.by_blocks:
            return [everything.ravel()]
        if self.names is None:
            return list(everything.T.copy())
        names = np.asarray(self.names)
        if names.shape != (d,):
            raise ValueError(f"blocks= names {names.size} features, but there are {d}")
        return [everything[names == name].ravel() for name in np.unique(names)]

    def run(
        self, problem: FiniteSum, setting: Setting, memory: Memory, order: Indices, scores: Array
    ) -> None:
        loss, X, y, s = problem
        d, K = X.shape[1], loss.outputs()
        x, a = np.empty(d), np.empty(K)
        with single_threaded_blas():  # roots of small matrices: threads only wait for each other
            for n, i in enumerate(order.tolist()):
                spread(X, i, x)
                z = memory.kept[1].reshape(d, K).T @ x + memory.bias[0]
                scores[n] = z
                loss.slopes(z, y[i], a)
                g = s[i] * a
                self._move(setting, memory, np.outer(x, g).ravel(), memory.clock + n + 1)
                self._move_bias(setting, memory, g, memory.clock + n + 1)

    def _move(self, setting: Setting, memory: Memory, g: Array, t: int) -> None:
        assert isinstance(memory, MatrixMemory)
        (regularizer, domain), eta = setting.penalty, setting.etas[0]
        delta, curved = setting.metrics[0].delta, regularizer.strong_convexity()
        sums, w = memory.kept
        sums += g
        strength = eta * curved * (t if self.averaging else 1)
        targets, heights = [], []
        for block in memory.blocks:
            at = block.places
            if g[at].any():
                block.take(g[at])
            h = delta + block.roots
            pull = -eta * (block.vectors.T @ (sums if self.averaging else g)[at])
            if not self.averaging:
                pull += h * (block.vectors.T @ w[at])
            h = h + strength
            # A direction without any gradient has no curvature, and nothing pulls along it.
            some = h > _NOTHING * h.max()
            stays = 0.0 if self.averaging else block.vectors.T @ w[at]
            targets.append(np.where(some, pull / np.where(some, h, 1.0), stays))
            heights.append(np.where(some, h, 1.0))
        v = np.concatenate(targets)
        if not math.isinf(domain.radius()):
            domain.project_in(v, np.concatenate(heights))
        first = 0
        for block in memory.blocks:
            w[block.places] = block.vectors @ v[first : first + block.places.size]
            first += block.places.size

    def _move_bias(self, setting: Setting, memory: Memory, a: Array, t: int) -> None:
        metric, eta = setting.metrics[1], setting.etas[1]
        memory.bias[1] += a
        for c in range(a.size):
            memory.bias[2, c] = metric.grow(memory.bias[2, c], a[c])
            step = eta / metric.height(memory.bias[2, c], t)
            if self.averaging:
                memory.bias[0, c] = -step * memory.bias[1, c]
            else:
                memory.bias[0, c] -= step * a[c]

    def weights(self, setting: Setting, memory: Memory) -> tuple[Array, Array]:
        K = memory.bias.shape[1]
        return memory.kept[1].reshape(-1, K).copy(), memory.bias[0].copy()
