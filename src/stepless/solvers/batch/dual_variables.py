"""The state of dual coordinate ascent, and the walks that change it: of all rows, or in turns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepless.arrays import AnyArray, Array, Indices
from stepless.compiled import dual_ascent as loops
from stepless.compiled.shuffle import shuffle
from stepless.data import Block, Column
from stepless.data.home import Spans
from stepless.data.threads import map_blocks
from stepless.objective import FiniteSum, Loss
from stepless.risks.risk import RowRisk

_LEAST = 1 / 32  # of a sweep: what a sweep over the last few active examples counts as
_EMPTY = 1e-12  # of the largest q_i: for an example without features
_REPEATS = 3  # sweeps over the rows of a turn,
_HALVES = 2  # of a turn, which are swept at the same time
_SHARE = 1.5  # while they visit no more than this many times the examples of it


@dataclass(frozen=True)
class Waypoint:
    """Dual variables that were passed, with their λw and intercept."""

    a: Array
    g: Array
    b: float


@dataclass
class DualAscentState:
    """Dual variables, the point they stand for, and which examples still move."""

    a: Array
    w: Array
    motion: Array  # the intercept, and how far things move
    q: Array  # what a unit of a_i takes off prediction i: s_i(‖x_i‖² + r²)/(λm); NaN if not known
    length: float  # Σ s_i‖x_i‖²/m
    bias_square: float  # r²; 0 without an intercept
    order: Indices  # the examples, active ones first; none if rows come in turns
    active: int
    strength: float  # λ
    tilt: float = math.inf  # |Σ s_i a_i|, which an intercept wants to be 0
    work: float = 0.0  # sweeps so far; walks over the rows, if these come in turns
    before: Waypoint | None = None  # at another strength
    last: Waypoint | None = None  # before the last sweep
    resumed: bool = False  # then the first step is short
    given: tuple[float, Array, float] | None = None  # J, w, b of a start not yet offered

    @property
    def scale(self) -> loops.Scale:
        return loops.Scale(1.0 / (self.strength * self.a.size), self.bias_square)

    def waypoint(self) -> Waypoint:
        """Return a copy of the present point."""
        return Waypoint(self.a.copy(), self.strength * self.w, float(self.motion[loops.BIAS]))

    def walk(self, risk: RowRisk, rng: np.random.Generator) -> float:
        """Sweep the active examples; return the largest move of a prediction by its own step."""
        if risk.source.home.slow:
            self.work += 1.0
            turns, loss = risk.source.turns(rng), risk.objective.loss
            threads = risk.source.threads
            return max(self._turn(loss, block, spans, rng, threads) for spans, block in turns)
        self.work += max(self.active / risk.m, _LEAST)
        order = self.order[: self.active]
        shuffle(order, rng.integers(2**64, dtype=np.uint64))
        given = self.q, order, self.a, self.w, self.motion
        self.active = int(loops.sweep(risk.problem, self.scale, *given))
        return float(self.motion[loops.MOVE])

    def _turn(
        self, loss: Loss, block: Block, spans: Spans, rng: np.random.Generator, threads: int
    ) -> float:
        """Sweep these rows, and those again that are still active; return how far they move."""
        q, a = (_gathered(of, spans) for of in (self.q, self.a))
        if np.isnan(q[0]):
            given = block.s, self.bias_square, self.strength * self.a.size
            q = effects(loops.squares(block), *given)
            _scatter(q, self.q, spans)
        problem, top = FiniteSum(loss, *block), 0.0
        order: Indices = np.flatnonzero(block.s).astype(np.uint32)
        visits = order.size
        for _ in range(_REPEATS):
            shuffle(order, rng.integers(2**64, dtype=np.uint64))
            order, move = self._sweep_halves(problem, q, order, a, threads)
            top, visits = max(top, move), visits + order.size
            if not order.size or visits > _SHARE * a.size:
                break
        _scatter(a, self.a, spans)
        return top

    def _sweep_halves(
        self, problem: FiniteSum, q: Array, order: Indices, a: Array, threads: int
    ) -> tuple[Indices, float]:
        """Sweep two halves at the same time; return who stays active, and how far they move.

        Both begin at the same weights, and their changes are added up. Each takes every change for
        twice what it is, that is, for what both halves do together: so the dual objective is sure
        to rise (Ma, Smith, Jaggi, Jordan, Richtárik, Takáč, "Adding vs. averaging in distributed
        primal-dual optimization" (2015), σ' = 2), and the sum is the mean of what they end at.
        """
        halves, scale = np.array_split(order, _HALVES), self.scale
        doubled = loops.Scale(_HALVES * scale.weights, _HALVES * scale.bias_square)
        points = [(self.w.copy(), self.motion.copy()) for _ in halves]

        def sweep(k: int) -> int:
            return int(loops.sweep(problem, doubled, _HALVES * q, halves[k], a, *points[k]))

        counts = map_blocks(sweep, _HALVES, threads)
        self.w, self.motion = (np.mean(part, axis=0) for part in zip(*points, strict=True))
        move = max(motion[loops.MOVE] for _, motion in points) / _HALVES
        active = [half[:count] for half, count in zip(halves, counts, strict=True)]
        return np.concatenate(active), float(move)

    def recall(self, risk: RowRisk, z: Column, shift: float) -> None:
        """Reactivate examples that may move at predictions z + shift; in turns, nobody rests."""
        if not risk.source.home.slow:
            given = self.q, self.order, self.active, self.motion[loops.SLACK], self.a
            self.active = int(loops.recall(risk.problem, *given, z.whole + shift))


def effects(squares: Array, s: Array, bias_square: float, scale: float) -> Array:
    """Return q_i = s_i(‖x_i‖² + r²)/(λm) for examples with these ‖x_i‖²; `scale` is λm."""
    q = s * (squares + bias_square) / scale
    return np.maximum(q, _EMPTY * float(q.max()) or 1.0)


def _gathered(values: AnyArray, spans: Spans) -> Any:
    return np.concatenate([values[lo:hi] for lo, hi in spans])


def _scatter(values: AnyArray, into: AnyArray, spans: Spans) -> None:
    done = 0
    for lo, hi in spans:
        into[lo:hi] = values[done : done + hi - lo]
        done += hi - lo
