"""Sentences in columns, for the commands that tag."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stepless.cli.inputs import input_name, input_of
from stepless.data import Columns, DataError, column_features, read_columns
from stepless.registry import UnknownName
from stepless.visible import visible

_TEMPLATE = "columns"  # a model file names the features of its weights
_TEMPLATES = {_TEMPLATE: column_features}


def read_tagged(path: Path) -> tuple[Columns, dict[str, Any]]:
    """Read sentences whose last column is the tag; return also the facts to read more like them."""
    columns = read_columns(input_of(path))
    if columns.width == 1:
        raise DataError(
            f"{input_name(path)}: has one column, but a word and, last, its tag are needed"
        )
    return columns, {"template": _TEMPLATE, "columns": columns.width}


def read_for_tagger(path: Path, about: dict[str, Any], labelled: bool) -> Columns:
    """Read sentences as the model's own were read; unless `labelled`, tags may be absent."""
    columns, known = read_columns(input_of(path)), about["columns"]
    if columns.width == known or (columns.width == known - 1 and not labelled):
        return columns
    or_less = "" if labelled else f", or {known - 1} without tags"
    raise DataError(
        f"{input_name(path)}: has {columns.width} columns, but the model's sentences have {known}"
        f"{or_less}"
    )


def inputs_of(columns: Columns, about: dict[str, Any]) -> list[list[list[str]]]:
    """Return the features of each word, as the model's own words have them."""
    template, known = _TEMPLATES[about["template"]], about["columns"] - 1
    return [template([token[:known] for token in s]) for s in columns.sentences]


def tags_of(columns: Columns) -> list[list[str]]:
    """Return the last column."""
    return [[token[-1] for token in s] for s in columns.sentences]


def with_tags(columns: Columns, tags: Iterable[Iterable[object]]) -> str:
    """Return the lines of a file, each with its tag as one more column."""
    text = []
    for sentence, found in zip(columns.sentences, tags, strict=True):
        rows = (
            columns.divider.join([*token, visible(str(tag))])
            for token, tag in zip(sentence, found, strict=True)
        )
        text.append("".join(f"{row}\n" for row in rows))
    return "\n".join(text)


def check_template(about: dict[str, Any]) -> None:
    """Raise ValueError if a model file does not make sense of how its sentences were read."""
    name, width = about["template"], about["columns"]
    if name not in list(_TEMPLATES):
        raise UnknownName("template", str(name), _TEMPLATES)
    if type(width) is not int or width < 2:
        raise ValueError(f"sentences of {width!r} columns")
