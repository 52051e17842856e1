"""The problem to be solved, without its data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self, TypeAlias

from stepless.arguments import as_float, brief
from stepless.cross_validation import CrossValidation, is_choice
from stepless.objective import (
    DOMAINS,
    JOINT,
    LOSSES,
    Domain,
    Loss,
    Objective,
    Regularizer,
    SumOverOutputs,
    Zero,
    penalty_of,
)
from stepless.registry import named
from stepless.settings import refuse_settings

ClassWeight: TypeAlias = "dict[Any, float] | str | None"


@dataclass(frozen=True)
class Problem:
    """Ω(w) + the weighted mean loss, over w in a domain, with or without an intercept.

    It holds no data. Estimators, paths, the regret ledger, the choice of a strength and the shell
    build this value once and pass it on.

    Parameters
    ----------
    loss
        A name or a `Loss`; for a risk that is no sum over examples, what defines it instead
        (a metric, a loss of queries, a structured model).
    penalty, alpha, domain, fit_intercept, class_weight
        As in `LinearClassifier`.

    Examples
    --------
    >>> problem = Problem("hinge", penalty="l1", alpha=0.1)
    >>> problem.loss, problem.regularizer, problem.strength
    (Hinge(), L1(alpha=0.1), 0.1)
    >>> replace(problem, alpha=0.2).objective.regularizer
    L1(alpha=0.2)
    >>> Problem("hinge", alpha="large")
    Traceback (most recent call last):
    ValueError: alpha must be a number, 'scaled', 'auto' or 'cv', not 'large'
    """

    loss: Any
    penalty: str | Regularizer | None = "l2"
    alpha: float | str | CrossValidation | None = 1e-4
    domain: str | Domain = "free"
    fit_intercept: bool = True
    class_weight: ClassWeight = None

    def __post_init__(self) -> None:
        refuse_settings(self)
        if isinstance(self.loss, str):
            object.__setattr__(self, "loss", _named("loss", self.loss))
        object.__setattr__(self, "domain", _domain_of(self.domain))
        validate_class_weight(self.class_weight)
        summed = isinstance(self.loss, Loss)
        if self.cross_validation is not None:
            self.regularizer.with_strength(1.0)  # refuse a penalty without one
        getattr(self, "objective" if summed else "regularizer")  # refuse parameters now, not later

    @classmethod
    def of(cls, estimator: object, targets: tuple[str, ...] = (), **given: Any) -> Self:
        """Build the problem of an estimator, from its parameters and those given.

        Its loss must be for one of these kinds of targets; without any, the risk is no sum.
        """
        known = vars(estimator)
        found = {name: known[name] for name in cls.__dataclass_fields__ if name in known} | given
        alpha, named_ = found["alpha"], not isinstance(found["penalty"], Regularizer)
        chosen = isinstance(alpha, str | CrossValidation)
        if not targets and (chosen or (named_ and alpha is None)):
            raise ValueError(
                f"alpha must be a number, not {alpha!r}: a {type(estimator).__name__} chooses none"
            )
        problem = cls(**found)
        if targets and not isinstance(problem.loss, Loss):
            raise TypeError(f"loss must be a name or a Loss, not {brief(problem.loss)}")
        if targets and problem.loss.targets not in targets:
            fitting = [name for name, kind in LOSSES.items() if kind.targets in targets]
            raise ValueError(
                f"{type(problem.loss).__name__} is no loss for a {type(estimator).__name__}: "
                f"choose one of {', '.join(fitting)}"
            )
        return problem

    @property
    def chooses(self) -> bool:
        """True if the strength is to be found from the examples."""
        return self.scaled or (is_choice(self.alpha) and self.alpha != "scaled")

    @cached_property
    def scaled(self) -> bool:
        """True if the strength is to be the default one, of a penalty that has not its own."""
        scaled = isinstance(self.alpha, str) and self.alpha == "scaled"
        return scaled and not (isinstance(self.penalty, Regularizer) or self.regularizer.zero)

    @property
    def cross_validation(self) -> CrossValidation | None:
        """How the strength is to be chosen by cross-validation, if it is."""
        if isinstance(self.alpha, CrossValidation):
            return self.alpha
        return CrossValidation() if is_choice(self.alpha) and self.alpha == "cv" else None

    def at_strength(self, alpha: float) -> Self:
        """Return the problem with a number as its strength, also of a penalty with its own."""
        own = isinstance(self.penalty, Regularizer)
        penalty = self.regularizer.with_strength(alpha) if own else self.penalty
        return replace(self, alpha=alpha, penalty=penalty)

    @cached_property
    def regularizer(self) -> Regularizer:
        """Ω, of strength 1 until one is chosen."""
        if isinstance(self.penalty, Regularizer):
            self._refuse_other_strength(self.penalty)
            return self.penalty
        if not (self.penalty is None or isinstance(self.penalty, str)):
            raise TypeError(f"penalty must be a name or a Regularizer, not {brief(self.penalty)}")
        name = "none" if self.penalty is None else self.penalty
        if is_choice(self.alpha):
            return penalty_of(name, 1.0)
        if name == "none" and self.alpha is None:
            return Zero()
        if self.alpha is None or isinstance(self.alpha, str | CrossValidation):
            raise ValueError(
                f"alpha must be a number, 'scaled', 'auto' or 'cv', not {self.alpha!r}"
            )
        return penalty_of(name, self.alpha)

    def _refuse_other_strength(self, penalty: Regularizer) -> None:
        """Refuse a strength that is neither the penalty's own, nor the default, nor a choice."""
        own = getattr(penalty, "alpha", None)
        if own is None or self.alpha is None or is_choice(self.alpha):
            return
        if as_float("alpha", self.alpha) not in (own, type(self).alpha):
            raise ValueError(
                f"alpha={self.alpha!r} is not the strength of penalty={brief(penalty)}: leave "
                "alpha out, or give both the same"
            )

    @cached_property
    def objective(self) -> Objective:
        """The objective, if the loss is one of single examples."""
        domain, intercept = _domain_of(self.domain), bool(self.fit_intercept)
        return Objective(self.loss, self.regularizer, domain, intercept)

    @property
    def strength(self) -> float:
        """α of the penalty: 0 without a penalty, NaN for a user-defined one without α."""
        none = 0.0 if self.regularizer.zero else math.nan
        return float(getattr(self.regularizer, "alpha", none))

    def of_classes(self, count: int, multi_class: str) -> Self:
        """Return the problem of `count` classes: joint, or one that is solved one-vs-rest."""
        if multi_class not in ("ovr", "joint"):
            raise ValueError(f"multi_class must be 'ovr' or 'joint', not {brief(multi_class)}")
        if self.loss.outputs() > 1:
            if count == 2:
                raise ValueError("two classes need no joint loss: use loss='hinge' or 'logistic'")
            if self.loss.outputs() != count:
                raise ValueError(f"{self.loss} does not fit the {count} classes of y")
        elif multi_class == "joint" and count > 2:
            if type(self.loss) not in JOINT:
                known = [name for name, kind in LOSSES.items() if kind in JOINT]
                raise ValueError(
                    f"{type(self.loss).__name__} is no loss of several classes at once: choose one "
                    f"of {', '.join(known)}, or multi_class='ovr'"
                )
            return replace(self, loss=JOINT[type(self.loss)](count))
        return self

    def of_outputs(self, count: int) -> Self:
        """Return the problem of `count` outputs, each with targets of its own."""
        if count == 1:
            return self
        if self.chooses and self.alpha == "auto":
            raise ValueError(
                f"alpha='auto' does not know {count} outputs at once; use alpha='cv', or 'scaled'"
            )
        return replace(self, loss=SumOverOutputs(self.loss, count))


