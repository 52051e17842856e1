"""The pictures of docs/games.md, drawn by its own code."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

PAGE = Path(__file__).parents[1] / "docs" / "games.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


if __name__ == "__main__":
    draw(PAGE.parent / "pictures")
