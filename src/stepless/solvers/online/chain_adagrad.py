"""AdaGrad on chains of tags."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import dual_averaging, mirror_descent
from stepless.compiled.metrics import DiagonalMetric
from stepless.compiled.mirror_descent import LAST, VALUE
from stepless.data.sequences import Sequences
from stepless.jit import compiled
from stepless.objective import OracleObjective, Regularizer
from stepless.risks.chains import AllPairs, chain
from stepless.risks.chains.chain_risk import ROOM, Chains, Room
from stepless.risks.chains.crf_risk import add_joint, log_loss
from stepless.risks.chains.hinge_risk import hinge
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.learner import Cost, Course, Scale, scale_of_rows
from stepless.solvers.online.updates import Memory


class Tagged(NamedTuple):
    """Sequences and their tags, as a learner asks a source for examples."""

    sequences: Sequences
    y: Indices

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sequences), self.sequences.X.shape[1]

    def take(self, which: Indices) -> Tagged:
        """Return a copy of some sequences."""
        return Tagged(self.sequences.take(which), self.y[self.sequences.positions(which)])

    def join(self, other: Tagged) -> Tagged:
        """Return a copy of these sequences and then the other's."""
        y = np.concatenate([self.y, other.y])
        return Tagged(self.sequences.join(other.sequences), y)


class Chunk(NamedTuple):
    """A part of a stream, as a learner asks a risk for it."""

    objective: Any
    source: Tagged

    @property
    def problem(self) -> Tagged:
        return self.source


