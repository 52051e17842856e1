"""Chains: shallow parsing beside CRFsuite, and letters of words beside letters by themselves.

CoNLL-2000: words and parts of speech within two positions (stepless.data.window_features), the
same names of features for both, ℓ₂ with CRFsuite's c2 = 1, which is α = 2/m. Its seconds are those
of `append` and `train` (L-BFGS, its own stopping rule); ours those of `fit`. F1 is conlleval's.

OCR: 128 pixels a letter, trained on folds 1 to 9, tested on fold 0. The strengths are those that
are best on fold 9 after training on folds 1 to 8.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
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
from stepless.data import read_columns, window_features
from stepless.report import chunk_scores

PATIENCE = 30.0  # seconds of one of our fits


# -- CoNLL-2000 -----------------------------------------------------------------------------------


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
    # sentences of (word, part of speech, chunk tag)
    train, test = (
        read_columns(ROOT / f"conll2000.{part}.txt.xz").sentences for part in ("train", "test")
    )
    X, X_test = ([window_features(s) for s in part] for part in (train, test))
    y, y_test = ([[token[2] for token in s] for s in part] for part in (train, test))
    rows: list[tuple[Any, ...]] = []

    def measure(name: str, fit: Callable[[], Any], predict: Callable[[], Any]) -> Any:
        began = process_time()
        taken, model = timed(fit)
        spent = process_time() - began
        passes, gap = getattr(model, "n_passes_", ""), getattr(model, "rel_gap_", "")
        rows.append((name, taken, spent, passes, gap, chunk_scores(y_test, predict()).f1))
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

    def words(*folds: int) -> tuple[list[NDArray], list[NDArray]]:
        at = np.flatnonzero(np.isin(fold, folds))
        return [X[i] for i in at], [y[i] for i in at]

    train, test = words(*range(1, 10)), words(0)
    part, held = words(*range(1, 9)), words(9)
    ChainClassifier(passes=3, gap=0.0).fit(train[0][:50], train[1][:50])  # compile
    rows = []
    for name, strengths, learn in (
        ("LinearSVC, a letter at a time, C", (1e-3, 1e-2, 1e-1, 1.0), _letter_by_letter),
        ("chain, crf, α", (1e-1, 1e-2, 1e-3, 1e-4), partial(_chain, "crf")),
        ("chain, hinge, α", (1e-1, 1e-2, 1e-3), partial(_chain, "hinge")),
    ):
        tried = {strength: learn(strength, *part)[0](*held) for strength in strengths}
        best = max(tried, key=lambda strength: tried[strength])
        taken, (score, gap) = timed(partial(learn, best, *train))
        rows.append((f"{name} = {best:g}", tried[best], score(*test), taken, gap))
        print(rows[-1], file=sys.stderr, flush=True)
    print(f"## OCR letters: {len(train[0])} words to learn from, strengths chosen on fold 9\n")
    table(("method", "right on fold 9", "on fold 0", "seconds of a fit", "certified gap"), rows)


Score = Callable[[list[NDArray], list[NDArray]], float]


def _letter_by_letter(C: float, X: list[NDArray], y: list[NDArray]) -> tuple[Score, Any]:
    svm = LinearSVC(C=C, dual=False).fit(np.vstack(X), np.concatenate(y))
    return lambda X, y: svm.score(np.vstack(X), np.concatenate(y)), ""


def _chain(loss: str, alpha: float, X: list[NDArray], y: list[NDArray]) -> tuple[Score, Any]:
    model = ChainClassifier(loss, alpha=alpha, gap=1e-2, seconds=PATIENCE).fit(X, y)
    return model.score, model.rel_gap_


def main() -> None:
    ocr()
    conll()


if __name__ == "__main__":
    main()
