"""Options of commands as fields of dataclasses, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

STDOUT = Path("/dev/stdout")


def output_path(text: str) -> Path:
    """Return the path that an option names; "-" means standard output."""
    return STDOUT if text == "-" else Path(text)


def argument(metavar: str, help: str) -> Any:
    """Describe a positional argument of the shell."""
    return typer.Argument(metavar=metavar, help=help)


def option(help: str, metavar: str | None, *names: str, **more: Any) -> Any:
    """Describe an option of the shell; a flag has no `metavar`, and must be named."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


ModelFile = Annotated[Path, argument("MODEL", "What `stepless fit` wrote.")]
ZeroBased = Annotated[
    bool,
    option(
        "DATA counts features from 0; not needed if the model's data did.", None, "--zero-based"
    ),
]
Json = Annotated[bool, option("Write one JSON document.", None, "--json")]
Quiet = Annotated[bool, option("Write nothing but errors.", None, "--quiet", "-q")]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function whose parameters are dataclasses of options.

    Typer sees one option per field, in the order of the fields, each annotated with its
    `typer.Option` or `typer.Argument`; the function is called with the dataclasses.
    """
    groups = {name: group for name, group in get_type_hints(command).items() if name != "return"}

    def call(**given: object) -> None:
        command(
            **{
                name: group(**{field.name: given[field.name] for field in fields(group)})
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


def _parameters(group: type) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )
