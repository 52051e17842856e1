"""The run of a solver: limits, seed, threads, watchers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, Self, TypeAlias, cast

import numpy as np
from sklearn.utils import check_random_state

from stepless.arguments import brief
from stepless.minimization import minimize
from stepless.registry import UnknownName
from stepless.result import Result, Start
from stepless.risks.risk import Risk
from stepless.settings import refuse_settings
from stepless.solvers import SOLVERS, Solver
from stepless.solvers.auto import choose
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.in_order import InOrder
from stepless.solvers.solver import OnlineSolver
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping
from stepless.warning import warn
from stepless.watchers import Progress, Watcher, keeper_among, validated_watchers

PATIENCE = 1000  # passes, if the user sets no limit
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Watchers: TypeAlias = Iterable[Watcher]


@dataclass(frozen=True)
class Run:
    """Solver, limits, seed, threads and watchers of a run.

    Parameters
    ----------
    solver, gap, passes, seconds, random_state, n_jobs, shuffle, verbose
        As in `LinearClassifier`.
    watchers
        Called with every event and the best (w, b) so far; True ends the run. A `Checkpoint` among
        them keeps what the run needs to go on.
    patience
        Passes after which a run without a limit ends; None: 1000.

    Examples
    --------
    >>> from stepless import LinearRisk, Objective, Source, SquaredL2
    >>> from stepless.objective import Squared
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    >>> risk = LinearRisk(Objective(Squared(), SquaredL2(1e-3), intercept=False), Source(X, y))
    >>> result = Run(gap=1e-6).minimize(risk)
    >>> result.stopped_by, result.w.round(3)
    ('gap', array([1.]))
    """

    solver: str | Solver = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    random_state: RandomState = None
    n_jobs: int | None = None
    shuffle: bool = True
    verbose: int = 0
    watchers: Watchers = ()
    patience: int | None = None
    threads: int | None = field(init=False, repr=False, compare=False)
    limits: Stopping = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_settings(self)
        object.__setattr__(self, "threads", threads_of(self.n_jobs))
        object.__setattr__(self, "watchers", tuple(validated_watchers(self.watchers)))
        patience = PATIENCE if self.patience is None else self.patience
        unlimited = math.inf if self.seconds is not None else patience
        passes = unlimited if self.passes is None else self.passes
        seconds = math.inf if self.seconds is None else self.seconds
        object.__setattr__(self, "limits", Stopping(self.gap, passes, seconds))

    @classmethod
    def of(cls, estimator: object, watchers: Watchers = (), **given: Any) -> Self:
        """Build the run of an estimator, from its parameters and those given, for a new fit."""
        known = vars(estimator)
        found = {name: known[name] for name in cls.__dataclass_fields__ if name in known}
        run = cls(**found | given, watchers=watchers)
        if (keeper := keeper_among(run.watchers)) is not None:
            keeper.open()
        return run

    # -- limits, random numbers, watchers -----------------------------------------------------

    def stopping(self, runs_left: int = 1, spent: float = 0.0) -> Stopping:
        """Return the limits of one run; those that are left (one per class) share the seconds."""
        return replace(self.limits, seconds=max(self.limits.seconds - spent, 0.0) / runs_left)

    def generator(self) -> np.random.Generator:
        """Return the random number generator of a run."""
        given, seed = self.random_state, 0
        if isinstance(given, np.random.Generator):
            return given
        if given is not None and given != 0:
            seed = check_random_state(given).randint(2**31)
        return np.random.default_rng(seed)

    def event_watchers(self, label: str = "") -> list[Watcher]:
        """Return the watchers; if verbose, with one that writes a line per event."""
        return [*([Progress(label=label)] if self.verbose else []), *self.watchers]

    def told(self, label: str = "") -> list[Watcher]:
        """Return `event_watchers`; the old name."""
        warn("Run.told is called Run.event_watchers now", DeprecationWarning)
        return self.event_watchers(label)

    # -- solvers ------------------------------------------------------------------------------

    def solver_for(self, risk: Risk) -> Solver | SolverSequence:
        """Return the given solver, or for ``"auto"`` the one that suits the risk best."""
        solver = choose(risk, self.gap) if self.solver == "auto" else self.named_solver()
        in_order = solver.online and not self.shuffle
        return InOrder(cast(OnlineSolver, solver)) if in_order else solver

    def online_solver(self) -> OnlineSolver:
        """Return the solver that learns from a stream."""
        solver = AdaGrad() if self.solver == "auto" else self.named_solver()
        if not solver.online:
            online = [name for name, kind in SOLVERS.items() if kind.online]
            raise ValueError(
                f"solver {solver.name!r} cannot learn from a stream: "
                f"choose one of {', '.join(online)}"
            )
        return cast(OnlineSolver, solver)

    def named_solver(self) -> Solver:
        """Return a solver given by name or as such."""
        if not isinstance(self.solver, str):
            works = isinstance(self.solver, SolverSequence) or hasattr(self.solver, "step")
            if isinstance(self.solver, type) or not works:
                raise TypeError(f"solver must be a name or a solver, not {brief(self.solver)}")
            return self.solver
        if self.solver not in SOLVERS:
            raise UnknownName("solver", self.solver, ["auto", *SOLVERS])
        found: Solver = SOLVERS[self.solver]()
        return found

    def minimize(
        self,
        risk: Risk,
        start: Start = None,
        stopping: Stopping | None = None,
        label: str = "",
        resumable: bool = True,
    ) -> Result:
        """Minimise a risk; `stopping` replaces the limits, for a run that is one of several."""
        solver, limits = self.solver_for(risk), stopping or self.limits
        watchers, rng = self.event_watchers(label), self.generator()
        return minimize(
            risk, solver, limits, start=start, watchers=watchers, rng=rng, resumable=resumable
        )


def threads_of(n_jobs: int | None) -> int | None:
    """Return a number of threads, None for all cores.

    Examples
    --------
    >>> threads_of(2), threads_of(-1)
    (2, None)
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, Integral) or (n_jobs < 1 and n_jobs != -1):
        raise ValueError(f"n_jobs must be positive, or -1 for all cores, not {brief(n_jobs)}")
    return None if n_jobs == -1 else int(n_jobs)
