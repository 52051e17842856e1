"""The base of the online solvers of DHS: a memory, and one parameter tuned on early examples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from stepless.arrays import Array, Indices, Mask
from stepless.compiled.joint import value
from stepless.compiled.rows import extent
from stepless.data import Source
from stepless.design import Design
from stepless.intercept import Intercept
from stepless.objective import FiniteSum, Objective
from stepless.risks.risk import RowRisk
from stepless.solvers.online.tangents import finding_of_pass
from stepless.solvers.online.updates import Memory, Setting
from stepless.solvers.solver import Finding, finding_at


class EarlySearch(NamedTuple):
    """A search for the parameter on the early examples: its criterion and its patience."""

    patience: int  # doublings of the parameter without progress: a cost may rise before it falls
    mistakes: bool  # where there are classes; ties are broken by the loss


class Cost(NamedTuple):
    """Mistakes and loss on the early examples with one parameter."""

    mistakes: float
    loss: float


# By rounds. Few examples estimate a loss better, many the mistakes (see docs/papers.md).
_SEARCHES = {100: EarlySearch(1, False), 400: EarlySearch(3, False), 4000: EarlySearch(2, True)}
_LAST = _SEARCHES[max(_SEARCHES)]
_HAIR = 0.9997
_LEAST, _MOST = 1e-30, 1e30  # the range of the parameter


@dataclass(frozen=True)
class ExampleSizes:
    """The sizes of the examples, from which the first guess of the parameter is made."""

    length: float = 0.0  # root mean square of ‖x_i‖
    entry: float = 0.0  # max s_i |x_ij|
    longest: float = 0.0  # max s_i ‖x_i‖


@dataclass
class LearnerState:
    """A learner's memory and parameter, and the early examples while they are needed."""

    start: tuple[Array, Array]
    memory: Memory
    scores: Array  # of the early examples, before learning
    parameter: float = math.nan
    sizes: ExampleSizes = ExampleSizes()
    early: Source | None = None
    prepared: tuple[tuple[float, ExampleSizes], Setting] | None = None  # settings, and their source


