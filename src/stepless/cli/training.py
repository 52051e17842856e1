"""What `stepless fit` does: build the model, read the files, run, say what is missing."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.live import Live
from sklearn.exceptions import ConvergenceWarning

from stepless.cli.progress import LiveLine, line
from stepless.cli.reading import read_examples, read_weights, whole_labels
from stepless.cli.sentences import say
from stepless.data import DataError
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.estimators.certified_model import one_digit_up
from stepless.objective import DOMAINS, LOSSES, Objective, penalty_of
from stepless.registry import UnknownName, named
from stepless.report import Summary
from stepless.report.text import ended_by, gap_in_words
from stepless.solvers import SOLVERS
from stepless.stopping import Stopping
from stepless.strength import lacks

_PATIENCE = 1000  # passes, where the user sets no limit
Model = LinearClassifier | LinearRegressor


class Examples(NamedTuple):
    """What is learned from, and what is tested on."""

    X: Any
    y: NDArray
    weights: NDArray | None
    test: tuple[Any, NDArray] | None


def build(task: str, loss: str | None, **parameters: Any) -> Model:
    """Make the estimator, and refuse what makes no sense before a large file is read."""
    if parameters["passes"] is None and parameters["seconds"] is None:
        parameters["passes"] = _PATIENCE
    loss = loss or ("squared" if task == "regress" else "hinge")
    classifies = named("loss", loss, LOSSES).targets == "signs"
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
    penalty, solver, alpha = (parameters[name] for name in ("penalty", "solver", "alpha"))
    objective = Objective(
        named("loss", loss, LOSSES),
        penalty_of(penalty, 1.0 if alpha == "auto" else alpha),
        named("domain", parameters["domain"], DOMAINS),
        parameters["fit_intercept"],
    )
    Stopping(gap=parameters["gap"], seconds=parameters["seconds"] or 0.0)
    if alpha == "auto" and (lack := lacks(objective)) is not None:
        raise ValueError(lack)
    if solver == "auto":
        return
    if solver not in SOLVERS:
        raise UnknownName("solver", solver, ["auto", *SOLVERS])
    lack = SOLVERS[solver]().lacks(objective)
    if lack is not None:
        raise ValueError(f"solver {solver!r} {lack}")


def stopping(model: Model) -> Stopping:
    """When this model's run will end."""
    return Stopping(
        gap=model.gap,
        passes=math.inf if model.passes is None else model.passes,
        seconds=math.inf if model.seconds is None else model.seconds,
    )


def read(
    model: Model, data: Path, test: Path | None, weights: Path | None, zero_based: bool
) -> Examples:
    """Read all files before the run, so that none of them can spoil it afterwards."""
    X, y, _ = read_examples(data, zero_based)
    if isinstance(model, LinearClassifier):
        y = _classes(data, y)
    s = None if weights is None else read_weights(weights, len(y))
    if test is None:
        return Examples(X, y, s, None)
    X_test, y_test, _ = read_examples(test, zero_based)
    if isinstance(model, LinearClassifier):
        y_test = whole_labels(test, y_test)
    # a feature that only one of the files has is 0 in the other
    features = max(X.shape[1], X_test.shape[1])
    X.resize(X.shape[0], features)
    X_test.resize(X_test.shape[0], features)
    return Examples(X, y, s, (X_test, y_test))


def _classes(path: Path, y: NDArray) -> NDArray:
    try:
        labels = whole_labels(path, y)
    except DataError as error:
        raise DataError(
            f"{error}; to predict numbers choose a loss for them, such as --loss squared"
        ) from None
    if (labels == labels[0]).all():
        raise DataError(
            f"{path}: all labels are {labels[0]}, but a classifier needs two classes to tell apart"
        )
    return labels


def train(model: Model, examples: Examples, data: Path, live: Live | None, talk: bool) -> None:
    """Run; what the run has to say goes to the live line or, a line a pass, to standard error."""
    watchers = []
    if live is not None:
        classes = len(np.unique(examples.y)) if isinstance(model, LinearClassifier) else 2
        watchers.append(LiveLine(live, stopping(model), classes if classes > 2 else 1))
        first = "choosing alpha" if model.alpha == "auto" else "starting"
        live.update(line(f"{first}; a loss that is new to this machine is compiled first"))
    model.set_params(verbose=int(talk and live is None))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(examples.X, examples.y, examples.weights, watchers=watchers)
        except (ValueError, TypeError) as error:
            raise DataError(f"{data}: {error}") from None
    model.set_params(verbose=0)
    for warning in caught if talk else []:
        if not issubclass(warning.category, ConvergenceWarning):
            say(f"note: {' '.join(str(warning.message).split())}")


def remedy(s: Summary) -> str:
    """Which limit ended the run, what is proven, and what to do."""
    more = {"passes": "allow more --passes", "seconds": "allow more --seconds"}
    advice = more.get(s.stopped_by, "try another --solver")
    if s.rel_gap <= 0.5:
        advice += f", accept --gap {one_digit_up(s.rel_gap)}"
    if s.penalty != "none":
        advice += ", or raise --alpha"
    return (
        f"stopped by {ended_by(s)} before the gap of {100 * s.gap_asked:.3g} % was met: "
        f"{_proven(s)}; {advice}"
    )


def _proven(s: Summary) -> str:
    words = gap_in_words(s)
    return words if s.excess is None else f"the objective is {words}"
