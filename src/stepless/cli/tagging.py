"""Sentences in columns, as the commands that tag need them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stepless.cli.source import called, source
from stepless.data import Columns, DataError, column_features, read_columns
from stepless.registry import UnknownName
from stepless.visible import visible

_TEMPLATE = "columns"  # a model file says which features its weights are of
_TEMPLATES = {_TEMPLATE: column_features}


def read_tagged(path: Path) -> tuple[Columns, dict[str, Any]]:
    """Read sentences, the last column of which is the tag, and how to read more like them."""
    columns = read_columns(source(path))
    if columns.width == 1:
        raise DataError(f"{called(path)}: has one column, but a word and, last, its tag are needed")
    return columns, {"template": _TEMPLATE, "columns": columns.width}


def read_for_tagger(path: Path, about: dict[str, Any], labelled: bool) -> Columns:
    """Read sentences as the model's own were read; their tags may be absent, if not `labelled`."""
    columns, known = read_columns(source(path)), about["columns"]
    if columns.width == known or (columns.width == known - 1 and not labelled):
        return columns
    or_less = "" if labelled else f", or {known - 1} without tags"
    raise DataError(
        f"{called(path)}: has {columns.width} columns, but the model's sentences have {known}"
        f"{or_less}"
    )


def inputs_of(columns: Columns, about: dict[str, Any]) -> list[list[list[str]]]:
    """Features of each word, as the model's own words have them."""
    template, known = _TEMPLATES[about["template"]], about["columns"] - 1
    return [template([token[:known] for token in s]) for s in columns.sentences]


def tags_of(columns: Columns) -> list[list[str]]:
    """The last column."""
    return [[token[-1] for token in s] for s in columns.sentences]


def with_tags(columns: Columns, tags: Iterable[Iterable[Any]]) -> str:
    """The lines of a file, each with its tag as one more column."""
    text = []
    for sentence, found in zip(columns.sentences, tags, strict=True):
        rows = (
            columns.divider.join([*token, visible(tag)])
            for token, tag in zip(sentence, found, strict=True)
        )
        text.append("".join(f"{row}\n" for row in rows))
    return "\n".join(text)


def check_template(about: dict[str, Any]) -> None:
    """Raise ValueError where a model file does not say sensibly how its sentences were read."""
    name, width = about["template"], about["columns"]
    if name not in list(_TEMPLATES):
        raise UnknownName("template", str(name), _TEMPLATES)
    if type(width) is not int or width < 2:
        raise ValueError(f"sentences of {width!r} columns")
