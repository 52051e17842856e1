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


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="What `stepless fit` wrote.")]
ZeroBased = Annotated[
    bool,
    typer.Option(
        "--zero-based", help="DATA counts features from 0; not needed if the model's data did."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing but errors.")]


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
    named = info.default  # the first of the words that typer.Option is given
    return named if isinstance(named, str) else f"--{parameter.name.replace('_', '-')}"


def _parameters(group: type) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )
