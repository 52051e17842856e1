"""What the estimators share: from parameters to an objective, a run, and its certificate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, SupportsFloat

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from stepless.data import Source
from stepless.design import Design
from stepless.joint_risk import risk_of
from stepless.kernels import oracle
from stepless.minimize import Result, minimize
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
from stepless.registry import UnknownName, named
from stepless.risk import Risk
from stepless.solvers import SOLVERS, Solver
from stepless.solvers.auto import choose
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.in_order import InOrder
from stepless.stopping import Stopping
from stepless.strength import balanced, with_strength
from stepless.trace import Trace, relative
from stepless.watchers import Progress, Watcher

LARGEST = 1e50  # of any entry: no product of a solver overflows below it
_ACCEPTED: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": False,  # our own check says where the hole is
}


def _predict(
    X: Design, w: NDArray, b: float, scores: NDArray, block: int, lo: int, hi: int
) -> None:
    oracle.predictions(X, w, b, scores, lo, hi)


def one_digit_up(share: float) -> str:
    """Spell a positive number with one digit, no smaller than it is.

    Examples
    --------
    >>> one_digit_up(0.14), one_digit_up(2e-5)
    ('0.2', '2e-05')
    """
    power = 10.0 ** math.floor(math.log10(share))
    return f"{math.ceil(share / power) * power:.1g}"


class LinearModel(BaseEstimator):
    """Parameters, runs and certificates of a linear estimator."""

    _patience: ClassVar[int] = 1000  # passes, where the user sets no limit

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -- from parameters to a problem --------------------------------------------------------

    def _objective(self, targets: tuple[str, ...]) -> Objective:
        loss = named("loss", self.loss, LOSSES) if isinstance(self.loss, str) else self.loss
        if not isinstance(loss, Loss):
            raise TypeError(f"loss must be a name or a Loss, not {type(loss).__name__}")
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
        name = "none" if self.penalty is None else str(self.penalty)
        if isinstance(self.alpha, str) and self.alpha == "auto":
            return penalty_of(name, 1.0)  # until `_settle_strength` has chosen another
        if name == "none" and self.alpha is None:
            return Zero()
        if isinstance(self.alpha, str) or not isinstance(self.alpha, SupportsFloat):
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

    def _store_strength(self, objective: Objective) -> None:
        penalty = objective.regularizer
        none = 0.0 if isinstance(penalty, Zero) else math.nan  # one's own may have no alpha
        self.alpha_ = float(getattr(penalty, "alpha", none))

    def _refuse_to_choose(self) -> None:
        """A stream's strength is needed before its examples are known."""
        if self.alpha == "auto":
            raise ValueError("alpha='auto' must see all examples; give a number for a stream")

    def _domain(self) -> Domain:
        if isinstance(self.domain, Domain):
            return self.domain
        return named("domain", self.domain, DOMAINS)

    def _solver(self, risk: Risk) -> Solver:
        """Return the solver that is named, or the one that suits the problem best."""
        solver = choose(risk, self.gap) if self.solver == "auto" else self._named_solver()
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

    def _named_solver(self) -> Solver:
        if not isinstance(self.solver, str):
            return self.solver
        if self.solver not in SOLVERS:
            raise UnknownName("solver", self.solver, ["auto", *SOLVERS])
        return SOLVERS[self.solver]()

    def _stopping(self, runs_left: int = 1, spent: float = 0.0) -> Stopping:
        """When a run ends; `seconds` is shared by the runs that are left (one a class)."""
        unlimited = math.inf if self.seconds is not None else self._patience
        return Stopping(
            gap=self.gap,
            passes=unlimited if self.passes is None else self.passes,
            seconds=math.inf
            if self.seconds is None
            else max(self.seconds - spent, 0.0) / runs_left,
        )

    def _threads(self) -> int | None:
        if self.n_jobs is not None and self.n_jobs < 1 and self.n_jobs != -1:
            raise ValueError(f"n_jobs must be positive, or -1 for all cores, not {self.n_jobs}")
        return None if self.n_jobs in (None, -1) else self.n_jobs

    # -- data ---------------------------------------------------------------------------------

    def _examples(self, X: Any, y: Any, *, reset: bool, **checks: Any) -> tuple[Any, NDArray]:
        X, y = validate_data(self, X, y, reset=reset, **_ACCEPTED, **checks)
        self._refuse_holes(X)
        return X, y

    def _scores(self, X: Any) -> NDArray:
        """⟨w, x⟩ + b for each example, and each row of coef_."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_ACCEPTED)
        self._refuse_holes(X)
        # Our own sums: BLAS's depend on the number of rows, and a tie of two classes with them.
        source = Source(X, np.zeros(X.shape[0]), threads=self._threads())
        rows = np.atleast_2d(self.coef_)
        z = np.empty((len(rows), X.shape[0]))
        for w, b, scores in zip(rows, np.atleast_1d(self.intercept_), z, strict=True):
            source.map(partial(_predict, source.X, w, float(b), scores))
        return z.T if self.coef_.ndim == 2 else z[0]

    def _refuse_holes(self, X: Any) -> None:
        """Name the first entry that is not a finite number of reasonable size."""
        values = X.data if sparse.issparse(X) else X
        if values.size == 0 or (float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST):
            return
        if sparse.issparse(X):
            X = X.tocoo()
            k = int(np.flatnonzero(~(np.abs(X.data.astype(float)) <= LARGEST))[0])
            i, j, value = X.row[k], X.col[k], X.data[k]
        else:
            i, j = np.argwhere(~(np.abs(X.astype(float)) <= LARGEST))[0]
            value = X[i, j]
        names = getattr(self, "feature_names_in_", None)
        feature = f"feature {j}" if names is None else f"feature {names[j]!r}"
        if np.isfinite(value):
            raise ValueError(
                f"X holds {value:g} in row {i}, {feature}: squares of entries beyond {LARGEST:g} "
                "overflow; rescale that feature"
            )
        what = "NaN" if np.isnan(value) else "infinity (inf)"
        raise ValueError(f"X holds {what} in row {i}, {feature}: every entry must be finite")

    def _weights(self, sample_weight: Any, m: int) -> NDArray:
        if sample_weight is None:
            return np.ones(m)
        s = np.asarray(sample_weight, dtype=np.float64)
        if s.ndim == 0:
            s = np.full(m, float(s))
        if s.shape != (m,):
            raise ValueError(
                f"sample_weight has shape {s.shape}, but there are {m} examples: "
                f"sample_weight.shape must be ({m},)"
            )
        if not np.isfinite(s).all():
            bad = int(np.flatnonzero(~np.isfinite(s))[0])
            raise ValueError(f"sample_weight holds NaN or infinity (inf) at example {bad}")
        if (s < 0).any():
            bad = int(np.flatnonzero(s < 0)[0])
            raise ValueError(
                f"sample_weight is negative ({s[bad]:g}) at example {bad}: weights must be ≥ 0"
            )
        if not s.any():
            raise ValueError("sample_weight is zero for every example: nothing is left to learn")
        return s

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
        shown = [Progress(label=label)] if self.verbose else []
        return minimize(
            risk,
            self._solver(risk),
            stopping,
            start=start,
            watchers=[*shown, *watchers],
            rng=self._generator(),
        )

    def _generator(self) -> np.random.Generator:
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        seed = check_random_state(self.random_state).randint(2**31) if self.random_state else 0
        return np.random.default_rng(seed)

    def _certify(self, results: list[Result]) -> None:
        """Store what the runs proved; several runs (one a class) count as one: their sum."""
        self.objective_ = float(sum(r.objective for r in results))
        self.lower_bound_ = float(sum(r.lower_bound for r in results))
        self.gap_ = self.objective_ - self.lower_bound_
        self.rel_gap_ = relative(self.gap_, self.objective_)
        self.trace_ = results[0].trace if len(results) == 1 else [r.trace for r in results]
        self.solver_ = ", ".join(dict.fromkeys(r.solver for r in results))
        self.n_passes_ = max(r.trace[-1].passes for r in results)
        reasons = [r.stopped_by for r in results]
        self.stopped_by_ = next((r for r in reasons if r != "gap"), "gap")
        self.n_iter_ = self.n_passes_
        if self._falls_short():
            accept = ""
            if 0.0 < self.rel_gap_ <= 0.5:  # a sum over classes may round to 0
                accept = f"accept gap={one_digit_up(self.rel_gap_)}, "
            warnings.warn(
                f"stopped after {self.n_passes_} passes with a relative gap of "
                f"{self.rel_gap_:.2g}, not {self.gap:g}: the objective may lie that much above its "
                f"optimum. Allow {self._more()}, {accept}or raise alpha",
                ConvergenceWarning,
                stacklevel=3,
            )
        for remark in dict.fromkeys(r.remark for r in results if r.remark):
            warnings.warn(remark, UserWarning, stacklevel=3)

    def _falls_short(self) -> bool:
        """Whether a limit that the user did not set ended the run before the gap was met."""
        return self.stopped_by_ == "passes" and self.passes is None

    def _more(self) -> str:
        """What to allow a run that fell short."""
        return "more passes="

    def _certify_nothing(self) -> None:
        """After a stream: the objective of what is no longer at hand is not known."""
        self.objective_ = math.nan
        self.lower_bound_ = -math.inf
        self.gap_ = self.rel_gap_ = math.inf
        self.stopped_by_ = "stream"
        self.n_passes_ = self.n_iter_ = 1
        self.trace_ = Trace()
