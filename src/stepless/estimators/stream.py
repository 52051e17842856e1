"""Linear models that learn from a stream, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from stepless.arguments import brief
from stepless.arrays import Array
from stepless.data import Source
from stepless.estimators.certificate import store_no_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.multiclass import Point
from stepless.objective import Objective
from stepless.problem import Problem
from stepless.risks.joint_risk import risk_of
from stepless.solvers.solver import OnlineSolver
from stepless.strength import scaled_strength
from stepless.term import Term
from stepless.user_terms import check_user_terms

# parameters that a stream keeps
_FIXED = ("loss", "cost", "penalty", "alpha", "domain", "multi_class", "solver", "fit_intercept")


class ChunkStream:
    """The state of a stream, changed in place: useless once a chunk is learned only in part.

    Examples
    --------
    >>> stream = ChunkStream()
    >>> with stream.chunk():
    ...     pass
    """

    _broken = False
    _parameters: dict[str, object] | None = None  # those of the first chunk

    def refuse_changes(self, estimator: CertifiedEstimator) -> None:
        """Remember the parameters of the first chunk, and refuse any change of them later."""
        now = {name: getattr(estimator, name) for name in _FIXED if hasattr(estimator, name)}
        self._parameters = self._parameters or now
        for name, value in now.items():
            first = self._parameters[name]
            if not _same(first, value):
                raise ValueError(
                    f"{name} was {brief(first)} when the stream began, and is {brief(value)} now: "
                    "a stream keeps what it began with; put it back, or begin another stream with "
                    "a new estimator"
                )

    @contextmanager
    def chunk(self) -> Iterator[None]:
        """Learn a chunk within this context; if that fails, the stream is broken."""
        self.refuse_partial_chunk()
        self._broken = True
        yield
        self._broken = False

    def refuse_partial_chunk(self) -> None:
        """Refuse a stream whose last chunk was learned only in part."""
        if self._broken:
            raise ValueError(
                "an error broke off the last chunk, of which a part is learned: fit again, or "
                "begin another stream with a new estimator"
            )


class LinearStream(ChunkStream):
    """Online problems that learn from the same chunks: a single one, or one per class."""

    def __init__(self, learners: Sequence[StreamLearner], strength: float) -> None:
        self.strength = strength
        self.objective, self.solver = learners[0].objective, learners[0].solver
        self._learners = learners

    def learn(self, sources: Iterable[Source]) -> Array:
        """Pass once over a chunk, given as each problem's source; return the predictions before."""
        with self.chunk():
            pairs = zip(self._learners, sources, strict=True)
            return np.hstack([learner.learn(source) for learner, source in pairs])

    def weights(self) -> tuple[Array, Array]:
        """Return copies of the current weights (one row per output) and intercepts."""
        self.refuse_partial_chunk()
        found = [learner.weights() for learner in self._learners]
        return np.vstack([w for w, _ in found]), np.concatenate([b for _, b in found])

    def progressive_loss(self) -> float:
        """Return the mean loss of predictions before learning, summed over the problems."""
        return sum(learner.total / learner.weight for learner in self._learners)


class StreamLearner:
    """An online solver and its state, fed chunk by chunk, each in its own order."""

    def __init__(
        self, objective: Objective, solver: OnlineSolver, d: int, start: Point | None = None
    ) -> None:
        if (lack := solver.lacks(objective)) is not None:
            raise ValueError(f"solver {solver.name!r} {lack}")
        self.objective, self.solver = objective, solver
        self._start = start or (np.zeros(d * objective.outputs), 0.0)
        self._state: Any = None
        self._rng = np.random.default_rng(0)
        self.total = 0.0  # Σ s_i ℓ_i, each example predicted before it was learned
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
        """Return the current weights (one row per output) and intercepts."""
        if self._state is None:
            (w, b), K = self._start, self.objective.outputs
            return w.reshape(-1, K).T, np.array(np.broadcast_to(b, K))
        w, b = self.solver.weights(self.objective, self._state)
        return w.T, b


def refuse_auto_alpha(problem: Problem) -> None:
    """Refuse to choose the strength from a stream, whose examples are not yet known."""
    if problem.chooses and not problem.scaled:
        by = "auto" if problem.cross_validation is None else "cv"
        raise ValueError(f"alpha={by!r} must see all examples; give a number for a stream")


def with_strength_of_stream(
    estimator: CertifiedEstimator, problem: Problem, chunk: Source, targets: Iterable[Array]
) -> Problem:
    """Return the problem with a number as its strength: that of the fit before, or a scaled one.

    That is of the first chunk, whose source has weights of mean 1, and each problem's targets.
    """
    if not problem.scaled:
        return problem
    strength = getattr(estimator, "alpha_", 0.0)
    if not strength > 0.0:
        strength = scaled_strength(problem.objective, [chunk.relabelled(y) for y in targets])
    return problem.at_strength(strength)


def store_stream(estimator: CertifiedEstimator, stream: LinearStream) -> None:
    """Store what is known of a model that learns from a stream, all but its weights."""
    estimator.loss_, estimator.alpha_ = stream.objective.loss, stream.strength
    estimator.solver_ = stream.solver.name
    estimator.progressive_loss_ = stream.progressive_loss()
    store_no_certificate(estimator)


def _same(one: object, other: object) -> bool:
    """Return whether two values of a parameter, which may be arrays, are equal."""
    if one is other:
        return True
    # A Term compares equal to one of another class with the same parameters.
    alike = type(one) is type(other) or not isinstance(one, Term)
    return alike and np.array_equal(cast(ArrayLike, one), cast(ArrayLike, other))
