"""Losses, penalties, domains and metrics by the names under which users know them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stepless.estimators import MetricClassifier
from stepless.kernels import Gaussian, LinearKernel, Polynomial
from stepless.objective import (
    DOMAINS,
    LOSSES,
    REGULARIZERS,
    FactoredElasticNet,
    MulticlassHinge,
    Softmax,
)
from stepless.risks.metrics import AtTop, FMeasure, Metric, RocArea, metric_of
from stepless.risks.ranking import RANKING_LOSSES
from stepless.term import Term

# Penalties are made of the strength and parameters, losses and domains of parameters alone.
TERMS: dict[str, Mapping[str, type[Term]]] = {
    "loss": {**LOSSES, **RANKING_LOSSES, "multiclass_hinge": MulticlassHinge, "softmax": Softmax},
    "penalty": {
        **{name: type(make(1.0)) for name, make in REGULARIZERS.items()},
        "factored elasticnet": FactoredElasticNet,
    },
    "domain": DOMAINS,
    "kernel": {"gaussian": Gaussian, "polynomial": Polynomial, "linear": LinearKernel},
}
METRICS: dict[str, type[Metric]] = {"fbeta": FMeasure, "roc_auc": RocArea, "at_k": AtTop}


def name_of(registry: Mapping[str, object], value: object) -> str | None:
    """Return the name of a value's class, or None for a user-defined class.

    Examples
    --------
    >>> from stepless.objective import Quantile
    >>> name_of(TERMS["loss"], Quantile(0.9))
    'quantile'
    """
    return next((name for name, cls in registry.items() if cls is type(value)), None)


def spelled(kind: str, term: object) -> str:
    """Return a term as a user would write it, a penalty without its strength.

    Examples
    --------
    >>> from stepless.objective import ElasticNet, Hinge, Quantile
    >>> spelled("loss", Quantile(0.9)), spelled("loss", Hinge()), spelled("loss", "huber(2)")
    ('quantile(0.9)', 'hinge', 'huber(2)')
    >>> spelled("penalty", ElasticNet(0.1, 0.3)), spelled("penalty", None)
    ('elasticnet(0.3)', 'none')
    """
    if not isinstance(term, Term):
        return "none" if term is None else str(term)
    name = name_of(TERMS[kind], term)
    if name is None:
        return type(term).__name__ if kind == "penalty" else repr(term)
    numbers = term[1:] if kind == "penalty" else term
    numbers = tuple(value for value in numbers if not isinstance(value, np.ndarray))
    return f"{name}({', '.join(f'{value:g}' for value in numbers)})" if numbers else name


def spelled_metric(model: MetricClassifier) -> str:
    """Return the metric that a model was trained for, with its k.

    Examples
    --------
    >>> spelled_metric(MetricClassifier("recall_at_k", k=0.1)), spelled_metric(MetricClassifier())
    ('recall@0.1', 'f1')
    """
    metric = metric_of(model.metric, model.k) if isinstance(model.metric, str) else model.metric
    match metric:
        case FMeasure(beta=beta):
            return "f1" if beta == 1.0 else f"fbeta({beta:g})"
        case AtTop(k=None):
            return "prbep"
        case AtTop(k=k, recall=recall):
            return f"{'recall' if recall else 'precision'}@{k:g}"
        case RocArea():
            return "roc_auc"
    return repr(metric)
