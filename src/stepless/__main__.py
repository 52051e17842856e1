"""The command, as `python -m stepless`."""

from stepless.cli import main

main()
