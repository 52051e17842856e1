"""The search for the strength with the least leave-one-out error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np

from stepless.arrays import Array
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

_STEP = 10.0 ** (2 / 3)  # ratio of neighbouring strengths
_FIRST = 0.3  # times 1/m, in the unit
_FIRST_LASSO = 0.1
_MOST_STEPS = 9  # to either side
_SAMPLE, _SHARE = 20_000, 8  # at least this number of examples and one in eight are used
_WORTH = 1e-3  # share of a loss that a weaker penalty must save
_GAP = 1e-2  # of the fits on the way
_PASSES = 100  # for each of these fits


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
    """Return the strength whose fit would err least on examples that it has not seen.

    The error is that of `leave_one_out`: for numbers the loss, for classes the share of mistakes
    (with several classes, of the largest of all problems' predictions). Strengths are tried at
    ratios of 10^⅔, from a first one to weaker ones for as long as the error falls, or else to
    stronger ones. A weaker penalty must make fewer mistakes by more than their noise, or save a
    thousandth of the loss. Fits on the
    way are coarse, each starts where the last one ended, and a loss with corners is smoothed.

    The first strength is 0.3/m in a unit that scales with features and targets as all strengths do,
    or a tenth of the least strength at which a lasso leaves no weights. Of more than 20 000
    examples a sample is used, at least an eighth; the strength found for it is made weaker as the
    best ones become with more examples: as 1/m, or with a lasso as 1/√m.

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
    >>> 1e-4 < alpha < 1e-1
    True
    >>> np.isclose(best_strength(objective, [Source(10 * X, y)]), 100 * alpha)
    np.True_
    """
    if (lack := lacks(objective)) is not None:
        raise ValueError(lack)
    lasso, some = objective.regularizer.has_lasso, _sampled(sources)
    risks = [LinearRisk(objective, source) for source in some]
    scale = sum(map(unit, risks)) / len(risks)
    if not TINIEST < scale < math.inf:  # features of 0, or targets that an intercept explains
        return 1e-2
    first = scale * (_FIRST_LASSO if lasso else min(_FIRST / risks[0].m, 1.0))
    trials = _Trials(risks, [smoothed(risk) for risk in risks], perf_counter() + seconds)

    def strength(k: int) -> float:
        return max(first / _STEP**k, TINIEST)

    found = strength(_lowest(lambda k: trials.at(strength(k)), some[0]))
    share = risks[0].m / sources[0].shape[0]
    return max(found * (math.sqrt(share) if lasso else share), TINIEST)


def _sampled(sources: Sequence[Source]) -> Sequence[Source]:
    """Return the problems on a sample of the examples, if there are many."""
    m = sources[0].shape[0]
    n = max(_SAMPLE, m // _SHARE)
    if m <= n:
        return sources
    rows = np.sort(np.random.default_rng(0).choice(m, n, replace=False))
    first = sources[0].take(rows)
    return [first, *(first.relabelled(source.take(rows).y) for source in sources[1:])]


class Trial(NamedTuple):
    """Leave-one-out errors at a strength: the mean loss, or of classes the mistakes, 0 or s_i."""

    error: float
    mistakes: Column | None = None

    def beats(self, other: Trial, source: Source, surely: bool) -> bool:
        """Return whether the error is less, or `surely` so: by more than noise, or a thousandth.

        The noise is McNemar's: the standard deviation of the number of examples of which one of two
        models is wrong and the other not, if each were as likely to be either.
        """
        noise = 0.0
        if surely and self.mistakes is not None and other.mistakes is not None:
            apart = sum_blocks(source.map(_squared_distance, self.mistakes, other.mistakes))
            noise = math.sqrt(float(apart)) / source.shape[0]
        elif surely:
            noise = _WORTH * other.error
        return other.error - self.error > noise


def _lowest(trial: Callable[[int], Trial | None], source: Source) -> int:
    """Return the best whole number from 0 on, up or, if none there is better, down.

    Up it must surely be better, and the search ends after two that are not: the step from one to
    the next may be too short to tell, that over both is not. Down it ends after one, which must not
    be the first that can be judged.
    """
    best, least = 0, trial(0)
    for way, patience in ((1, 2), (-1, 1)):
        k = way
        while least is not None and abs(k) < _MOST_STEPS and abs(k - best) <= patience:
            if way > 0 and least.error == math.inf:
                break
            if (found := trial(k)) is None:
                return best
            if found.beats(least, source, surely=way > 0) or least.error == math.inf:
                best, least = k, found
            elif found.mistakes is None:
                break
            k += way
        if best != 0:
            break
    return best


@dataclass
class _Trials:
    """Fits of one or more problems, at one strength after the other."""

    risks: list[LinearRisk]
    objectives: list[Objective]
    deadline: float
    starts: list[Start] = field(init=False)
    over: bool = False

    def __post_init__(self) -> None:
        self.starts = [None] * len(self.risks)

    def at(self, strength: float) -> Trial | None:
        """Return the errors at a strength, infinite if too weak; None if there is no time left."""
        margins: Column | None = None
        for k, risk in enumerate(self.risks):
            if self.over:
                return None
            if (z := self._left_out(k, strength)) is None:
                return Trial(math.inf)
            if risk.objective.loss.targets != "signs":
                return Trial(risk.value_at(z))
            margins = risk.source.column(_margins, z, margins, len(self.risks) > 1)
        source = self.risks[0].source
        mistakes = source.column(_mistakes, margins)
        error = sum_blocks(source.map(apply_numpy, np.sum, mistakes)) / source.shape[0]
        return Trial(float(error), mistakes)

    def _left_out(self, k: int, strength: float) -> Column | None:
        """Return the leave-one-out predictions of a problem, fitted from where it was last."""
        seconds = max(self.deadline - perf_counter(), 0.0) / len(self.risks)
        limits = Stopping(_GAP, _PASSES, seconds)
        risk = LinearRisk(with_strength(self.objectives[k], strength), self.risks[k].source)
        result = minimize(risk, choose(risk, _GAP), limits, start=self.starts[k], resumable=False)
        self.starts[k] = result.w, result.b
        late = k + 1 == len(self.risks) and perf_counter() >= self.deadline
        self.over |= late or result.stopped_by == "interrupt"
        return leave_one_out(risk, result)


@light
def _margins(block: Block, z: Array, before: Array | None, several: bool) -> Array:
    """Return y_i z_i; of several classes, the own one's prediction and the largest of others."""
    mine = block.y > 0.0
    if not several:
        return np.where(mine, z, -z)
    own, others = np.full((2, z.size), -math.inf) if before is None else before
    return np.array((np.where(mine, z, own), np.where(mine, others, np.maximum(others, z))))


@light
def _mistakes(block: Block, margins: Array) -> Array:
    """Return the weights of the examples that are taken for another class, 0 for the others."""
    wrong = margins <= 0.0 if margins.ndim == 1 else margins[0] <= margins[1]
    return np.where(wrong, block.s, 0.0)


@light
def _squared_distance(block: Block, some: Array, others: Array) -> float:
    return float(((some - others) ** 2).sum())
