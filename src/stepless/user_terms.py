"""Checks of user-defined losses, regularizers, domains and risks before a run.

The checks are imported only if there is something to check: most runs have nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from copy import copy
from weakref import WeakKeyDictionary

import numpy as np

from stepless.arrays import Array
from stepless.objective import Constraint, Domain, Loss, Regularizer, SumOverOutputs
from stepless.risks.oracle_risk import OracleRisk
from stepless.risks.risk import Risk
from stepless.term import Term

_PACKAGE = __name__.partition(".")[0] + "."
_SAMPLE = 256  # targets

# Parameters that passed, per class: compiled code is kept per class as well.
_passed: WeakKeyDictionary[type, set[Hashable]] = WeakKeyDictionary()


def check_user_terms(risk: Risk) -> None:
    """Refuse a risk whose user-defined parts, or itself, break their contract.

    In plain Python, at few points, once per class, parameters and size of the targets; the
    package's own classes are not checked. Raises ContractError.
    """
    objective = risk.objective
    check_user_penalty(risk.d, objective.regularizer, objective.domain, outputs=objective.outputs)
    loss = getattr(objective, "loss", None)
    if isinstance(loss, SumOverOutputs):
        loss = loss.loss
    if loss is not None and is_user_defined(loss):
        y = getattr(getattr(risk, "source", risk), "y", None)  # a kernel risk has no source
        if y is not None:
            check_user_loss(loss, y)
    if isinstance(risk, OracleRisk) and is_user_defined(risk) and not risk.found_right:
        from stepless.checks.risk import check_risk_quickly

        check_risk_quickly(copy(risk))  # a copy: what it keeps of its gradients belongs to a run
        risk.found_right = True  # and of copies under other penalties


def check_user_penalty(
    d: int, regularizer: Regularizer | None, *domains: Domain, outputs: int = 1
) -> None:
    """Refuse a regularizer or domains, of d weights, as `check_user_terms` does."""
    if regularizer is not None and is_user_defined(regularizer):
        from stepless.checks.regularizer import check_regularizer_quickly

        rows = d // outputs
        _once(regularizer, rows, lambda: check_regularizer_quickly(regularizer, rows, outputs))
    for domain in domains:
        if is_user_defined(domain):
            _once(domain, d, lambda domain=domain: _check_domain(domain, d))  # type: ignore[misc]
        check_user_penalty(d, None, *(part for part in domain if isinstance(part, Domain)))


def check_user_loss(loss: Loss, y: Array) -> None:
    """Refuse a loss of these targets, as `check_user_terms` does."""
    if is_user_defined(loss):
        y = y.ravel()
        few = np.sort(y[:: max(1, y.size // _SAMPLE)])
        size = round(math.log10(max(-few[0], few[-1], 1e-300)))
        _once(loss, size, lambda: _check_loss(loss, y, few))


def is_user_defined(given: object) -> bool:
    """Return whether the class of a term, risk or cost does not come with the package."""
    return not type(given).__module__.startswith(_PACKAGE)


def _once(term: Term, size: int, check: Callable[[], None]) -> None:
    """Check a term, unless one of its class, parameters and size has passed."""
    passed = _passed.setdefault(type(term), set())
    key = size, *(v.tobytes() if isinstance(v, np.ndarray) else v for v in term)
    if key not in passed:
        with np.errstate(all="ignore"):  # compiled code is as silent
            check()
        passed.add(key)


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
