"""`stepless score`: how well a model predicts labelled data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stepless.cli.errors import errors_as_messages
from stepless.cli.options import argument, grouped, json_option, model_argument, zero_based_option


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The options of `stepless score`."""

    model: Path = model_argument()
    data: Path = argument(
        "DATA",
        "LIBSVM text, CSV, words in columns, with true labels, or a store; - for standard input.",
    )
    zero_based: bool = zero_based_option()
    json: bool = json_option()


@grouped
def score(options: ScoreOptions) -> None:
    """Say how well MODEL predicts DATA.

    Classes: the accuracy, or the metric that it was trained for.
    Numbers: R² and mean loss.
    Rankings: NDCG@k, MAP, MRR and precision@k.
    Tags: the accuracy and, for tags B-X, I-X and O, scores of whole chunks.
    """
    with errors_as_messages():
        from stepless.cli.outputs import refuse_outputs, write_text
        from stepless.cli.reading import open_model, read_for_model
        from stepless.report import score_model
        from stepless.report.strict_json import strict_json
        from stepless.report.text import score_in_words

        model, data = options.model, options.data
        refuse_outputs({}, {"MODEL": model, "DATA": data})
        predictor, about = open_model(model)
        examples = read_for_model(data, predictor, about, options.zero_based)
        result = score_model(predictor, examples.X, examples.known, examples.qid)
        if options.json:
            files = {"model": str(model), "data": str(data)}
            write_text(strict_json(files | result.as_dict(), indent=2))
        else:
            write_text(score_in_words(result))
