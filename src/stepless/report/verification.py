"""Verification of what a model claims of its data."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import AnyArray, Array
from stepless.data import Column, DataError
from stepless.estimators.proof import Obligation, Proof, data_digests, model_digest
from stepless.proof import total_interval
from stepless.proof.witness import Slopes, Witness
from stepless.report.atomic import Path
from stepless.report.kinds import KINDS, kind_of
from stepless.report.proof_file import read_proof
from stepless.report.text import NO_BOUND, at_least, at_most, percent_up
from stepless.risks.risk import Risk
from stepless.trace import relative

SLACK = 1e-12  # of the objective: the most that another machine's exponentials change it


@dataclass(frozen=True)
class Verification:
    """The result of `verify`.

    Attributes
    ----------
    objective, lower_bound
        Both computed again from the data: the objective of the model's weights is at most
        `objective`, and no weights have one below `lower_bound`, which is −∞ without a proof.
    gap, rel_gap
        Their difference, and that in the model's units.
    holds
        True if these are as good as what the model claims, up to 1e-12 of the objective and the
        rounding errors of an oracle. Nothing else that the model says is checked.
    sentence
        The same in words.
    """

    objective: float
    lower_bound: float
    gap: float
    rel_gap: float
    holds: bool
    sentence: str


def verify(
    model: BaseEstimator,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    proof: Path | Proof | None = None,
    **queries: Any,
) -> Verification:
    """Compute objective and lower bound of a model again, and compare them with its claims.

    Nothing that a solver reported is trusted: see `stepless.proof`.

    Parameters
    ----------
    model
        A fitted estimator that a model file can hold.
    X, y, sample_weight
        The data that it was fitted to.
    proof
        The file that `save_model` wrote beside the model's. By default the proof that the model
        keeps after a fit, `proof_`; if there is none, as in a model that was loaded, only the
        objective is verified, and `sentence` says so.
    queries
        For a ranker: `group` or `qid`.

    Raises
    ------
    ValueError
        If the proof is of other data, of another problem, or of another model; the message says
        which.
    DataError
        If the file cannot be read, is damaged, or is not a proof.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> X, y = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    >>> clf = LinearClassifier(alpha=0.1, solver="bundle").fit(X, y)
    >>> found = verify(clf, X, y)
    >>> found.holds, found.objective == clf.objective_, found.lower_bound == clf.lower_bound_
    (True, True, True)
    """
    _refuse_model(model, queries)
    known = getattr(model, "proof_", None) if proof is None else proof
    if not isinstance(known, Proof | None):
        known = read_proof(known)
    return _verified(model, model._proof_obligation(X, y, sample_weight, **queries), known)


def _refuse_model(model: BaseEstimator, queries: Collection[str]) -> None:
    kind = type(model).__name__
    if kind_of(model) is None:
        raise TypeError(
            f"verify takes one of {', '.join(KINDS)}, not a {kind}: read a file with load_model, "
            "take the last step of a pipeline and the data that it was given"
        )
    if queries and kind != "LinearRanker":
        raise TypeError(f"{', '.join(queries)}: queries are a LinearRanker's, not a {kind}'s")
    check_is_fitted(model)
    refuse_stream(model)


def refuse_stream(model: BaseEstimator) -> None:
    """Refuse a model that learned from a stream, and claims nothing."""
    if model.stopped_by_ == "stream":
        raise ValueError(
            "a model that learned from a stream claims no objective: there is nothing to verify"
        )


def _verified(model: BaseEstimator, posed: Obligation, known: Proof | None) -> Verification:
    """Compute both numbers from the runs as they were posed, and the proof if there is one."""
    if known is not None:
        _refuse_other(known, model, posed)
    runs = _with_witnesses(posed, known)
    intervals = [risk.verify(w, b, witness, model.gap) for risk, w, b, witness in runs]
    objective, bound = total_interval(intervals)
    if known is None:
        bound = -math.inf
    gap = objective - bound
    rel_gap = relative(gap, posed.unit(objective, gap)) if math.isfinite(gap) else math.inf
    # an oracle's rounding errors count twice: they depend on how data lie in memory
    slack = SLACK * abs(model.objective_) + 2.0 * sum(found.rounding for found in intervals)
    holds, sentence = _compared(model, objective, bound, slack, known is not None)
    return Verification(objective, bound, gap, rel_gap, holds, sentence)


def _refuse_other(known: Proof, model: BaseEstimator, posed: Obligation) -> None:
    """Raise DataError, saying why, if a proof is not of this model and data."""
    kind = type(model).__name__
    if posed.data is None:
        raise ValueError("a proof is checked against arrays or a store, not collections of Dask")
    if known.kind != kind:
        raise DataError(f"{known.name}: is a proof of a {known.kind}, but the model is a {kind}")
    for part in sorted(posed.problem.keys() | known.problem.keys()):
        other, own = known.problem.get(part, "none"), posed.problem.get(part, "none")
        if other != own:
            raise DataError(
                f"{known.name}: is a proof for the {part} {other}, but the model's is {own}"
            )
    here = data_digests(posed.data)
    for part in here:
        other = known.data.get(part, "none")
        if other != here[part]:
            what = "weights of examples" if part == "weights" else part
            raise DataError(f"{known.name}: is a proof of other {what} ({other}, not {here[part]})")
    if known.model != model_digest(model):
        raise DataError(f"{known.name}: is a proof of another model, with other weights")
    if (known.objective, known.lower_bound) != (model.objective_, model.lower_bound_):
        raise DataError(f"{known.name}: is a proof of another claim about these weights")


def _with_witnesses(
    posed: Obligation, known: Proof | None
) -> Iterator[tuple[Risk, Array, Any, Witness | None]]:
    """Yield each run, with its witness in the blocks of the risk."""
    if known is None:
        yield from ((*run, None) for run in posed.runs)
        return
    left = list(known.witnesses)
    for risk, w, b in posed.runs:
        if not left:
            raise DataError(f"{known.name}: is a proof of fewer runs than the model has")
        yield risk, w, b, _fitting(known.name, risk, left.pop(0))
    if left:
        raise DataError(f"{known.name}: is a proof of more runs than the model has")


def _fitting(name: str, risk: Risk, witness: Witness | None) -> Witness | None:
    """Return a witness in the blocks of the risk; compiled loops do not check its size."""
    if witness is None:
        return None
    if (points := witness.points) is not None:
        _refuse_shape(name, "points", points.w, (len(points.w), risk.d))
    if (column := witness.slopes) is None:
        return witness
    slopes, K = np.ascontiguousarray(column.whole), risk.objective.outputs
    _refuse_shape(name, "slopes", slopes, (risk.m,) if K == 1 else (risk.m, K))
    source = getattr(risk, "source", None)
    return Slopes(Column([slopes]) if source is None else source.split(slopes))


def _refuse_shape(name: str, what: str, array: AnyArray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise DataError(f"{name}: has {what} of shape {array.shape}, but {shape} are needed")


def _compared(
    model: BaseEstimator, objective: float, bound: float, slack: float, proved: bool
) -> tuple[bool, str]:
    """Return whether the numbers are as good as those claimed, and a sentence about it."""
    claimed, least = model.objective_, model.lower_bound_
    high, low = at_most(objective, 9), at_least(bound, 9)
    if not objective <= claimed + slack:
        return False, (
            f"what the model claims does not hold: its objective on these data is {high}, "
            f"which is {objective - claimed:.2g} above the {claimed:.9g} that it claims"
        )
    if objective < least - slack:
        return False, (
            f"what the model claims does not hold: its objective on these data is {high}, "
            f"which is {least - objective:.2g} below the lower bound that it claims, {least:.9g}"
        )
    if not proved:
        return True, (
            f"the objective holds: on these data it is {high}; without a proof the lower "
            f"bound, {least:.9g}, is not verified"
        )
    if not bound >= least - slack:
        return False, (
            f"what the model claims does not hold: its proof shows a lower bound of {low}, "
            f"which is {least - bound:.2g} below the {least:.9g} that it claims"
        )
    best = NO_BOUND
    if bound > 0.0:
        best = f"it is at most {percent_up((objective - bound) / bound)} above the best possible"
    return True, (
        f"what the model claims holds: on these data its objective is {high}, and no "
        f"weights have one below {low}: {best}"
    )
