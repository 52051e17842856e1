"""`stepless verify`: whether what a model claims is true of its data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from stepless.cli.errors import ExitCode, errors_as_messages
from stepless.cli.options import (
    argument,
    grouped,
    json_option,
    model_argument,
    option,
    zero_based_option,
)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """The options of `stepless verify`."""

    model: Path = model_argument()
    data: Path = argument(
        "DATA", "The data, or store, that it was fitted to; - for standard input."
    )
    proof: Path | None = option(None, "What `stepless fit --proof` wrote beside MODEL.", "FILE")
    weights: Path | None = option(
        None, "The weights of the examples, if it was fitted to some.", "FILE"
    )
    zero_based: bool = zero_based_option()
    json: bool = json_option()


@grouped
def verify(options: VerifyOptions) -> None:
    """Say whether what MODEL claims holds on DATA: its objective, and how near the best it is.

    Both numbers are computed again, in extended precision, from the data,
    the weights and the proof; no solver is trusted. Without a proof only
    the objective is verified.
    Exits with 0 if the claims hold, and with 1 if they do not, or if the
    proof is of other data, of another problem or of another model.
    """
    with errors_as_messages():
        from stepless.cli.outputs import refuse_outputs, write_text
        from stepless.cli.reading import open_model, read_for_model, read_weights
        from stepless.report import verification
        from stepless.report.proof_file import read_proof
        from stepless.report.strict_json import strict_json

        data, proof, weights = options.data, options.proof, options.weights
        inputs = {"MODEL": options.model, "DATA": data, "--proof": proof, "--weights": weights}
        refuse_outputs({}, inputs)
        predictor, about = open_model(options.model)
        verification.refuse_stream(predictor)
        known = None if proof is None else read_proof(proof)  # before the data, which may be large
        X, y, qid = read_for_model(data, predictor, about, options.zero_based)
        s = None if weights is None else read_weights(weights, len(X if y is None else y))
        queries = {} if qid is None else {"qid": qid}
        found = verification.verify(predictor, X, y, s, known, **queries)
        if options.json:
            files = {name.strip("-").lower(): path and str(path) for name, path in inputs.items()}
            write_text(strict_json(files | asdict(found), indent=2))
        else:
            write_text(found.sentence)
        if not found.holds:
            raise typer.Exit(ExitCode.BAD_INPUT)
