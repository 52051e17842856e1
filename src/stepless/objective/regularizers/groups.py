"""Groups of features, as the user names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import AnyArray, Array, Indices
from stepless.jit import compiled
from stepless.objective.regularizers.regularizer import Regularizer, positive


def _frozen(indices: ArrayLike) -> Indices:
    indices = np.array(indices, dtype=np.int64)
    indices.flags.writeable = False
    return indices


class Groups(Regularizer):
    """A penalty of groups: it knows which features belong together.

    `order` has the features, those of a group side by side; `starts` says where each group begins
    in it, and, last, how many features there are.
    """

    separable: ClassVar[bool] = False
    by_rows: ClassVar[bool] = False
    _coerce: ClassVar[dict[str, Any]] = {"order": _frozen, "starts": _frozen}
    alpha: float
    order: Indices
    starts: Indices

    @classmethod
    def of(cls, alpha: float, groups: Sequence[object] | AnyArray) -> Self:
        """Name the group of every feature, by a number or a word each."""
        names = np.asarray(groups)
        if names.ndim != 1:
            raise ValueError(f"each feature needs one group, not an array of shape {names.shape}")
        _, member, sizes = np.unique(names, return_inverse=True, return_counts=True)
        return cls(alpha, np.argsort(member, kind="stable"), np.append(0, np.cumsum(sizes)))

    def _check(self) -> None:
        positive(self.alpha)
        order, starts = self.order, self.starts
        if not np.array_equal(np.sort(order), np.arange(order.size)):
            raise ValueError("order must name every feature once; use the classmethod `of`")
        bounds = starts.ndim == 1 and starts.size > 1
        if not bounds or (np.diff(starts) <= 0).any() or (starts[0], starts[-1]) != (0, order.size):
            raise ValueError("starts must rise from 0 to the number of features; use `of`")

    def _key(self) -> tuple[object, ...]:
        return self.alpha, self.order.tobytes(), self.starts.tobytes()

    def __repr__(self) -> str:
        sizes = f"{self.starts.size - 1} groups of {self.order.size} features"
        return f"<{type(self).__name__}(alpha={self.alpha!r}): {sizes}>"

    def shrink(self, w: Array, steps: Array) -> None:
        v, starts = gather(w, self.order, self.starts)
        s, _ = gather(steps, self.order, self.starts)
        for g in range(starts.size - 1):
            here, there = starts[g], starts[g + 1]
            self.shrink_group(v[here:there], s[here:there])
        scatter(v, self.order, w)

    def shrink_group(self, v: Array, steps: Array) -> None:
        """Replace the weights of a group by their prox."""
        raise NotImplementedError

    def narrowed(self, features: Indices) -> Self:
        places = np.full(self.order.size, -1)
        places[features] = np.arange(features.size)
        order = places[self.order]
        starts = np.append(0, np.cumsum(order >= 0))[self.starts]
        return type(self)(self.alpha, order[order >= 0], np.unique(starts))

    def _sums(self, of_features: Array) -> Array:
        """Add up a number of each feature over every group."""
        return np.add.reduceat(of_features[self.order], self.starts[:-1])


@compiled("w[_,_] order[_] starts[_]")
def gather(w: Array, order: Indices, starts: Indices) -> tuple[Array, Indices]:
    """Return the weights of all groups, side by side, and where each group begins among them."""
    if w.shape[0] != order.size:
        raise ValueError("the groups name another number of features than there are weights")
    return w[order].ravel(), starts * w.shape[1]


@compiled("order[d] w[d,K] v[d*K]")
def scatter(v: Array, order: Indices, w: Array) -> None:
    """Undo `gather`."""
    for k in range(order.size):
        for c in range(w.shape[1]):
            w[order[k], c] = v[k * w.shape[1] + c]
