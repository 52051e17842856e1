"""Whether what a model claims is true of its data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import AnyArray, Array
from stepless.data import Column, DataError
from stepless.estimators.proof import Obligation, Proof, data_digests, model_digest
from stepless.proof import added
from stepless.proof.witness import Points, Slopes, Witness
from stepless.report.atomic import Path
from stepless.report.kinds import KINDS
from stepless.report.proof_file import read_proof
from stepless.report.text import at_least, at_most, percent_up
from stepless.risks.risk import Risk
from stepless.trace import relative

SLACK = 1e-12  # of the objective: by so much may another machine's exponentials change it


@dataclass(frozen=True)
class Verification:
    """What `verify` found.

    Attributes
    ----------
    objective, lower_bound
        Both computed anew from the data: the objective of the model's weights is at most
        `objective`, and no weights have one below `lower_bound`, which is −∞ without a proof.
    gap, rel_gap
        Their difference, and that in the model's units.
    holds
        Whether these are as good as what the model claims, up to 1e-12 of the objective and what an
        oracle's arithmetic may round. Nothing else that the model says is looked at.
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
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    proof: Path | Proof | None = None,
    **queries: Any,
) -> Verification:
    """Compute objective and lower bound of a model anew, and compare them with its claims.

    Nothing that a solver has said is believed: see `stepless.proof`.

    Parameters
    ----------
    model
        A fitted estimator that a model file can hold.
    X, y, sample_weight
        The data that it was fitted to.
    proof
        The file that `save_model` wrote beside the model's. Without, the proof that the model
        itself keeps after a fit, `proof_`; if there is none, as in a model that was loaded, the
        objective alone is verified, and `sentence` says so.
    queries
        Of a ranker: `group` or `qid`.

    Raises
    ------
    ValueError
        If the proof is of other data, of another problem, or of another model: it says which.
    DataError
        If the file cannot be read, is damaged, or is no proof.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> X, y = [[0.0], [1.0], [2.0]], ["a", "a", "b"]
    >>> clf = LinearClassifier(alpha=0.1, solver="bundle").fit(X, y)
    >>> found = verify(clf, X, y)
    >>> found.holds, found.objective == clf.objective_, found.lower_bound == clf.lower_bound_
    (True, True, True)
    """
    kind = type(model).__name__
    if type(model) not in [known.make for known in KINDS.values()]:
        raise TypeError(
            f"what is verified is one of {', '.join(KINDS)}, not a {kind}: read a file with "
            "load_model, take the last step of a pipeline and the data that it was given"
        )
    if queries and kind != "LinearRanker":
        raise TypeError(f"{', '.join(queries)}: queries are a LinearRanker's, not a {kind}'s")
    check_is_fitted(model)
    refuse_stream(model)
    known = getattr(model, "proof_", None) if proof is None else proof
    if not isinstance(known, Proof | None):
        known = read_proof(known)
    posed: Obligation = model._proof_obligation(X, y, sample_weight, **queries)
    if known is not None:
        _refuse_other(known, model, posed)
    runs = _with_witnesses(posed, known)
    intervals = [risk.verify(w, b, witness, model.gap) for risk, w, b, witness in runs]
    objective, bound = added(intervals)
    if known is None:
        bound = -math.inf
    gap = objective - bound
    rel_gap = relative(gap, posed.unit(objective, gap)) if math.isfinite(gap) else math.inf
    # of an oracle, twice: data that lie otherwise in memory are rounded otherwise
    slack = SLACK * abs(model.objective_) + 2.0 * sum(found.rounding for found in intervals)
    holds, sentence = _compared(model, objective, bound, slack, known is not None)
    return Verification(objective, bound, gap, rel_gap, holds, sentence)


def refuse_stream(model: Any) -> None:
    """Refuse a model that claims nothing."""
    if model.stopped_by_ == "stream":
        raise ValueError(
            "a model that learned from a stream claims no objective: there is nothing to verify"
        )


def _refuse_other(known: Proof, model: Any, posed: Obligation) -> None:
    """Say what a proof is of, if it is not of this."""
    kind = type(model).__name__
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
        raise DataError(f"{known.name}: is a proof of another model, whose weights are others")
    if (known.objective, known.lower_bound) != (model.objective_, model.lower_bound_):
        raise DataError(f"{known.name}: is a proof of another claim of these weights")


def _with_witnesses(
    posed: Obligation, known: Proof | None
) -> Iterator[tuple[Risk, Array, Any, Witness | None]]:
    """Each run, and its witness in blocks of the risk's own."""
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
    """A witness cut as the risk's rows are; its size is looked at here, for kernels do not."""
    if witness is None:
        return None
    if isinstance(witness, Points):
        _refuse_shape(name, "points", witness.w, (len(witness.w), risk.d))
        return witness
    slopes, K = np.ascontiguousarray(witness.column.whole), risk.objective.outputs
    _refuse_shape(name, "slopes", slopes, (risk.m,) if K == 1 else (risk.m, K))
    source = getattr(risk, "source", None)
    return Slopes(Column([slopes]) if source is None else source.split(slopes))


def _refuse_shape(name: str, what: str, array: AnyArray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise DataError(f"{name}: has {what} of shape {array.shape}, but {shape} are needed")


def _compared(
    model: Any, objective: float, bound: float, slack: float, proved: bool
) -> tuple[bool, str]:
    """Whether the numbers are as good as those claimed, and a sentence about it."""
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
    best = "nothing is known of the best possible but that it is not below 0"
    if bound > 0.0:
        best = f"it is at most {percent_up((objective - bound) / bound)} above the best possible"
    return True, (
        f"what the model claims holds: on these data its objective is {high}, and no "
        f"weights have one below {low}: {best}"
    )
