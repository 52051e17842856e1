"""`stepless warm`: compile ahead what fits compile when they first need it."""

from __future__ import annotations

from typing import Annotated

import typer

from stepless.cli.sentences import sentences


def warm(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing but errors.")] = False,
) -> None:
    """Compile the common losses and models ahead, for all later processes of this machine.

    Takes some minutes, once: for images of containers, and wherever a
    first fit must not wait. The code is kept where NUMBA_CACHE_DIR says,
    else beside the library or in the user's cache.
    """
    with sentences("what was compiled is kept"):
        from stepless.cli.outputs import put
        from stepless.cli.progress import line, live_line
        from stepless.cli.warming import run, tasks
        from stepless.compile_time import COMPILED
        from stepless.report.text import counted, duration

        todo = tasks()
        with live_line(not quiet, "compiling") as live:
            for k, (name, task) in enumerate(todo.items(), 1):
                if live is not None:
                    live.update(line(f"{k} of {len(todo)}: {name}"))
                run(task)
        if not quiet:
            new = "nothing is left to compile"
            if COMPILED.functions:
                functions = counted(COMPILED.functions, "function")
                new = f"compiled {functions} in {duration(COMPILED.seconds)}"
            put(f"{new}; fits of the common losses and models start at once")
