"""Risks that bound what a two-class model is judged by: F, ROC area, precision and recall at k."""

from __future__ import annotations

from functools import partial
from typing import Any

from stepless.registry import named
from stepless.risks.metrics.at_top import AtTop
from stepless.risks.metrics.f_measure import FMeasure
from stepless.risks.metrics.metric import Metric
from stepless.risks.metrics.metric_risk import MetricRisk
from stepless.risks.metrics.roc_area import RocArea

METRICS: dict[str, Any] = {
    "f1": partial(FMeasure, 1.0),
    "fbeta": FMeasure,
    "roc_auc": RocArea,
    "precision_at_k": AtTop,
    "recall_at_k": partial(AtTop, recall=True),
    "prbep": partial(AtTop, None),
}
_AT_K = ("precision_at_k", "recall_at_k")


def metric_of(name: str, k: float | None = None) -> Metric:
    """Build the metric that a user names; `k` is that of the metrics at k.

    Examples
    --------
    >>> metric_of("fbeta(2)"), metric_of("precision_at_k", 10)
    (FMeasure(beta=2.0), AtTop(k=10, recall=False))
    """
    if name.strip() not in _AT_K:
        if k is not None:
            raise ValueError(f"metric={name!r} has no k; leave k={k!r} out")
        return named("metric", name, {**METRICS, **dict.fromkeys(_AT_K, _without_k)})
    if k is None:
        _without_k()
    return METRICS[name.strip()](k)


def _without_k() -> None:
    raise ValueError(
        "precision and recall at k need k=: how many examples are picked, or which share of them"
    )


__all__ = ["METRICS", "AtTop", "FMeasure", "Metric", "MetricRisk", "RocArea", "metric_of"]
