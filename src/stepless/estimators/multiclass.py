"""Classes as targets of one run or of several, and the weights of those runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stepless.arrays import AnyArray, Array, Indices
from stepless.compiled.light import light
from stepless.data import Block, Source
from stepless.objective import Loss

T = TypeVar("T", bound=np.generic)
Point = tuple[Array, float | Array]  # weights, and one intercept or one per class


def positive_classes(classes: AnyArray) -> AnyArray:
    """Return the class that each run sets against the rest; two classes need one run only."""
    return classes[1:] if len(classes) == 2 else classes


def targets_per_run(y: AnyArray, classes: AnyArray, loss: Loss) -> Iterator[tuple[str, Array]]:
    """Yield the label and the targets of each run: class numbers for a joint loss, else signs.

    Examples
    --------
    >>> from stepless.objective import Hinge
    >>> for label, targets in targets_per_run(np.array([3, 5, 4]), np.array([3, 4, 5]), Hinge()):
    ...     print(label, targets)
    class 3:  [ 1. -1. -1.]
    class 4:  [-1. -1.  1.]
    class 5:  [-1.  1. -1.]
    """
    if loss.outputs() > 1:
        yield "", np.searchsorted(classes, y).astype(float)
        return
    for positive in positive_classes(classes):
        label = f"class {positive}: " if len(classes) > 2 else ""
        yield label, np.where(y == positive, 1.0, -1.0)


def source_per_run(source: Source, classes: AnyArray, loss: Loss) -> Iterator[tuple[str, Source]]:
    """Yield the label and the examples of each run, from targets that are places in `classes`.

    A place of −1 is of a label that no run needs to know.
    """
    if loss.outputs() > 1:
        yield "", source.relabelled(source.column(_known_places))
        return
    several = len(classes) > 2
    for place in range(len(classes))[0 if several else 1 :]:
        label = f"class {classes[place]}: " if several else ""
        yield label, source.relabelled(source.column(_against_rest, place))


@light
def _known_places(block: Block) -> Array:
    found: Array = np.maximum(block.y, 0.0)
    return found


@light
def _against_rest(block: Block, place: int) -> Array:
    return np.where(block.y == place, 1.0, -1.0)


def positive_class_names(classes: AnyArray) -> list[str]:
    """Return the positive class of each run, as a warning names it."""
    return [f"class {positive}" for positive in positive_classes(classes)]


def predicted_classes(z: Array, classes: AnyArray) -> AnyArray:
    """Return the class of each decision: by its sign, or by the largest column."""
    numbers: Indices = (z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)
    found: AnyArray = classes[numbers]
    return found


def weights_per_run(coef: Array, intercepts: Array, loss: Loss) -> list[Point]:
    """Return the weights and intercepts of each run, from those of a model."""
    if loss.outputs() > 1:
        return [(coef.T.ravel(), intercepts)]
    return list(zip(coef, intercepts.tolist(), strict=True))


def weights_per_class(
    found: Sequence[tuple[NDArray[T], float | Array]], loss: Loss
) -> tuple[NDArray[T], Array]:
    """Return a model's weights, one row per positive class, and intercepts, from those of runs."""
    K = loss.outputs()
    if K == 1:
        return np.array([w for w, _ in found]), np.array([b for _, b in found], dtype=float)
    [(w, b)] = found
    return np.ascontiguousarray(w.reshape(-1, K).T), np.array(np.broadcast_to(b, K), dtype=float)
