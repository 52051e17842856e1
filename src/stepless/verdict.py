"""Proof of what solvers claim."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stepless.arrays import Array
from stepless.certificates import Certifier
from stepless.certificates.planes import MOST_POINTS
from stepless.intercept import Intercept
from stepless.proof import Interval
from stepless.proof.witness import Witness
from stepless.risks.risk import Risk
from stepless.stopping import Stopping
from stepless.trace import Event, relative

_NOTHING = 2.0**-50  # of the risk at 0
_POSITIVE = 2.0**-40  # of the objective: a claimed bound below this may be rounding alone
_TIGHT = 0.99  # of the gap asked for: points are left out while it is met
_LOOSER = 0.1  # of the present gap, where that is larger


def refuse_nan(objective: float) -> float:
    """Return an objective, unless it is NaN."""
    if math.isnan(objective):
        raise ValueError(
            "the objective is not a number, not even where the run began: look for NaN and for "
            "infinite or huge numbers in the examples, and at the loss"
        )
    return objective


class Verdict:
    """The part of the solvers' claims that the verifier has proved so far.

    A claimed gap ends the run if the verifier proves it. If it does not, the next claim is believed
    when it is half as large; below a thousandth of the gap asked for, only rounding can separate
    claim and proof.
    """

    def __init__(self, risk: Risk, certifier: Certifier | None, stopping: Stopping) -> None:
        self.interval = Interval(math.inf, -math.inf)
        self.w: Array = np.zeros(0)
        self.b: Intercept = 0.0
        self.witness: Witness | None = None
        self._risk, self._certifier, self._stopping = risk, certifier, stopping
        self._believed = stopping.gap
        self._at_zero: float | None = None

    @property
    def rel_gap(self) -> float:
        """The relative gap that is proved."""
        return relative(self.interval.gap, self.interval.objective)

    def limits(self) -> Stopping:
        """Return the limits of the run, with the gap below which a claim is believed."""
        return replace(self._stopping, gap=self._believed)

    def rounds_to_zero(self, event: Event) -> bool:
        """Return whether only rounding keeps the objective from 0."""
        positive = event.lower_bound > _POSITIVE * event.objective
        if event.passes == 1 or positive or self._certifier is None:
            return False
        if self._at_zero is None:
            self._at_zero = self._risk.value(np.zeros(self._risk.d), 0.0)
        return event.objective <= _NOTHING * self._at_zero

    def confirm(self, event: Event, reason: str, w: Array, b: Intercept) -> str | None:
        """Prove the claims of an event that may end the run; return why it ends, or None."""
        self._prove(event, w, b)
        share, gap = self._stopping.share(self.proved(event)), self._stopping.gap
        if share <= gap and reason not in ("solver", "watcher", "interrupt"):
            return "gap"
        if reason != "gap":
            return reason
        self._believed = 0.5 * self._stopping.share(event)
        return "rounding" if self._believed <= 1e-3 * gap else None

    def proved(self, event: Event) -> Event:
        """Return an event with what was proved in place of what was claimed."""
        high, low = self.interval.objective, self.interval.lower_bound
        return replace(event, objective=high, lower_bound=low)

    def capped(self, event: Event) -> Event:
        """Return an earlier event that claims no more than was proved in the end."""
        high, low = self.interval.objective, self.interval.lower_bound
        high, low = max(event.objective, high), min(event.lower_bound, low)
        return replace(event, objective=high, lower_bound=low)

    def content(self) -> tuple[Array, Intercept, Witness | None, float]:
        """Return what was proved, without its numbers, and the gap below which one believes."""
        return self.w, self.b, self.witness, self._believed

    def restore(self, w: Array, b: Intercept, witness: Witness | None, believed: float) -> None:
        """Prove again what `content` returned."""
        self._believed = believed
        if w.size:
            self._accept(w, b, witness)

    def _prove(self, event: Event, w: Array, b: Intercept) -> None:
        witness = None
        if self._certifier is not None:
            # an oracle is asked again: at a sixth of the points, if that is as good
            most = min(MOST_POINTS, max(1, event.passes // 6))
            share, gap = self._stopping.share(event), self._stopping.gap
            looser = max(_TIGHT * gap / share, 1.0) if 0.0 < share <= gap else 1.0 + _LOOSER
            enough = event.objective - looser * event.gap
            witness = self._certifier.witness(most, enough, event.objective)
        self._accept(w, b, witness)

    def _accept(self, w: Array, b: Intercept, witness: Witness | None) -> None:
        found = self._risk.verify(w, b, witness, self._stopping.gap)
        refuse_nan(found.objective)
        before = self.interval
        if found.objective < before.objective or not self.w.size:
            self.w, self.b = w, b
        steepness, at_zero = before.steepness, max(before.at_zero, found.at_zero)
        if found.lower_bound > before.lower_bound:
            self.witness, steepness = witness, found.steepness
        highest = min(found.objective, before.objective)
        lowest = max(found.lower_bound, before.lower_bound)
        self.interval = Interval(highest, min(lowest, highest), 0.0, at_zero, steepness)
