"""Sentences in columns, as the commands that tag need them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stepless.data import Columns, DataError, column_features, read_columns
from stepless.registry import UnknownName

_TEMPLATE = "columns"  # a model file says which features its weights are of
_TEMPLATES = {_TEMPLATE: column_features}

Tags = list[list[str]]


def read_tagged(path: Path) -> tuple[Any, Tags, dict[str, Any]]:
    """Read sentences, the last column of which is the tag: features, tags, and how to read more."""
    columns = read_columns(path)
    if columns.width == 1:
        raise DataError(f"{path}: has one column, but a word and, last, its tag are needed")
    about = {"template": _TEMPLATE, "columns": columns.width}
    return *_features(columns, about), about


def read_for_tagger(path: Path, about: dict[str, Any], labelled: bool) -> tuple[Any, Tags]:
    """Read sentences as the model's own were read; their tags may be absent, if not `labelled`."""
    columns, known = read_columns(path), about["columns"]
    if columns.width == known or (columns.width == known - 1 and not labelled):
        return _features(columns, about)
    or_less = "" if labelled else f", or {known - 1} without tags"
    raise DataError(
        f"{path}: has {columns.width} columns, but the model's sentences have {known}{or_less}"
    )


def with_tags(path: Path, tags: Iterable[Iterable[Any]]) -> str:
    """The lines of a file, each with its tag as one more column."""
    columns = read_columns(path)
    text = []
    for sentence, found in zip(columns.sentences, tags, strict=True):
        rows = (
            columns.divider.join([*token, tag]) for token, tag in zip(sentence, found, strict=True)
        )
        text.append("".join(f"{row}\n" for row in rows))
    return "\n".join(text)


def _features(columns: Columns, about: dict[str, Any]) -> tuple[Any, Tags]:
    if about["template"] not in _TEMPLATES:
        raise UnknownName("template", str(about["template"]), _TEMPLATES)
    template, inputs = _TEMPLATES[about["template"]], about["columns"] - 1
    X = [template([token[:inputs] for token in s]) for s in columns.sentences]
    return X, [[token[-1] for token in s] for s in columns.sentences]
