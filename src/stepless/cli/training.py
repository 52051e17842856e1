"""What `stepless fit` does: read the files, run, say what is missing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.live import Live
from sklearn.exceptions import ConvergenceWarning

from stepless.arrays import Array
from stepless.cli.building import Model, refuse_together
from stepless.cli.memory import refuse_small_memory
from stepless.cli.progress import LiveLine, line
from stepless.cli.reading import (
    Examples,
    queries,
    read_examples,
    read_for_model,
    read_weights,
    targets,
)
from stepless.cli.sentences import say
from stepless.cli.tagging import inputs_of, read_tagged, tags_of
from stepless.data import DataError
from stepless.estimators import (
    ChainClassifier,
    LinearClassifier,
    LinearRanker,
    MetricClassifier,
)
from stepless.estimators.certificate import one_digit_up
from stepless.report import Summary
from stepless.report.text import ended_by, gap_in_words
from stepless.run import Run


class Material(NamedTuple):
    """What is learned from, what is tested on, and how a model's file says they were read."""

    examples: Examples
    weights: Array | None
    test: Examples | None
    about: dict[str, Any]


def read(
    model: Model, data: Path, test: Path | None, weights: Path | None, zero_based: bool
) -> Material:
    """Read all files before the run, so that none of them can spoil it afterwards."""
    if isinstance(model, ChainClassifier):
        refuse_together("--task tag", {"--zero-based": zero_based})
        words, about = read_tagged(data)
        s = None if weights is None else read_weights(weights, len(words.sentences))
        held_out = None if test is None else read_for_model(test, model, about, zero_based)
        examples = Examples(inputs_of(words, about), tags_of(words))
        return Material(examples, s, held_out, {"data": str(data)} | about)
    if isinstance(model, LinearRanker):
        refuse_together("--task rank", {"--weights": weights})
    about = {"data": str(data), "zero_based": zero_based}
    examples = _examples(model, data, zero_based)
    if isinstance(model, LinearClassifier | MetricClassifier):
        first = examples.y[0]
        if (examples.y == first).all():
            raise DataError(
                f"{data}: all labels are {first}, but a classifier needs two classes to tell apart"
            )
    s = None if weights is None else read_weights(weights, len(examples.y))
    if test is None:
        return Material(examples, s, None, about)
    held_out = _examples(model, test, zero_based)
    # a feature that only one of the files has is 0 in the other
    features = max(examples.X.shape[1], held_out.X.shape[1])
    for X in (examples.X, held_out.X):
        X.resize(X.shape[0], features)
    return Material(examples, s, held_out, about)


def _examples(model: Model, path: Path, zero_based: bool) -> Examples:
    X, y, qid = read_examples(path, zero_based)
    refuse_small_memory(X.shape[1])
    try:
        return Examples(X, targets(path, model, y), queries(path, model, qid))
    except DataError as error:
        if "is no whole number" not in str(error):
            raise
        raise DataError(
            f"{error}; to predict numbers choose a loss for them, such as --loss squared"
        ) from None


def train(model: Model, material: Material, data: Path, live: Live | None, talk: bool) -> None:
    """Run; what the run has to say goes to the live line or, a line a pass, to standard error."""
    watchers = []
    if live is not None:
        classes = len(np.unique(material.examples.y)) if isinstance(model, LinearClassifier) else 2
        watchers.append(LiveLine(live, Run.of(model).limits, classes if classes > 2 else 1))
        first = "choosing alpha" if model.alpha == "auto" else "starting"
        live.update(line(f"{first}; a loss that is new to this machine is compiled first"))
    model.set_params(verbose=int(talk and live is None))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            X, y, qid = material.examples
            more = {"sample_weight": material.weights} if qid is None else {"qid": qid}
            model.fit(X, y, **more, watchers=watchers)
        except (ValueError, TypeError) as error:
            raise DataError(f"{data}: {error}") from None
    model.set_params(verbose=0)
    for warning in caught if talk else []:
        if not issubclass(warning.category, ConvergenceWarning):
            say(f"note: {' '.join(str(warning.message).split())}")


def remedy(s: Summary) -> str:
    """Which limit ended the run, what is proven, and what to do."""
    more = {
        "passes": "allow more --passes",
        "seconds": "allow more --seconds",
        "rounding": "centre or rescale the features",
    }
    advice = more.get(s.stopped_by, "try another --solver")
    if s.rel_gap <= 0.5:
        advice += f", accept --gap {one_digit_up(s.rel_gap)}"
    if s.penalty != "none":
        advice += ", or raise --alpha"
    return (
        f"stopped by {ended_by(s)} before the gap of {100 * s.gap_asked:.3g} % was met: "
        f"{proven(s)}; {advice}"
    )


def proven(s: Summary) -> str:
    """What is known of the distance to the optimum."""
    words = gap_in_words(s)
    return words if s.excess is None else f"the objective is {words}"
