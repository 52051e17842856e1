"""What is asked to be minimised."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

from stepless.arguments import as_float, brief
from stepless.objective import (
    DOMAINS,
    JOINT,
    LOSSES,
    Domain,
    JointLoss,
    Loss,
    Objective,
    Regularizer,
    Zero,
    penalty_of,
)
from stepless.registry import named
from stepless.settings import refuse_settings


@dataclass(frozen=True)
class Problem:
    """Ω(w) + the weighted mean loss, over w in a domain, with or without an intercept.

    It holds no data: estimators, paths, the regret ledger, the choice of a strength and the shell
    all build this value once, and pass it on.

    Parameters
    ----------
    loss
        A name or a `Loss`; for a risk that is no sum over examples, what it is made of instead
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
    ValueError: alpha must be a number or 'auto', not 'large'
    """

    loss: Any
    penalty: Any = "l2"
    alpha: Any = 1e-4
    domain: Any = "free"
    fit_intercept: bool = True
    class_weight: Any = None

    def __post_init__(self) -> None:
        refuse_settings(self)
        if isinstance(self.loss, str):
            object.__setattr__(self, "loss", _named_loss(self.loss))
        if isinstance(self.domain, str):
            object.__setattr__(self, "domain", _named_domain(self.domain))
        elif not isinstance(self.domain, Domain):
            raise TypeError(f"domain must be a name or a Domain, not {brief(self.domain)}")
        sensible_weights(self.class_weight)
        summed = isinstance(self.loss, Loss)
        if summed and self.chooses and isinstance(self.penalty, Regularizer):
            raise ValueError(
                f"alpha='auto' chooses the strength of a penalty that is named, but "
                f"{self.penalty} has its own; say penalty='l2'"
            )
        getattr(self, "objective" if summed else "regularizer")  # refused now, if at all

    @classmethod
    def of(cls, estimator: Any, targets: tuple[str, ...] = (), **given: Any) -> Self:
        """Take from an estimator the parameters that are not given.

        Its loss must be for one of these kinds of targets; without any, the risk is no sum.
        """
        known = vars(estimator)
        found = {name: known[name] for name in cls.__dataclass_fields__ if name in known} | given
        alpha, named_ = found["alpha"], not isinstance(found["penalty"], Regularizer)
        if not targets and named_ and (alpha is None or isinstance(alpha, str)):
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
        """Whether the strength is to be chosen from the examples."""
        return isinstance(self.alpha, str) and self.alpha == "auto"

    @cached_property
    def regularizer(self) -> Regularizer:
        """Ω, of strength 1 until one is chosen."""
        if isinstance(self.penalty, Regularizer):
            return self.penalty
        if not (self.penalty is None or isinstance(self.penalty, str)):
            raise TypeError(f"penalty must be a name or a Regularizer, not {brief(self.penalty)}")
        name = "none" if self.penalty is None else self.penalty
        if self.chooses:
            return penalty_of(name, 1.0)
        if name == "none" and self.alpha is None:
            return Zero()
        if self.alpha is None or isinstance(self.alpha, str):
            raise ValueError(f"alpha must be a number or 'auto', not {self.alpha!r}")
        return penalty_of(name, self.alpha)

    @cached_property
    def objective(self) -> Objective:
        """What is minimised, where the loss is one of single examples."""
        return Objective(self.loss, self.regularizer, self.domain, bool(self.fit_intercept))

    @property
    def strength(self) -> float:
        """α of the penalty: 0 without one, NaN for one of the user's own that has none."""
        none = 0.0 if isinstance(self.regularizer, Zero) else math.nan
        return float(getattr(self.regularizer, "alpha", none))

    def of_classes(self, count: int, multi_class: str) -> Self:
        """The problem of so many classes: of all at once, if asked for, or of two."""
        if multi_class not in ("ovr", "joint"):
            raise ValueError(f"multi_class must be 'ovr' or 'joint', not {brief(multi_class)}")
        if isinstance(self.loss, JointLoss):
            if count == 2:
                raise ValueError("two classes need no joint loss: use loss='hinge' or 'logistic'")
            if self.loss.classes != count:
                raise ValueError(f"{self.loss} is not for {count} classes, which y holds")
        elif multi_class == "joint" and count > 2:
            if type(self.loss) not in JOINT:
                known = [name for name, kind in LOSSES.items() if kind in JOINT]
                raise ValueError(
                    f"{type(self.loss).__name__} is no loss of several classes at once: choose one "
                    f"of {', '.join(known)}, or multi_class='ovr'"
                )
            return replace(self, loss=JOINT[type(self.loss)](count))
        return self


def loss_of(loss: Any) -> Loss:
    """Return the loss that is named or given."""
    found = _named_loss(loss) if isinstance(loss, str) else loss
    if not isinstance(found, Loss):
        raise TypeError(f"loss must be a name or a Loss, not {type(found).__name__}")
    return found


@lru_cache(maxsize=64)  # a name is read for every chunk of a stream
def _named_loss(name: str) -> Loss:
    return named("loss", name, LOSSES)


@lru_cache(maxsize=64)
def _named_domain(name: str) -> Domain:
    return named("domain", name, DOMAINS)


def sensible_weights(class_weight: Any) -> Any:
    """Return class weights: None, "balanced", or a dict with a number ≥ 0 for each class.

    Examples
    --------
    >>> sensible_weights({"spam": 2.0, "ham": 1})
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
