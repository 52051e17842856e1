"""Remedies that the library gives, in the words of the shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote

from stepless.cli.fit_options import ProblemOptions, RunOptions
from stepless.cli.options import option_names

_OPTIONS = {
    **option_names(ProblemOptions),
    **option_names(RunOptions),
    "n_jobs": "--jobs",
    "random_state": "--seed",
}
_VALUE = r"'[^']*'|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|"
_PARAMETER = re.compile(rf"(?<![\w.(])({'|'.join(_OPTIONS)})=({_VALUE})")


def as_options(message: str) -> str:
    """Spell parameters as options of `stepless fit`.

    Examples
    --------
    >>> as_options("allow more passes=, accept gap=0.01, or use penalty='l2' or domain='ball(3)'")
    "allow more --passes, accept --gap 0.01, or use --penalty l2 or --domain 'ball(3)'"
    """
    message = message.replace("fit_intercept=False", "--no-intercept")
    return _PARAMETER.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    name, value = found[1], found[2].strip("'")
    return f"{_OPTIONS[name]} {quote(value)}" if value else _OPTIONS[name]


@contextmanager
def remedies_as_options() -> Iterator[None]:
    """Spell the parameters of an error as options."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(as_options(str(error))) from error
