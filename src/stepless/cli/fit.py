"""`stepless fit`: from a data file to a model file."""

from __future__ import annotations

from stepless.cli import fit_options
from stepless.cli.errors import errors_as_messages
from stepless.cli.options import STDOUT, grouped


@grouped
def fit(
    files: fit_options.FileOptions,
    problem: fit_options.ProblemOptions,
    run: fit_options.RunOptions,
    keeping: fit_options.CheckpointOptions,
    stream: fit_options.StreamOptions,
    output: fit_options.OutputOptions,
) -> None:
    """Fit a model to DATA and say how far it is from the best possible one.

    Exits with 3 if the run stopped before the gap was met, and with 130 if
    Ctrl-C or SIGTERM ended it; the model is written all the same. A second
    signal writes nothing, except in a stream (DATA -, or --stream). A stream
    is learned in one pass, each example scored before it is learned; there
    is no gap then.
    """
    with errors_as_messages():
        from stepless.cli import streaming
        from stepless.cli.batch import fit_batch
        from stepless.cli.building import build_model
        from stepless.cli.fit_report import FitReport
        from stepless.cli.outputs import refuse_outputs
        from stepless.cli.remedies import remedies_as_options

        with remedies_as_options():
            model = build_model(problem, run)
        refuse_outputs(
            {
                "--output": files.output,
                "--predictions": stream.predictions,
                "--proof": output.proof,
                "--checkpoint": keeping.checkpoint,
                "--resume": keeping.resume,
                "--json": STDOUT if output.json else None,
            },
            {"DATA": files.data, "--test": files.test, "--weights": problem.weights},
        )
        report = FitReport(files, stream, output)
        if streaming.is_stream(model, files.data, stream.stream):
            streaming.refuse_batch_options(problem, run, keeping, output)
            summary, score = streaming.fit_stream(model, files, problem, stream, output.talks)
            report.write(summary, score.as_dict(), score.in_words())
        else:
            streaming.refuse_stream_options(stream)
            summary, interrupted = fit_batch(model, files, problem, keeping, output)
            report.write(summary)
            report.exit_early(summary, interrupted)
