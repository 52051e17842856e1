"""The command line: one file per command, calling estimators and report."""

from stepless.cli.app import app as app, main as main
