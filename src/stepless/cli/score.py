"""`stepless score`: how well a model predicts labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.sentences import sentences


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="LIBSVM text or CSV, with true labels.")
    ],
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based", help="DATA counts features from 0; not needed if the model's data did."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON document.")] = False,
) -> None:
    """Say the accuracy of MODEL on DATA, or R² and mean loss where it predicts numbers."""
    with sentences():
        from stepless.cli.reading import read_for_model, whole_labels
        from stepless.estimators import LinearClassifier
        from stepless.report import load_model, read_header, score_model
        from stepless.report.strict_json import strict_json
        from stepless.report.text import score_in_words

        predictor = load_model(model)
        about = read_header(model)["about"]
        X, y = read_for_model(data, predictor, about, zero_based)
        if isinstance(predictor, LinearClassifier):
            y = whole_labels(data, y)
        result = score_model(predictor, X, y)
        if json:
            files = {"model": str(model), "data": str(data)}
            typer.echo(strict_json(files | result.as_dict(), indent=2))
        else:
            typer.echo(score_in_words(result))
