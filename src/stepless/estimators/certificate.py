"""Store on an estimator what its fit proved, and warn of what it did not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sklearn.exceptions import ConvergenceWarning

from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.objective import Zero
from stepless.proof import total_interval
from stepless.proof.shortfall import REMEDY
from stepless.result import Result
from stepless.run import Run
from stepless.trace import Trace, relative
from stepless.warning import NothingLearned, warn

_NAMED = 5  # classes at most, in a warning
_NOTHING = 1e-9  # an objective that only rounding may keep from 0


@dataclass(frozen=True)
class Remedy:
    """Advice that a warning gives."""

    more: str = "more passes="  # to allow a run that fell short; empty: it was meant to
    easier: str = "raise alpha"  # makes a gap easier to certify
    go_on: str = "With warm_start=True another fit goes on from there"  # after an interrupt
    learn: str = "Lower alpha, look at the scale of the features, or ask for a smaller gap="


_USUAL = Remedy()


def store_certificate(
    estimator: CertifiedEstimator,
    run: Run,
    results: list[Result],
    remedy: Remedy = _USUAL,
    *,
    constants: Sequence[Callable[[], float]] = (),
    labels: Sequence[str] = (),
) -> None:
    """Store what the runs proved; warn of a missed gap, and of runs that learned nothing.

    `constants` compute the objective of each run's constant model: if that is as good as any within
    the gap, a warning says so and names the runs by their `labels`.
    """
    penalty = getattr(estimator, "penalty", "l2")
    if remedy.easier == Remedy.easier and (penalty in ("none", None) or isinstance(penalty, Zero)):
        learn = "Look at the scale of the features, or ask for a smaller gap="
        remedy = replace(remedy, easier=f"use {REMEDY}", learn=learn)
    store_results(estimator, results)
    warn_of_missed_gap(estimator, run, results, remedy)
    idle = [k for k, at in enumerate(constants) if _is_constant(run.gap, results[k], at)]
    if idle:
        found, of = results[idle[0]], ""
        if len(results) > 1:
            more = f" and {len(idle) - _NAMED} more" if idle[_NAMED:] else ""
            of = f" of {', '.join(labels[k] for k in idle[:_NAMED])}{more}"
        warn(
            f"nothing was learned{of}: within gap={run.gap:g} the constant model is as good as any."
            f" Its objective is {constants[idle[0]]():.6g}, this one's is {found.objective:.6g}, "
            f"and none is below {found.lower_bound:.6g}. {remedy.learn}",
            NothingLearned,
        )


def store_results(
    estimator: CertifiedEstimator, results: list[Result], unit: float | None = None
) -> None:
    """Store the results of a fit; several runs (one per class) count as one: their sum.

    The relative gap is in units of the objective, unless another unit is given.
    """
    reasons = [r.stopped_by for r in results]
    estimator.objective_, estimator.lower_bound_ = total_interval(results)
    estimator.gap_ = estimator.objective_ - estimator.lower_bound_
    estimator.rel_gap_ = relative(estimator.gap_, estimator.objective_ if unit is None else unit)
    estimator.trace_ = results[0].trace if len(results) == 1 else [r.trace for r in results]
    estimator.solver_ = ", ".join(dict.fromkeys(r.solver for r in results))
    estimator.n_passes_ = estimator.n_iter_ = max(r.trace[-1].passes for r in results)
    estimator.stopped_by_ = next((r for r in reasons if r != "gap"), "gap")
    if "interrupt" in reasons:
        estimator.stopped_by_ = "interrupt"


def warn_of_missed_gap(
    estimator: CertifiedEstimator,
    run: Run,
    results: list[Result],
    remedy: Remedy,
    rounding: bool = True,
) -> None:
    """Warn of a gap that was missed, and pass on what solvers remark.

    Unless `rounding`, a gap that rounding keeps open is left to another warning.
    """
    hidden = rounding and any(r.objective > _NOTHING and r.remark is None for r in results)
    advice = _advice(estimator.stopped_by_, estimator.rel_gap_, run, remedy, hidden)
    if advice is not None:
        ended = "interrupted" if estimator.stopped_by_ == "interrupt" else "stopped"
        missed = f", not {run.gap:g}: the objective may lie that much above its optimum. {advice}"
        warn(
            f"{ended} after {estimator.n_passes_} passes with a relative gap of "
            f"{estimator.rel_gap_:.2g}{missed if advice else ''}",
            ConvergenceWarning,
        )
    for remark in dict.fromkeys(r.remark for r in results if r.remark):
        warn(remark)


def rounds_to_nothing(result: Result) -> bool:
    """Return whether only rounding keeps the objective from 0, so that no gap says anything."""
    return result.stopped_by == "rounding" and result.objective <= _NOTHING


def _is_constant(gap: float, result: Result, constant: Callable[[], float]) -> bool:
    """Return whether the constant model's J > 0 is proved to be within `gap` of the best."""
    bound = result.lower_bound
    # Most often the proof shows that the constant model is worse, and its objective is not needed.
    worse = (1.0 - gap) * result.at_zero > bound
    return bound > 0.0 and not worse and (1.0 - gap) * constant() <= bound


def store_no_certificate(estimator: CertifiedEstimator) -> None:
    """Store that nothing is proved of a stream, whose examples are gone."""
    estimator.objective_, estimator.lower_bound_ = math.nan, -math.inf
    estimator.gap_ = estimator.rel_gap_ = math.inf
    estimator.n_passes_ = estimator.n_iter_ = 1
    estimator.trace_, estimator.stopped_by_ = Trace(), "stream"
    for name in ("coef_error_", "intercept_range_", "certain_zeros_", "proof_"):
        estimator.__dict__.pop(name, None)


def _advice(stopped_by: str, rel_gap: float, run: Run, remedy: Remedy, hidden: bool) -> str | None:
    """Return what to do about a gap that was missed; None if there is nothing to say."""
    # a sum over classes may round to 0
    accept = f"accept gap={one_digit_up(rel_gap)}, " if 0.0 < rel_gap <= 0.5 else ""
    if stopped_by == "interrupt":
        return remedy.go_on if rel_gap > run.gap else ""
    if stopped_by == "passes" and run.passes is None and remedy.more:
        return f"Allow {remedy.more}, {accept}or {remedy.easier}"
    if stopped_by == "rounding" and hidden and rel_gap > run.gap > 0.0:
        return f"Rounding hides the rest: {accept}{accept and 'or '}centre or rescale features"
    return None


def one_digit_up(share: float) -> str:
    """Spell a positive number with one digit, no smaller than it is.

    Examples
    --------
    >>> one_digit_up(0.14), one_digit_up(2e-5)
    ('0.2', '2e-05')
    """
    power = 10.0 ** math.floor(math.log10(share))
    return f"{math.ceil(share / power) * power:.1g}"
