"""What the estimators share: from parameters to an objective, a run, and its certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from stepless.data import Source
from stepless.estimators.certified_model import CertifiedModel
from stepless.estimators.linear_scores import LinearScores
from stepless.given import shown
from stepless.minimize import Result
from stepless.objective import (
    DOMAINS,
    LOSSES,
    Domain,
    Loss,
    Objective,
    Regularizer,
    Zero,
    penalty_of,
)
from stepless.registry import named
from stepless.risks.joint_risk import risk_of
from stepless.risks.risk import RowRisk
from stepless.solvers import SOLVERS, Solver
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.in_order import InOrder
from stepless.solvers.turns import Turns
from stepless.stopping import Stopping
from stepless.strength import balanced, with_strength
from stepless.watchers import Watcher


class LinearModel(LinearScores, CertifiedModel):
    """Parameters, runs and certificates of a linear estimator."""

    def __init__(
        self,
        loss: str | Loss = "squared",
        *,
        penalty: str | Regularizer = "l2",
        alpha: float | str = 1e-4,
        domain: str | Domain = "free",
        solver: str | Solver = "auto",
        gap: float = 1e-3,
        passes: int | None = None,
        seconds: float | None = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        shuffle: bool = True,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.domain = domain
        self.solver = solver
        self.gap = gap
        self.passes = passes
        self.seconds = seconds
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.shuffle = shuffle
        self.verbose = verbose

    # -- from parameters to a problem --------------------------------------------------------

    def _objective(self, targets: tuple[str, ...]) -> Objective:
        loss = named("loss", self.loss, LOSSES) if isinstance(self.loss, str) else self.loss
        if not isinstance(loss, Loss):
            raise TypeError(f"loss must be a name or a Loss, not {shown(loss)}")
        if loss.targets not in targets:
            fitting = [name for name, kind in LOSSES.items() if kind.targets in targets]
            raise ValueError(
                f"{type(loss).__name__} is no loss for a {type(self).__name__}: "
                f"choose one of {', '.join(fitting)}"
            )
        return Objective(loss, self._regularizer(), self._domain(), bool(self.fit_intercept))

    def _regularizer(self) -> Regularizer:
        if isinstance(self.penalty, Regularizer):
            return self.penalty
        name = self._named_penalty()
        if isinstance(self.alpha, str) and self.alpha == "auto":
            return penalty_of(name, 1.0)  # until `_settle_strength` has chosen another
        if name == "none" and self.alpha is None:
            return Zero()
        if self.alpha is None or isinstance(self.alpha, str):
            raise ValueError(f"alpha must be a number or 'auto', not {self.alpha!r}")
        return penalty_of(name, self.alpha)

    def _settle_strength(
        self, objective: Objective, sources: Iterable[Source]
    ) -> tuple[Objective, float]:
        """Give the penalty its strength, one for all problems; return the seconds that it took."""
        began = perf_counter()
        if self.alpha == "auto":
            if isinstance(self.penalty, Regularizer):
                raise ValueError(
                    f"alpha='auto' chooses the strength of a penalty that is named, but "
                    f"{self.penalty} has its own; say penalty='l2'"
                )
            seconds = math.inf if self.seconds is None else 0.5 * self.seconds
            objective = with_strength(objective, balanced(objective, list(sources), seconds))
        self._store_strength(objective)
        return objective, perf_counter() - began

    def _refuse_to_choose(self) -> None:
        """A stream's strength is needed before its examples are known."""
        if self.alpha == "auto":
            raise ValueError("alpha='auto' must see all examples; give a number for a stream")

    def _domain(self) -> Domain:
        if isinstance(self.domain, Domain):
            return self.domain
        if not isinstance(self.domain, str):
            raise TypeError(f"domain must be a name or a Domain, not {shown(self.domain)}")
        return named("domain", self.domain, DOMAINS)

    def _solver(self, risk: RowRisk) -> Solver | Turns:
        """Return the solver that is named or chosen, which may take examples as they lie."""
        solver: Any = self._chosen_solver(risk)
        return InOrder(solver) if solver.online and not self.shuffle else solver

    def _online_solver(self) -> Solver:
        solver = AdaGrad() if self.solver == "auto" else self._named_solver()
        if not solver.online:
            online = [name for name, kind in SOLVERS.items() if kind.online]
            raise ValueError(
                f"solver {solver.name!r} cannot learn from a stream: "
                f"choose one of {', '.join(online)}"
            )
        return solver

    # -- a run --------------------------------------------------------------------------------

    def _run(
        self,
        objective: Objective,
        source: Source,
        stopping: Stopping,
        start: tuple[NDArray, Any] | Result | None,
        watchers: Iterable[Watcher],
        label: str = "",
    ) -> Result:
        risk = risk_of(objective, source)
        return self._minimize(risk, self._solver(risk), stopping, start, watchers, label)
