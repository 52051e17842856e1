"""What every estimator shares: when a run ends, what it is told of data, what it proves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from stepless.data.holes import LARGEST, first_hole
from stepless.estimators.class_weight import sensible
from stepless.estimators.columns import labels, numbers, refuse_no_classes, refuse_table
from stepless.given import shown
from stepless.minimize import Result, minimize
from stepless.objective import Penalized, Regularizer, Zero, penalty_of
from stepless.registry import UnknownName
from stepless.risks.risk import Risk
from stepless.solvers import SOLVERS, Solver
from stepless.solvers.auto import choose
from stepless.solvers.turns import Turns
from stepless.stopping import Stopping
from stepless.trace import Trace, relative
from stepless.warning import warn
from stepless.watchers import Progress, Watcher, watching

_NOTHING = 1e-9  # an objective that only rounding may keep from 0
ACCEPTED: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": False,  # our own check says where the hole is
}


def one_digit_up(share: float) -> str:
    """Spell a positive number with one digit, no smaller than it is.

    Examples
    --------
    >>> one_digit_up(0.14), one_digit_up(2e-5)
    ('0.2', '2e-05')
    """
    power = 10.0 ** math.floor(math.log10(share))
    return f"{math.ceil(share / power) * power:.1g}"


class CertifiedModel(BaseEstimator):
    """Runs and certificates of an estimator.

    A subclass has the parameters `penalty`, `alpha`, `solver`, `gap`, `passes`, `seconds`,
    `random_state`, `n_jobs` and `verbose`, and perhaps `warm_start`.
    """

    _patience: ClassVar[int] = 1000  # passes, where the user sets no limit
    _easier: ClassVar[str] = "raise alpha"  # what makes a gap easier to certify
    _go_on: ClassVar[str] = "With warm_start=True another fit goes on from there"

    penalty: Any
    alpha: float | str
    solver: str | Solver
    gap: float
    passes: int | None
    seconds: float | None
    random_state: Any
    n_jobs: int | None
    warm_start: bool
    verbose: int
    coef_: NDArray
    classes_: NDArray

    # -- parameters ---------------------------------------------------------------------------

    def _named_solver(self) -> Solver:
        if not isinstance(self.solver, str):
            if isinstance(self.solver, type) or not hasattr(self.solver, "step"):
                raise TypeError(f"solver must be a name or a solver, not {shown(self.solver)}")
            return self.solver
        if self.solver not in SOLVERS:
            raise UnknownName("solver", self.solver, ["auto", *SOLVERS])
        return SOLVERS[self.solver]()

    def _fixed_penalty(self) -> Regularizer:
        """The penalty, of a strength that is a number: only sums over examples can choose one."""
        if isinstance(self.penalty, Regularizer):
            return self.penalty
        if self.alpha is None or isinstance(self.alpha, str):
            raise ValueError(
                f"alpha must be a number, not {self.alpha!r}: a {type(self).__name__} chooses none"
            )
        return penalty_of(self._named_penalty(), self.alpha)

    def _named_penalty(self) -> str:
        if not (self.penalty is None or isinstance(self.penalty, str)):
            raise TypeError(f"penalty must be a name or a Regularizer, not {shown(self.penalty)}")
        return "none" if self.penalty is None else self.penalty

    def _chosen_solver(self, risk: Risk) -> Solver | Turns:
        """The solver that is named, or the one that suits the risk best."""
        return choose(risk, self.gap) if self.solver == "auto" else self._named_solver()

    def _stopping(self, runs_left: int = 1, spent: float = 0.0) -> Stopping:
        """When a run ends; `seconds` is shared by the runs that are left (one a class)."""
        unlimited = math.inf if self.seconds is not None else self._patience
        limits = Stopping(
            gap=self.gap,
            passes=unlimited if self.passes is None else self.passes,
            seconds=math.inf if self.seconds is None else self.seconds,
        )
        return replace(limits, seconds=max(limits.seconds - spent, 0.0) / runs_left)

    def _threads(self) -> int | None:
        if self.n_jobs is None:
            return None
        if not isinstance(self.n_jobs, Integral) or (self.n_jobs < 1 and self.n_jobs != -1):
            raise ValueError(
                f"n_jobs must be positive, or -1 for all cores, not {shown(self.n_jobs)}"
            )
        return None if self.n_jobs == -1 else int(self.n_jobs)

    # -- data ---------------------------------------------------------------------------------

    def _examples(
        self, X: Any, y: Any, *, reset: bool, numeric: bool = False, **checks: Any
    ) -> tuple[Any, NDArray]:
        """Validate examples with targets, or with labels."""
        if y is not None:  # which is refused below
            y = numbers("y", y) if numeric else labels("y", y)
        return self._validated(X, y, reset=reset, **checks)

    def _validated(self, *data: Any, reset: bool, **checks: Any) -> Any:
        """Validate X, or X and y."""
        refuse_table(data[0])
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # in a sum of all entries
                found = validate_data(self, *data, reset=reset, **ACCEPTED | checks)
        except OverflowError as error:
            raise ValueError("X holds a number that is more than a double can hold") from error
        self._refuse_holes(found[0] if len(data) > 1 else found)
        return found

    def _refuse_holes(self, X: Any) -> None:
        """Name the first entry that is not a finite number of reasonable size."""
        hole = first_hole(X)
        if hole is None:
            return
        i, j, value = hole
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
        s = numbers("sample_weight", sample_weight)
        if s.ndim == 0:
            s = np.full(m, float(s))
        if s.shape != (m,):
            raise ValueError(
                f"sample_weight has shape {s.shape}, but there are {m} examples: "
                f"sample_weight.shape must be ({m},)"
            )
        if (s < 0).any():
            bad = int(np.flatnonzero(s < 0)[0])
            raise ValueError(
                f"sample_weight is negative ({s[bad]:g}) at example {bad}: weights must be ≥ 0"
            )
        if not s.any():
            raise ValueError("sample_weight is zero for every example: nothing is left to learn")
        top = float(s.max())  # only ratios count, and sums of the largest numbers overflow
        return s if 1e-100 < top < 1e100 else s / top

    def _weighted_classes(
        self, y: NDArray, sample_weight: Any = None, class_weight: Any = None
    ) -> tuple[NDArray, NDArray]:
        """The examples' weights, times their classes', and the classes that have any, in order."""
        refuse_no_classes(y)
        s = self._weights(sample_weight, len(y))
        if class_weight is not None:
            s = s * compute_sample_weight(sensible(class_weight), y)
        classes = np.unique(y[s > 0])
        if len(classes) < 2:
            weighted = "" if (s > 0).all() else "of any weight "
            raise ValueError(
                f"y holds one class only {weighted}({classes[0]}): "
                "a classifier needs two to tell apart"
            )
        return s, classes

    # -- a run --------------------------------------------------------------------------------

    def _minimize(
        self,
        risk: Any,
        solver: Solver | Turns,
        stopping: Stopping,
        start: tuple[NDArray, Any] | Result | None = None,
        watchers: Iterable[Watcher] = (),
        label: str = "",
    ) -> Result:
        """Minimise a risk, with what the estimator says of progress and chance."""
        progress = [Progress(label=label)] if self.verbose else []
        return minimize(
            risk,
            solver,
            stopping,
            start=start,
            watchers=[*progress, *watching(watchers)],
            rng=self._generator(),
        )

    def _goes_on(self, d: int, classes: NDArray | None = None) -> bool:
        """Whether a fit begins from the last one's weights; other sizes are refused."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return False
        same = classes is None or np.array_equal(self.classes_, classes)
        if not same or np.shape(self.coef_)[-1:] != (d,):
            what = "features" if classes is None else "classes and features"
            raise ValueError(
                f"warm_start=True needs the {what} of the last fit; use a new estimator for others"
            )
        return True

    def _generator(self) -> np.random.Generator:
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        seed = 0
        if self.random_state is not None and self.random_state != 0:
            seed = check_random_state(self.random_state).randint(2**31)
        return np.random.default_rng(seed)

    def _certify(
        self,
        results: list[Result],
        relative_to: float | None = None,
        *,
        told: bool = False,
    ) -> None:
        """Store what the runs proved; several runs (one a class) count as one: their sum.

        The relative gap is in units of the objective, unless told otherwise. What rounding hides is
        not said if the caller has told, or tells, what is known.
        """
        self.objective_ = float(sum(r.objective for r in results))
        self.lower_bound_ = float(sum(r.lower_bound for r in results))
        self.gap_ = self.objective_ - self.lower_bound_
        unit = self.objective_ if relative_to is None else relative_to
        self.rel_gap_ = relative(self.gap_, unit)
        self.trace_ = results[0].trace if len(results) == 1 else [r.trace for r in results]
        self.solver_ = ", ".join(dict.fromkeys(r.solver for r in results))
        self.n_passes_ = max(r.trace[-1].passes for r in results)
        reasons = [r.stopped_by for r in results]
        self.stopped_by_ = next((r for r in reasons if r != "gap"), "gap")
        if "interrupt" in reasons:
            self.stopped_by_ = "interrupt"
        self.n_iter_ = self.n_passes_
        remedy = None
        if self.stopped_by_ == "interrupt":
            remedy = self._go_on if self.rel_gap_ > self.gap else ""
        elif self._falls_short():
            remedy = f"Allow {self._more()}, {self._accept()}or {self._easier}"
        elif (
            self.stopped_by_ == "rounding"
            and not told
            and self.rel_gap_ > self.gap > 0.0
            and any(r.objective > _NOTHING for r in results)
        ):
            accept = self._accept()
            remedy = (
                f"Rounding hides the rest: {accept}{accept and 'or '}centre or rescale features"
            )
        if remedy is not None:
            ended = "interrupted" if self.stopped_by_ == "interrupt" else "stopped"
            missed = (
                f", not {self.gap:g}: the objective may lie that much above its optimum. {remedy}"
            )
            warn(
                f"{ended} after {self.n_passes_} passes with a relative gap of {self.rel_gap_:.2g}"
                f"{missed if remedy else ''}",
                ConvergenceWarning,
            )
        for remark in dict.fromkeys(r.remark for r in results if r.remark):
            warn(remark)

    def _certify_nothing(self) -> None:
        """After a stream: the objective of what is no longer at hand is not known."""
        self.objective_ = math.nan
        self.lower_bound_ = -math.inf
        self.gap_ = self.rel_gap_ = math.inf
        self.stopped_by_ = "stream"
        self.n_passes_ = self.n_iter_ = 1
        self.trace_ = Trace()

    def _store_strength(self, objective: Penalized) -> None:
        penalty = objective.regularizer
        none = 0.0 if isinstance(penalty, Zero) else math.nan  # one's own may have no alpha
        self.alpha_ = float(getattr(penalty, "alpha", none))

    def _accept(self) -> str:
        """The gap that is met, as a remedy; a sum over classes may round to 0."""
        met = 0.0 < self.rel_gap_ <= 0.5
        return f"accept gap={one_digit_up(self.rel_gap_)}, " if met else ""

    def _falls_short(self) -> bool:
        """Whether a limit that the user did not set ended the run before the gap was met."""
        return self.stopped_by_ == "passes" and self.passes is None

    def _more(self) -> str:
        """What to allow a run that fell short."""
        return "more passes="
