"""The best fixed decision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import lowest
from stepless.games.costs import Cost, Linear, Total, ValuesOnly, total
from stepless.games.hindsight.accelerated import accelerate
from stepless.games.hindsight.constrained import refuse_unknown, within
from stepless.games.hindsight.cutting import cut
from stepless.games.hindsight.newton import newton
from stepless.games.hindsight.task import Task, total_of
from stepless.objective import Domain, Regularizer

_GOAL = 1e-10  # of what adds up to the sum: where the search ends
_CORNERED = 100.0  # so many times, where costs have corners;
_ROUGH = 1e6  # and if nothing but planes will do, where they have none
_EFFORT = 1_000_000_000, 2_000_000  # entries of arrays, calls of functions, that a search may take
_ACCELERATED = 50, 3000  # steps, the least and the most
_CUTS = 30, 150


@dataclass(frozen=True)
class Best:
    """A decision, its loss in each round, and how far their sum can be above the least.

    Attributes
    ----------
    w
        The decision.
    losses
        f_t(w) + Ω(w) of each round.
    gap
        No less than Σ of them − min; infinite where nothing is known.
    """

    w: Array
    losses: Array
    gap: float


def best_fixed(
    costs: Sequence[Cost],
    domain: Domain,
    d: int,
    penalty: Regularizer | None = None,
    constraints: Sequence[Domain] = (),
    seen: Iterable[Array] = (),
) -> Best:
    """The decision of the domain with the least Σ f_t(w) + TΩ(w), with a certificate.

    It is a corner for linear costs, the nearest point in a metric for quadratic ones; Newton's
    method over the domain where Hessians are known, accelerated gradient steps where costs are
    smooth, cutting planes for the rest. The tangent there proves the gap; rounding counts against
    it. Where only values are shown, it is the best of decisions `seen`, and nothing is proven.

    Parameters
    ----------
    costs
        A cost a round.
    domain, constraints
        Where the decision lies: in all of them.
    d
        How many weights it has.
    penalty
        Ω, a fixed part of every round's cost.
    seen
        Decisions to choose from where the costs have no gradients.

    Examples
    --------
    >>> from stepless import Simplex
    >>> from stepless.games import Linear
    >>> best = best_fixed([Linear([1.0, 2.0]), Linear([3.0, 1.0])], Simplex(), 2)
    >>> best.w, best.losses, best.gap < 1e-12
    (array([0., 1.]), array([2., 1.]), True)
    """
    if any(isinstance(f, ValuesOnly) for f in costs):
        return _best_seen(costs, domain, d, penalty, constraints, seen)
    whole = total(costs)

    def solve(domain: Domain) -> tuple[Array, float]:
        return _solve(Task(costs, whole, domain, d, penalty))

    w, bound = within(domain, constraints, d, solve) if constraints else solve(domain)
    losses = whole.losses(w) + _fixed(penalty, w)
    return Best(w, losses, max(math.fsum(losses) - bound, 0.0))


def refuse_empty(domain: Domain, constraints: Sequence[Domain], d: int) -> None:
    """Raise ValueError where no decision obeys all constraints.

    Examples
    --------
    >>> from stepless.objective import L2Ball, Simplex
    >>> refuse_empty(Simplex(), [L2Ball(0.1)], 2)
    Traceback (most recent call last):
    ...
    ValueError: no decision of Simplex obeys all constraints: loosen one
    """
    refuse_unknown((domain, *constraints))
    try:
        best_fixed([Linear(np.zeros(d))], domain, d, constraints=constraints)
    except ValueError:  # of the polytope that cuts have left: it is empty
        raise ValueError(
            f"no decision of {type(domain).__name__} obeys all constraints: loosen one"
        ) from None


def _solve(task: Task) -> tuple[Array, float]:
    """The least point that was found, and a bound below F over the task's domain."""
    w = task.start()
    if task.linear and task.domain.offers("vertex"):
        lowest(task.domain, task.slope(w), w)
        return w, task.lower_bound(w)
    goal = _GOAL * task.extent(w)
    in_metric = task.domain.offers("inequalities") or task.domain.ball_exponent == 2.0
    if task.penalty is None and in_metric and task.hessian(w) is not None:
        w = newton(task, w)
    value, bound = task.value(w), task.lower_bound(w)
    if value - bound > goal and task.smooth:
        w = accelerate(task, w, _steps(task, *_ACCELERATED), goal)
        value, bound = task.value(w), max(bound, task.lower_bound(w))
    coarse = (_ROUGH if task.smooth else _CORNERED) * goal
    if value - bound > coarse:
        v, below = cut(task, w, _steps(task, *_CUTS), coarse)
        bound = max(bound, below)
        if task.value(v) < value:
            w = v
    return w, bound


def _steps(task: Task, least: int, most: int) -> int:
    """How many a search may take: the fewer the longer one takes."""
    arrays, calls = _EFFORT
    affordable = calls // task.T if type(task.whole) is Total else arrays // (task.T * task.d)
    return min(max(least, affordable), most)


def _best_seen(
    costs: Sequence[Cost],
    domain: Domain,
    d: int,
    penalty: Regularizer | None,
    constraints: Sequence[Domain],
    seen: Iterable[Array],
) -> Best:
    middle = np.zeros(d)
    domain.project(middle)
    trials = [middle, *(w for w in seen if all(c.excess(w) <= 0.0 for c in constraints))]
    losses = [np.array([f.value(w) for f in costs]) + _fixed(penalty, w) for w in trials]
    k = int(np.argmin([math.fsum(each) for each in losses]))
    return Best(trials[k], losses[k], math.inf)


def _fixed(penalty: Regularizer | None, w: Array) -> float:
    return 0.0 if penalty is None else float(total_of(penalty, w[:, None]))
