"""Proofs of certificates: witnesses, and digests of the problem that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stepless.arrays import AnyArray, Array, Matrix
from stepless.cross_validation import is_choice
from stepless.data import Source
from stepless.data.digest import digest, digest_arrays
from stepless.data.fingerprint import fingerprint
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.parameters import LinearParameters
from stepless.objective import Penalized, Regularizer
from stepless.proof.witness import Witness
from stepless.result import Result
from stepless.risks.risk import Risk
from stepless.term import Term

Data = dict[str, Any]  # arrays, matrices, sources or sequences, by name

_LEARNED = ("coef_", "intercept_", "offset_", "support_", "dual_coef_")


@dataclass(frozen=True)
class Proof:
    """Witnesses of the runs of a fit, one per class, and digests of what they belong to.

    Attributes
    ----------
    kind, problem
        The estimator's class; a description of its loss, penalty, domain and intercept.
    data
        Sizes and digests of the examples, their targets and their weights.
    model
        Digest of the weights.
    objective, lower_bound
        The certificate to be proved.
    witnesses
        Slopes of the loss, or points of an oracle; None where a run proved nothing.
    name
        Its name in messages: the file that it was read from.
    """

    kind: str
    problem: dict[str, str]
    data: dict[str, str]
    model: str
    objective: float
    lower_bound: float
    witnesses: tuple[Witness | None, ...] = field(repr=False)
    name: str = "the proof"


@dataclass(frozen=True)
class Obligation:
    """A problem on some examples and its solution by a fitted model, to be proved.

    `runs` has the risk, the weights and the intercept of each run; `unit` returns the unit of the
    relative gap, given the objective and the gap.
    """

    problem: dict[str, str]
    data: Data | None  # None where they are not in one place
    runs: Iterable[tuple[Risk, Array, float | Array]]
    unit: Callable[[float, float], float] = lambda objective, gap: objective


def store_proof(
    estimator: CertifiedEstimator, results: list[Result], problem: dict[str, str], data: Data | None
) -> None:
    """Store the witnesses of a fit's runs, and none where the data are not at hand.

    Call this last, for it digests what was learned.
    """
    estimator.__dict__.pop("proof_", None)
    if data is None:
        return
    kind, witnesses = type(estimator).__name__, tuple(r.witness for r in results)
    digests, bounds = data_digests(data), (estimator.objective_, estimator.lower_bound_)
    estimator.proof_ = Proof(kind, problem, digests, model_digest(estimator), *bounds, witnesses)


def data_digests(data: Data) -> dict[str, str]:
    """Return the size and the digest of each part of the data."""
    return {name: f"{_size(part)} #{digest(part)}" for name, part in data.items()}


def _size(part: Any) -> str:
    shape = part.shape if hasattr(part, "shape") else (len(part),)
    return " × ".join(map(str, shape))


def describe_problem(objective: Penalized, loss: object, **more: object) -> dict[str, str]:
    """Describe a problem, so that two of them can be compared."""
    parts: dict[str, object] = {"loss": loss, "penalty": objective.regularizer}
    parts |= {"domain": objective.domain, **more}
    intercept = "free" if objective.intercept else "none"
    return {name: spelled(part) for name, part in parts.items()} | {"intercept": intercept}


def spelled(part: object) -> str:
    """Return a term with all of its digits, arrays by their digests.

    Examples
    --------
    >>> from stepless.objective import SquaredL2
    >>> spelled(SquaredL2(0.1)), spelled("crf"), spelled(np.zeros(1))
    ('SquaredL2(alpha=0.1)', 'crf', '#80198df6369425b7')
    """
    if isinstance(part, Term):
        fields = zip(part._fields, part, strict=True)
        return f"{type(part).__name__}({', '.join(f'{k}={spelled(v)}' for k, v in fields)})"
    if isinstance(part, str | int | float | None):
        return str(part)
    if isinstance(part, np.ndarray):
        return f"#{digest(part)}"
    return f"{type(part).__name__} #{fingerprint(part).hex()[:16]}"


def model_digest(estimator: CertifiedEstimator) -> str:
    """Return the digest of all that was learned."""
    known = vars(estimator)
    arrays = [np.asarray(known[name]) for name in _LEARNED if name in known]
    return digest_arrays([*arrays, *([known["weights_"].w] if "weights_" in known else [])])


def chosen_strength(estimator: LinearParameters) -> dict[str, Any]:
    """Return the strength that a fit found, and a penalty that is no name with it, as keywords."""
    if not is_choice(estimator.alpha):
        return {}
    alpha, penalty = vars(estimator)["alpha_"], estimator.penalty
    if not isinstance(penalty, Regularizer):
        return {"alpha": alpha}
    if estimator.alpha == "scaled":  # which leaves a penalty its own strength
        return {}
    return {"alpha": alpha, "penalty": penalty.with_strength(alpha)}


def class_data(examples: Source | Matrix, y: AnyArray, classes: AnyArray, s: Array) -> Data:
    """Return the data of a classifier; labels that are no numbers by their places in `classes`."""
    labels = y.astype(np.float64) if y.dtype.kind in "biuf" else np.searchsorted(classes, y)
    return {"examples": examples, "labels": labels, "weights": s}


def labelled_data(source: Source) -> Data:
    """Return the data of a problem whose targets are signs."""
    return {"examples": source, "labels": source.y, "weights": source.s}


def refuse_other_labels(known: AnyArray, classes: AnyArray) -> None:
    """Refuse examples whose classes are not those of the model."""
    if not np.array_equal(known, classes):
        strange = [label for label in classes.tolist() if label not in known.tolist()]
        if strange:
            raise ValueError(f"label {strange[0]} is none of the model's classes")
        lacking = next(label for label in known.tolist() if label not in classes.tolist())
        raise ValueError(f"no example has label {lacking}, which is one of the model's classes")
