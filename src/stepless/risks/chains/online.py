"""Chains learned one sequence a round, by adaptive subgradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from stepless.data.sequences import Sequences
from stepless.objective import Regularizer
from stepless.risks.chains import chain
from stepless.risks.chains.chain_risk import Problem, Room
from stepless.risks.chains.crf_risk import add_joint, log_loss
from stepless.risks.chains.hinge_risk import hinge
from stepless.risks.chains.pairs import AllPairs

_EARLY = 200  # sequences of the first chunk on which η is sought
_LEAST_CURVATURE = 1.0  # δ: no subgradient of one feature at one position is longer


class ChainStream:
    """AdaGrad by dual averaging (DHS eq. (3), diagonal), of a chain's loss, sequence by sequence.

    w_j = argmin_v η(v Σ g_j + t ω(v)) + ½ (δ + ‖g_{1:t,j}‖₂)(v − w_0j)²: only the weights of the
    features of a sequence are looked at. Features that are new get weights of 0. η is that of
    1/√(entries a position), 2, 4, … times that or less, whose loss before learning was least on the
    first 200 sequences of the first chunk.

    Parameters
    ----------
    regularizer
        Ω, a sum over weights.
    tags
        How many there are.
    cost
        What it costs to take a tag for another, for the hinge; None for the log-loss.
    start
        Weights to begin with, of features × tags, and those of transitions, start and end.
    """

    def __init__(
        self,
        regularizer: Regularizer,
        tags: int,
        cost: NDArray | None,
        start: tuple[NDArray, NDArray] | None = None,
    ) -> None:
        self.regularizer, self.K = regularizer, tags
        self._crf = cost is None
        self._cost = np.zeros((tags, tags)) if cost is None else cost
        emission, edges = (np.zeros((0, tags)), np.zeros(tags * (tags + 2)))
        if start is not None:
            emission, edges = start
        # a column a weight: where it began, Σ g, Σ g²
        self._memory = np.zeros((3, emission.size + edges.size))
        self._memory[0] = np.concatenate([emission.ravel(), edges])
        self.clock = 0
        self.eta = math.nan
        self.total = 0.0  # Σ ℓ_i, each sequence scored before it was learned

    def learn(self, sequences: Sequences, y: NDArray) -> None:
        """Learn sequences in their order."""
        features = sequences.X.shape[1]
        self._grow(features)
        pairs = AllPairs(features, self.K)
        problem = Problem(pairs, sequences.X, y, sequences.ends, np.ones(len(sequences)))
        room = Room.of(sequences.longest, self.K)
        if math.isnan(self.eta):
            self.eta = self._sought(problem, room, min(_EARLY, len(sequences)))
        self.total += self._run(problem, room, self._memory, self.eta, 0, len(sequences))
        self.clock += len(sequences)

    def weights(self) -> tuple[NDArray, NDArray]:
        """Return the weights of features × tags, and the rest, of now."""
        w = np.empty(self._memory.shape[1])
        _refresh(w, self.regularizer, self._memory, self.eta, self.clock)
        edges = self.K * (self.K + 2)
        return w[:-edges].reshape(-1, self.K), w[-edges:]

    def _grow(self, features: int) -> None:
        edges = self.K * (self.K + 2)
        known = self._memory.shape[1] - edges
        new = np.zeros((3, features * self.K - known))
        parts = self._memory[:, :known], new, self._memory[:, known:]
        self._memory = np.concatenate(parts, axis=1)

    def _sought(self, problem: Problem, room: Room, early: int) -> float:
        X = problem.X
        first = math.sqrt(X.shape[0] / max(X.nnz, 1))

        def loss(eta: float) -> float:
            return self._run(problem, room, self._memory.copy(), eta, 0, early)

        best, least = first, loss(first)
        for factor in (2.0, 0.5):
            eta = first * factor
            while (trial := loss(eta)) < least:
                best, least, eta = eta, trial, eta * factor
        return best

    def _run(
        self, problem: Problem, room: Room, memory: NDArray, eta: float, lo: int, hi: int
    ) -> float:
        w, g = np.zeros(memory.shape[1]), np.zeros(memory.shape[1])
        told = self._cost, self._crf
        return _rounds(memory, w, g, room, problem, self.regularizer, told, eta, self.clock, lo, hi)


@njit(cache=True, nogil=True, error_model="numpy")
def _rounds(
    memory: Any,
    w: Any,
    g: Any,
    room: Any,
    problem: Any,
    regularizer: Any,
    told: Any,
    eta: float,
    clock: int,
    lo: int,
    hi: int,
) -> float:
    """Change memory, by sequences lo to hi; return what they lost before. w and g are room, 0."""
    pairs, X, _, ends, _ = problem
    cost, crf = told
    K, offset = room.E.shape[0], pairs.weights()
    T = w[offset : offset + K * K].reshape(K, K)
    total = 0.0
    for i in range(lo, hi):
        t = clock + i - lo
        for at in range(ends[i], ends[i + 1]):
            begin, end = X.span(at)
            for e in range(begin, end):
                here, there = pairs.span(np.int64(X.entry(at, e)[0]))
                _refresh(w[here:there], regularizer, memory[:, here:there], eta, t)
        _refresh(w[offset:], regularizer, memory[:, offset:], eta, t)
        if crf:
            room.joint[:] = 0.0
            total += log_loss(g, room, problem, w, chain.exponentials(room.E, T), i)
            add_joint(g, room, offset)
        else:
            total += hinge(g, room, problem, cost, w, i)
        for at in range(ends[i], ends[i + 1]):
            begin, end = X.span(at)
            for e in range(begin, end):
                here, there = pairs.span(np.int64(X.entry(at, e)[0]))
                _take_in(memory[:, here:there], g[here:there])
        _take_in(memory[:, offset:], g[offset:])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _refresh(w: Any, regularizer: Any, memory: Any, eta: float, t: int) -> None:
    """Write w: the weights after t rounds."""
    for k in range(w.size):
        curvature = _LEAST_CURVATURE + math.sqrt(memory[2, k])
        w[k] = memory[0, k] - eta * memory[1, k] / curvature
        if t > 0:
            w[k] = regularizer.prox(w[k], eta * t / curvature)


@njit(cache=True, nogil=True, error_model="numpy")
def _take_in(memory: Any, g: Any) -> None:
    """Add subgradients to memory, and set them to 0: the next visit adds nothing."""
    for k in range(g.size):
        if g[k] != 0.0:
            memory[1, k] += g[k]
            memory[2, k] += g[k] * g[k]
            g[k] = 0.0
