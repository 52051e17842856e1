"""AdaGrad on chains of tags."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import dual_averaging, mirror_descent
from stepless.compiled.metrics import DiagonalMetric
from stepless.compiled.mirror_descent import LAST, VALUE
from stepless.data.sequences import Sequences
from stepless.intercept import Intercept
from stepless.jit import compiled
from stepless.objective import OracleObjective, Penalized, Regularizer
from stepless.risks.chains import AllPairs, chain
from stepless.risks.chains.chain_risk import WORKSPACE, Chains, ChainWorkspace
from stepless.risks.chains.crf_risk import add_joint, log_loss
from stepless.risks.chains.hinge_risk import hinge
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.learner import Cost, ExampleSizes, LearnerState, sizes_of_rows
from stepless.solvers.online.updates import Memory


class TaggedSequences(NamedTuple):
    """Sequences and their tags, with the methods that a learner needs of a source."""

    sequences: Sequences
    y: Indices

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sequences), self.sequences.X.shape[1]

    def take(self, which: Indices) -> TaggedSequences:
        """Return a copy of some sequences."""
        return TaggedSequences(self.sequences.take(which), self.y[self.sequences.positions(which)])

    def join(self, other: TaggedSequences) -> TaggedSequences:
        """Return a copy of these sequences and then the other's."""
        y = np.concatenate([self.y, other.y])
        return TaggedSequences(self.sequences.join(other.sequences), y)


class SequenceChunk(NamedTuple):
    """A part of a stream, with the attributes that a learner needs of a risk."""

    objective: OracleObjective
    source: TaggedSequences

    @property
    def problem(self) -> TaggedSequences:
        return self.source


class UpdateRule(NamedTuple):
    """The numbers of a run, and where it stands."""

    penalty: Regularizer
    metric: DiagonalMetric
    eta: float
    averaging: bool
    start: Array
    clock: int


