"""`stepless predict`: one line per example."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from stepless.cli.errors import errors_as_messages
from stepless.cli.options import (
    STDOUT,
    argument,
    grouped,
    model_argument,
    option,
    output_path,
    zero_based_option,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of `stepless predict`."""

    model: Path = model_argument()
    data: Path = argument(
        "DATA",
        "LIBSVM text, CSV, words in columns or a store; - for standard input. Labels are ignored.",
    )
    output: Path | None = option(
        None,
        "Where to write predictions, if not to standard output.",
        "OUT",
        "--output",
        "-o",
        parser=output_path,
    )
    proba: bool = option(
        False,
        "Probabilities, one column per class in the order of `stepless info`.",
        None,
        "--proba",
    )
    decision: bool = option(
        False, "⟨w, x⟩ + b; one column per class for more than two.", None, "--decision"
    )
    settled: bool = option(
        False,
        'One more column: "settled" where the best possible model predicts the same label '
        'for certain, "open" elsewhere.',
        None,
        "--settled",
    )
    zero_based: bool = zero_based_option()


@grouped
def predict(options: PredictOptions) -> None:
    """Predict each example of DATA, one per line.

    Labels as in training, numbers, or scores to rank by.
    Words in columns are written again, with the tag as one more column.
    """
    if options.proba and options.decision:
        raise typer.BadParameter("choose one of --proba and --decision")
    with errors_as_messages():
        from stepless.cli.outputs import refuse_outputs
        from stepless.cli.reading import open_model
        from stepless.report.atomic import write_atomically

        output = options.output or STDOUT
        refuse_outputs({"--output": output}, {"MODEL": options.model, "DATA": options.data})
        predictor, about = open_model(options.model)
        _refuse_kind(predictor, options)
        write_atomically(output, _predictions(predictor, about, options))


def _refuse_kind(predictor: BaseEstimator, options: PredictOptions) -> None:
    from stepless.estimators import ChainClassifier

    path, kind = options.model, type(predictor).__name__
    if options.decision and isinstance(predictor, ChainClassifier):
        raise ValueError(f"{path}: tags of a sequence have no --decision each")
    if options.proba and not hasattr(predictor, "predict_proba"):
        if kind not in ("LinearClassifier", "LinearRegressor"):
            raise ValueError(f"{path}: a {kind} has no probabilities; leave --proba out")
        raise ValueError(
            f"{path}: a model with {predictor.loss} loss has no probabilities; fit one with "
            "--loss logistic, or ask for --decision"
        )
    if options.settled and not hasattr(predictor, "settled"):
        raise ValueError(
            f"{path}: --settled is for a LinearClassifier, and this is a {kind}; leave it out"
        )


def _predictions(predictor: BaseEstimator, about: dict[str, Any], options: PredictOptions) -> bytes:
    from stepless.cli.outputs import prediction_lines
    from stepless.cli.reading import read_for_model, read_words
    from stepless.cli.tagging import inputs_of, with_tags
    from stepless.estimators import ChainClassifier
    from stepless.report.score import decisions

    if isinstance(predictor, ChainClassifier):
        words = read_words(options.data, predictor, about, labelled=False)
        return with_tags(words, predictor.predict(inputs_of(words, about))).encode()
    X = read_for_model(options.data, predictor, about, options.zero_based, labelled=False).X
    if options.decision:
        found = decisions(predictor, X)
    else:
        found = (predictor.predict_proba if options.proba else predictor.predict)(X)
    if not options.settled:
        return prediction_lines(found.tolist())
    try:
        marks = ["settled" if sure else "open" for sure in predictor.settled(X)]
    except ValueError as error:
        raise ValueError(f"{options.model}: {error}") from None
    return prediction_lines(found.tolist(), marks)