class ChainAdaGrad(AdaGrad):
    """AdaGrad that learns a sequence a round; new features may come at any time.

    Solves      min_w Ω(w) + the mean loss of labelings, as `CRFRisk` or `ChainHingeRisk` has it
    Algorithm   AdaGrad's, diagonal; g_t is a subgradient of a whole sequence's loss
    Guarantee   AdaGrad's
    Cost        O(entries × tags + positions × tags²) a round; two numbers a weight, three for
                ``"cmd"``
    Needs       a penalty that is a sum over weights
    Differs     δ is the longest slope of a feature at one position, where Th. 6 asks for that of a
                sequence: what is frequent would slow down what is rare. Dual averaging is centred
                at the start, not at 0: weights that were fitted before do not fade

    Weights are a row a feature, a column a tag; then the transitions, a row a tag that they come
    from; then a row of the first tag, and one of the last. The predictions that `learn` returns are
    the losses before learning.

    Parameters
    ----------
    tags
        How many there are.
    cost
        What it costs to take a tag (a row each) for another, for the hinge; None for the log-loss.
    update, eta, delta
        As those of `AdaGrad`.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> words, y = Sequences(np.eye(2), np.array([0, 2])), np.array([0, 1])
    >>> learner = ChainAdaGrad(tags=2)
    >>> chunk = Chunk(learner.objective(SquaredL2(0.1)), Tagged(words, y))
    >>> course = learner.begin_stream(chunk.objective, np.zeros((2 + 2 + 2, 2)))
    >>> learner.learn(chunk, course, np.array([0, 0])).round(2)  # the same sequence twice
    array([[1.39],
           [0.31]])
    """

    def __init__(
        self,
        tags: int,
        cost: Array | None = None,
        update: Literal["rda", "cmd"] = "rda",
        *,
        eta: float | None = None,
        delta: float | None = None,
    ) -> None:
        super().__init__(update, eta=eta, delta=delta)
        self.tags, self.cost = tags, cost

    def objective(self, regularizer: Regularizer) -> OracleObjective:
        """Return what is minimised."""
        return OracleObjective(regularizer)

    def lipschitz(self, objective: Any) -> float:
        """At one position no slope is longer than the feature's own value."""
        return 1.0

    def lacks(self, objective: Any) -> str | None:
        if not objective.regularizer.separable:
            return "needs a penalty that is a sum over weights, such as 'l2', to learn sequences"
        return super().lacks(objective)

    def begin_stream(self, objective: Any, w: Array, b: Any = 0.0) -> Course:
        at = w.reshape(-1, self.tags).copy(), np.zeros(self.tags)
        return Course(at, Memory(np.zeros(0), np.zeros(0)), np.zeros((0, 1)))

    def widen(self, course: Course, features: int) -> None:
        """Make room for features that are new; their weights are 0."""
        w, b = course.start
        known = len(w) - self.tags - 2

        def wider(rows: Array) -> Array:
            new = np.zeros((features - known, *rows.shape[1:]))
            return np.concatenate([rows[:known], new, rows[known:]])

        course.start = wider(w), b
        if course.memory.kept.size:
            course.memory.kept = wider(course.memory.kept)

    # -- sequences in place of rows ------------------------------------------------------------

    def problem_of(self, objective: Any, source: Any) -> Any:
        return source

    def scale_of(self, source: Any) -> Scale:
        X = source.sequences.X
        return scale_of_rows(X, np.ones(X.shape[0]))

    def cost_of(self, objective: Any, early: Any, scores: Array) -> Cost:
        return Cost(0.0, float(scores[len(scores) // 2 :].sum()))

    def run(
        self, problem: Any, objective: Any, course: Course, order: Indices, scores: Array
    ) -> None:
        (sequences, y), kept, K = problem, course.memory.kept, self.tags
        pairs = AllPairs(len(kept) - K - 2, K)
        asked = Chains(pairs, sequences.X, y, sequences.ends, np.ones(len(sequences)))
        room, rule = Room.of(sequences.longest, K), self._rule(objective, course)
        _rounds(kept, scores, asked, self.cost, rule, room, order)

    def fresh(self, objective: Any, course: Course) -> Memory:
        w, b = course.start
        at = np.zeros_like(w) if self.update == "rda" else w
        return self.engine(objective).fresh(self._prepared(objective, course), at, b)

    def weights(self, objective: Any, course: Course) -> tuple[Array, Array]:
        (start, b), memory = course.start, course.memory
        w, rule = np.empty_like(start), self._rule(objective, course)
        _read(w, memory.kept, rule, np.arange(len(w)), memory.clock)
        return w, b

    def _rule(self, objective: Any, course: Course) -> _Rule:
        setting, averaging = self._prepared(objective, course), self.update == "rda"
        how = setting.penalty[0], setting.metrics[0], setting.etas[0], averaging
        return _Rule(*how, course.start[0], course.memory.clock)


class _Rule(NamedTuple):
    """Penalty, metric and η; where the weights began, and how many rounds ago."""

    regularizer: Regularizer
    metric: DiagonalMetric
    eta: float
    averaging: bool
    start: Array
    clock: int


@compiled(
    ROOM + "kept[D,K,2|3] order[n] scores[≥n,1] rule.start[D,K] cost?[K,K] problem.X[p,≤D-K-2] "
    "problem.y[p] problem.ends[m] problem.s[m-1]",
)
def _rounds(
    kept: Array,
    scores: Array,
    problem: Chains,
    cost: Array | None,
    rule: _Rule,
    room: Room,
    order: Indices,
) -> None:
    """Change kept (rows × tags × 2 or 3), and write scores: what each sequence loses before."""
    pairs, X, _, ends, _ = problem
    rows, K, _ = kept.shape
    w, g = np.zeros((rows, K)), np.zeros((rows, K))
    flat, slopes, offset = w.reshape(-1), g.reshape(-1), pairs.weights()
    met, met_in = np.empty(rows, dtype=np.int64), np.full(rows, -1)  # features of a sequence, once
    for row in range(rows - K - 2, rows):
        met[row - (rows - K - 2)] = row  # transitions, first and last tag are of every one
    for n in range(order.size):
        i, t, count = order[n], rule.clock + n, K + 2
        for at in range(ends[i], ends[i + 1]):
            first, last = X.span(at)
            for e in range(first, last):
                j = np.int64(X.entry(at, e)[0])
                if met_in[j] != n:
                    met_in[j], met[count] = n, j
                    count += 1
        _read(w, kept, rule, met[:count], t)
        if cost is None:  # known when it is compiled
            edges = chain.exponentials(room.E, w[rows - K - 2 : rows - 2])
            room.joint[:] = 0.0
            scores[n, 0] = log_loss(slopes, room, problem, flat, edges, room.far, i)
            add_joint(slopes, room, offset)
        else:
            scores[n, 0] = hinge(slopes, room, problem, cost, flat, i)
        _take_in(kept, g, w, rule, met[:count], t)


@compiled("kept[D,K,2|3] w[D,K] rule.start[D,K] rows[_]")
def _read(w: Array, kept: Array, rule: _Rule, rows: Indices, t: int) -> None:
    """Write rows of w: their weights after t rounds."""
    regularizer, metric, eta, averaging, start, _ = rule
    for row in rows:
        here = slice(row, row + 1)
        if not averaging:
            mirror_descent.descended(regularizer, metric, eta, kept[here], t, w[here])
            continue
        for c in range(w.shape[1]):
            step = eta / metric.height(kept[row, c, dual_averaging.MEMORY], t)
            w[row, c] = start[row, c] - step * kept[row, c, dual_averaging.SUM]
            if t > 0:
                w[row, c] = regularizer.prox(w[row, c], t * step)  # DHS (3)


@compiled()
def _take_in(kept: Array, g: Array, w: Array, rule: _Rule, rows: Indices, t: int) -> None:
    """Change rows of kept by their subgradients in round t, which are then 0 again."""
    regularizer, metric, eta, averaging, _, _ = rule
    memory = dual_averaging.MEMORY if averaging else mirror_descent.MEMORY
    for row in rows:
        for c in range(g.shape[1]):
            slope = g[row, c]
            kept[row, c, memory] = metric.grow(kept[row, c, memory], slope)
            if averaging:
                kept[row, c, dual_averaging.SUM] += slope
            else:
                step = eta / metric.height(kept[row, c, memory], t + 1)  # DHS (4), (24), (25)
                kept[row, c, VALUE] = regularizer.prox(w[row, c] - step * slope, step)
                kept[row, c, LAST] = t + 1
            g[row, c] = 0.0
