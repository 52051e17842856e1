"""From options to the estimator that they describe."""

from __future__ import annotations

from typing import Any

from stepless.estimators import (
    ChainClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
)
from stepless.objective import LOSSES, penalty_of
from stepless.problem import Problem, loss_of
from stepless.registry import UnknownName
from stepless.risks.chains import CHAIN_LOSSES
from stepless.risks.metrics import metric_of
from stepless.risks.oracle_risk import OracleRisk
from stepless.risks.ranking import RANKING_LOSSES
from stepless.run import PATIENCE, Run
from stepless.solvers import SOLVERS
from stepless.solvers.lacking import suited
from stepless.strength import lacks

Model = LinearClassifier | LinearRegressor | MetricClassifier | LinearRanker | ChainClassifier


def build(
    task: str, loss: str | None, metric: str | None, k: float | None, **parameters: Any
) -> Model:
    """Make the estimator, and refuse what makes no sense before a large file is read."""
    if parameters["passes"] is None and parameters["seconds"] is None:
        parameters["passes"] = PATIENCE
    if metric is not None:
        return _by_metric(task, loss, metric, k, parameters)
    if task == "rank":
        return _ranker(loss or "pairwise", 10 if k is None else k, parameters)
    if k is not None:
        raise ValueError("--k is for --metric and --task rank: leave it out")
    if task == "tag":
        return _tagger(loss or "crf", parameters)
    return _of_a_sum(task, loss, parameters)


def refuse_together(what: str, given: dict[str, Any]) -> None:
    """Say which of the options that were given does not go with another one."""
    for option, value in given.items():
        if value:
            raise ValueError(f"{option} does not go with {what}: leave it out")


def _by_metric(
    task: str, loss: str | None, metric: str, k: float | None, parameters: dict[str, Any]
) -> MetricClassifier:
    what = f"--metric {metric}"
    others = task not in ("auto", "classify")
    refuse_together(what, {"--loss": loss, f"--task {task}": others})
    metric_of(metric, k)
    return MetricClassifier(metric, k=k, **_of_a_whole(what, parameters))


def _ranker(loss: str, k: float, parameters: dict[str, Any]) -> LinearRanker:
    if loss not in RANKING_LOSSES:
        raise UnknownName("loss", loss, RANKING_LOSSES)
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"--k must be a whole number of documents, at least 1, not {k}")
    return LinearRanker(loss, k=k, **_of_a_whole("--task rank", parameters, intercept=False))


def _tagger(loss: str, parameters: dict[str, Any]) -> ChainClassifier:
    if loss not in CHAIN_LOSSES:
        raise UnknownName("loss", loss, CHAIN_LOSSES)
    return ChainClassifier(loss, **_of_a_whole("--task tag", parameters, intercept=False))


def _of_a_whole(what: str, parameters: dict[str, Any], intercept: bool = True) -> dict[str, Any]:
    """The parameters of a model whose risk is no sum over examples; it has fewer than others."""
    kept = dict(parameters)
    given = {
        "--domain": kept.pop("domain") != "free",
        "--multi-class": kept.pop("multi_class") != "ovr",
        "--no-intercept": not intercept and not kept.pop("fit_intercept"),
        "--alpha auto": kept["alpha"] == "auto",
    }
    refuse_together(what, given)
    penalty_of(kept["penalty"], kept["alpha"])
    Run(gap=kept["gap"], seconds=kept["seconds"])
    fitting = suited(OracleRisk)
    if kept["solver"] not in ("auto", *fitting):
        if kept["solver"] not in SOLVERS:
            raise UnknownName("solver", kept["solver"], ["auto", *fitting])
        raise ValueError(
            f"solver {kept['solver']!r} does not go with {what}: choose one of {', '.join(fitting)}"
        )
    return kept


def _of_a_sum(task: str, loss: str | None, parameters: dict[str, Any]) -> Model:
    loss = loss or ("squared" if task == "regress" else "hinge")
    classifies = loss_of(loss).targets == "signs"
    if task != "auto" and classifies != (task == "classify"):
        fitting = [n for n, kind in LOSSES.items() if (kind.targets == "signs") != classifies]
        raise ValueError(
            f"loss {loss!r} is not for --task {task}: choose one of {', '.join(fitting)}"
        )
    _refuse_early(loss, parameters)
    if classifies:
        return LinearClassifier(loss, **parameters)
    del parameters["multi_class"]
    return LinearRegressor(loss, **parameters)


def _refuse_early(loss: str, parameters: dict[str, Any]) -> None:
    about = ("penalty", "alpha", "domain", "fit_intercept")
    problem = Problem(loss, **{name: parameters[name] for name in about})
    run = Run(**{name: parameters[name] for name in ("solver", "gap", "passes", "seconds")})
    if problem.chooses and (lack := lacks(problem.objective)) is not None:
        raise ValueError(lack)
    lack = None if run.solver == "auto" else run.named_solver().lacks(problem.objective)
    if lack is not None:
        raise ValueError(f"solver {run.solver!r} {lack}")
