"""`stepless score`: how well a model predicts labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.sentences import sentences


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="LIBSVM text, CSV, or words in columns, with true labels; - for standard input.",
        ),
    ],
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based", help="DATA counts features from 0; not needed if the model's data did."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON document.")] = False,
) -> None:
    """Say how well MODEL predicts DATA.

    Classes: the accuracy, or the metric that it was trained on.
    Numbers: R² and mean loss.
    Rankings: NDCG@k, MAP, MRR and precision@k.
    Tags: the accuracy and, of tags B-X, I-X and O, scores of whole chunks.
    """
    with sentences():
        from stepless.cli.outputs import put, refuse_outputs
        from stepless.cli.reading import open_model, read_for_model
        from stepless.report import score_model
        from stepless.report.strict_json import strict_json
        from stepless.report.text import score_in_words

        refuse_outputs({}, {"MODEL": model, "DATA": data})
        predictor, about = open_model(model)
        result = score_model(predictor, *read_for_model(data, predictor, about, zero_based))
        if json:
            files = {"model": str(model), "data": str(data)}
            put(strict_json(files | result.as_dict(), indent=2))
        else:
            put(score_in_words(result))
