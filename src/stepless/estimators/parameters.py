"""Parameters that estimators share, each written once."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, TypeVar

from stepless.cross_validation import CrossValidation
from stepless.objective import Domain, Regularizer
from stepless.run import RandomState
from stepless.solvers import Solver

E = TypeVar("E")

# The order in which `help` lists keyword parameters: the problem, the solver, the run.
_ORDER = (
    *("k", "pos_label", "cost", "penalty", "alpha", "domain", "multi_class", "pairs", "solver"),
    *("gap", "passes", "seconds", "fit_intercept", "class_weight"),
    *("random_state", "n_jobs", "warm_start", "shuffle", "verbose"),
)


def ordered_signature(estimator: type[E]) -> type[E]:
    """List the keyword parameters of an estimator in one order, inherited or not."""
    init: Any = vars(estimator)["__init__"]  # made by dataclass, inherited parameters first
    signature = inspect.signature(init)

    def place(parameter: inspect.Parameter) -> int:
        return _ORDER.index(parameter.name) if parameter.kind is parameter.KEYWORD_ONLY else -1

    ordered = sorted(signature.parameters.values(), key=place)
    init.__signature__ = signature.replace(parameters=ordered)
    return estimator


@dataclass(eq=False, repr=False, kw_only=True)
class RunParameters:
    """The solver, its limits, seed, threads and start."""

    solver: str | Solver = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    random_state: RandomState = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class PenaltyParameters:
    """A penalty and its strength, a number: such risks tell no slopes of single examples."""

    penalty: str | Regularizer | None = "l2"
    alpha: float = 1e-4


@dataclass(eq=False, repr=False, kw_only=True)
class LinearParameters:
    """The problem of a linear model, all but its loss, and the order of its examples."""

    penalty: str | Regularizer | None = "l2"
    alpha: float | str | CrossValidation = "scaled"
    domain: str | Domain = "free"
    fit_intercept: bool = True
    shuffle: bool = True
