"""Coordinates in which the Hessian of each group of weights is diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from stepless.arrays import Array, Indices
from stepless.compiled import blocks


def spans(starts: Indices) -> list[slice]:
    """Return where each group's weights are."""
    return [slice(*ends) for ends in pairwise(starts)]


@dataclass(frozen=True)
class Axes:
    """Weights group by group, in each group turned: its length stays, its Hessian is diagonal."""

    order: Indices
    groups: blocks.TurnedGroups

    @classmethod
    def of(
        cls, lasso: tuple[float, Indices, Indices], hessians: Sequence[Array | None]
    ) -> tuple[Axes, list[Array]]:
        """Return the axes of the groups' Hessians, and the curvatures along them.

        A group without a Hessian is not turned, and has none.
        """
        found = [(np.empty(0), np.empty(0)) if H is None else np.linalg.eigh(H) for H in hessians]
        places = np.cumsum([0, *(Q.size for _, Q in found)])
        axes = np.concatenate([Q.ravel() for _, Q in found])
        alpha, order, starts = lasso
        return cls(order, blocks.TurnedGroups(alpha, starts, axes, places)), [h for h, _ in found]

    @property
    def matrices(self) -> list[Array]:
        """Each group's axes as columns, where it is turned."""
        groups = self.groups
        found = np.split(groups.axes, groups.places[1:-1])
        return [Q.reshape(math.isqrt(Q.size), -1) for Q in found]

    def penalty(self, w: Array) -> float:
        """Return Ω of turned weights."""
        sums = np.add.reduceat(w * w, self.groups.starts[:-1])
        return self.groups.alpha * float(np.sqrt(sums).sum())

    def turn(self, v: Array) -> Array:
        """Return weights, or slopes, in these coordinates."""
        u = v[self.order]
        blocks.turn(self.groups, u)
        return u

    def turn_back(self, u: Array) -> Array:
        """Return what was turned."""
        turned, v = u.copy(), np.empty(u.size)
        blocks.turn_back(self.groups, turned)
        v[self.order] = turned
        return v
