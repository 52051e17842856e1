"""Control characters of files, where people read."""

import json

import pytest

from stepless.report.strict_json import strict_json
from stepless.visible import visible

HIDDEN = ["\x1b[31m", "\x07", "\x9b2J", "\r", "\n", "\t", "\x7f", "\u202e", "\u2028", "\udcff"]


@pytest.mark.parametrize("text", HIDDEN)
def test_nothing_is_hidden(text):
    shown = visible(f"a{text}b")
    assert shown.isprintable()
    assert shown.startswith("a\\")
    document = strict_json({"name": text, text: 1}, indent=1)
    assert all(line.isprintable() for line in document.split("\n"))
    assert json.loads(document) == {"name": text, text: 1}


def test_letters_of_all_kinds_stay():
    assert visible("größe ≤ λ 漢字 \\x1b 'a'") == "größe ≤ λ 漢字 \\x1b 'a'"
    assert strict_json("größe \\ λ") == '"größe \\\\ λ"'
