"""From options to the estimator that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.cli.fit_options import ProblemOptions, RunOptions, Task
from stepless.cross_validation import is_choice
from stepless.estimators import (
    ChainClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
)
from stepless.objective import LOSSES, Loss, penalty_of
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


def build_model(problem: ProblemOptions, run: RunOptions) -> Model:
    """Build the estimator, and refuse what makes no sense before a large file is read."""
    unlimited = run.passes is None and run.seconds is None
    parameters = {
        "penalty": problem.penalty,
        "solver": run.solver,
        "gap": run.gap,
        "passes": PATIENCE if unlimited else run.passes,
        "seconds": run.seconds,
        "random_state": run.seed,
        "n_jobs": run.jobs,
    }
    if problem.alpha is not None:
        parameters["alpha"] = problem.alpha
    if problem.metric is not None:
        return _metric_classifier(problem, problem.metric, parameters)
    if problem.task == Task.rank:
        return _ranker(problem, parameters)
    if problem.k is not None:
        raise ValueError("--k is for --metric and --task rank: leave it out")
    if problem.task == Task.tag:
        return _tagger(problem, parameters)
    return _linear(problem, parameters)


def refuse_together(what: str, given: Mapping[str, object]) -> None:
    """Refuse options that were given but do not go with another one."""
    for option, value in given.items():
        if value:
            raise ValueError(f"{option} does not go with {what}: leave it out")


def _metric_classifier(
    problem: ProblemOptions, metric: str, parameters: dict[str, Any]
) -> MetricClassifier:
    what = f"--metric {metric}"
    others = problem.task not in (Task.auto, Task.classify)
    refuse_together(what, {"--loss": problem.loss, f"--task {problem.task}": others})
    metric_of(metric, problem.k)
    _refuse_for_oracle(what, problem, parameters)
    intercept = not problem.no_intercept
    return MetricClassifier(metric, k=problem.k, fit_intercept=intercept, **parameters)


def _ranker(problem: ProblemOptions, parameters: dict[str, Any]) -> LinearRanker:
    loss = problem.loss or str(LinearRanker.loss)
    k = LinearRanker.k if problem.k is None else problem.k
    if loss not in RANKING_LOSSES:
        raise UnknownName("loss", loss, RANKING_LOSSES)
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"--k must be a whole number of documents, at least 1, not {k}")
    refuse_together("--task rank", {"--no-intercept": problem.no_intercept})
    _refuse_for_oracle("--task rank", problem, parameters)
    return LinearRanker(loss, k=k, **parameters)


def _tagger(problem: ProblemOptions, parameters: dict[str, Any]) -> ChainClassifier:
    loss = problem.loss or ChainClassifier.loss
    if loss not in CHAIN_LOSSES:
        raise UnknownName("loss", loss, CHAIN_LOSSES)
    refuse_together("--task tag", {"--no-intercept": problem.no_intercept})
    _refuse_for_oracle("--task tag", problem, parameters)
    return ChainClassifier(loss, **parameters)


def _refuse_for_oracle(what: str, problem: ProblemOptions, parameters: dict[str, Any]) -> None:
    """Refuse what a model lacks whose risk is no sum over examples."""
    given = {
        "--domain": problem.domain != ProblemOptions.domain,
        "--multi-class": problem.multi_class != ProblemOptions.multi_class,
        f"--alpha {problem.alpha}": is_choice(problem.alpha),
    }
    refuse_together(what, given)
    penalty_of(problem.penalty, parameters.get("alpha", MetricClassifier.alpha))
    Run(gap=parameters["gap"], seconds=parameters["seconds"])
    solver, fitting = parameters["solver"], suited(OracleRisk)
    if solver not in ("auto", *fitting):
        if solver not in SOLVERS:
            raise UnknownName("solver", solver, ["auto", *fitting])
        raise ValueError(
            f"solver {solver!r} does not go with {what}: choose one of {', '.join(fitting)}"
        )


def _linear(options: ProblemOptions, parameters: dict[str, Any]) -> Model:
    regresses = options.task == Task.regress
    loss = options.loss or (LinearRegressor if regresses else LinearClassifier).loss
    classifies = loss_of(loss).targets == "signs"
    if options.task != Task.auto and classifies == regresses:
        fitting = [n for n, kind in LOSSES.items() if (kind.targets == "signs") != classifies]
        raise ValueError(
            f"loss {loss!r} is not for --task {options.task}: choose one of {', '.join(fitting)}"
        )
    parameters |= {"domain": options.domain, "fit_intercept": not options.no_intercept}
    _refuse_early(loss, parameters)
    if classifies:
        return LinearClassifier(loss, multi_class=options.multi_class, **parameters)
    return LinearRegressor(loss, **parameters)


def _refuse_early(loss: str | Loss, parameters: dict[str, Any]) -> None:
    about = ("penalty", "alpha", "domain", "fit_intercept")
    problem = Problem(loss, **{name: parameters[name] for name in about if name in parameters})
    run = Run(**{name: parameters[name] for name in ("solver", "gap", "passes", "seconds")})
    if problem.alpha == "auto" and (lack := lacks(problem.objective)) is not None:
        raise ValueError(lack)
    lack = None if run.solver == "auto" else run.named_solver().lacks(problem.objective)
    if lack is not None:
        raise ValueError(f"solver {run.solver!r} {lack}")
