"""Small files of every format that commands read, good ones and bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROWS = 60


def write() -> None:
    """Write all of them here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4)).round(2)
    sides = np.where(X[:, 0] + 0.3 * rng.normal(size=ROWS) > 0, 1, -1).tolist()
    thirds = np.digitize(X[:, 0], [-0.5, 0.5]).tolist()
    words = ["uvw"[i % 3] for i in range(ROWS)]
    texts = {
        "two.svm": _svmlight(X, sides),
        "three.svm": _svmlight(X, thirds),
        "number.svm": _svmlight(X, X[:, 1].tolist()),
        "query.svm": _svmlight(X, [f"{y} qid:{i // 10}" for i, y in enumerate(thirds)]),
        "one_label.svm": _svmlight(X, [1] * ROWS),
        "large.svm": _svmlight(X * 1e60, sides),
        "huge.svm": _svmlight(X * 1e200, sides),
        "tiny.svm": _svmlight(X * 1e-200, sides),
        "names.svm": "1 good film\n-1 bad film\n" * 30,
        "bare.svm": "0\n1\n" * 5,
        "bad.svm": "1 0:1\n-1 2:\x1b[31m\n",
        "bytes.svm": "".join(map(chr, range(256))),
        "empty.svm": "",
        "tags.txt": "He PRP B\nreckons VBZ I\n\nthe DT B\ndeal NN I\n. . O\n\n" * 5,
        "table.csv": _csv("a,b,y", X[:, 0], words, ["pq"[y > 0] for y in sides]),
        "other.csv": _csv("a,c\x1b[31m,y", X[:, 0], words, ["p\x1b", "q"] * 30),
        "number.csv": _csv("a,b,y", X[:, 0], words, X[:, 1]),
        "prices.csv": _csv("date,A,B\x1b", words, np.abs(X[:, 0]) + 1, np.abs(X[:, 1]) + 1),
        "weights": "1\n" * ROWS,
        "bad_weights": "1\nx\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)


def _svmlight(X, labels) -> str:
    rows = [" ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) for row in X.tolist()]
    return "".join(f"{y} {row}\n" for y, row in zip(labels, rows, strict=True))


def _csv(header: str, *columns) -> str:
    rows = zip(*columns, strict=True)
    return f"{header}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
