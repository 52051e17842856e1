"""The report of `stepless fit`: text or JSON, and one line if the run ended early."""

from __future__ import annotations

from typing import Any

import typer

from stepless.cli.errors import ExitCode, print_message
from stepless.cli.fit_options import FileOptions, OutputOptions, StreamOptions
from stepless.cli.outputs import is_stdout, write_text
from stepless.code_cache import CodeCache
from stepless.compile_time import COMPILED, NOTEWORTHY
from stepless.estimators.certificate import one_digit_up
from stepless.report import Summary, describe
from stepless.report.strict_json import strict_json
from stepless.report.text import duration, ended_by, gap_in_words


class FitReport:
    """The report of a fit whose model is written; on standard error if standard output is taken."""

    def __init__(self, files: FileOptions, stream: StreamOptions, output: OutputOptions) -> None:
        self._files, self._output = files, output
        self._to_stderr = any(map(is_stdout, (files.output, stream.predictions, output.proof)))
        proof = f", its proof to {output.proof}" if output.proof else ""
        self._place = f"written to {files.output}{proof}"

    def write(
        self,
        summary: Summary,
        facts: dict[str, Any] | None = None,
        rows: dict[str, str] | None = None,
    ) -> None:
        """Write the summary, with further `facts` in JSON and further `rows` in text."""
        done = f"the model is {self._place}"
        if self._output.json:
            about = {"data": str(self._files.data), "model": str(self._files.output)}
            proof = {"proof": str(self._output.proof)} if self._output.proof else {}
            known = about | proof | {"compile_seconds": COMPILED.seconds}
            found = known | summary.as_dict() | (facts or {})
            write_text(strict_json(found, indent=2), done=done)
        elif not self._output.quiet:
            rows = (rows or {}) | _compile_row() | {"model": self._place}
            write_text(describe(summary, rows), to_stderr=self._to_stderr, done=done)

    def exit_early(self, summary: Summary, interrupted: bool) -> None:
        """Exit with a code of its own, and say why, if the gap asked for was not met."""
        if interrupted or summary.stopped_by == "interrupt":
            model = self._files.output
            print_message(f"interrupted: the model so far is in {model}; {_proven(summary)}")
            raise typer.Exit(ExitCode.INTERRUPTED)
        if not summary.gap_met:
            print_message(_remedy(summary))
            raise typer.Exit(ExitCode.GAP_NOT_MET)


def _compile_row() -> dict[str, str]:
    """Return the row about what this process had to compile, if that took long."""
    if COMPILED.seconds < NOTEWORTHY:
        return {}
    took = f"in {duration(COMPILED.seconds)}"
    if CodeCache.unkept:
        return {"compiled": took}
    return {"compiled": f"{took}, once on this machine (`stepless warm` does so in advance)"}


def _remedy(s: Summary) -> str:
    """Return which limit ended the run, what is proven, and what to do."""
    remedies = {
        "passes": "allow more --passes",
        "seconds": "allow more --seconds",
        "rounding": "centre or rescale the features",
    }
    advice = remedies.get(s.stopped_by, "try another --solver")
    if s.rel_gap <= 0.5:
        advice += f", accept --gap {one_digit_up(s.rel_gap)}"
    if s.penalty != "none":
        advice += ", or raise --alpha"
    return (
        f"stopped by {ended_by(s)} before the gap of {100 * s.gap_asked:.3g} % was met: "
        f"{_proven(s)}; {advice}"
    )


def _proven(s: Summary) -> str:
    words = gap_in_words(s)
    return words if s.excess is None else f"the objective is {words}"
