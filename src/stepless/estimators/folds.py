"""Folds of examples: those that each learns, and those that it leaves out."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from stepless.arguments import brief
from stepless.arrays import AnyArray, Array, Indices
from stepless.data import Source, Store
from stepless.estimators.multiclass import source_per_run
from stepless.objective import Loss
from stepless.warning import warn


class Examples(NamedTuple):
    """Examples to be cut into folds; of a classifier, their targets are places in `classes`."""

    source: Source
    classes: AnyArray | None = None
    groups: ArrayLike | None = None
    X: Any = None  # as it was given: an array, a frame, a store

    def per_run(self, source: Source, loss: Loss) -> list[Source]:
        """Return some of these examples, or all, as each run takes them."""
        if self.classes is None:
            return [source]
        return [run for _, run in source_per_run(source, self.classes, loss)]

    def labels(self, source: Source) -> AnyArray:
        """Return the labels, or numbers, of some of these examples."""
        if self.classes is None:
            return source.y
        found: AnyArray = self.classes[source.y.astype(np.intp)]
        return found


class Fold(NamedTuple):
    """The rows that a fold learns, and those that it leaves out."""

    learned: Indices
    left_out: Indices

    def sources(self, examples: Source, threads: int) -> tuple[Source, Source]:
        """Return both parts.

        Rows in memory are copied, so that no pass goes over others. Of rows on a disk nothing is:
        those of the other part have weight 0.
        """
        return _part(examples, self.learned, threads), _part(examples, self.left_out, threads)


def folds_of(cv: Any, examples: Examples, seed: int) -> list[Fold]:
    """Return the folds of a number, a splitter, or pairs of arrays.

    Each learns examples of every class, and leaves out some; weights of 0 do not count.
    """
    source, classes, groups, X = examples
    m, y = source.shape[0], examples.labels(source)
    if groups is not None and np.shape(groups) != (m,):
        raise ValueError(
            f"groups must name the group of each of {m} examples, and have shape {np.shape(groups)}"
        )
    if counted := isinstance(cv, Integral):
        _refuse_many(int(cv), examples)
        splitter = _splitter(int(cv), classes is not None, groups is not None, seed)
    else:
        splitter = check_cv(list(cv) if isinstance(cv, tuple) else cv)
    X = np.zeros((m, 1)) if isinstance(X, Store) else source.X.matrix()
    with warnings.catch_warnings():
        if counted:  # `_refuse_many` has warned, with a remedy
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = enumerate(_split(splitter, X, y, groups), 1)
    folds = [Fold(*(_rows(rows, m, f"fold {k}") for rows in pair)) for k, pair in parts]
    if not folds:
        raise ValueError("cv yields no folds")
    for k, fold in enumerate(folds, 1):
        _refuse_lacking(f"fold {k} of {len(folds)}", fold, examples)
    return folds


def _splitter(count: int, classify: bool, grouped: bool, seed: int) -> Any:
    kinds = {
        (True, True): StratifiedGroupKFold,
        (True, False): StratifiedKFold,
        (False, True): GroupKFold,
        (False, False): KFold,
    }
    return kinds[classify, grouped](count, shuffle=True, random_state=seed)


def _split(splitter: Any, X: Any, y: AnyArray, groups: ArrayLike | None) -> list[Any]:
    """Return the pairs of a splitter; refuse in one sentence what it refuses."""
    routing = getattr(splitter, "get_metadata_routing", None)
    if groups is None and routing is not None and routing().split.requests.get("groups") is True:
        raise ValueError(
            f"cv={brief(splitter)} keeps groups together: give their names to fit, as groups="
        )
    try:
        return list(splitter.split(X, y, groups))
    except ValueError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"cv={brief(splitter)} cannot cut these examples: {reason}") from error


def _refuse_many(count: int, examples: Examples) -> None:
    """Refuse more folds than can be filled; warn of a class with fewer examples."""
    source, classes, groups, _ = examples
    there = {"examples": source.shape[0]}
    if groups is not None:
        there["groups"] = len(np.unique(np.asarray(groups)))
    if classes is not None:
        known = source.y[source.s > 0.0].astype(np.intp)
        members = np.bincount(known, minlength=len(classes))
        there["examples of any class"] = int(members.max())
        rare = int(members.argmin())
    what, most = min(there.items(), key=lambda item: item[1])
    if count > most:
        fewer = f"use CrossValidation(cv={most}) or fewer, or " if most > 1 else ""
        raise ValueError(
            f"{count} folds are more than there are {what}, {most}: {fewer}give alpha a number"
        )
    if classes is None or (least := int(members[rare])) >= count:
        return
    if least < 2:
        raise ValueError(
            f"class {classes[rare]} has one example, of which the fold that scores it would learn "
            "none: leave the class out, or give alpha a number"
        )
    warn(
        f"class {classes[rare]} has {least} examples, fewer than the {count} folds, of which some "
        f"score none of it: use CrossValidation(cv={least}) or fewer"
    )


def _rows(given: Any, m: int, name: str) -> Indices:
    rows = np.asarray(given)
    if rows.dtype == np.bool_ and rows.shape == (m,):
        rows = np.flatnonzero(rows)
    whole = rows.ndim == 1 and (rows.size == 0 or np.issubdtype(rows.dtype, np.integer))
    if not whole or (rows.size and not 0 <= rows.min() <= rows.max() < m):
        raise ValueError(f"{name}: cv must yield pairs of arrays of rows, from 0 to {m - 1}")
    return rows.astype(np.intp)


def _refuse_lacking(name: str, fold: Fold, examples: Examples) -> None:
    source, classes = examples.source, examples.classes
    learned, left_out = ((source.y[rows], source.s[rows]) for rows in fold)
    if not (left_out[1] > 0.0).any():
        raise ValueError(f"{name} leaves out no example of any weight: nothing is scored")
    y = learned[0][learned[1] > 0.0]
    if classes is None:
        if not y.size:
            raise ValueError(f"{name} learns no example of any weight")
        return
    lacking = np.setdiff1d(np.arange(len(classes)), y)
    if lacking.size:
        raise ValueError(
            f"{name} learns no example of class {classes[lacking[0]]}: use fewer folds, or a "
            "splitter that leaves some in each"
        )


def _part(examples: Source, rows: Indices, threads: int) -> Source:
    if examples.home.slow:
        s: Array = np.bincount(rows, minlength=examples.shape[0]) * examples.s
        return Source(examples.home, examples.split(examples.y), s, threads)
    kept = rows[examples.s[rows] > 0.0]
    return Source(examples.X.take(kept), examples.y[kept], examples.s[kept], threads)
