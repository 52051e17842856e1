"""Runs with an adaptive margin, and the unit of their relative gap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from stepless.arrays import Array
from stepless.estimators.certificate import Remedy, store_results, warn_of_missed_gap
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.proof import Obligation, describe_problem, labelled_data, store_proof
from stepless.estimators.warm_start import minimize_oracle_risk
from stepless.result import Result
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.run import Run
from stepless.stopping import Stopping
from stepless.trace import Event, relative
from stepless.warning import NothingLearned, warn


@dataclass(frozen=True)
class MarginStopping(Stopping):
    """As `Stopping`, but the gap is relative to how far the objective lies below that of w = 0.

    That is ½‖w*‖² at the optimum, which the constant that raises the objective may dwarf. Where no
    weights are better than 0, the run ends when ‖w*‖ is proved to be at most that share of ‖c‖, the
    length of the centre, or when the gap is no more than the rounding error `hidden`.
    """

    at_zero: float = 0.0
    hidden: float = 0.0

    def unit(self, objective: float, gap: float) -> float:
        """Return the unit of the relative gap."""
        below = self.at_zero - objective
        return below if below > 0.0 else math.sqrt(gap * self.at_zero)

    def share(self, event: Event) -> float:
        return relative(event.gap, self.unit(event.objective, event.gap))

    def reason(self, event: Event) -> str | None:
        reason = super().reason(event)
        hidden = event.gap <= self.hidden and event.objective >= self.at_zero
        return "rounding" if hidden and reason != "gap" else reason


def minimize_margin(
    estimator: CertifiedEstimator,
    run: Run,
    risk: AdaptiveMargin,
    start: Array | None,
    no_margin: Callable[[float], str],
) -> tuple[Result, bool]:
    """Return the best result, and whether its weights have a margin; store the certificate.

    If they have none, a warning says how large it may be, with a remedy: `no_margin`.
    """
    nu, stopping = estimator.nu, _stopping(run, risk)
    weights = None if start is None else (risk.best_multiple(start) - risk.centre, 0.0)
    data = risk.intercept, risk.source.X, risk.source.y, risk.source.s

    def adapted(last: Result) -> Result | None:
        """Planes of a larger ν stay valid, but their proofs are of that ν."""
        return last if estimator._last_nu == nu else None

    result = minimize_oracle_risk(estimator, run, risk, weights, data, stopping, adapted)
    estimator._last_nu = nu
    unit = stopping.unit(result.objective, result.objective - result.lower_bound)
    apart = result.objective < risk.at_zero
    store_results(estimator, [result], unit)
    warn_of_missed_gap(estimator, run, [result], Remedy(easier="raise nu"), rounding=apart)
    if not apart:
        largest = math.sqrt(2.0 * max(risk.at_zero - result.lower_bound, 0.0))
        warn(no_margin(largest), NothingLearned)
    return result, apart


def store_margin_proof(estimator: CertifiedEstimator, risk: AdaptiveMargin, result: Result) -> None:
    """Store the proof; call this last, for it digests what was learned."""
    store_proof(estimator, [result], _describe(estimator, risk), labelled_data(risk.source))


def margin_obligation(
    estimator: CertifiedEstimator, run: Run, risk: AdaptiveMargin, w: Array
) -> Obligation:
    """Return what is to be proved of weights w, which are not relative to the centre."""
    unit = _stopping(run, risk).unit
    runs = [(risk, w - risk.centre, 0.0)]
    return Obligation(_describe(estimator, risk), labelled_data(risk.source), runs, unit)


def _stopping(run: Run, risk: AdaptiveMargin) -> MarginStopping:
    limits = run.limits
    return MarginStopping(
        limits.gap, limits.passes, limits.seconds, risk.at_zero, risk.rounding_gap
    )


def _describe(estimator: CertifiedEstimator, risk: AdaptiveMargin) -> dict[str, str]:
    free = {"intercept": "free" if risk.intercept else "none"}
    return describe_problem(risk.objective, f"nu({float(estimator.nu)!r})") | free
