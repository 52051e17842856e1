"""What the online solvers of DHS share: a memory, and an early look at the stream."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stepless.arrays import Array, Indices, Mask
from stepless.compiled.joint import value
from stepless.compiled.rows import extent
from stepless.compiled.shuffle import random_order
from stepless.data import Source
from stepless.design import Design
from stepless.objective import FiniteSum, Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.tangents import found
from stepless.solvers.online.updates import Memory
from stepless.solvers.solver import Finding, touched


class Look(NamedTuple):
    """How the early examples are looked at: by which of two costs, and how patiently."""

    patience: int  # doublings of the knob without progress: a cost may rise before it falls
    mistakes: bool  # where there are classes; ties are broken by the loss


class Cost(NamedTuple):
    """What a knob costs."""

    mistakes: float
    loss: float


# After so many rounds. Few examples tell a loss better, many the mistakes (see docs/papers.md).
_LOOKS = {100: Look(1, False), 400: Look(3, False), 4000: Look(2, True)}
_LAST = _LOOKS[max(_LOOKS)]
_HAIR = 0.9997
_LEAST, _MOST = 1e-30, 1e30  # a knob beyond is none


@dataclass(frozen=True)
class Scale:
    """How large examples are."""

    length: float = 0.0  # root mean square of ‖x_i‖
    entry: float = 0.0  # max s_i |x_ij|
    longest: float = 0.0  # max s_i ‖x_i‖


@dataclass
class Course:
    """State of a learner: its memory, its knob, the early examples as long as they are needed."""

    start: tuple[Array, Array]
    memory: Memory
    scores: Array  # of the early examples, before learning
    knob: float = math.nan
    scale: Scale = Scale()
    early: Source | None = None
    prepared: tuple[Any, Any] | None = None  # what the solver made of knob and scale, and of which


class Learner:
    """Learns from one example a round; says what it would have predicted before.

    Each solver has one number that nobody should have to choose, its *knob*. After 100, 400 and
    4000 rounds the examples so far are learned anew, the knob doubled and halved for as long
    as the progressive loss of their latter half falls (the last time: the mistakes, where there are
    classes), and the best of these memories is kept. What has been learned after n rounds is thus a
    function of the first n examples alone, however they were cut in chunks; and no score ever used
    its own example.
    """

    name: ClassVar[str]
    online: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        raise NotImplementedError

    # -- what a solver says of itself ----------------------------------------------------------

    def fixed(self, objective: Objective) -> float | None:
        """Return the knob, where theory or the user says what it is."""
        raise NotImplementedError

    def first(self, objective: Objective, scale: Scale) -> float:
        """Guess the knob from the size of examples: where the search begins."""
        raise NotImplementedError

    def fresh(self, objective: Objective, course: Course) -> Memory:
        """Return a memory of nothing, at the course's start."""
        raise NotImplementedError

    def run(
        self, problem: Any, objective: Objective, course: Course, order: Indices, scores: Array
    ) -> None:
        """Learn the rows of an order, and write the predictions before each (m × K)."""
        raise NotImplementedError

    def weights(self, objective: Objective, course: Course) -> tuple[Array, Array]:
        """Return the weights (d × K) and intercepts (K) of now."""
        raise NotImplementedError

    # -- a pass ----------------------------------------------------------------------------------

    def start(self, risk: RowRisk, w: Array, b: Any) -> Course:
        return self.begin_stream(risk.objective, w, b)

    def begin_stream(self, objective: Objective, w: Array, b: Any) -> Course:
        K = objective.outputs
        at = (w.reshape(-1, K).copy(), np.array(np.broadcast_to(b, K), dtype=float))
        return Course(at, Memory(np.zeros(0), np.zeros(0)), np.zeros((0, K)))

    def step(self, risk: RowRisk, course: Course, rng: np.random.Generator) -> Finding:
        return self.walk(risk, course, random_order(risk.m, rng), rng)

    def walk(self, risk: RowRisk, course: Course, order: Indices, rng: Any = None) -> Finding:
        """Pass over the examples in a given order."""
        scores = self.learn(risk, course, order)
        w, b = self.weights(risk.objective, course)
        if b.size > 1:  # planes that tilt in several intercepts are not easily levelled
            return touched(risk, w.ravel(), risk.tangent(w.ravel(), b))
        return found(risk, w.ravel(), b[0], order, scores[:, 0])

    def learn(
        self,
        risk: RowRisk,
        course: Course,
        order: Indices,
        rng: np.random.Generator | None = None,
    ) -> Array:
        """Learn the examples in order; return the predictions before each was learned (m × K)."""
        objective = risk.objective
        scores = np.empty((order.size, objective.outputs))
        if course.memory.kept.size == 0:
            course.scale = self.scale_of(risk.source.take(order[:1]))
            self._reset(objective, course, self._first(objective, course.scale))
        done = 0
        while done < order.size:
            clock = course.memory.clock
            look = next((at for at in _LOOKS if at > clock), None)
            stop = order.size if look is None else min(order.size, done + look - clock)
            part = np.ascontiguousarray(order[done:stop])
            if look is not None:
                rows = risk.source.take(part)
                course.early = course.early.join(rows) if course.early else rows
            self._advance(risk.problem, objective, course, part, scores[done:stop])
            if course.early is not None:
                course.scores = np.concatenate([course.scores, scores[done:stop]])
                if course.memory.clock == look:
                    self._look(objective, course, course.early)
                if course.memory.clock == max(_LOOKS):
                    course.early, course.scores = None, course.scores[:0].copy()
            done = stop
        return scores

    def _advance(
        self, problem: Any, objective: Objective, course: Course, order: Indices, scores: Array
    ) -> None:
        self.run(problem, objective, course, order, scores)
        course.memory.clock += order.size

    # -- the early look --------------------------------------------------------------------------

    def _first(self, objective: Objective, scale: Scale) -> float:
        fixed = self.fixed(objective)
        return self.first(objective, scale) if fixed is None else fixed

    def _reset(self, objective: Objective, course: Course, knob: float) -> None:
        course.knob = knob
        course.memory = self.fresh(objective, course)

    def _look(self, objective: Objective, course: Course, early: Source) -> None:
        """Run the early examples again, with the knob that would have lost least on them."""
        look, fixed = _LOOKS[early.shape[0]], self.fixed(objective)
        if look is _LAST:  # the latter half was learned with the knob of now: it need not be again
            cost = self.cost_of(objective, early, course.scores)
            first, best, kept = course.knob, cost, (course.knob, course.memory)
        else:
            course.scale = self.scale_of(early)
            guess = early.shape[0] == min(_LOOKS)  # the knob of now came from one example alone
            first = self._first(objective, course.scale) if guess or fixed else course.knob
            best, kept = self._replay(objective, course, early, first)
        for factor in (2.0, 0.5) if fixed is None else ():
            knob, idle = first, 0
            while idle < look.patience and _LEAST < knob < _MOST:
                knob *= factor
                cost, trial = self._replay(objective, course, early, knob)
                if _better(cost, best):
                    best, kept, idle = cost, trial, 0
                else:
                    idle += 1
            if look.patience == 1 and kept[0] != first:
                break
        course.knob, course.memory = kept

    def _replay(
        self, objective: Objective, course: Course, early: Source, knob: float
    ) -> tuple[Cost, tuple[float, Memory]]:
        """Return what this knob costs on the early examples, and what it leaves."""
        self._reset(objective, course, knob)
        scores = np.empty((early.shape[0], objective.outputs))
        order = np.arange(early.shape[0], dtype=np.uint32)
        self._advance(self.problem_of(objective, early), objective, course, order, scores)
        return self.cost_of(objective, early, scores), (knob, course.memory)

    # -- what it is told of examples: another kind of them is described by these ----------------

    def problem_of(self, objective: Objective, source: Source) -> Any:
        """Return what `run` reads."""
        return FiniteSum(objective.loss, *source.whole)

    def scale_of(self, source: Source) -> Scale:
        """Return how large the examples are."""
        return scale_of_rows(source.X, source.s)

    def cost_of(self, objective: Objective, early: Source, scores: Array) -> Cost:
        """Return what the latter half of these scores cost.

        What a large step costs at the beginning it will not cost again.
        """
        m, loss = early.shape[0], objective.loss
        late, scores = early.whole.part(m // 2, m), scores[m // 2 :]
        lost = value(late, loss, scores, np.zeros(scores.shape[1]))
        if not (_LOOKS[m].mistakes and loss.targets in ("signs", "classes")):
            return Cost(0.0, lost)
        return Cost(float(late.s @ mistaken(scores, late.y)), lost)


def _better(cost: Cost, best: Cost) -> bool:
    """Whether it is fewer mistakes or, as many, a loss that is lower by more than a hair."""
    if cost.mistakes != best.mistakes:
        return cost.mistakes < best.mistakes
    return cost.loss < _HAIR * best.loss


def mistaken(scores: Array, y: Array) -> Mask:
    """Which examples are put in a wrong class: by sign, or by the highest of several scores."""
    if scores.shape[1] == 1:
        return scores[:, 0] * y <= 0.0
    return scores.argmax(axis=1) != y


def scale_of_rows(X: Design, s: Array) -> Scale:
    """Return how large the rows of a design are, by these weights."""
    square, entry, longest = extent(X, s)
    # Where there is nothing to see, any size will do.
    return Scale(math.sqrt(square / s.size) or 1.0, entry or 1.0, longest or 1.0)


def needs_nothing_else(objective: Objective) -> str | None:
    """What is lacking if there is a penalty or a domain."""
    if not objective.regularizer.zero:
        return "has no penalty; say penalty='none', or use solver='auto'"
    if not objective.domain.free:
        return "does not know domains; use solver='auto'"
    return None
