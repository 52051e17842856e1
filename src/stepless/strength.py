"""The strength of a penalty, chosen from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from stepless.arrays import Array
from stepless.compiled import smooth
from stepless.compiled.blas import single_threaded_blas
from stepless.compiled.left_out import left_out
from stepless.compiled.light import rowless
from stepless.data import Block, Column, Source, apply_numpy
from stepless.minimization import minimize
from stepless.objective import Loss, Objective
from stepless.problem import Problem
from stepless.regularization_path import strength_unit
from stepless.result import Result
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers.auto import choose
from stepless.solvers.batch.newton_step import NewtonSystem
from stepless.stopping import Stopping

_START = 1e-2  # in units of `strength_unit`: stronger than most data need
_GAP = 1e-2  # of the fits on the way: a norm need not be known more exactly
_FINEST = 1e-6  # gap at which weights of 0 are accepted
_PASSES = 100  # for each of these fits
_STEADY = 1.3  # a strength that falls by a smaller factor has settled
_ROUNDS = 10
_DRAWS = 200  # features times draws of signs, at least, to estimate a trace
_TINIEST = 1e-50  # strength that a penalty accepts
_NEAR = 0.8  # m to this power examples near a corner measure the density there

_Start = tuple[Array, float | Array] | Result | None


def choose_strength(problem: Problem, sources: Iterable[Source], run: Run) -> Problem:
    """Return the problem with a number as its strength, one for all sources.

    For ``alpha="auto"`` up to half of the run's seconds are spent on the choice: see `balanced`.
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

    with slopes a_i and curvatures c_i of the loss at w_σ, which stands in for the unknown w₀, each
    at the leave-one-out prediction of its example. r = Ω/σ. Without H this is the paper's V/(σm).
    Starting at a strong penalty, σ is replaced by the solution for r, V and H at w_σ for as long as
    it falls. A rise is the last step: at a stronger penalty r(w_σ) underestimates r(w₀), and a weak
    signal would be lost.

    The trace is the mean of gᵀ(H + σI)⁻¹g over g = Σ ±s_i a_i x_i/√m with random signs of a fixed
    seed. A piecewise-linear loss has no curvature; its expectation has, the density of predictions
    at its corners. For a loss with neither, H is 0: then σ errs upwards.

    Parameters
    ----------
    objective
        Its penalty is l2 or lp; its strength does not matter.
    sources
        The examples of each problem (one-vs-rest has one per class). All problems get one strength,
        each side of the balance being the sum over them.
    seconds
        Time limit; at least one round is made.

    Examples
    --------
    >>> from stepless.objective import Logistic, SquaredL2
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
    if (lack := lacks(objective)) is not None:
        raise ValueError(lack)
    deadline = perf_counter() + seconds
    unit = sum(strength_unit(LinearRisk(objective, source)) for source in sources) / len(sources)
    if not _TINIEST < unit < math.inf:  # features of 0, or targets that an intercept explains
        return _START
    return _descend(objective, sources, unit, deadline)


def _descend(
    objective: Objective, sources: Sequence[Source], unit: float, deadline: float
) -> float:
    """Replace the strength by the solution of the balance there for as long as it falls."""
    # At the upper limit, no weights lower the objective by more than half: ‖∇R(0)‖² ≤ tr V. The
    # lower one is less than any that m examples could distinguish from 0.
    most, least = unit, max(unit / sources[0].shape[0] ** 2, _TINIEST)
    strength, gap = max(_START * unit, least), _GAP
    starts: list[_Start] = [None] * len(sources)
    for _ in range(_ROUNDS):
        before = strength
        balance = _balance(objective, strength, sources, starts, Stopping(gap, _PASSES), deadline)
        if balance is None:
            break
        if balance[0] > 0.0:
            strength = min(max(_crossing(strength, *balance), least), most)
        elif gap > _FINEST:  # within the gap, weights of 0 were good enough
            gap *= 0.01
            continue
        if before < _STEADY * strength or perf_counter() >= deadline:
            break
    return strength


def _balance(
    objective: Objective,
    strength: float,
    sources: Sequence[Source],
    starts: list[_Start],
    limits: Stopping,
    deadline: float,
) -> tuple[float, float, float] | None:
    """Return r(w_σ), the sampling error and minus its derivative by σ, summed over all problems.

    They are fitted from `starts`, which are brought up to date; None after an interrupt.
    """
    here, size, error, decline = with_strength(objective, strength), 0.0, 0.0, 0.0
    limits = replace(limits, seconds=max(deadline - perf_counter(), 0.0) / len(sources))
    for k, source in enumerate(sources):
        risk = LinearRisk(here, source)
        result = minimize(risk, choose(risk, limits.gap), limits, start=starts[k])
        if result.stopped_by == "interrupt":
            return None
        # The states and planes of many problems might not fit into memory.
        starts[k] = result if len(sources) == 1 else (result.w, result.b)
        size += here.penalty(result.w) / strength
        own_error, own_decline = _sampling_error(risk, result)
        error, decline = error + own_error, decline + own_decline
    return size, error, decline


