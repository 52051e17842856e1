"""The path of minimisers as a penalty's strength falls: its strengths, and the fits along it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np

from stepless.arguments import brief
from stepless.arrays import Array
from stepless.compiled.light import rowless
from stepless.data import Block, Source
from stepless.minimization import minimize
from stepless.objective import Objective, Zero
from stepless.result import Onward, Result, Start
from stepless.risks.joint_risk import risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers.auto import choose
from stepless.stopping import Stopping

COUNT = 100  # strengths, if nobody says how many
_LEAST = 1e-3  # share of the critical strength at which a path ends,
_LEAST_WIDE = 1e-2  # and with more features than examples
_ABOVE = 1.0 + 1e-9  # solvers add up slopes in other orders: at the top all their weights are 0
_PULL = 100.0  # an example's effect on its own prediction at which other paths end
_CLOSE, _STEPS = 1e-9, 100  # relative gap and passes of the best weights without a penalty
TINIEST = 1e-50  # strength that a penalty accepts


def path_strengths(
    alphas: int | Sequence[float] | None, objective: Objective, sources: Sequence[Source]
) -> list[float]:
    """Return the strengths of a path: those given, or so many, falling in equal ratios.

    With a corner at 0 they begin at the critical strength, the least that leaves all weights 0, and
    end at its 1000th part, or its 100th with more features than examples. It is exact for a smooth
    loss; for one with corners, or in a domain, weights may be 0 at somewhat less. Other penalties
    begin at `strength_unit`, and end at the 100 m-th part of it for m examples.

    Parameters
    ----------
    alphas
        Strengths, or how many; None: 100.
    objective
        Its strength does not matter.
    sources
        The examples of each problem that has these strengths (one-vs-rest: one per class).

    Examples
    --------
    >>> from stepless.objective import L1, Squared
    >>> source = Source([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
    >>> [round(alpha, 4) for alpha in path_strengths(4, Objective(Squared(), L1()), [source])]
    [0.6667, 0.0667, 0.0067, 0.0007]
    """
    if alphas is None or (isinstance(alphas, Integral) and not isinstance(alphas, bool)):
        count = COUNT if alphas is None else int(alphas)
        if count < 1:
            raise ValueError(f"a path has at least one strength, not alphas={count}")
        return _grid(objective, sources, count)
    try:
        strengths = np.asarray(alphas, dtype=float)
    except (TypeError, ValueError, OverflowError):
        strengths = np.array([math.nan])
    positive = (strengths > 0.0) & (strengths < math.inf)
    if strengths.ndim != 1 or not strengths.size or not positive.all():
        raise ValueError(
            "alphas must be a list of positive numbers, at least one, or how many, not "
            f"{brief(alphas)}"
        )
    found: list[float] = strengths.tolist()
    return found


def _grid(objective: Objective, sources: Sequence[Source], count: int) -> list[float]:
    risks = [risk_of(objective, source) for source in sources]
    m, d = sources[0].shape
    top = max(critical_strength(risk) for risk in risks)
    top, share = top * _ABOVE, _LEAST_WIDE if m < d else _LEAST
    if math.isinf(top):
        top, share = sum(map(strength_unit, risks)) / len(risks), 1.0 / (_PULL * m)
    if not TINIEST < share * top < math.inf:  # features of 0, or targets that an intercept fits
        top = 1.0
    grid: list[float] = np.geomspace(top, share * top, count).tolist()
    return grid


def critical_strength(risk: LinearRisk) -> float:
    """Return the least strength at which the best constant model is optimal; infinity if none is.

    Features without a penalty have their best weights in it. For a loss with corners one that is
    enough: of the slopes there, one choice is tried.
    """
    objective, source = risk.objective, risk.source
    _, factors = objective.regularizer.factored(source.shape[1])
    w, bare = np.zeros((factors.size, objective.outputs)), np.flatnonzero(factors == 0.0)
    if bare.size:
        alone = risk_of(replace(objective, regularizer=Zero()), source.narrowed(bare))
        best = minimize(alone, choose(alone, _CLOSE), Stopping(_CLOSE, _STEPS))
        w[bare] = best.w.reshape(bare.size, -1)
    a = risk.tangent(w.ravel(), 0.0).plane.a.reshape(w.shape)
    a[bare] = 0.0
    return float(objective.regularizer.critical_strength(a))


def strength_unit(risk: LinearRisk) -> float:
    """Return the unit of strengths: mean s_i²‖a_i‖²‖x_i‖² at weights of 0, divided by the risk.

    It scales as curvatures do: with the square of the features, and with the targets, whatever the
    loss. With that strength of the ridge no weights lower the objective by more than half.
    """
    start = risk.tangent(np.zeros(risk.d), 0.0)
    witness = start.plane.witness
    if start.value <= 0.0 or witness is None:
        return 0.0
    squares = risk.source.squares(risk.source.column(_squared, witness.slopes))
    return float(squares.sum()) / risk.m / start.value


@rowless
def _squared(block: Block, slopes: Array) -> Array:
    """Return s_i²‖a_i‖²."""
    effects = block.s[:, None] * slopes.reshape(block.s.size, -1)
    found: Array = (effects**2).sum(axis=1)
    return found


def along_path(
    objective: Objective,
    sources: Sequence[Source],
    run: Run,
    falling: Sequence[float],
    starts: Sequence[Start] | None = None,
) -> Iterator[tuple[float, list[Result]]]:
    """Yield each strength and the result on each source, each fit starting where the last ended.

    What is carried along is a whole result, with planes, dual points and working sets, if there is
    one source; the states of many might not fit into memory, so that of them it is the weights.
    """
    last = list[Start](starts or [None] * len(sources))
    for alpha in falling:
        here = replace(objective, regularizer=objective.regularizer.with_strength(alpha))
        results = []
        for k, source in enumerate(sources):
            result = run.minimize(risk_of(here, source), last[k], resumable=False)
            last[k] = Onward(result) if len(sources) == 1 else (result.w, result.b)
            results.append(result)
        yield alpha, results
