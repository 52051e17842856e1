"""Losses, regularizers, domains and risks of a user's own, checked before a run.

The checks are loaded where there is something to check: most runs have nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from copy import copy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from stepless.arrays import Array
from stepless.objective import Constraint, Domain, Loss, Regularizer
from stepless.risks.oracle_risk import OracleRisk
from stepless.risks.risk import Risk
from stepless.term import Term

_PACKAGE = __name__.partition(".")[0] + "."
_SAMPLE = 256  # targets

# Parameters that were found right, of each class: compiled code keeps to the class as well.
_right: WeakKeyDictionary[type, set[Hashable]] = WeakKeyDictionary()


def check_own(risk: Risk) -> None:
    """Refuse a risk that breaks its contract, or is made of what does, where it is a user's own.

    In plain Python, at few points, and once for each class, its parameters and the size of the
    targets; what comes with the package is not looked at. Raises ContractError.
    """
    objective = risk.objective
    check_own_terms(risk.d, objective.regularizer, objective.domain, outputs=objective.outputs)
    loss = getattr(objective, "loss", None)
    y = getattr(getattr(risk, "source", risk), "y", None)  # of kernels there is no source
    if loss is not None and y is not None:
        check_own_loss(loss, y)
    if isinstance(risk, OracleRisk) and is_own(risk) and not risk.found_right:
        from stepless.checks.risk import check_risk_quickly

        check_risk_quickly(copy(risk))  # what it keeps of its gradients is of a run
        risk.found_right = True  # and of copies under other penalties


def check_own_terms(
    d: int, regularizer: Regularizer | None, *domains: Domain, outputs: int = 1
) -> None:
    """Refuse a regularizer or domains, of d weights, as `check_own` does."""
    if regularizer is not None and is_own(regularizer):
        from stepless.checks.regularizer import check_regularizer_quickly

        rows = d // outputs
        _once(regularizer, rows, lambda: check_regularizer_quickly(regularizer, rows, outputs))
    for domain in domains:
        if is_own(domain):
            _once(domain, d, lambda domain=domain: _check_domain(domain, d))  # type: ignore[misc]
        check_own_terms(d, None, *(part for part in domain if isinstance(part, Domain)))


def check_own_loss(loss: Loss, y: Array) -> None:
    """Refuse a loss of these targets, as `check_own` does."""
    if is_own(loss):
        few = np.sort(y[:: max(1, y.size // _SAMPLE)])
        size = round(math.log10(max(-few[0], few[-1], 1e-300)))
        _once(loss, size, lambda: _check_loss(loss, y, few))


def is_own(given: Any) -> bool:
    """Whether the class of a term, risk or cost does not come with the package."""
    return not type(given).__module__.startswith(_PACKAGE)


def _once(term: Term, size: int, check: Callable[[], None]) -> None:
    """Check a term, unless one of its class, parameters and size was found right."""
    right = _right.setdefault(type(term), set())
    key = size, *(v.tobytes() if isinstance(v, np.ndarray) else v for v in term)
    if key not in right:
        with np.errstate(all="ignore"):  # compiled code is as silent
            check()
        right.add(key)


def _check_loss(loss: Loss, y: Array, few: Array) -> None:
    from stepless.checks.loss import check_loss_quickly

    middle = few[np.linspace(0, few.size - 1, 3).astype(int)]
    check_loss_quickly(loss, np.unique([y.min(), *middle, y.max()]))


def _check_domain(domain: Domain, d: int) -> None:
    from stepless.checks.constraint import check_constraint_quickly
    from stepless.checks.domain import check_domain_quickly

    if domain.offers("excess", "outward"):
        check_constraint_quickly(domain, d)
    if type(domain).project is not Constraint.project:  # which compiles
        check_domain_quickly(domain, d)
