"""Classes as targets of one run or of several, and the weights that such runs have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stepless.arrays import AnyArray, Array
from stepless.objective import Loss


def positives(classes: AnyArray) -> AnyArray:
    """The class that each run sets against the rest; two classes need but one run."""
    return classes[1:] if len(classes) == 2 else classes


def coded(y: AnyArray, classes: AnyArray, loss: Loss) -> Iterator[tuple[str, Array]]:
    """What each run is called, and its targets: all classes at once for a joint loss, else signs.

    Examples
    --------
    >>> from stepless.objective import Hinge
    >>> for label, targets in coded(np.array([3, 5, 4]), np.array([3, 4, 5]), Hinge()):
    ...     print(label, targets)
    class 3:  [ 1. -1. -1.]
    class 4:  [-1. -1.  1.]
    class 5:  [-1.  1. -1.]
    """
    if loss.outputs() > 1:
        yield "", np.searchsorted(classes, y).astype(float)
        return
    for positive in positives(classes):
        label = f"class {positive}: " if len(classes) > 2 else ""
        yield label, np.where(y == positive, 1.0, -1.0)


def named_positives(classes: AnyArray) -> list[str]:
    """The classes that are set against the rest, each as a warning names it."""
    return [f"class {positive}" for positive in positives(classes)]


def most_plausible(z: Array, classes: AnyArray) -> AnyArray:
    """The class of each decision: of two by its sign, of more by the largest."""
    return classes[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)]


def columns(coef: Array, intercepts: Array, loss: Loss) -> list[tuple[Array, Any]]:
    """Weights and intercepts of each run, from those of a model."""
    if loss.outputs() > 1:
        return [(coef.T.ravel(), intercepts)]
    return list(zip(coef, intercepts.tolist(), strict=True))


def rows(found: list[tuple[AnyArray, Any]], loss: Loss) -> tuple[AnyArray, Array]:
    """Weights of a model, one row per class or one for two, and intercepts, from those of runs."""
    K = loss.outputs()
    if K == 1:
        return np.array([w for w, _ in found]), np.array([b for _, b in found], dtype=float)
    [(w, b)] = found
    return np.ascontiguousarray(w.reshape(-1, K).T), np.array(np.broadcast_to(b, K), dtype=float)
