"""`stepless verify`: whether what a model claims is true of its data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from stepless.cli.sentences import ExitCode, sentences


def verify(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="The data that it was fitted to; - for standard input."
        ),
    ],
    *,
    proof: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What `stepless fit --proof` wrote beside MODEL."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The weights of the examples, if it was fitted to some."),
    ] = None,
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based", help="DATA counts features from 0; not needed if the model's data did."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON document.")] = False,
) -> None:
    """Say whether what MODEL claims holds on DATA: its objective, and how near the best it is.

    Both numbers are computed anew, in extended precision, from the data,
    the weights and the proof; no solver is believed. Without a proof only
    the objective is verified.
    Exits with 0 if the claims hold, and with 1 if they do not, or if the
    proof is of other data, of another problem or of another model.
    """
    with sentences():
        from stepless.cli.outputs import put, refuse_outputs
        from stepless.cli.reading import open_model, read_for_model, read_weights
        from stepless.report import verification
        from stepless.report.proof_file import read_proof
        from stepless.report.strict_json import strict_json

        inputs = {"MODEL": model, "DATA": data, "--proof": proof, "--weights": weights}
        refuse_outputs({}, inputs)
        predictor, about = open_model(model)
        verification.refuse_stream(predictor)
        known = None if proof is None else read_proof(proof)  # before the data, which may be large
        X, y, qid = read_for_model(data, predictor, about, zero_based)
        s = None if weights is None else read_weights(weights, len(y))
        queries = {} if qid is None else {"qid": qid}
        found = verification.verify(predictor, X, y, s, known, **queries)
        if json:
            files = {name.strip("-").lower(): path and str(path) for name, path in inputs.items()}
            put(strict_json(files | asdict(found), indent=2))
        else:
            put(found.sentence)
        if not found.holds:
            raise typer.Exit(ExitCode.BAD_INPUT)
