"""Runs whose margin adapts, and what their gap is relative to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stepless.arrays import Array
from stepless.estimators.certificate import Remedy, certify
from stepless.estimators.proof import Posed, in_words, keep_proof, rows_of
from stepless.estimators.warm_start import minimize_whole
from stepless.minimize import Result
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.run import Run
from stepless.stopping import Stopping
from stepless.trace import Event, relative
from stepless.warning import NothingLearned, warn


@dataclass(frozen=True)
class MarginStopping(Stopping):
    """As `Stopping`, but the gap is relative to how far the objective lies below that of w = 0.

    That is ½‖w*‖² at the optimum, which the constant that raises the objective may dwarf. Where no
    weights are better than none, the run ends when ‖w*‖ can be no more than that share of ‖c‖, the
    length of what w is counted from, or when the gap is no more than what rounding hides, `hidden`.
    """

    at_zero: float = 0.0
    hidden: float = 0.0

    def unit(self, objective: float, gap: float) -> float:
        """What a gap is relative to."""
        below = self.at_zero - objective
        return below if below > 0.0 else math.sqrt(gap * self.at_zero)

    def share(self, event: Event) -> float:
        return relative(event.gap, self.unit(event.objective, event.gap))

    def reason(self, event: Event) -> str | None:
        reason = super().reason(event)
        hidden = event.gap <= self.hidden and event.objective >= self.at_zero
        return "rounding" if hidden and reason != "gap" else reason


def adapt_margin(
    estimator: Any,
    run: Run,
    risk: AdaptiveMargin,
    start: Array | None,
    no_margin: Callable[[float], str],
) -> tuple[Result, bool]:
    """Return the best result, and whether its weights have a margin; store the certificate.

    If they have none, a warning says how large it may be, and a remedy: `no_margin`.
    """
    nu, stopping = estimator.nu, _stopping(run, risk)
    weights = None if start is None else (risk.best_multiple(start) - risk.centre, 0.0)
    made_of = risk.intercept, risk.source.X, risk.source.y, risk.source.s

    def adapted(last: Result) -> Result | None:
        """Planes of a larger ν stay true, but those that prove them are not those of this ν."""
        return last if estimator._last_nu == nu else None

    result = minimize_whole(estimator, run, risk, weights, made_of, stopping, adapted)
    estimator._last_nu = nu
    unit = stopping.unit(result.objective, result.objective - result.lower_bound)
    apart = result.objective < risk.at_zero
    certify(estimator, run, [result], Remedy(easier="raise nu"), relative_to=unit, told=not apart)
    if not apart:
        largest = math.sqrt(2.0 * max(risk.at_zero - result.lower_bound, 0.0))
        warn(no_margin(largest), NothingLearned)
    return result, apart


def keep_margin(estimator: Any, risk: AdaptiveMargin, result: Result) -> None:
    """Store the proof, when all else is stored."""
    keep_proof(estimator, [result], _asked(estimator, risk), rows_of(risk.source))


def posed(estimator: Any, run: Run, risk: AdaptiveMargin, w: Array) -> Posed:
    """The problem of this risk, and weights not counted from the centre as the answer."""
    unit = _stopping(run, risk).unit
    answer = risk, w - risk.centre, 0.0
    return Posed(_asked(estimator, risk), rows_of(risk.source), [answer], unit)


def _stopping(run: Run, risk: AdaptiveMargin) -> MarginStopping:
    limits = run.limits
    return MarginStopping(limits.gap, limits.passes, limits.seconds, risk.at_zero, risk.hidden)


def _asked(estimator: Any, risk: AdaptiveMargin) -> dict[str, str]:
    free = {"intercept": "free" if risk.intercept else "none"}
    return in_words(risk.objective, f"nu({float(estimator.nu)!r})") | free
