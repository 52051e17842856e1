"""Losses, penalties and domains by the names under which users know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.objective import DOMAINS, LOSSES, REGULARIZERS
from stepless.term import Term

# A penalty's maker takes the strength, a loss's and a domain's take the parameters.
TERMS: dict[str, Mapping[str, type[Term]]] = {
    "loss": LOSSES,
    "penalty": {name: type(make(1.0)) for name, make in REGULARIZERS.items()},
    "domain": DOMAINS,
}


def name_of(kind: str, term: Term) -> str | None:
    """Return the name of a term's class, or None for a class of the user's own.

    Examples
    --------
    >>> from stepless.objective import Quantile
    >>> name_of("loss", Quantile(0.9))
    'quantile'
    """
    return next((name for name, cls in TERMS[kind].items() if cls is type(term)), None)


def spelled_penalty(penalty: Any) -> str:
    """Spell a penalty without its strength.

    Examples
    --------
    >>> from stepless.objective import ElasticNet
    >>> spelled_penalty(ElasticNet(0.1, 0.3)), spelled_penalty("l1"), spelled_penalty(None)
    ('elasticnet(0.3)', 'l1', 'none')
    """
    if not isinstance(penalty, Term):
        return "none" if penalty is None else str(penalty)
    name = name_of("penalty", penalty)
    if name is None:
        return type(penalty).__name__
    return f"{name}({', '.join(f'{value:g}' for value in penalty[1:])})" if penalty[1:] else name


def spelled(kind: str, term: Any) -> str:
    """Spell a term as a user would write it.

    Examples
    --------
    >>> from stepless.objective import Hinge, Quantile
    >>> spelled("loss", Quantile(0.9)), spelled("loss", Hinge()), spelled("loss", "huber(2)")
    ('quantile(0.9)', 'hinge', 'huber(2)')
    """
    if not isinstance(term, Term):
        return "none" if term is None else str(term)
    name = name_of(kind, term)
    if name is None:
        return repr(term)
    return f"{name}({', '.join(f'{value:g}' for value in term)})" if len(term) else name
