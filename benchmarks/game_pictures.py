"""The pictures of docs/games.md, drawn by its own code, and its table of players."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

from stepless.games import PLAYERS

PAGE = Path(__file__).parents[1] / "docs" / "games.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\| name \| class \|.*?\n\n", re.MULTILINE | re.DOTALL)
_THEOREM = re.compile(r"^    Theorem +(.+?):", re.MULTILINE)
_PICTURE = re.compile(r"^!\[.*?\]\(pictures/(.*?)\)$", re.MULTILINE)


def draw(folder: Path) -> list[str]:
    """Run the page from top to bottom; save what a block draws as the picture that follows it."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")  # of whoever called
    text, drawn = PAGE.read_text(encoding="utf-8"), []
    scope: dict[str, object] = {"__name__": "page"}
    blocks = list(_BLOCK.finditer(text))
    ends = [block.start() for block in blocks[1:]] + [len(text)]
    for block, end in zip(blocks, ends, strict=True):
        exec(block[1], scope)
        if pyplot.get_fignums():
            picture = _PICTURE.search(text, block.end(), end)
            if picture is None:
                raise ValueError(f"{PAGE.name} does not show what this draws:\n{block[1]}")
            figure = pyplot.gcf()
            figure.set_size_inches(7.0, 4.0)
            figure.tight_layout()
            figure.savefig(folder / picture[1], dpi=110)
            pyplot.close("all")
            drawn.append(picture[1])
    if drawn != _PICTURE.findall(text):
        raise ValueError(f"{PAGE.name} shows {_PICTURE.findall(text)}, its code draws {drawn}")
    return drawn


def with_table(page: str) -> str:
    """Return the page with its table of players made anew from `PLAYERS` and their docstrings."""
    rows = ["| name | class | what it does | theorem |", "|---|---|---|---|"]
    for name, kind in PLAYERS.items():
        text = str(kind.__doc__)
        theorem = _THEOREM.search(text)
        if theorem is None:
            raise ValueError(f"the docstring of {kind.__name__} needs a line 'Theorem  …:'")
        cells = (f"`{name}`", f"`{kind.__name__}`", text.partition(".\n")[0], theorem[1])
        rows.append(f"| {' | '.join(cells)}{', in expectation' * kind.expected} |")
    table = "\n".join(rows) + "\n\n"
    return _TABLE.sub(lambda _: table, page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw(PAGE.parent / "pictures")
