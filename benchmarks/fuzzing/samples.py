"""Small files of every format that commands read, good ones and bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROWS = 60


def write(folder: Path) -> None:
    """Write all of them into a folder."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4)).round(2)
    sides = np.where(X[:, 0] + 0.3 * rng.normal(size=ROWS) > 0, 1, -1).tolist()
    thirds = np.digitize(X[:, 0], [-0.5, 0.5]).tolist()
    words = ["uvw"[i % 3] for i in range(ROWS)]
    texts = {
        "two.svm": svmlight(X, sides),
        "three.svm": svmlight(X, thirds),
        "number.svm": svmlight(X, X[:, 1].round(1).tolist()),
        "query.svm": svmlight(X, [f"{y} qid:{i // 10}" for i, y in enumerate(thirds)]),
        "one_label.svm": svmlight(X, [1] * ROWS),
        "large.svm": svmlight(X * 1e60, sides),
        "huge.svm": svmlight(X * 1e200, sides),
        "tiny.svm": svmlight(X * 1e-200, sides),
        "from_zero.svm": svmlight(X, sides, first=0),
        "names.svm": "1 good film\n-1 bad film\n" * 30,
        "bare.svm": "1\n-1\n" * 5,
        "bad.svm": "1 1:1\n-1 2:x\n",
        "escape.svm": "1 1:\x1b[31m\n",
        "empty.svm": "",
        "tags.txt": "He PRP B\nreckons VBZ I\n\nthe DT B\ndeal NN I\n. . O\n\n" * 5,
        "table.csv": csv("a,b,y", zip(X[:, 0], words, ["pq"[y > 0] for y in sides], strict=True)),
        "other.csv": csv("a,c,y", zip(X[:, 0], words, sides, strict=True)),
        "number.csv": csv("a,b,y", zip(X[:, 0], words, X[:, 1], strict=True)),
        "escape.csv": csv("a,b\x1b[31m,y", zip(X[:, 0], words, ["p\x1b", "q"] * 30, strict=True)),
        "prices.csv": csv("date,A,B\x1b", ((f"d{t}", 1 + t % 3, 1 + t % 2) for t in range(9))),
        "weights": "1\n" * ROWS,
        "bad_weights": "1\nx\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "bytes.svm").write_bytes(bytes(range(256)))


def svmlight(X, labels, first: int = 1) -> str:
    """Write rows as svmlight text."""
    rows = [" ".join(f"{j}:{v!r}" for j, v in enumerate(row, first)) for row in X.tolist()]
    return "".join(f"{y} {row}\n" for y, row in zip(labels, rows, strict=True))


def csv(header: str, rows) -> str:
    """Write rows as a table."""
    return f"{header}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
