"""The command line: one file per command, calling estimators and report."""

from stepless.cli.app import app, main

__all__ = ["app", "main"]
