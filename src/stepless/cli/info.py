"""`stepless info`: what a model file, or a store, says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepless.cli.errors import errors_as_messages
from stepless.cli.options import argument, grouped, option

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_MOST = 10  # names of hashed features


@dataclass(frozen=True, kw_only=True)
class InfoOptions:
    """The options of `stepless info`."""

    model: Path = argument("MODEL", "What `stepless fit` wrote, or a store of `stepless pack`.")
    json: bool = option(
        False, "Write one JSON document, with all events of the run.", None, "--json"
    )


@grouped
def info(options: InfoOptions) -> None:
    """Say what MODEL is, how it was fitted, and how far from the best possible it is.

    Of a store, say what it holds.
    """
    with errors_as_messages():
        from stepless.cli.outputs import write_text
        from stepless.data.store import is_store
        from stepless.report import Summary, describe
        from stepless.report.model_file import read_model
        from stepless.report.strict_json import strict_json
        from stepless.report.tensors import damage_reported

        model = options.model
        if is_store(model):
            write_text(_of_store(model, options.json))
            return
        fitted, header = read_model(model)
        with damage_reported(model):
            summary = Summary.of(fitted)
            if options.json:
                parts = ("format", "stepless", "about", "proof", "trace")
                said = {key: header.get(key) for key in parts}
                text = strict_json({"model": str(model)} | said | summary.as_dict(), indent=2)
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
        write_text(text)


def _of_store(path: Path, json: bool) -> str:
    from stepless.data import Store
    from stepless.report.strict_json import strict_json

    facts = Store(path).facts()
    if json:
        return strict_json({"store": str(path)} | facts, indent=2)
    return "\n".join(f"{name:<12} {said}" for name, said in facts.items())


def _heaviest(model: BaseEstimator, about: dict[str, Any]) -> dict[str, str]:
    """Return a row for the largest weights of either sign, if the file holds names of features."""
    names = about.get("names")
    if not names or model.coef_.shape[:-1] not in ((), (1,)):
        return {}
    weights = {j: float(model.coef_.flat[int(j)]) for j in names}
    order = sorted(names, key=lambda j: -abs(weights[j]))[:_MOST]
    parts = [f"{'|'.join(names[j])} {weights[j]:+.3g}" for j in order]
    return {"heaviest": ", ".join(parts)}
