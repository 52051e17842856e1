"""Linear models that learn from chunks as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from stepless.arguments import brief
from stepless.arrays import Array
from stepless.data import Source
from stepless.estimators.certificate import certify_nothing
from stepless.objective import Objective
from stepless.problem import Problem
from stepless.risks.joint_risk import risk_of
from stepless.solvers.solver import OnlineSolver
from stepless.term import Term
from stepless.user_terms import check_user_terms

_MADE_OF = (
    "loss",
    "cost",
    "penalty",
    "alpha",
    "domain",
    "multi_class",
    "solver",
    "fit_intercept",
)


class WholeChunks:
    """What is known of a stream, changed in place: of no use after a chunk that is learned in part.

    Examples
    --------
    >>> stream = WholeChunks()
    >>> with stream.chunk():
    ...     pass
    """

    _broken = False
    _began: dict[str, Any] | None = None  # the parameters that the stream is made of

    def refuse_changes(self, estimator: Any) -> None:
        """Remember the parameters of the first chunk, and refuse later ones with others."""
        now = {name: getattr(estimator, name) for name in _MADE_OF if hasattr(estimator, name)}
        self._began = self._began or now
        for name, value in now.items():
            began = self._began[name]
            if not _same(began, value):
                raise ValueError(
                    f"{name} was {brief(began)} when the stream began, and is {brief(value)} now: "
                    "a stream keeps what it began with; put it back, or begin another stream with "
                    "a new estimator"
                )

    @contextmanager
    def chunk(self) -> Iterator[None]:
        """Learn a chunk; if that fails, there is no way back."""
        self.refuse_a_part()
        self._broken = True
        yield
        self._broken = False

    def refuse_a_part(self) -> None:
        """Refuse to go on from a part of a chunk."""
        if self._broken:
            raise ValueError(
                "an error broke off the last chunk, and a part of it is learned: fit anew, or "
                "begin another stream with a new estimator"
            )


class Streams(WholeChunks):
    """Online problems that learn from the same chunks: one alone, or one a class."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self.objective, self.solver = streams[0].objective, streams[0].solver
        self._streams = streams

    def learn(self, sources: Iterable[Source]) -> Array:
        """Pass once over a chunk, as each problem sees it; return the predictions before it."""
        with self.chunk():
            parts = zip(self._streams, sources, strict=True)
            return np.hstack([stream.learn(source) for stream, source in parts])

    def weights(self) -> tuple[Array, Array]:
        """Return the weights (a row an output) and intercepts of now, copied."""
        self.refuse_a_part()
        parts = [stream.weights() for stream in self._streams]
        return np.vstack([w for w, _ in parts]), np.concatenate([b for _, b in parts])

    def progressive_loss(self) -> float:
        """Mean loss of predictions before learning, summed over the problems."""
        return sum(stream.total / stream.weight for stream in self._streams)


class Stream:
    """An online solver and its state, fed chunk by chunk, each in its own order."""

    def __init__(
        self,
        objective: Objective,
        solver: OnlineSolver,
        d: int,
        start: tuple[Array, Any] | None = None,
    ) -> None:
        lack = solver.lacks(objective)
        if lack is not None:
            raise ValueError(f"solver {solver.name!r} {lack}")
        self.objective = objective
        self.solver = solver
        self._start = start or (np.zeros(d * objective.outputs), 0.0)
        self._state: Any = None
        self._rng = np.random.default_rng(0)
        self.total = 0.0  # Σ s_i ℓ_i, each example scored before it was learned
        self.weight = 0.0  # Σ s_i

    def learn(self, source: Source) -> Array:
        """Pass once over a chunk; return the predictions before each example (m × K)."""
        risk = risk_of(self.objective, source)
        if self._state is None:
            check_user_terms(risk)
            self._state = self.solver.begin_stream(self.objective, *self._start)
        order = np.arange(risk.m, dtype=np.uint32)
        scores = self.solver.learn(risk, self._state, order, self._rng)
        at = scores if self.objective.outputs > 1 else np.ascontiguousarray(scores[:, 0])
        self.total += risk.value_at(at) * risk.m
        self.weight += float(source.s.sum())
        return scores

    def weights(self) -> tuple[Array, Array]:
        """Return the weights (a row an output) and intercepts of now."""
        if self._state is None:
            w, b = self._start
            K = self.objective.outputs
            return w.reshape(-1, K).T, np.array(np.broadcast_to(b, K))
        w, b = self.solver.weights(self.objective, self._state)
        return w.T, b


def refuse_to_choose(problem: Problem) -> None:
    """A stream's strength is needed before its examples are known."""
    if problem.chooses:
        raise ValueError("alpha='auto' must see all examples; give a number for a stream")


def store_stream(estimator: Any, streams: Streams, problem: Problem) -> None:
    """Store what is known of a model that learns from a stream."""
    estimator.loss_, estimator.alpha_ = streams.objective.loss, problem.strength
    estimator.solver_ = streams.solver.name
    estimator.progressive_loss_ = streams.progressive_loss()
    certify_nothing(estimator)


def _same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal, of which a matrix may be one."""
    if one is other:
        return True
    alike = type(one) is type(other) or not isinstance(one, Term)  # whose kind is no part of it
    return alike and np.array_equal(one, other)
