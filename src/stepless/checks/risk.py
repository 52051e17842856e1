"""The contract of a whole risk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepless.arrays import Array
from stepless.checks.contract import SLACK, ContractError, described, refuse_other
from stepless.plane import Tangent
from stepless.risks.oracle_risk import OracleRisk

_SCALES = (0.01, 1.0, 30.0)  # of random weights
_DRAWS = 6  # at each
_STEP = 1e-5  # of finite differences, relative to the weights
_TOLERANCE = 1e-4  # of these, relative to the sizes compared


@dataclass(frozen=True)
class _Answer:
    """A risk's answer at some weights: `tangent` as it was given, `a` a copy of its slopes."""

    w: Array
    tangent: Tangent
    a: Array
    error: float  # of the value

    @property
    def value(self) -> float:
        return float(self.tangent.value)

    def __str__(self) -> str:
        return f"weights of length {np.linalg.norm(self.w):.4g}"


def check_risk(risk: OracleRisk) -> None:
    """Raise `ContractError` unless a whole risk is what solvers and certificates rely on.

    At random weights, in its domain: R is a number of at least 0, the same when asked again, and
    the least over a free intercept; its gradient has one entry per weight, is nobody else's
    array, and no larger than `sizes` says. On random segments R is convex and no plane of it lies
    above it. Where it calls itself smooth, it rises as its gradient says.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless import SquaredL2, OracleRisk, check_risk
    >>> class Largest(OracleRisk):  # the largest of |w_j|, with the wrong gradient
    ...     def value_and_gradient(self, w):
    ...         return np.abs(w).max(), np.sign(w)
    >>> check_risk(Largest(3, SquaredL2(0.1)))
    Traceback (most recent call last):
        ...
    stepless.checks.contract.ContractError: the gradient of Largest at weights of length 0.006659 \
is no subgradient: its plane lies 0.00209 above R at weights of length 0.006547
    """
    refuse_other(risk, OracleRisk, "OracleRisk with its penalty")
    name = type(risk).__name__
    rng = np.random.default_rng(0)
    answers = _answers(risk, name, [scale for scale in _SCALES for _ in range(_DRAWS)], rng)
    for answer in answers:
        _same_again(risk, name, answer)
        _sized(risk, name, answer)
    pairs = [(u, v) for u in answers for v in answers if u is not v]
    for u, v in pairs[:: max(1, len(pairs) // 100)]:
        _convex(name, u, v, _answer(risk, name, 0.5 * (u.w + v.w)))
    if risk.smooth:
        for answer in answers:
            _rises(risk, name, answer, rng.normal(size=risk.d))
    for u, v in pairs:
        _below(name, u, v)


def check_risk_quickly(risk: OracleRisk) -> None:
    """Check a whole risk by five calls of its oracle. Raises ContractError."""
    name = type(risk).__name__
    answers = _answers(risk, name, _SCALES[:2], np.random.default_rng(0))
    _same_again(risk, name, answers[0])
    _, near, far = answers
    _convex(name, near, far, _answer(risk, name, 0.5 * (near.w + far.w)))
    for u in answers:
        _sized(risk, name, u)
        for v in answers:
            _below(name, u, v)


def _answers(
    risk: OracleRisk, name: str, scales: Sequence[float], rng: np.random.Generator
) -> list[_Answer]:
    """Ask a risk at 0 and at random weights of these sizes, moved into its domain."""
    places = [np.zeros(risk.d), *(scale * rng.normal(size=risk.d) for scale in scales)]
    for w in places:
        risk.objective.domain.project(w)
    return [_answer(risk, name, w) for w in places]


def _answer(risk: OracleRisk, name: str, w: Array) -> _Answer:
    kept = w.copy()
    try:
        tangent = risk.oracle_tangent(w, 0.0)
    except Exception as error:
        place = f"{name} at weights of length {np.linalg.norm(w):.4g}"
        raise ContractError(f"{place} raises {described(error)}") from error
    if not np.array_equal(kept, w):
        raise ContractError(f"{name} changes the weights that it is given")
    if not math.isfinite(tangent.value):
        raise ContractError(
            f"R of {name} at weights of length {np.linalg.norm(w):.4g} is {tangent.value:g}"
        )
    off = float(risk.rounding_error(w, tangent.b, tangent.value))
    return _Answer(kept, tangent, tangent.plane.a.copy(), off)


def _same_again(risk: OracleRisk, name: str, answer: _Answer) -> None:
    if not np.array_equal(answer.tangent.plane.a, answer.a):
        raise ContractError(f"{name} changes a gradient that it has returned: it must be a new one")
    value = risk.oracle_value(answer.w, answer.tangent.b)
    if not abs(value - answer.value) <= SLACK * (1.0 + answer.value) + 2.0 * answer.error:
        raise ContractError(
            f"R of {name} at {answer} is {answer.value:.6g}, and when asked again {value:.6g}"
        )


def _sized(risk: OracleRisk, name: str, answer: _Answer) -> None:
    taken, least = risk.gradient_error(), risk.rounding * np.abs(answer.a)
    wrong = np.flatnonzero(taken < least * (1.0 - SLACK))
    if wrong.size:
        j = int(wrong[0])
        raise ContractError(
            f"{name}.sizes is {risk.sizes[j]:.4g} for weight {j}, but the gradient at {answer} is "
            f"{answer.a[j]:.4g}: its rounding would not be counted"
        )


def _convex(name: str, u: _Answer, v: _Answer, middle: _Answer) -> None:
    chord = 0.5 * (u.value + v.value)
    if middle.value > chord + SLACK * chord + u.error + v.error + middle.error:
        raise ContractError(
            f"{name} is not convex: half way between {u} and {v}, R = {middle.value:.6g} is "
            f"{middle.value - chord:.3g} above the chord"
        )


def _rises(risk: OracleRisk, name: str, answer: _Answer, v: Array) -> None:
    step = _STEP * (1.0 + float(np.linalg.norm(answer.w))) / float(np.linalg.norm(v))
    ahead, behind = answer.w + step * v, answer.w - step * v
    for w in (ahead, behind):
        risk.objective.domain.project(w)
    move = ahead - behind
    there, back = _answer(risk, name, ahead), _answer(risk, name, behind)
    rise, expected = there.value - back.value, float(answer.a @ move)
    sizes = abs(rise) + float(np.abs(answer.a) @ np.abs(move))
    allowed = _TOLERANCE * sizes + 4.0 * answer.error + SLACK * _STEP * answer.value
    if abs(rise - expected) > allowed:
        raise ContractError(
            f"the gradient of {name} at {answer} says that R rises by {expected:.4g} along a short "
            f"step, but it rises by {rise:.4g}"
        )


def _below(name: str, u: _Answer, v: _Answer) -> None:
    way = v.w - u.w
    above = u.value + float(u.a @ way) - v.value
    allowed = SLACK * (u.value + v.value + float(np.abs(u.a) @ np.abs(way))) + u.error + v.error
    if above > allowed:
        raise ContractError(
            f"the gradient of {name} at {u} is no subgradient: "
            f"its plane lies {above:.3g} above R at {v}"
        )
