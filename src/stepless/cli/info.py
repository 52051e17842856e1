"""`stepless info`: what a model file says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stepless.cli.sentences import sentences

_MOST = 10  # names of hashed features


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")],
    json: Annotated[
        bool, typer.Option("--json", help="Write one JSON document, with all events of the run.")
    ] = False,
) -> None:
    """Tell what MODEL is, how it was fitted, and how far from the best possible it is."""
    with sentences():
        from stepless.cli.outputs import put
        from stepless.report import Summary, describe
        from stepless.report.model_file import read_model
        from stepless.report.strict_json import strict_json
        from stepless.report.tensors import damage_told

        fitted, header = read_model(model)
        with damage_told(model):
            summary = Summary.of(fitted)
            if json:
                parts = ("format", "stepless", "about", "proof", "trace")
                told = {key: header.get(key) for key in parts}
                text = strict_json({"model": str(model)} | told | summary.as_dict(), indent=2)
            else:
                about = header["about"]
                made = f"by stepless {header['stepless']}"
                if "data" in about:
                    made += f" from {about['data']}"
                proof = {}
                if "proof" in header:
                    file, digest = header["proof"]["file"], header["proof"]["sha256"]
                    proof = {"proof": f"{file}, sha256 {digest}"}
                text = describe(summary, {"made": made} | proof | _heaviest(fitted, about))
        put(text)


def _heaviest(model: Any, about: dict[str, Any]) -> dict[str, str]:
    """A line for the largest weights of either sign, where names were remembered."""
    names = about.get("names")
    if not names or model.coef_.shape[:-1] not in ((), (1,)):
        return {}
    weights = {j: float(model.coef_.flat[int(j)]) for j in names}
    order = sorted(names, key=lambda j: -abs(weights[j]))[:_MOST]
    parts = [f"{'|'.join(names[j])} {weights[j]:+.3g}" for j in order]
    return {"heaviest": ", ".join(parts)}
