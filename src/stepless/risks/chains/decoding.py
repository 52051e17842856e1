"""What weights say of sequences: their best labelings, and the probabilities of tags."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepless.arrays import Array, Indices
from stepless.data.sequences import SequenceBlock, Sequences
from stepless.jit import FAST, compiled
from stepless.risks.chains import chain
from stepless.risks.chains.chain_risk import ROOM, Room
from stepless.risks.chains.pairs import Pairs


def best_labelings(sequences: Sequences, pairs: Pairs, tags: int, w: Array) -> Indices:
    """Return a tag for each position: those of the labeling of the highest score."""
    return np.concatenate(sequences.map(_labels, pairs, tags, w))


def tag_probabilities(sequences: Sequences, pairs: Pairs, tags: int, w: Array) -> Array:
    """Return P(y_t = c | x), a row a position."""
    return np.concatenate(sequences.map(_probabilities, pairs, tags, w))


def _labels(block: SequenceBlock, pairs: Pairs, tags: int, w: Array) -> Indices:
    labels = np.empty(block.X.shape[0], dtype=np.int64)
    _label(labels, Room.of(block.longest, tags), pairs, block.X, block.ends, w)
    return labels


def _probabilities(block: SequenceBlock, pairs: Pairs, tags: int, w: Array) -> Array:
    p = np.empty((block.X.shape[0], tags))
    _infer(p, Room.of(block.longest, tags), pairs, block.X, block.ends, w)
    return p


@compiled(
    ROOM + "X[n,≤pairs.features] labels[n] ends[m] w[pairs.weights()+K*K+2*K]",
    fastmath=FAST,
)
def _label(labels: Any, room: Any, pairs: Any, X: Any, ends: Any, w: Any) -> None:
    """Write labels."""
    K, offset = room.E.shape[0], pairs.weights()
    T = w[offset : offset + K * K].reshape(K, K)
    for i in range(ends.size - 1):
        first, last = ends[i], ends[i + 1]
        z = room.z[: last - first]
        chain.emissions(z, pairs, X, w, first, last)
        chain.best_path(labels[first:last], room.came, z, T)


@compiled(
    ROOM + "X[n,≤pairs.features] p[n,K] ends[m] w[pairs.weights()+K*K+2*K]",
    fastmath=FAST,
)
def _infer(p: Any, room: Any, pairs: Any, X: Any, ends: Any, w: Any) -> None:
    """Write p."""
    K, offset = room.E.shape[0], pairs.weights()
    T = w[offset : offset + K * K].reshape(K, K)
    _, apart = chain.exponentials(room.E, T)
    room.joint[:] = 0.0
    for i in range(ends.size - 1):
        first, last = ends[i], ends[i + 1]
        z, forth = room.z[: last - first], room.forth
        chain.emissions(z, pairs, X, w, first, last)
        if chain.scores_are_near(z, apart):
            chain.marginals(p[first:last], room.joint, forth, z, room.E, 1.0)
        else:
            chain.marginals_by_logarithms(p[first:last], room.joint, forth, room.far, z, T, 1.0)