class ChainAdaGrad(AdaGrad):
    """AdaGrad with one sequence per round; new features may come at any time.

    Solves      min_w Ω(w) + the mean loss of labelings, as `CRFRisk` or `ChainHingeRisk` has it
    Algorithm   AdaGrad's, diagonal; g_t is a subgradient of a whole sequence's loss
    Guarantee   AdaGrad's
    Cost        O(entries × tags + positions × tags²) per round; two numbers per weight, three for
                ``"cmd"``
    Needs       a penalty that is a sum over weights
    Differs     δ is the longest slope of a feature at one position, where Th. 6 asks for that of a
                sequence: what is frequent would slow down what is rare. Dual averaging is centred
                at the start, not at 0: weights that were fitted before do not fade

    Weights have one row per feature and one column per tag; then the transitions, one row per tag
    that they come from; then a row of the first tag, and one of the last. `learn` returns the
    losses before learning in place of predictions.

    Parameters
    ----------
    tags
        The number of tags.
    cost
        The cost of taking a tag (one row each) for another, for the hinge; None for the log-loss.
    update, eta, delta
        As those of `AdaGrad`.

    Examples
    --------
    >>> from stepless import SquaredL2
    >>> words, y = Sequences(np.eye(2), np.array([0, 2])), np.array([0, 1])
    >>> learner = ChainAdaGrad(tags=2)
    >>> chunk = SequenceChunk(learner.objective(SquaredL2(0.1)), TaggedSequences(words, y))
    >>> state = learner.begin_stream(chunk.objective, np.zeros((2 + 2 + 2, 2)))
    >>> learner.learn(chunk, state, np.array([0, 0])).round(2)  # the same sequence twice
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
        """Return the objective for a penalty."""
        return OracleObjective(regularizer)

    def lipschitz(self, objective: Penalized) -> float:
        """Return 1: at one position no slope is longer than the feature's own value."""
        return 1.0

    def lacks(self, objective: Any) -> str | None:
        if not objective.regularizer.separable:
            return "needs a penalty that is a sum over weights, such as 'l2', to learn sequences"
        return super().lacks(objective)

    def begin_stream(self, objective: Penalized, w: Array, b: Intercept = 0.0) -> LearnerState:
        at = w.reshape(-1, self.tags).copy(), np.zeros(self.tags)
        return LearnerState(at, Memory(np.zeros(0), np.zeros(0)), np.zeros((0, 1)))

    def widen(self, state: LearnerState, features: int) -> None:
        """Make work for new features; their weights are 0."""
        w, b = state.start
        known = len(w) - self.tags - 2

        def wider(rows: Array) -> Array:
            new = np.zeros((features - known, *rows.shape[1:]))
            return np.concatenate([rows[:known], new, rows[known:]])

        state.start = wider(w), b
        if state.memory.kept.size:
            state.memory.kept = wider(state.memory.kept)

    # -- sequences in place of rows ------------------------------------------------------------

    def problem_of(self, objective: Any, source: Any) -> Any:
        return source

    def sizes_of(self, source: Any) -> ExampleSizes:
        X = source.sequences.X
        return sizes_of_rows(X, np.ones(X.shape[0]))

    def cost_of(self, objective: Any, early: Any, scores: Array) -> Cost:
        return Cost(0.0, float(scores[len(scores) // 2 :].sum()))

    def run(self, rows: Any, objective: Any, state: LearnerState, order: Indices, z: Array) -> None:
        (sequences, y), kept, K = rows, state.memory.kept, self.tags
        pairs = AllPairs(len(kept) - K - 2, K)
        chains = Chains(pairs, sequences.X, y, sequences.ends, np.ones(len(sequences)))
        work = ChainWorkspace.of(sequences.longest, K)
        _rounds(kept, z, chains, self.cost, self._rule(objective, state), work, order)

    def fresh(self, objective: Any, state: LearnerState) -> Memory:
        w, b = state.start
        at = np.zeros_like(w) if self.update == "rda" else w
        return self.update_rule(objective).fresh(self._prepared(objective, state), at, b)

    def weights(self, objective: Any, state: LearnerState) -> tuple[Array, Array]:
        start, b = state.start
        w, rule = np.empty_like(start), self._rule(objective, state)
        _read(w, state.memory.kept, rule, np.arange(len(w)), rule.clock)
        return w, b

    def _rule(self, objective: Any, state: LearnerState) -> UpdateRule:
        setting, averaging = self._prepared(objective, state), self.update == "rda"
        penalty, metric, eta = setting.penalty[0], setting.metrics[0], setting.etas[0]
        return UpdateRule(penalty, metric, eta, averaging, state.start[0], state.memory.clock)


@compiled(
    WORKSPACE + "kept[D,K,2|3] order[n] scores[≥n,1] rule.start[D,K] cost?[K,K] "
    "problem.X[p,≤D-K-2] problem.y[p] problem.ends[m] problem.s[m-1]"
)
def _rounds(
    kept: Array,
    scores: Array,
    problem: Chains,
    cost: Array | None,
    rule: UpdateRule,
    work: ChainWorkspace,
    order: Indices,
) -> None:
    """Change kept (rows × tags × 2 or 3), and write scores: each sequence's loss before that."""
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
            edges = chain.exponentials(work.E, w[rows - K - 2 : rows - 2])
            work.joint[:] = 0.0
            scores[n, 0] = log_loss(slopes, work, problem, flat, edges, work.far, i)
            add_joint(slopes, work, offset)
        else:
            scores[n, 0] = hinge(slopes, work, problem, cost, flat, i)
        _take_in(kept, g, w, rule, met[:count], t)


@compiled("kept[D,K,2|3] w[D,K] rule.start[D,K] rows[_]")
def _read(w: Array, kept: Array, rule: UpdateRule, rows: Indices, t: int) -> None:
    """Write rows of w: their weights after t rounds."""
    penalty, metric, eta, averaging, start, _ = rule
    for row in rows:
        here = slice(row, row + 1)
        if not averaging:
            mirror_descent.descended(penalty, metric, eta, kept[here], t, w[here])
            continue
        for c in range(w.shape[1]):
            step = eta / metric.height(kept[row, c, dual_averaging.MEMORY], t)
            w[row, c] = start[row, c] - step * kept[row, c, dual_averaging.SUM]
            if t > 0:
                w[row, c] = penalty.prox(w[row, c], t * step)  # DHS (3)


@compiled()
def _take_in(kept: Array, g: Array, w: Array, rule: UpdateRule, rows: Indices, t: int) -> None:
    """Change rows of kept by their subgradients g in round t; set these to 0."""
    penalty, metric, eta, averaging, _, _ = rule
    memory = dual_averaging.MEMORY if averaging else mirror_descent.MEMORY
    for row in rows:
        for c in range(g.shape[1]):
            slope = g[row, c]
            kept[row, c, memory] = metric.grow(kept[row, c, memory], slope)
            if averaging:
                kept[row, c, dual_averaging.SUM] += slope
            else:
                step = eta / metric.height(kept[row, c, memory], t + 1)  # DHS (4), (24), (25)
                kept[row, c, VALUE] = penalty.prox(w[row, c] - step * slope, step)
                kept[row, c, LAST] = t + 1
            g[row, c] = 0.0
