"""Chain models that learn from a stream of sequences, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepless.arrays import Array, Indices
from stepless.data.sequences import Sequences
from stepless.estimators.stream import ChunkStream
from stepless.objective import Regularizer
from stepless.solvers.online.chain_adagrad import ChainAdaGrad, SequenceChunk, TaggedSequences


class ChainStream(ChunkStream):
    """An online solver and its state, fed chunk by chunk, each in its own order.

    Parameters
    ----------
    solver
        The online solver.
    regularizer
        Ω, a sum over weights.
    start
        Initial weights: one row per feature, then those of transitions, first and last tag.
    """

    def __init__(self, solver: ChainAdaGrad, regularizer: Regularizer, start: Array) -> None:
        self.solver, self.objective = solver, solver.objective(regularizer)
        if (lack := solver.lacks(self.objective)) is not None:
            raise ValueError(f"solver {solver.name!r} {lack}")
        self._course = solver.begin_stream(self.objective, start)
        self._total = 0.0  # Σ of losses, each sequence predicted before it was learned

    def learn(self, sequences: Sequences, y: Indices) -> None:
        """Learn a chunk, in which some features may be new."""
        chunk: Any = SequenceChunk(self.objective, TaggedSequences(sequences, y))
        with self.chunk():
            self.solver.widen(self._course, sequences.X.shape[1])
            lost = self.solver.learn(chunk, self._course, np.arange(len(sequences)))
            self._total += float(lost.sum())

    def weights(self) -> Array:
        """Return the current weights, laid out as `start`."""
        return self.solver.weights(self.objective, self._course)[0]

    def mean_loss(self) -> float:
        """Return the mean loss of all sequences so far, each predicted before it was learned."""
        return self._total / self._course.memory.clock
