"""What estimators share whose risk is no sum over examples: the run, and where it begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepless.data.fingerprint import fingerprint
from stepless.estimators.certified_model import CertifiedModel
from stepless.minimize import Result
from stepless.risks.oracle_risk import OracleRisk
from stepless.stopping import Stopping
from stepless.watchers import Watcher


class WholeModel(CertifiedModel):
    """Runs of an estimator of a `OracleRisk`; a subclass has the parameter `warm_start`.

    With it, the last run's result is kept. A fit to the same data goes on from it, whatever the
    penalty's strength: planes under the risk stay true, and few new ones are needed.
    """

    def _anew(self, X: Any) -> bool:
        """Whether X may have any features; a warm start with others is refused, untouched."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return True
        if len(np.shape(X)) == 2:
            self._goes_on(np.shape(X)[1])
        return False

    def _fit_whole(
        self,
        risk: OracleRisk,
        weights: tuple[NDArray, Any] | None,
        watchers: Iterable[Watcher] = (),
        made_of: tuple[Any, ...] = (),
    ) -> Result:
        """Minimise a risk and store the certificate; see `_run_whole`."""
        result = self._run_whole(risk, weights, watchers, made_of, self._stopping())
        self._store_strength(risk.objective)
        self._certify([result])
        return result

    def _run_whole(
        self,
        risk: OracleRisk,
        weights: tuple[NDArray, Any] | None,
        watchers: Iterable[Watcher],
        made_of: tuple[Any, ...],
        stopping: Stopping,
    ) -> Result:
        """Minimise a risk, from the last result if `warm_start` and it is of the same data.

        Else from `weights`, or from 0 if there are none. `made_of` is all that the risk depends on
        but its penalty, for a risk that does not say its `origin` by itself: large data are read
        for it only if that matters.
        """
        if made_of and self.warm_start:
            # Classes too: one that was defined anew may pickle as the old one did.
            risk.origin = fingerprint(*made_of), *map(type, made_of)
        solver, start = self._chosen_solver(risk), self._kept(risk) or weights
        # A run adds planes to those that it goes on from: one that is broken off must not leave
        # them to whoever still has this list.
        self.__dict__.pop("_last", []).clear()
        result = self._minimize(risk, solver, stopping, start, watchers)
        if not self.warm_start:
            return result
        self._last = [result]
        return replace(result, w=result.w.copy())  # a user may change the weights, not the result

    def _kept(self, risk: OracleRisk) -> Result | None:
        """The last result, if its planes are true of this risk."""
        last: list[Result] = getattr(self, "_last", []) if self.warm_start else []
        return next((result for result in last if result.asked == risk.identity), None)
