"""Risks that bound what a two-class model is judged by: F, ROC area, precision and recall at k."""

from __future__ import annotations

from functools import partial

from stepless.arguments import brief
from stepless.registry import named
from stepless.risks.metrics.at_top import AtTop
from stepless.risks.metrics.f_measure import FMeasure
from stepless.risks.metrics.metric import Metric
from stepless.risks.metrics.metric_risk import MetricRisk
from stepless.risks.metrics.roc_area import RocArea


def metric_of(name: str, k: float | None = None) -> Metric:
    """Build the metric that a user names; `k` is that of the metrics at k, and of no other.

    Examples
    --------
    >>> metric_of("fbeta(2)"), metric_of("precision_at_k", 10)
    (FMeasure(beta=2.0), AtTop(k=10, recall=False))
    """
    metric: Metric = named(
        "metric",
        name,
        {
            "f1": partial(FMeasure, 1.0),
            "fbeta": FMeasure,
            "roc_auc": RocArea,
            "precision_at_k": lambda: AtTop(k),
            "recall_at_k": lambda: AtTop(k, recall=True),
            "prbep": lambda: AtTop(None),
        },
    )
    at_k = name.strip().endswith("_at_k")
    if at_k and k is None:
        raise ValueError(
            f"metric={name!r} needs k=: how many examples are picked, or which share of them"
        )
    if not at_k and k is not None:
        raise ValueError(f"metric={name!r} has no k; leave k={brief(k)} out")
    return metric


__all__ = ["AtTop", "FMeasure", "Metric", "MetricRisk", "RocArea", "metric_of"]
