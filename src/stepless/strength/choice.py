"""The search for the strength with the least leave-one-out error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import light
from stepless.data import Block, Column, Source, sum_blocks
from stepless.minimization import minimize
from stepless.objective import Objective
from stepless.problem import Problem
from stepless.result import Start
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers.auto import choose
from stepless.stopping import Stopping
from stepless.strength.leave_one_out import leave_one_out
from stepless.strength.scale import TINIEST, lacks, smoothed, unit, with_strength

_STEP = 10.0 ** (2 / 3)  # ratio of neighbouring strengths
_FIRST = 3.0  # times 1/m, in the unit: stronger than most data need
_FIRST_LASSO = 0.1
_MOST_STEPS = 9  # to either side
_GAP = 1e-2  # of the fits on the way
_PASSES = 100  # for each of these fits

Cost = tuple[float, float]  # share of mistakes, 0 for numbers, and loss


def choose_strength(problem: Problem, sources: Iterable[Source], run: Run) -> Problem:
    """Return the problem with a number as its strength, one for all sources.

    For ``alpha="auto"`` up to half of the run's seconds are spent on the choice: see
    `best_strength`.
    """
    if not problem.chooses:
        return problem
    seconds = math.inf if run.seconds is None else 0.5 * run.seconds
    return replace(problem, alpha=best_strength(problem.objective, list(sources), seconds))


def best_strength(
    objective: Objective, sources: Sequence[Source], seconds: float = math.inf
) -> float:
    """Return the strength whose fit would err least on examples that it has not seen.

    The error is that of `leave_one_out`: for classes the share of mistakes (with several classes,
    of the largest of all problems' predictions), ties being broken by the loss; for numbers the
    loss. Strengths are tried at ratios of 10^⅔, the neighbours of a first one until the error does
    not fall any more. Fits on the way are coarse, each starts where the last one ended, and a loss
    with corners is smoothed.

    The first strength is 3/m in a unit that scales with features and targets as all strengths do,
    or a tenth of the least strength at which a lasso leaves no weights. From there the search turns
    to weaker penalties first: the approximation is best where the penalty is strong.

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
    risks = [LinearRisk(objective, source) for source in sources]
    scale = sum(map(unit, risks)) / len(risks)
    if not TINIEST < scale < math.inf:  # features of 0, or targets that an intercept explains
        return 1e-2
    lasso = objective.regularizer.has_lasso
    first = scale * (_FIRST_LASSO if lasso else min(_FIRST / risks[0].m, 1.0))
    trials = _Trials(risks, [smoothed(risk) for risk in risks], perf_counter() + seconds)

    def strength(k: int) -> float:
        return max(first / _STEP**k, TINIEST)

    return strength(_lowest(lambda k: trials.cost(strength(k))))


def _lowest(cost: Callable[[int], Cost | None]) -> int:
    """Return the first whole number from 0 on, up or else down, after which the cost rises."""
    best, least = 0, cost(0)
    for way in (1, -1):
        for k in range(way, way * _MOST_STEPS, way):
            found = cost(k) if least is not None else None
            if found is None or found >= least:
                break
            best, least = k, found
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

    def cost(self, strength: float) -> Cost | None:
        """Return the leave-one-out error at a strength; None if there is no time left."""
        if self.over:
            return None
        several, margins, loss = len(self.risks) > 1, None, 0.0
        for k, risk in enumerate(self.risks):
            z = self._left_out(k, strength)
            loss += risk.value_at(z)
            source = risk.source
            if several:
                margins = source.column(_class_margins, z, margins)
            elif risk.objective.loss.targets == "signs":
                margins = source.column(_sign_margins, z)
        mistakes = 0.0
        if margins is not None:
            mistakes = float(sum_blocks(source.map(_mistakes, margins))) / risk.m
        self.over |= perf_counter() >= self.deadline
        return mistakes, loss if loss == loss else math.inf

    def _left_out(self, k: int, strength: float) -> Column:
        """Return the leave-one-out predictions of a problem, fitted from where it was last."""
        seconds = max(self.deadline - perf_counter(), 0.0) / len(self.risks)
        limits = Stopping(_GAP, _PASSES, seconds)
        risk = LinearRisk(with_strength(self.objectives[k], strength), self.risks[k].source)
        result = minimize(risk, choose(risk, _GAP), limits, start=self.starts[k], resumable=False)
        self.starts[k] = result.w, result.b
        self.over |= result.stopped_by == "interrupt"
        return leave_one_out(risk, result)


@light
def _sign_margins(block: Block, z: Array) -> Array:
    return block.y * z


@light
def _class_margins(block: Block, z: Array, before: Array | None) -> tuple[Array, Array]:
    """Return predictions of the own class, and the largest of others, of problems so far."""
    own, others = (np.full(z.size, -math.inf),) * 2 if before is None else before
    mine = block.y > 0.0
    return np.where(mine, z, own), np.where(mine, others, np.maximum(others, z))


@light
def _mistakes(block: Block, margins: Array | tuple[Array, Array]) -> float:
    margin = margins[0] - margins[1] if isinstance(margins, tuple) else margins
    return float(block.s @ (margin <= 0.0))
