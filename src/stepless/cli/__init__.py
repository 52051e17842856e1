"""The command line: one file a command, calling estimators and report."""

from stepless.cli.app import app, main

__all__ = ["app", "main"]
