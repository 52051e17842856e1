"""The pictures of docs/games.md, drawn by its own code."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

PAGE = Path(__file__).parents[1] / "docs" / "games.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"^!\[.*?\]\((.*?)\)$", re.MULTILINE)


def main() -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    text, names = PAGE.read_text(), {}
    scope: dict[str, object] = {"__name__": "page"}
    blocks = list(_BLOCK.finditer(text))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        exec(block[1], scope)  # the page's own code, in order
        end = len(text) if after is None else after.start()
        picture = _PICTURE.search(text, block.end(), end)
        if pyplot.get_fignums():
            assert picture is not None, f"nothing shows what this draws:\n{block[1]}"
            figure = pyplot.gcf()
            figure.set_size_inches(7.0, 4.0)
            figure.tight_layout()
            figure.savefig(PAGE.parent / picture[1], dpi=110)
            names[picture[1]] = figure
            pyplot.close("all")
    missing = set(_PICTURE.findall(text)) - names.keys()
    assert not missing, f"no code draws {missing}"


if __name__ == "__main__":
    main()
