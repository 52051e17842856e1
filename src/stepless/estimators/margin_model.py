"""What estimators share whose margin adapts: the run, and what its gap is relative to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from numpy.typing import NDArray

from stepless.estimators.linear_scores import LinearScores
from stepless.estimators.whole_model import WholeModel
from stepless.minimize import Result
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.risks.oracle_risk import OracleRisk
from stepless.stopping import Stopping
from stepless.trace import Event
from stepless.warning import warn
from stepless.watchers import Watcher


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

    def reason(self, event: Event) -> str | None:
        if event.gap <= self.gap * self.unit(event.objective, event.gap):
            return "gap"
        if event.gap <= self.hidden and event.objective >= self.at_zero:
            return "rounding"
        return Stopping(0.0, self.passes, self.seconds).reason(event)


class MarginModel(LinearScores, WholeModel):
    """Runs and predictions of an estimator whose margin adapts; it has the parameter `nu`."""

    _easier: ClassVar[str] = "raise nu"

    nu: float

    def _settle(
        self, risk: AdaptiveMargin, start: NDArray | None, watchers: Iterable[Watcher]
    ) -> tuple[NDArray, bool]:
        """Return the best weights, and whether they have a margin; store the certificate."""
        limits = self._stopping()
        stopping = MarginStopping(
            limits.gap, limits.passes, limits.seconds, risk.at_zero, risk.hidden
        )
        weights = None if start is None else (risk.best_multiple(start) - risk.centre, 0.0)
        made_of = risk.intercept, risk.source.X, risk.source.y, risk.source.s
        result = self._run_whole(risk, weights, watchers, made_of, stopping)
        self._last_nu = self.nu
        unit = stopping.unit(result.objective, result.objective - result.lower_bound)
        apart = result.objective < risk.at_zero
        self._certify([result], relative_to=unit, told=not apart)
        if not apart:
            most = math.sqrt(2.0 * max(risk.at_zero - result.lower_bound, 0.0))
            warn(self._no_margin(most))
        return result.w + risk.centre, apart

    def _kept(self, risk: OracleRisk) -> Result | None:
        """Also from a larger ν: fewer examples lack more on average, so that planes stay true."""
        last = super()._kept(risk)
        if last is None or self._last_nu < self.nu:
            return None
        return last if self._last_nu == self.nu else replace(last, risk=math.inf)

    def _no_margin(self, most: float) -> str:
        """Say that no weights were found that have a margin, how large it may be, and a remedy."""
        raise NotImplementedError
