"""What a fit keeps for those who doubt it: witnesses, and digests of what they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from stepless.arrays import AnyArray, Array
from stepless.data import Source
from stepless.data.digest import digest, digest_arrays
from stepless.data.fingerprint import fingerprint
from stepless.minimize import Result
from stepless.objective import Penalized
from stepless.proof.witness import Witness
from stepless.risks.risk import Risk
from stepless.term import Term

_LEARNED = ("coef_", "intercept_", "offset_", "support_", "dual_coef_")


@dataclass(frozen=True)
class Proof:
    """Witnesses of the runs of a fit, one a class, and digests of what they prove something of.

    Attributes
    ----------
    kind, problem
        The estimator's class; its loss, penalty, domain and intercept, in words.
    data
        Sizes and digests of the examples, of their targets and of their weights.
    model
        Digest of the weights.
    objective, lower_bound
        What is claimed of them.
    witnesses
        Slopes of the loss, or points of an oracle; None where a run proved nothing.
    name
        What messages call it: its file, if it is read from one.
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
class Posed:
    """The problem of a fitted model on some examples, and its answer: what there is to prove.

    `runs` has the risk, the weights and the intercept of each run; `unit` is what a gap is relative
    to, given the objective and the gap.
    """

    problem: dict[str, str]
    data: dict[str, Any]
    runs: Iterable[tuple[Risk, Array, Any]]
    unit: Callable[[float, float], float] = lambda objective, gap: objective


class ProvenEstimator(BaseEstimator):
    """An estimator that keeps the proof of its fit, but not in pickled copies: it is large."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "proof_"}


def keep_proof(
    estimator: Any, results: list[Result], problem: dict[str, str], data: dict[str, Any]
) -> None:
    """Store the witnesses of a fit's runs, when all else is stored."""
    estimator.__dict__.pop("proof_", None)
    estimator.proof_ = Proof(
        type(estimator).__name__,
        problem,
        sized(data),
        model_digest(estimator),
        estimator.objective_,
        estimator.lower_bound_,
        tuple(r.witness for r in results),
    )


def sized(data: dict[str, Any]) -> dict[str, str]:
    """Return the size and the digest of each part of the data."""
    return {name: f"{_size(part)} #{digest(part)}" for name, part in data.items()}


def _size(part: Any) -> str:
    shape = part.shape if hasattr(part, "shape") else (len(part),)
    return " × ".join(map(str, shape))


def in_words(objective: Penalized, loss: Any, **more: Any) -> dict[str, str]:
    """Spell a problem, so that two of them can be told apart by name."""
    parts = {"loss": loss, "penalty": objective.regularizer, "domain": objective.domain}
    intercept = "free" if objective.intercept else "none"
    return {name: spelled(part) for name, part in (parts | more).items()} | {"intercept": intercept}


def spelled(part: Any) -> str:
    """Spell a term with all of its digits, arrays by their digests.

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


def model_digest(estimator: Any) -> str:
    """Return the digest of all that was learned."""
    known = vars(estimator)
    arrays = [np.asarray(known[name]) for name in _LEARNED if name in known]
    return digest_arrays([*arrays, *([known["weights_"].w] if "weights_" in known else [])])


def strength_of(estimator: Any) -> dict[str, Any]:
    """The strength that a fit has chosen, if it has: as an argument in place of ``"auto"``."""
    alpha = estimator.alpha
    return {"alpha": estimator.alpha_} if isinstance(alpha, str) and alpha == "auto" else {}


def numbered(y: AnyArray, classes: AnyArray) -> AnyArray:
    """Labels as numbers, which a digest is of: of strings, their places among the classes."""
    return y.astype(np.float64) if y.dtype.kind in "biuf" else np.searchsorted(classes, y)


def rows_of(source: Source) -> dict[str, Any]:
    """What a problem of signs is about."""
    return {"examples": source, "labels": source.y, "weights": source.s}


def refuse_other_labels(known: AnyArray, classes: AnyArray) -> None:
    """Refuse examples of other classes than a model tells apart."""
    if not np.array_equal(known, classes):
        strange = [label for label in classes.tolist() if label not in known.tolist()]
        if strange:
            raise ValueError(f"label {strange[0]} is none of the model's classes")
        lacking = next(label for label in known.tolist() if label not in classes.tolist())
        raise ValueError(f"no example has label {lacking}, which is one of the model's classes")
