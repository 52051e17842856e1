"""Commands run in process: what they print, and how they end."""

from __future__ import annotations

import os

from typer.testing import CliRunner

from stepless.cli import app


def run(*arguments, code=0, input=None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def refused(*arguments):
    """The one sentence with which bad input is refused; nothing is written."""
    before = sorted(os.listdir())
    result = run(*arguments, code=1)
    assert result.stdout == ""
    assert sorted(os.listdir()) == before
    assert result.stderr.startswith("stepless: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("stepless: ").rstrip("\n")
