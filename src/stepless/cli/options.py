"""Options of commands as fields of dataclasses, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, field, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

STDOUT = Path("/dev/stdout")


def output_path(text: str) -> Path:
    """Return the path that an option names; "-" means standard output."""
    return STDOUT if text == "-" else Path(text)


def option(default: Any, help: str, metavar: str | None, *names: str, **more: Any) -> Any:
    """Return a field that is an option of the shell; a flag has no `metavar`, and must be named."""
    info = typer.Option(*names, metavar=metavar, help=help, **more)
    return field(default=default, metadata={"typer": info})


def argument(metavar: str, help: str) -> Any:
    """Return a field that is a positional argument of the shell."""
    return field(metadata={"typer": typer.Argument(metavar=metavar, help=help)})


def model_argument() -> Any:
    """Return the argument MODEL."""
    return argument("MODEL", "What `stepless fit` wrote.")


def zero_based_option() -> Any:
    """Return the option --zero-based of commands that read a model."""
    text = "DATA counts features from 0; not needed if the model's data did."
    return option(False, text, None, "--zero-based")


def json_option() -> Any:
    """Return the option --json."""
    return option(False, "Write one JSON document.", None, "--json")


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function whose parameters are dataclasses of options.

    Typer sees one option per field, in the order of the fields; the function is called with the
    dataclasses.
    """
    groups = {name: group for name, group in get_type_hints(command).items() if name != "return"}

    def call(**given: object) -> None:
        command(
            **{
                name: group(**{part.name: given[part.name] for part in fields(group)})
                for name, group in groups.items()
            }
        )

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    parameters = [parameter for group in groups.values() for parameter in _parameters(group)]
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return call


def given_options(group: Any) -> list[str]:
    """Return the names of the options of a group that differ from their defaults."""
    return [
        option_name(parameter)
        for parameter in _parameters(type(group))
        if getattr(group, parameter.name) != parameter.default
    ]


def option_name(parameter: Parameter) -> str:
    """Return the long name under which the shell knows a parameter of a command."""
    [info] = parameter.annotation.__metadata__
    first = info.default  # of the names that typer.Option is given
    return first if isinstance(first, str) else f"--{parameter.name.replace('_', '-')}"


def option_names(group: type) -> dict[str, str]:
    """Return the long name of each option of a group, by its field."""
    return {parameter.name: option_name(parameter) for parameter in _parameters(group)}


def _parameters(group: type) -> Iterator[Parameter]:
    hints = get_type_hints(group)
    for part in fields(group):
        default = Parameter.empty if part.default is MISSING else part.default
        kind = hints[part.name]
        annotation = Annotated[kind, part.metadata["typer"]]  # type: ignore[valid-type]
        yield Parameter(part.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