class Learner:
    """An online solver that learns one example per round, after predicting it.

    Each solver has one number that is tuned automatically, its *parameter*. After 100, 400 and 4000
    rounds the examples so far are learned anew, with the parameter doubled and halved for as long
    as the progressive loss of their second half falls (in the last search: the number of mistakes,
    for classes), and the best of these memories is kept. The state after n rounds is therefore a
    function of the first n examples alone, however they were cut into chunks; and no prediction
    ever used its own example.
    """

    name: ClassVar[str]
    online: ClassVar[bool] = True
    needs: ClassVar[type] = RowRisk

    def lacks(self, objective: Objective) -> str | None:
        raise NotImplementedError

    # -- defined by each solver ----------------------------------------------------------------

    def fixed(self, objective: Objective) -> float | None:
        """Return the parameter if theory or the user determines it."""
        raise NotImplementedError

    def first(self, objective: Objective, sizes: ExampleSizes) -> float:
        """Return the first guess of the parameter, from the sizes of examples."""
        raise NotImplementedError

    def fresh(self, objective: Objective, state: LearnerState) -> Memory:
        """Return an empty memory at the state's start."""
        raise NotImplementedError

    def run(
        self, rows: FiniteSum, objective: Objective, state: LearnerState, order: Indices, z: Array
    ) -> None:
        """Learn the rows in order; write to `z` the prediction before each (m × K)."""
        raise NotImplementedError

    def weights(self, objective: Objective, state: LearnerState) -> tuple[Array, Array]:
        """Return the current weights (d × K) and intercepts (K)."""
        raise NotImplementedError

    # -- passes and chunks ---------------------------------------------------------------------

    def start(self, risk: RowRisk, w: Array, b: Intercept) -> LearnerState:
        return self.begin_stream(risk.objective, w, b)

    def begin_stream(self, objective: Objective, w: Array, b: Intercept) -> LearnerState:
        K = objective.outputs
        at = (w.reshape(-1, K).copy(), np.array(np.broadcast_to(b, K), dtype=float))
        return LearnerState(at, Memory(np.zeros(0), np.zeros(0)), np.zeros((0, K)))

    def step(self, risk: RowRisk, state: LearnerState, rng: Generator) -> Finding:
        return self.walk(risk, state, risk.source.random_order(rng), rng)

    def walk(
        self, risk: RowRisk, state: LearnerState, order: Indices, rng: Generator | None = None
    ) -> Finding:
        """Pass over the examples in a given order."""
        scores = self.learn(risk, state, order)
        w, b = self.weights(risk.objective, state)
        if b.size > 1:  # planes with a tilt in several intercepts are hard to level
            return finding_at(risk, w.ravel(), risk.tangent(w.ravel(), b))
        return finding_of_pass(risk, w.ravel(), b[0], order, scores[:, 0])

    def learn(
        self, risk: RowRisk, state: LearnerState, order: Indices, rng: Generator | None = None
    ) -> Array:
        """Learn the examples in order; return the predictions before each was learned (m × K)."""
        objective = risk.objective
        scores = np.empty((order.size, objective.outputs))
        if state.memory.kept.size == 0:
            state.sizes = self.sizes_of(risk.source.take(order[:1]))
            self._reset(objective, state, self._first(objective, state.sizes))
        done = 0
        while done < order.size:
            clock = state.memory.clock
            due = next((at for at in _SEARCHES if at > clock), None)
            stop = order.size if due is None else min(order.size, done + due - clock)
            part = np.ascontiguousarray(order[done:stop])
            if due is not None:
                rows = risk.source.take(part)
                state.early = state.early.join(rows) if state.early else rows
            self.run(risk.problem, objective, state, part, scores[done:stop])
            state.memory.clock += part.size
            if state.early is not None:
                state.scores = np.concatenate([state.scores, scores[done:stop]])
                if state.memory.clock == due:
                    self._tune(objective, state, state.early)
                if state.memory.clock == max(_SEARCHES):
                    state.early, state.scores = None, state.scores[:0].copy()
            done = stop
        return scores

    # -- the parameter -------------------------------------------------------------------------

    def _first(self, objective: Objective, sizes: ExampleSizes) -> float:
        fixed = self.fixed(objective)
        return self.first(objective, sizes) if fixed is None else fixed

    def _reset(self, objective: Objective, state: LearnerState, parameter: float) -> None:
        state.parameter = parameter
        state.memory = self.fresh(objective, state)

    def _tune(self, objective: Objective, state: LearnerState, early: Source) -> None:
        """Learn the early examples again, with the parameter that loses least on them."""
        search, fixed = _SEARCHES[early.shape[0]], self.fixed(objective)
        if search is _LAST:  # their second half was learned with the present parameter
            cost = self.cost_of(objective, early, state.scores)
            first, best, kept = state.parameter, cost, (state.parameter, state.memory)
        else:
            state.sizes = self.sizes_of(early)
            guess = early.shape[0] == min(_SEARCHES)  # so far it came from a single example
            first = self._first(objective, state.sizes) if guess or fixed else state.parameter
            best, kept = self._replay(objective, state, early, first)
        for factor in (2.0, 0.5) if fixed is None else ():
            parameter, idle = first, 0
            while idle < search.patience and _LEAST < parameter < _MOST:
                parameter *= factor
                cost, trial = self._replay(objective, state, early, parameter)
                if _better(cost, best):
                    best, kept, idle = cost, trial, 0
                else:
                    idle += 1
            if search.patience == 1 and kept[0] != first:
                break
        state.parameter, state.memory = kept

    def _replay(
        self, objective: Objective, state: LearnerState, early: Source, parameter: float
    ) -> tuple[Cost, tuple[float, Memory]]:
        """Return the cost of a parameter on the early examples, and the memory it leaves."""
        self._reset(objective, state, parameter)
        scores = np.empty((early.shape[0], objective.outputs))
        order = np.arange(early.shape[0], dtype=np.uint32)
        self.run(self.problem_of(objective, early), objective, state, order, scores)
        state.memory.clock += order.size
        return self.cost_of(objective, early, scores), (parameter, state.memory)

    # -- overridden for other kinds of examples than rows ---------------------------------------

    def problem_of(self, objective: Objective, source: Source) -> FiniteSum:
        """Return the examples as `run` reads them."""
        return FiniteSum(objective.loss, *source.whole)

    def sizes_of(self, source: Source) -> ExampleSizes:
        """Return the sizes of the examples."""
        return sizes_of_rows(source.X, source.s)

    def cost_of(self, objective: Objective, early: Source, scores: Array) -> Cost:
        """Return the cost of the second half of these scores.

        The first half is left out: what a large step costs at the beginning is paid only once.
        """
        m, loss = early.shape[0], objective.loss
        late, scores = early.whole.part(m // 2, m), scores[m // 2 :]
        lost = value(late, loss, scores, np.zeros(scores.shape[1]))
        if not (_SEARCHES[m].mistakes and loss.targets in ("signs", "classes")):
            return Cost(0.0, lost)
        return Cost(float(late.s @ mistaken(scores, late.y)), lost)


def _better(cost: Cost, best: Cost) -> bool:
    """Return whether there are fewer mistakes, or as many and a loss that is clearly lower."""
    if cost.mistakes != best.mistakes:
        return cost.mistakes < best.mistakes
    return cost.loss < _HAIR * best.loss


def mistaken(scores: Array, y: Array) -> Mask:
    """Mark misclassified examples: by sign, or by the highest of several scores."""
    return scores[:, 0] * y <= 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1) != y


def sizes_of_rows(X: Design, s: Array) -> ExampleSizes:
    """Return the sizes of the rows of a design, with these sample weights."""
    square, entry, longest = extent(X, s)
    # Where all entries are 0, any size will do.
    return ExampleSizes(math.sqrt(square / s.size) or 1.0, entry or 1.0, longest or 1.0)


def needs_no_penalty(objective: Objective) -> str | None:
    """Return what is lacking if there is a penalty or a domain."""
    if not objective.regularizer.zero:
        return "has no penalty; say penalty='none', or use solver='auto'"
    if not objective.domain.free:
        return "does not know domains; use solver='auto'"
    return None