def loss_of(loss: str | Loss) -> Loss:
    """Return a loss given by name or as such."""
    found = _named("loss", loss) if isinstance(loss, str) else loss
    if not isinstance(found, Loss):
        raise TypeError(f"loss must be a name or a Loss, not {type(found).__name__}")
    return found


def _domain_of(domain: str | Domain) -> Domain:
    found = _named("domain", domain) if isinstance(domain, str) else domain
    if not isinstance(found, Domain):
        raise TypeError(f"domain must be a name or a Domain, not {brief(found)}")
    return found


@lru_cache(maxsize=128)  # names are looked up for every chunk of a stream
def _named(what: str, name: str) -> Any:
    return named(what, name, LOSSES if what == "loss" else DOMAINS)


def validate_class_weight(class_weight: ClassWeight) -> ClassWeight:
    """Return class weights that are None, "balanced", or a dict of numbers ≥ 0.

    Examples
    --------
    >>> validate_class_weight({"spam": 2.0, "ham": 1})
    {'spam': 2.0, 'ham': 1}
    """
    if isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            if not 0.0 <= as_float(f"class_weight of {label!r}", weight) < math.inf:
                raise ValueError(
                    f"class_weight has {weight!r} for class {label!r}: weights must be numbers ≥ 0"
                )
    elif not (class_weight is None or class_weight == "balanced"):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dict, not {brief(class_weight)}"
        )
    return class_weight