def lacks(objective: Objective) -> str | None:
    """Return why the strength of this objective cannot be chosen, with a remedy; None if it can."""
    penalty = objective.regularizer
    if penalty.norm_exponent is None or "alpha" not in penalty._fields:
        return (
            "alpha='auto' knows the penalties l2 and lp(p), not "
            f"{type(penalty).__name__}; choose one of them, or give alpha a number"
        )
    if objective.outputs > 1:
        return (
            f"alpha='auto' does not know {type(objective.loss).__name__}, a loss of several "
            "classes at once; use multi_class='ovr', or give alpha a number"
        )
    return None


def with_strength(objective: Objective, strength: float) -> Objective:
    """Return the objective with its penalty at another strength."""
    return replace(objective, regularizer=objective.regularizer.with_strength(strength))


def _crossing(strength: float, size: float, error: float, decline: float) -> float:
    """Return the σ at which σ r equals the error, modelled as T/(κ + σ) around `strength`.

    That is exact if all curvatures are 0 (κ = 0), or far above σ.
    """
    if decline == 0.0:
        return 0.0
    curvature = error / decline  # κ + strength
    kappa, area = max(curvature - strength, 0.0), error * curvature / size
    return 2.0 * area / (kappa + math.sqrt(kappa * kappa + 4.0 * area))


def _sampling_error(risk: LinearRisk, result: Result) -> tuple[float, float]:
    """Return tr(V (H + σI)⁻¹)/m at the weights found, and minus its derivative by σ."""
    z, a = _left_out(risk, result)
    m, draws, rng, total = risk.m, math.ceil(_DRAWS / risk.d), np.random.default_rng(0), np.zeros(2)
    source = risk.source
    with single_threaded_blas():
        ridge = np.full(risk.d, risk.objective.strength)
        c = source.column(apply_numpy, np.divide, _curvatures(risk, z), m)
        system = NewtonSystem(source, c, ridge, ones=False)
        for _ in range(draws):
            signs = source.split(rng.choice((-1.0, 1.0), m))
            g = source.combination(source.column(apply_numpy, np.multiply, signs, a)) / math.sqrt(m)
            solved = system.solve(g)
            total += g @ solved, solved @ solved
    error, decline = (total / (draws * m)).tolist()
    return error, decline


def _left_out(risk: LinearRisk, result: Result) -> tuple[Column, Column]:
    """Return leave-one-out predictions z_i, and slopes s_i a_i there.

    An example pulls its own prediction to where its slope is small, the more so the weaker the
    penalty: on separable data no sampling error would be left.
    """
    here, source = risk.anchor(result.w, result.b), risk.source
    c = _curvatures(risk, here.z)
    h = source.squares(c) + risk.m * risk.objective.strength
    found = source.empty(), source.empty()
    source.update(found, left_out, (risk.objective.loss, h), here.z, here.a, c)
    return found


def _curvatures(risk: LinearRisk, z: Column) -> Column:
    """Return s_i c_i at predictions z."""
    source, loss = risk.source, risk.objective.loss
    if loss.offers("curvature"):
        c = source.empty()
        source.update((source.empty(), c), smooth.survey, loss, z, 0.0)
        return c
    if loss.offers("corners"):
        distances = source.column(_corner_distances, loss, z).whole
        width = _window_width(distances[distances < math.inf])
        return source.column(_corner_density, loss, z, width)
    return source.column(apply_numpy, np.zeros_like, z)


@rowless
def _corner_distances(block: Block, loss: Loss, z: Array) -> Array:
    """Return the distance of predictions to the nearest corner; infinity for weight 0."""
    distances = np.abs(z - loss.corners(block.y)[1]).min(axis=0)
    return np.where(block.s > 0.0, distances, math.inf)


@rowless
def _corner_density(block: Block, loss: Loss, z: Array, width: float) -> Array:
    """Return s_i times the rises of the slope at corners within `width`, over twice the width."""
    _, places, rises = loss.corners(block.y)
    near = np.abs(z - places) <= width
    near_rises: Array = np.where(near, rises, 0.0).sum(axis=0)
    return block.s * near_rises / (2.0 * width)


def _window_width(distances: Array) -> float:
    """Return the distance from a corner within which predictions count for the density there."""
    rank = math.ceil(distances.size**_NEAR) - 1
    width = float(np.partition(distances, rank)[rank])
    if width > 0.0:
        return width
    apart = distances[distances > 0.0]  # too many lie at corners: the density is unbounded there
    return _window_width(apart) if apart.size else 1.0
