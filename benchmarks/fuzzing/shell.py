"""Commands run in process, and what holds of every one of them."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from stepless.cli import app

CODES = (0, 1, 2, 3, 130)


def shell(arguments: list[str], stdin: bytes = b"") -> Any:
    """Run a command; return its result, having seen that it ended as commands may end."""
    result = CliRunner().invoke(app, arguments, input=stdin)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit | BrokenPipeError):
        raise error
    refuse_end(result.exit_code, result.stderr)
    return result


def refuse_end(code: int, stderr: str) -> None:
    """Raise AssertionError where a command ended with another code, or without its sentence."""
    assert code in CODES, f"exit code {code}: {stderr}"
    assert "Traceback" not in stderr, stderr
    said = [line for line in stderr.splitlines() if line.startswith("stepless: ")]
    said = [line for line in said if not line.startswith("stepless: note")]
    assert code != 1 or len(said) == 1, f"bad input, but {len(said)} sentences say so: {stderr}"


def refuse_controls(text: str) -> None:
    """Raise AssertionError where text would do something to a terminal."""
    found = [c for c in text if (c < " " and c not in "\n\t\r") or c in "\x7f\x9b\u202e"]
    assert not found, f"control characters are printed: {found[:5]}"
