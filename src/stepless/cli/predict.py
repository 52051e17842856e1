"""`stepless predict`: one line an example."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stepless.cli.sentences import sentences


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="LIBSVM text, CSV, or words in columns; labels are not looked at."
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
        from stepless.cli.reading import read_for_model, refuse_overwriting
        from stepless.cli.tagging import with_tags
        from stepless.estimators import ChainClassifier
        from stepless.report import load_model, read_header
        from stepless.report.atomic import refuse_output, write_atomically
        from stepless.report.score import decisions

        if output is not None:
            refuse_output(output)
            refuse_overwriting(output, model, data)
        predictor = load_model(model)
        about = read_header(model)["about"]
        if decision and isinstance(predictor, ChainClassifier):
            raise ValueError(f"{model}: tags of a sequence have no --decision each")
        if proba and not hasattr(predictor, "predict_proba"):
            raise ValueError(_no_probabilities(predictor, model))
        X = read_for_model(data, predictor, about, zero_based, labelled=False).X
        if isinstance(predictor, ChainClassifier):
            text = with_tags(data, predictor.predict(X))
        elif decision:
            text = _lines(decisions(predictor, X).tolist())
        else:
            text = _lines((predictor.predict_proba if proba else predictor.predict)(X).tolist())
        if output is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_atomically(output, text.encode())


def _no_probabilities(predictor: Any, path: Path) -> str:
    kind = type(predictor).__name__
    if kind not in ("LinearClassifier", "LinearRegressor"):
        return f"{path}: a {kind} has no probabilities; leave --proba out"
    return (
        f"{path}: a model with {predictor.loss} loss has no probabilities; fit one with "
        "--loss logistic, or ask for --decision"
    )


def _lines(rows: list[Any]) -> str:
    return "".join(
        " ".join(map(str, row)) + "\n" if isinstance(row, list) else f"{row}\n" for row in rows
    )
