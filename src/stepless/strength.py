"""The strength of a penalty, chosen from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.compiled import smooth
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.left_out import left_out
from stepless.data import Block, Column, Source, applied
from stepless.minimize import Result, minimize
from stepless.objective import Loss, Objective, SquaredL2, SquaredLp
from stepless.problem import Problem
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers.auto import choose
from stepless.solvers.batch.newton_step import System
from stepless.stopping import Stopping

_START = 1e-2  # in units of the slopes' size, see `_unit`: stronger than most data ask for
_GAP = 1e-2  # of the fits on the way: a norm need not be known better
_FINEST = 1e-6  # gap at which weights of 0 are believed
_PASSES = 100  # for each of these fits
_STEADY = 1.3  # a strength that falls by a smaller factor has settled
_ROUNDS = 10
_DRAWS = 200  # features times draws of signs, at least: else one draw says little of a trace
_TINIEST = 1e-50  # that a penalty takes for a strength
_NEAR = 0.8  # m to this power examples are near a corner, to measure a density there


def chosen(problem: Problem, sources: Iterable[Source], run: Run) -> Problem:
    """Return the problem with a strength that is a number, one for all sources.

    If it is to be chosen, up to half of the run's seconds are spent on it: see `balanced`.
    """
    if not problem.chooses:
        return problem
    seconds = math.inf if run.seconds is None else 0.5 * run.seconds
    return replace(problem, alpha=balanced(problem.objective, list(sources), seconds))


def balanced(objective: Objective, sources: Sequence[Source], seconds: float = math.inf) -> float:
    """Return the strength at which the penalty costs as much as the sampling error does.

    The excess risk of the minimiser w_σ is at most σ r(w₀) + Õ(1/(σm)) (ZHU eq. (20)), whose last
    term is, to the second order, the sampling error of w_σ:

        σ r(w_σ) = tr(V (H + σI)⁻¹)/m,    V = Σ s_i²a_i² x_i x_iᵀ/m,    H = Σ s_i c_i x_i x_iᵀ/m,

    with slopes a_i and curvatures c_i of the loss at w_σ, which stands in for the unknown w₀, for
    examples that it has not learned from: each at its prediction as if it had been left out.
    r = Ω/σ. Without H this is the paper's V/(σm). From a strong penalty on, σ is replaced by the
    solution for r, V and H at w_σ for as long as it falls. A rise is the last step: at a stronger
    penalty r(w_σ) is too small for r(w₀), and a weak signal would be given up altogether.

    The trace is the mean of gᵀ(H + σI)⁻¹g over g = Σ ±s_i a_i x_i/√m with random signs, always the
    same ones. A piecewise-linear loss has no curvature; its expectation has, the density of
    predictions at its corners. Of a loss that tells neither, H is 0: then σ errs upwards.

    Parameters
    ----------
    objective
        Its penalty is l2 or lp, of any strength: only its kind matters.
    sources
        The examples; where there are several problems (one a class), all of them: they get one
        strength, each side of the balance being the sum over the problems.
    seconds
        The most that may be spent; at least one round is made.

    Examples
    --------
    >>> from stepless.objective import Logistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = np.where(X[:, 0] + rng.logistic(size=1000) > 0, 1.0, -1.0)
    >>> objective = Objective(Logistic(), SquaredL2())
    >>> alpha = balanced(objective, [Source(X, y)])
    >>> 1e-3 < alpha < 1e-1
    True
    >>> np.isclose(balanced(objective, [Source(10 * X, y)]), 100 * alpha)
    np.True_
    """
    lack = lacks(objective)
    if lack is not None:
        raise ValueError(lack)
    began = perf_counter()
    unit = sum(_unit(LinearRisk(objective, source)) for source in sources) / len(sources)
    if not _TINIEST < unit < math.inf:  # features of 0, or targets that an intercept explains
        return _START
    # With the one, no weights lower the objective by more than half: ‖∇R(0)‖² ≤ tr V. The other is
    # less than any that m examples could tell from none.
    most, least = unit, max(unit / sources[0].shape[0] ** 2, _TINIEST)
    strength, gap = max(_START * unit, least), _GAP
    starts: list[Any] = [None] * len(sources)
    for _ in range(_ROUNDS):
        here, before = with_strength(objective, strength), strength
        size = error = decline = 0.0
        left = max(seconds - (perf_counter() - began), 0.0) / len(sources)
        for k, source in enumerate(sources):
            risk = LinearRisk(here, source)
            stopping = Stopping(gap, _PASSES, left)
            result = minimize(risk, choose(risk, gap), stopping, start=starts[k])
            if result.stopped_by == "interrupt":
                return strength
            # of many problems, states and planes might not fit into memory
            starts[k] = result if len(sources) == 1 else (result.w, result.b)
            size += here.penalty(result.w) / strength
            here_error, here_decline = _sampling_error(risk, result)
            error, decline = error + here_error, decline + here_decline
        if size > 0.0:
            strength = min(max(_crossing(strength, size, error, decline), least), most)
        elif gap > _FINEST:  # within the gap, weights of 0 were good enough
            gap *= 0.01
            continue
        if before < _STEADY * strength or perf_counter() - began >= seconds:
            break
    return strength


def lacks(objective: Objective) -> str | None:
    """Say what of this objective keeps its strength from being chosen, with a remedy."""
    if not isinstance(objective.regularizer, SquaredL2 | SquaredLp):
        return (
            "alpha='auto' knows the penalties l2 and lp(p), not "
            f"{type(objective.regularizer).__name__}; choose one of them, or give alpha a number"
        )
    if objective.outputs > 1:
        return (
            f"alpha='auto' does not know {type(objective.loss).__name__}, a loss of several "
            "classes at once; use multi_class='ovr', or give alpha a number"
        )
    return None


def with_strength(objective: Objective, strength: float) -> Objective:
    """Return the objective with its penalty at another strength."""
    penalty = objective.regularizer
    return replace(objective, regularizer=type(penalty)(strength, *penalty[1:]))


def _unit(risk: LinearRisk) -> float:
    """Mean s_i²a_i²‖x_i‖² in units of the risk, at weights of 0: what a strength is measured by.

    Features t times as large make it t² times as large, and every balanced strength too; so it is
    with the targets, whatever the loss.
    """
    start = risk.anchor(np.zeros(risk.d), 0.0)
    if start.tangent.value <= 0.0:
        return 0.0
    squares = risk.source.squares(risk.source.column(applied, np.multiply, start.a, start.a))
    return float(squares.sum()) / risk.m / start.tangent.value


def _crossing(strength: float, size: float, error: float, decline: float) -> float:
    """Return the σ at which σ r meets the error, T/(κ + σ), as it is and declines at `strength`.

    That is exact where all curvatures are 0 (κ = 0), or far above σ.
    """
    if decline == 0.0:
        return 0.0
    curvature = error / decline  # κ + strength
    kappa, area = max(curvature - strength, 0.0), error * curvature / size
    return 2.0 * area / (kappa + math.sqrt(kappa * kappa + 4.0 * area))


def _sampling_error(risk: LinearRisk, result: Result) -> tuple[float, float]:
    """tr(V (H + σI)⁻¹)/m at the weights that were found, and by how much a larger σ lowers it."""
    z, a = _left_out(risk, result)
    m, draws, rng, total = risk.m, math.ceil(_DRAWS / risk.d), np.random.default_rng(0), np.zeros(2)
    source = risk.source
    with single_threaded_blas():
        ridge = np.full(risk.d, risk.objective.strength)
        c = source.column(applied, np.divide, _curvatures(risk, z), m)
        system = System(source, c, ridge, ones=False)
        for _ in range(draws):
            signs = source.split(rng.choice((-1.0, 1.0), m))
            g = source.combination(source.column(applied, np.multiply, signs, a)) / math.sqrt(m)
            solved = system.solve(g)
            total += g @ solved, solved @ solved
    error, decline = (total / (draws * m)).tolist()
    return error, decline


def _left_out(risk: LinearRisk, result: Result) -> tuple[Column, Column]:
    """Return predictions z_i as if without example i, and slopes s_i a_i there.

    An example pulls its own prediction to where its slope is small, the more so the weaker the
    penalty: of data that can be separated, no error would be left to see.
    """
    here, source = risk.anchor(result.w, result.b), risk.source
    c = _curvatures(risk, here.z)
    h = source.squares(c) + risk.m * risk.objective.strength
    found = source.empty(), source.empty()
    source.update(found, left_out, (risk.objective.loss, h), here.z, here.a, c)
    return found


def _curvatures(risk: LinearRisk, z: Column) -> Column:
    """s_i c_i at predictions z."""
    source, loss = risk.source, risk.objective.loss
    if loss.offers("curvature"):
        c = source.empty()
        source.update((source.empty(), c), smooth.survey, loss, z, 0.0)
        return c
    if loss.offers("corners"):
        away = source.column(_away, loss, z).whole
        return source.column(_density, loss, z, _width(away[away < math.inf]))
    return source.column(applied, np.zeros_like, z)


def _away(block: Block, loss: Loss, z: Array) -> Array:
    """How far predictions are from the next corner; examples of weight 0 have none."""
    away = np.abs(z - loss.corners(block.y)[1]).min(axis=0)
    return np.where(block.s > 0.0, away, math.inf)


def _density(block: Block, loss: Loss, z: Array, width: float) -> Array:
    """s_i times the rises of the corners that are near, over twice the width."""
    _, places, rises = loss.corners(block.y)
    near = np.abs(z - places) <= width
    return block.s * np.where(near, rises, 0.0).sum(axis=0) / (2.0 * width)


def _width(away: Array) -> float:
    """How far from a corner a prediction may be to count for the density there."""
    width = float(np.partition(away, rank := math.ceil(away.size**_NEAR) - 1)[rank])
    if width > 0.0:
        return width
    apart = away[away > 0.0]  # so many lie at corners that the density has no bound there
    return _width(apart) if apart.size else 1.0
