"""Chains: shallow parsing beside CRFsuite, and letters of words beside letters by themselves.

CoNLL-2000: words and parts of speech within two positions (stepless.data.window_features), the
same names of features for both, ℓ₂ with CRFsuite's c2 = 1, which is α = 2/m. Its seconds are those
of `append` and `train` (L-BFGS, its own stopping rule); ours those of `fit`. F1 is conlleval's.

OCR: 128 pixels a letter, trained on folds 1 to 9, tested on fold 0.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pycrfsuite
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from benchmarks.datasets import ROOT
from benchmarks.tables import table, timed
from stepless import ChainClassifier
from stepless.data.templates import window_features

Sentence = list[list[str]]


# -- CoNLL-2000 -----------------------------------------------------------------------------------


def sentences(part: str) -> list[Sentence]:
    """Sentences of (word, part of speech, chunk tag)."""
    with lzma.open(ROOT / f"conll2000.{part}.txt.xz", "rt") as file:
        blocks = file.read().strip().split("\n\n")
    return [[line.split() for line in block.split("\n")] for block in blocks]


def chunks(tags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Chunks that tags B-X, I-X and O say there are, as conlleval reads them."""
    begin, kind = 0, "O"
    for t, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        if kind != "O" and (mark in "BO" or name != kind):
            yield kind, begin, t
            kind = "O"
        if mark != "O" and kind == "O":
            begin, kind = t, name


def chunk_f1(truth: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> float:
    """Harmonic mean of the precision and recall of whole chunks."""
    right = there = said = 0
    for a, b in zip(truth, found, strict=True):
        own, ours = set(chunks(a)), set(chunks(b))
        right, there, said = right + len(own & ours), there + len(own), said + len(ours)
    return 2.0 * right / (there + said)


def _crfsuite(X: Any, y: Any, path: Path) -> None:
    trainer = pycrfsuite.Trainer(verbose=False)
    for features, tags in zip(X, y, strict=True):
        trainer.append(features, tags)
    trainer.set_params({"c2": 1.0})
    trainer.train(str(path))


def _tags(path: Path, X: Any) -> list[list[str]]:
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return [tagger.tag(features) for features in X]


def conll() -> None:
    train, test = sentences("train"), sentences("test")
    X, X_test = ([window_features(s) for s in part] for part in (train, test))
    y, y_test = ([[token[2] for token in s] for s in part] for part in (train, test))
    rows: list[tuple[Any, ...]] = []

    def measure(name: str, fit: Callable[[], Any], predict: Callable[[], Any]) -> Any:
        began = process_time()
        taken, model = timed(fit)
        spent = process_time() - began
        passes, gap = getattr(model, "n_passes_", ""), getattr(model, "rel_gap_", "")
        rows.append((name, taken, spent, passes, gap, chunk_f1(y_test, predict())))
        print(rows[-1], file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        measure("CRFsuite", partial(_crfsuite, X, y, path), lambda: _tags(path, X_test))
    ChainClassifier(passes=3, gap=0.0).fit(X[:20], y[:20])  # compile
    for gap in (1e-1, 1e-2, 1e-3):
        model = ChainClassifier(alpha=2.0 / len(X), gap=gap)
        measure(f"fit, gap = {gap:g}", partial(model.fit, X, y), partial(model.predict, X_test))
    stream = ChainClassifier(alpha=2.0 / len(X))
    stream.partial_fit(X[:2], y[:2], sorted({tag for tags in y for tag in tags}))  # compile
    for p in range(1, 4):
        learn = partial(stream.partial_fit, X, y)
        measure(f"partial_fit, pass {p}", learn, partial(stream.predict, X_test))
    print(f"## CoNLL-2000: {len(X)} sentences, c2 = 1\n")
    table(("", "seconds", "of processors", "passes", "certified gap", "chunk F1"), rows)


# -- OCR ------------------------------------------------------------------------------------------


def letters() -> tuple[list[NDArray], list[NDArray], NDArray]:
    """Pixels and letters of each word, and its fold."""
    data = np.load(ROOT / "ocr-letters.npz")
    pixels = np.unpackbits(data["pixels_packed"], axis=1)[:, :128].astype(float)
    ends = np.cumsum(data["word_length"])[:-1]
    fold = data["fold"]
    if len(fold) == len(pixels):  # a letter each
        fold = fold[np.concatenate([[0], ends])]
    return np.split(pixels, ends), np.split(data["labels"], ends), fold


def ocr() -> None:
    X, y, fold = letters()
    train, test = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    X_train, y_train = [X[i] for i in train], [y[i] for i in train]
    X_test, y_test = [X[i] for i in test], [y[i] for i in test]
    flat = np.vstack(X_train), np.concatenate(y_train)
    rows = []
    for C in (0.01, 0.1):
        taken, svm = timed(partial(LinearSVC(C=C, dual=False).fit, *flat))
        right = svm.score(np.vstack(X_test), np.concatenate(y_test))
        rows.append((f"LinearSVC, a letter at a time, C = {C:g}", taken, right, ""))
    ChainClassifier(passes=3, gap=0.0).fit(X_train[:50], y_train[:50])  # compile
    for loss, alpha, gap in (("crf", 1e-3, 1e-3), ("crf", 1e-2, 1e-3), ("hinge", 1e-2, 1e-2)):
        model = ChainClassifier(loss, alpha=alpha, gap=gap)
        taken, _ = timed(partial(model.fit, X_train, y_train))
        right = model.score(X_test, y_test)
        rows.append((f"chain, {loss}, α = {alpha:g}", taken, right, model.rel_gap_))
    print(f"## OCR letters: {len(train)} words, {len(flat[0])} letters to learn from\n")
    table(("method", "seconds", "letters right", "certified gap"), rows)


def main() -> None:
    ocr()
    conll()


if __name__ == "__main__":
    main()
