"""The search for the strength with the least leave-one-out error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import Self

import numpy as np
from scipy.special import ndtr

from stepless.arrays import Array
from stepless.compiled import oracle
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.light import light
from stepless.data import Block, Column, Source, apply_numpy, sum_blocks
from stepless.minimization import minimize
from stepless.objective import Objective
from stepless.problem import Problem
from stepless.regularization_path import TINIEST
from stepless.result import Start
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers.auto import choose
from stepless.stopping import Stopping
from stepless.strength.leave_one_out import leave_one_out
from stepless.strength.scale import lacks, smoothed, unit, with_strength

_STEP = 10.0  # ratio of neighbouring strengths
_FIRST = 0.3  # times 1/m, in the unit
_FIRST_LASSO = 0.1
_MOST_STEPS = 6  # to either side
_FEW, _NARROW = 1000, 500  # examples up to which each is left out, if matrices are as small
_LEARNED, _SHARE = 2500, 8  # of more examples half, but no more than these, or one in eight
_WORTH = 3e-3  # share of the error that a step must save
_LOSS_COUNTS = 0.2  # power of the loss by which mistakes are multiplied
_LEVEL = 0.1  # of what a stronger penalty loses: a weaker one that loses less is as good
_GAP = 1e-2  # of the fits on the way
_PASSES = 30  # for each of these fits
_ROUNDED = 1e-12  # of a matrix's diagonal


def choose_strength(problem: Problem, sources: Iterable[Source], run: Run) -> Problem:
    """Return the problem with a number as its strength, one for all sources.

    For ``alpha="auto"`` up to half of the run's seconds are spent on the choice: see
    `best_strength`.
    """
    if not problem.chooses:
        return problem
    seconds = math.inf if run.seconds is None else 0.5 * run.seconds
    return problem.at_strength(best_strength(problem.objective, list(sources), seconds))


def best_strength(
    objective: Objective, sources: Sequence[Source], seconds: float = math.inf
) -> float:
    """Return the strength whose fit errs least on examples that it has not seen.

    Of up to 1000 examples each is left out of the fit in turn (`leave_one_out`), unless matrices
    of more than 500 rows were needed. Of more, a sample is learned and all others are predicted: of
    half of them up to 2500, or of an eighth. The error for numbers is the loss. For classes it is
    the share of mistakes (of several classes, of the largest of all problems' predictions), where a
    prediction counts in part that is almost a mistake, or only just one, times the fifth root of
    the loss: where mistakes are level, the loss decides.

    Strengths are tried at ratios of 10, from a first one to weaker ones, or else to stronger ones,
    for as long as the error falls by .3 %; and between them where the error may have a narrow
    valley (`_lowest`). The answer is where a parabola through the least errors is lowest. Fits on
    the way are coarse, each starts where the last one ended, and to leave examples out a loss with
    corners is smoothed.

    The first strength is 0.3/m in a unit that scales with features and targets as all strengths do,
    or a tenth of the least strength at which a lasso leaves no weights. The strength found for a
    sample is made weaker as the best ones become with more examples: as 1/m, or with a lasso as
    1/√m.

    Parameters
    ----------
    objective
        Its penalty is l2, l1, elastic net or lp; its strength does not matter.
    sources
        The examples of each problem (one-vs-rest has one per class).
    seconds
        Time limit; at least one strength is tried.

    Examples
    --------
    >>> from stepless.objective import Logistic, SquaredL2
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = np.where(X[:, 0] + rng.logistic(size=1000) > 0, 1.0, -1.0)
    >>> objective = Objective(Logistic(), SquaredL2())
    >>> alpha = best_strength(objective, [Source(X, y)])
    >>> 1e-6 < alpha < 1e-1
    True
    >>> np.isclose(best_strength(objective, [Source(10 * X, y)]), 100 * alpha)
    np.True_
    """
    if (lack := lacks(objective)) is not None:
        raise ValueError(lack)
    trials = _Trials.of(objective, sources, perf_counter() + seconds)
    scale = sum(map(unit, trials.risks)) / len(sources)
    if not TINIEST < scale < math.inf:  # features of 0, or targets that an intercept explains
        return 1e-2
    lasso, m = objective.regularizer.has_lasso, trials.risks[0].m
    first = scale * (_FIRST_LASSO if lasso else min(_FIRST / m, 1.0))

    def strength(k: float) -> float:
        return max(first * math.pow(_STEP, -k), TINIEST)

    few = trials.exact and not trials.classes
    found: float = strength(_lowest(lambda k: trials.at(strength(k)), few))
    of = int(np.count_nonzero(sources[0].s))
    share = math.sqrt(m / of) if lasso else m / of
    return max(found * share * of / sources[0].shape[0], TINIEST)


def _turned(objective: Objective, sources: list[Source]) -> list[Source]:
    """Return the examples with a feature for each of them, if that is less to read.

    Their products are the same, so that a ridge does not see the difference.
    """
    first = sources[0]
    m, d = first.shape
    if not objective.euclidean or first.nnz <= m * m:
        return sources
    K = Source(first.columns[0], np.zeros(d)).gram(np.ones(d), ones=False)
    np.einsum("ii->i", K)[:] += _ROUNDED * K.diagonal().max() + TINIEST
    with single_threaded_blas():
        L = np.linalg.cholesky(K)
    turned = Source(L, first.y, first.s, first.threads, scaled=False)
    return [turned, *(turned.relabelled(source.y) for source in sources[1:])]


def _lowest(trial: Callable[[float], float], few: bool) -> float:
    """Return where errors are least, next to the best whole number from 0 on, up or else down.

    On the way they must fall by a share. Then half way to a neighbour is tried: to both of them if
    errors are of a `few` numbers; else to the lower one, if the upper one is all but as good as the
    best, which a valley may lie before. The answer is the lowest point of a parabola through the
    best one and those beside it, no further than half way to one of them. NaN is not less.
    """
    error, best = cache(trial), 0.0
    for way in (1.0, -1.0):
        while best * way >= 0.0 and abs(best) < _MOST_STEPS:
            if not error(best) - error(best + way) > _WORTH * error(best):
                break
            best += way
    below, above = (error(best + way) - error(best) for way in (-1.0, 1.0))
    ways = (-0.5, 0.5) if few else (-0.5,) if above < _LEVEL * below else ()
    turn = min((best, *(best + way for way in ways)), key=error)
    step = 0.5 if few or turn != best else 1.0
    before, here, after = (error(turn + way) for way in (-step, 0.0, step))
    bend = before - 2.0 * here + after
    return turn + (step * min(max(0.5 * (before - after) / bend, -0.5), 0.5) if bend > 0.0 else 0.0)


@dataclass
class _Trials:
    """Fits of one or more problems, at one strength after the other.

    Parameters
    ----------
    risks
        Of the examples to learn, one per problem.
    sources
        The examples to predict, likewise.
    judged
        The risks that weigh predictions, likewise: by 0 if the example is learned, unless `exact`.
    exact
        Whether each example that is learned is predicted as if it had been left out.
    deadline
        When the time is over.
    """

    risks: list[LinearRisk]
    sources: Sequence[Source]
    judged: list[LinearRisk]
    exact: bool
    deadline: float
    starts: list[Start] = field(init=False)
    over: bool = False

    @property
    def classes(self) -> bool:
        """True if predictions are judged by their signs."""
        return self.judged[0].objective.loss.targets == "signs"

    def __post_init__(self) -> None:
        self.starts = [None] * len(self.risks)

    @classmethod
    def of(cls, objective: Objective, sources: Sequence[Source], deadline: float) -> Self:
        first, rows = sources[0], np.flatnonzero(sources[0].s)
        exact = rows.size <= _FEW and min(rows.size, first.shape[1]) <= _NARROW
        if not exact:
            n = max(rows.size // _SHARE, min(rows.size // 2, _LEARNED))
            rows = np.sort(np.random.default_rng(0).choice(rows, n, replace=False))
        some = first.take(rows)
        learned = [some, *(some.relabelled(source.y[rows]) for source in sources[1:])]
        if exact:
            sources = learned = _turned(objective, learned)
            judged = [LinearRisk(objective, source) for source in learned]
            objective = smoothed(judged[0])
        else:
            left = np.ones(first.shape[0])
            left[rows] = 0.0
            weights = first.column(apply_numpy, np.multiply, first.weights, first.split(left))
            judge = Source(first.home, first.y, weights, first.threads)
            judged = [LinearRisk(objective, judge.relabelled(source.y)) for source in sources]
        risks = [LinearRisk(objective, source) for source in learned]
        return cls(risks, sources, judged, exact, deadline)

    def at(self, strength: float) -> float:
        """Return the error at a strength; NaN if there is no time left.

        Of classes it counts mistakes and those about to be made: Φ(−t/h) of the margin t, with √h
        the mean √|t| of mistakes. So it changes with the strength before any sign does.
        """
        loss, margins = 0.0, None
        for k, source in enumerate(self.sources):
            if self.over:
                return math.nan
            z = self._unseen(k, strength)
            loss += self.judged[k].value_at(z)
            if self.classes:
                margins = source.column(_margins, z, margins, len(self.risks) > 1)
        if not self.classes:
            return loss
        judge = self.judged[0].source
        weight, root = sum_blocks(judge.map(_mistakes, margins))
        width = max((root / max(weight, TINIEST)) ** 2, TINIEST)
        wrong = float(sum_blocks(judge.map(_softly_wrong, margins, width))) / judge.shape[0]
        return wrong * math.pow(max(loss, 0.0), _LOSS_COUNTS)

    def _unseen(self, k: int, strength: float) -> Column:
        """Return predictions of a problem, by a fit from where it was last."""
        seconds = max(self.deadline - perf_counter(), 0.0) / len(self.risks)
        limits = Stopping(_GAP, _PASSES, seconds)
        risk = LinearRisk(with_strength(self.risks[k].objective, strength), self.risks[k].source)
        result = minimize(risk, choose(risk, _GAP), limits, start=self.starts[k], resumable=False)
        self.starts[k] = result.w, result.b
        late = k + 1 == len(self.risks) and perf_counter() >= self.deadline
        self.over |= late or result.stopped_by == "interrupt"
        if self.exact:
            return leave_one_out(risk, result)
        return self.sources[k].column(oracle.predictions, result.w, float(result.b))


@light
def _margins(block: Block, z: Array, before: Array | None, several: bool) -> Array:
    """Return y_i z_i; of several classes, the own one's prediction and the largest of others."""
    mine = block.y > 0.0
    if not several:
        return np.where(mine, z, -z)
    own, others = np.full((2, z.size), -math.inf) if before is None else before
    return np.array((np.where(mine, z, own), np.where(mine, others, np.maximum(others, z))))


def _margin(margins: Array) -> Array:
    return margins if margins.ndim == 1 else margins[0] - margins[1]


@light
def _mistakes(block: Block, margins: Array) -> tuple[float, float]:
    """Return Σ s_i and Σ s_i √|t_i| over the examples that are taken for another class."""
    t = _margin(margins)
    wrong = np.where(t <= 0.0, block.s, 0.0)
    return float(wrong.sum()), float(wrong @ np.sqrt(np.abs(t)))


@light
def _softly_wrong(block: Block, margins: Array, width: float) -> float:
    """Return Σ s_i Φ(−t_i/h)."""
    with np.errstate(over="ignore"):
        return float(block.s @ ndtr(-_margin(margins) / width))
