"""`stepless warm`: compile in advance what fits compile when they first need it."""

from __future__ import annotations

from dataclasses import dataclass

from stepless.cli.errors import errors_as_messages
from stepless.cli.options import grouped, option


@dataclass(frozen=True, kw_only=True)
class WarmOptions:
    """The options of `stepless warm`."""

    quiet: bool = option(False, "Write nothing but errors.", None, "--quiet", "-q")


@grouped
def warm(options: WarmOptions) -> None:
    """Compile the common losses and models in advance, for all later processes on this machine.

    Takes some minutes, once: for container images, and wherever a
    first fit must not wait. The code is kept in NUMBA_CACHE_DIR,
    else beside the library or in the user's cache.
    """
    with errors_as_messages("what was compiled is kept"):
        from stepless.cli.outputs import write_text
        from stepless.cli.progress import line, live_line
        from stepless.cli.warm_tasks import run_task, warm_tasks
        from stepless.compile_time import COMPILED
        from stepless.report.text import counted, duration

        todo = warm_tasks()
        with live_line(not options.quiet, "compiling") as live:
            for k, (name, task) in enumerate(todo.items(), 1):
                if live is not None:
                    live.update(line(f"{k} of {len(todo)}: {name}"))
                run_task(task)
        if not options.quiet:
            new = "everything is compiled already"
            if COMPILED.functions:
                functions = counted(COMPILED.functions, "function")
                new = f"compiled {functions} in {duration(COMPILED.seconds)}"
            write_text(f"{new}; fits of the common losses and models start at once")
