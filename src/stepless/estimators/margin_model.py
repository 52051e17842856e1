"""What estimators share whose margin adapts: the run, and what its gap is relative to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from stepless.data import Source
from stepless.estimators.certified_model import ACCEPTED, CertifiedModel
from stepless.risks.adaptive_margin import AdaptiveMargin
from stepless.solvers import Bundle
from stepless.stopping import Stopping
from stepless.trace import Event
from stepless.watchers import Watcher


@dataclass(frozen=True)
class MarginStopping(Stopping):
    """As `Stopping`, but the gap is relative to how far the objective lies below that of w = 0.

    That is ½‖w*‖² at the optimum, which the constant that raises the objective may dwarf. Where no
    weights are better than none, the run ends when ‖w*‖ can be no more than that share of ‖c‖, the
    length of what w is counted from.
    """

    at_zero: float = 0.0

    def reason(self, event: Event) -> str | None:
        below = self.at_zero - event.objective
        if event.gap <= self.gap * (below if below > 0.0 else self.gap * self.at_zero):
            return "gap"
        return Stopping(0.0, self.passes, self.seconds).reason(event)


class MarginModel(CertifiedModel):
    """Runs and predictions of an estimator whose margin adapts; it has the parameter `nu`."""

    _easier: ClassVar[str] = "raise nu"

    nu: float
    coef_: NDArray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _settle(
        self,
        risk: AdaptiveMargin,
        start: NDArray | None = None,
        watchers: Iterable[Watcher] = (),
    ) -> tuple[NDArray, bool]:
        """Return the best weights, and whether they have a margin; store the certificate."""
        solver = Bundle() if self.solver == "auto" else self._named_solver()
        limits = self._stopping()
        stopping = MarginStopping(limits.gap, limits.passes, limits.seconds, risk.at_zero)
        begin = None if start is None else (start - risk.centre, 0.0)
        result = self._minimize(risk, solver, stopping, begin, watchers)
        below = risk.at_zero - result.objective
        self._certify([result], relative_to=below if below > 0.0 else risk.at_zero)
        if not below > 0.0:
            most = math.sqrt(2.0 * max(risk.at_zero - result.lower_bound, 0.0))
            warnings.warn(self._no_margin(most), UserWarning, stacklevel=3)
        return result.w + risk.centre, below > 0.0

    def _no_margin(self, most: float) -> str:
        """Say that no weights were found that have a margin, how large it may be, and a remedy."""
        raise NotImplementedError

    def _products(self, X: Any) -> NDArray:
        """⟨w, x⟩ for each example."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **ACCEPTED)
        self._refuse_holes(X)
        source = Source(X, np.zeros(X.shape[0]), threads=self._threads())
        return source.predictions(np.ravel(self.coef_))
