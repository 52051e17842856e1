"""`stepless predict`: one line an example."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stepless.cli.sentences import sentences


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="LIBSVM text, CSV, or words in columns; - for standard input. Labels are not "
            "looked at.",
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Where predictions go, if not to standard output."
        ),
    ] = None,
    proba: Annotated[
        bool,
        typer.Option(
            "--proba", help="Probabilities, a column a class in the order of `stepless info`."
        ),
    ] = False,
    decision: Annotated[
        bool,
        typer.Option(
            "--decision", help="⟨w, x⟩ + b; a column a class where there are more than two."
        ),
    ] = False,
    settled: Annotated[
        bool,
        typer.Option(
            "--settled",
            help='One more column: "settled" where the best possible model predicts the same '
            'label for certain, "open" elsewhere.',
        ),
    ] = False,
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based", help="DATA counts features from 0; not needed if the model's data did."
        ),
    ] = False,
) -> None:
    """Predict each example of DATA, one a line.

    Labels as in training, numbers, or scores to rank by.
    Words in columns are written again, with the tag as one more column.
    """
    if proba and decision:
        raise typer.BadParameter("choose one of --proba and --decision")
    with sentences():
        from stepless.cli.outputs import STDOUT, in_lines, output_of, refuse_outputs
        from stepless.cli.reading import open_model, read_for_model, read_words
        from stepless.cli.tagging import inputs_of, with_tags
        from stepless.estimators import ChainClassifier
        from stepless.report.atomic import write_atomically
        from stepless.report.score import decisions

        output = STDOUT if output is None else output_of(output)
        refuse_outputs({"--output": output}, {"MODEL": model, "DATA": data})
        predictor, about = open_model(model)
        if decision and isinstance(predictor, ChainClassifier):
            raise ValueError(f"{model}: tags of a sequence have no --decision each")
        if proba and not hasattr(predictor, "predict_proba"):
            raise ValueError(_no_probabilities(predictor, model))
        if settled and not hasattr(predictor, "settled"):
            raise ValueError(
                f"{model}: --settled is for a LinearClassifier, and this is a "
                f"{type(predictor).__name__}; leave it out"
            )
        if isinstance(predictor, ChainClassifier):
            words = read_words(data, predictor, about, labelled=False)
            text = with_tags(words, predictor.predict(inputs_of(words, about))).encode()
        else:
            X = read_for_model(data, predictor, about, zero_based, labelled=False).X
            if decision:
                rows = decisions(predictor, X).tolist()
            else:
                rows = (predictor.predict_proba if proba else predictor.predict)(X).tolist()
            text = in_lines(rows, _marks(predictor, X, model) if settled else None)
        write_atomically(output, text)


def _marks(predictor: Any, X: Any, path: Path) -> list[str]:
    try:
        return ["settled" if sure else "open" for sure in predictor.settled(X)]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _no_probabilities(predictor: Any, path: Path) -> str:
    kind = type(predictor).__name__
    if kind not in ("LinearClassifier", "LinearRegressor"):
        return f"{path}: a {kind} has no probabilities; leave --proba out"
    return (
        f"{path}: a model with {predictor.loss} loss has no probabilities; fit one with "
        "--loss logistic, or ask for --decision"
    )
