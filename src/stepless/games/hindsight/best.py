"""The best fixed decision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.compiled.vertices import lowest
from stepless.games.costs import Cost, CostSum, Linear, ValuesOnly, total
from stepless.games.hindsight.accelerated import accelerate
from stepless.games.hindsight.constrained import sets_to_cut, within
from stepless.games.hindsight.cutting import cut
from stepless.games.hindsight.newton import newton
from stepless.games.hindsight.problem import HindsightProblem, penalty_value
from stepless.objective import Domain, Regularizer

_GOAL = 1e-10  # relative gap at which the search ends
_KINKED = 100.0  # times the goal suffices for costs with kinks,
_PLANES_ONLY = 1e6  # and times it for smooth costs that only cutting planes can certify
_EFFORT = 1_000_000_000, 2_000_000  # array entries and function calls that a search may take
_ACCELERATED = 50, 3000  # steps: the fewest and the most allowed
_CUTS = 30, 150


@dataclass(frozen=True)
class Best:
    """The best fixed decision found, its losses, and an upper bound on their excess.

    Attributes
    ----------
    w
        The decision.
    losses
        f_t(w) + Ω(w) of each round.
    gap
        Upper bound on their sum less the minimum; infinite if nothing is known.
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
    """Return the decision with the least Σ f_t(w) + TΩ(w), with a certificate.

    For linear costs it is a vertex. Otherwise it is found by Newton's method if Hessians are known,
    by accelerated gradient steps if costs are smooth, by cutting planes for the rest. The tangent
    there proves the gap, all rounding errors included. If costs have values only, it is the best of
    the decisions `seen`, and nothing is proven.

    Parameters
    ----------
    costs
        One cost per round.
    domain, constraints
        Sets in all of which the decision must lie.
    d
        Number of weights.
    penalty
        Ω, a fixed part of every round's cost.
    seen
        Decisions to choose from if the costs have no gradients.

    Examples
    --------
    >>> from stepless import Simplex
    >>> from stepless.games import Linear
    >>> best = best_fixed([Linear([1.0, 2.0]), Linear([3.0, 1.0])], Simplex(), 2)
    >>> best.w, best.losses, best.gap < 1e-12
    (array([0., 1.]), array([2., 1.]), True)
    """
    if any(isinstance(f, ValuesOnly) for f in costs):
        center = np.zeros(d)
        domain.project(center)
        feasible = (w for w in seen if all(c.excess(w) <= 0.0 for c in constraints))
        return _best_of([center, *feasible], costs, penalty)
    cost_sum = total(costs)

    def solve(domain: Domain) -> tuple[Array, float]:
        return _solve(HindsightProblem(costs, cost_sum, domain, d, penalty))

    w, bound = within(domain, constraints, d, solve) if constraints else solve(domain)
    losses = cost_sum.losses(w) + penalty_value(penalty, w)
    return Best(w, losses, max(math.fsum(losses) - bound, 0.0))


def refuse_empty(domain: Domain, constraints: Sequence[Domain], d: int) -> None:
    """Raise ValueError if no decision obeys all constraints."""
    sets_to_cut((domain, *constraints))
    try:
        best_fixed([Linear(np.zeros(d))], domain, d, constraints=constraints)
    except ValueError:  # raised by the polytope that the cuts leave if it is empty
        raise ValueError(
            f"no decision of {type(domain).__name__} obeys all constraints: loosen one"
        ) from None


def _solve(problem: HindsightProblem) -> tuple[Array, float]:
    """Return the best point found, and a lower bound on F over the problem's domain."""
    w = problem.start()
    if problem.linear and problem.domain.offers("vertex"):
        lowest(problem.domain, problem.gradient(w), w)
        return w, problem.lower_bound(w)
    goal = _GOAL * problem.extent(w)
    in_metric = problem.domain.offers("inequalities") or problem.domain.ball_exponent == 2.0
    if problem.penalty is None and in_metric and problem.hessian(w) is not None:
        w = newton(problem, w)
    value, bound = problem.value(w), problem.lower_bound(w)
    if value - bound > goal and problem.smooth:
        w = accelerate(problem, w, _steps(problem, *_ACCELERATED), goal)
        value, bound = problem.value(w), max(bound, problem.lower_bound(w))
    coarse = (_PLANES_ONLY if problem.smooth else _KINKED) * goal
    if value - bound > coarse:
        v, below = cut(problem, w, _steps(problem, *_CUTS), coarse)
        bound = max(bound, below)
        if problem.value(v) < value:
            w = v
    return w, bound


def _steps(problem: HindsightProblem, least: int, most: int) -> int:
    """Return the number of steps that a search may take, within the effort allowed."""
    entries, calls = _EFFORT
    one_by_one = type(problem.cost_sum) is CostSum
    affordable = calls // problem.T if one_by_one else entries // (problem.T * problem.d)
    return min(max(least, affordable), most)


def _best_of(trials: list[Array], costs: Sequence[Cost], penalty: Regularizer | None) -> Best:
    losses = [np.array([f.value(w) for f in costs]) + penalty_value(penalty, w) for w in trials]
    k = int(np.argmin([math.fsum(each) for each in losses]))
    return Best(trials[k], losses[k], math.inf)
