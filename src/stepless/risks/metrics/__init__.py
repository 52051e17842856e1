"""Metrics of two classes and the risks that bound them: F, ROC area, precision and recall at k.

A new metric is a subclass of `Metric` in its own file, and one line of `METRICS` or `METRICS_AT_K`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stepless.arguments import brief
from stepless.registry import named
from stepless.risks.metrics.at_top import AtTop as AtTop
from stepless.risks.metrics.f_measure import FMeasure as FMeasure
from stepless.risks.metrics.metric import Metric as Metric
from stepless.risks.metrics.metric_risk import MetricRisk as MetricRisk
from stepless.risks.metrics.roc_area import RocArea as RocArea

# The metrics by the names that users write, and those of the k highest scores, from k.
METRICS: dict[str, Callable[..., Metric]] = {
    "f1": partial(FMeasure, 1.0),
    "fbeta": FMeasure,
    "roc_auc": RocArea,
    "prbep": partial(AtTop, None, False),
}
METRICS_AT_K: dict[str, Callable[[float | None], Metric]] = {
    "precision_at_k": lambda k: AtTop(k, recall=False),
    "recall_at_k": lambda k: AtTop(k, recall=True),
}


def metric_of(name: str, k: float | None = None) -> Metric:
    """Build a metric from its name; `k` belongs to the metrics at k, and to no other.

    Examples
    --------
    >>> metric_of("fbeta(2)"), metric_of("precision_at_k", 10)
    (FMeasure(beta=2.0), AtTop(k=10, recall=False))
    """
    at_k = {name: partial(make, k) for name, make in METRICS_AT_K.items()}
    metric: Metric = named("metric", name, METRICS | at_k)
    if name.strip() in at_k and k is None:
        raise ValueError(
            f"metric={name!r} needs k=: how many examples are picked, or which share of them"
        )
    if name.strip() not in at_k and k is not None:
        raise ValueError(f"metric={name!r} has no k; leave k={brief(k)} out")
    return metric
