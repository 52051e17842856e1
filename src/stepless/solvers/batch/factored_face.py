"""The factor of a matrix in some features, which serves for sets of features that differ little."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from stepless.arrays import Array, Indices

_CHANGES = 0.1  # of the features: with more, another factor costs less


@dataclass(frozen=True)
class FactoredFace:
    """The Cholesky factor of H + diag(ridge) in a face: features that rise.

    Examples
    --------
    >>> H, right = np.diag([1.0, 2.0, 4.0]) + 1.0, np.ones(3)
    >>> face = FactoredFace.of(H, np.array([0, 1]), np.zeros(3))
    >>> face.solve(H, np.array([0, 1]), np.zeros(3), right[:2]).round(3)
    array([0.4, 0.2])
    """

    features: Indices
    ridge: Array  # of these
    factor: Any

    @classmethod
    def of(cls, H: Array, face: Indices, ridge: Array) -> Self:
        """Factor the matrix; raise LinAlgError if it is not positive definite."""
        part = H[np.ix_(face, face)]
        np.einsum("ii->i", part)[:] += ridge[face]
        return cls(face, ridge[face], cho_factor(part.T, overwrite_a=True, check_finite=False))

    def moved(self, places: Indices) -> Self | None:
        """Return the same factor in another matrix, unless a feature has no place there, but −1."""
        features = places[self.features]
        return replace(self, features=features) if (features >= 0).all() else None

    def serves(self, face: Indices, ridge: Array) -> bool:
        """Return whether it solves on a face at less cost than a factor of its own."""
        if not np.array_equal(self.ridge, ridge[self.features]):
            return False
        changes = np.setxor1d(face, self.features, assume_unique=True).size
        return bool(changes <= _CHANGES * self.features.size)

    def solve(self, H: Array, face: Indices, ridge: Array, right: Array) -> Array:
        """Return the solution of (H + diag(ridge)) x = right in a face.

        Features that are new are a border of the matrix, and so are those that are gone, of which
        x is 0. Raise LinAlgError if that has no solution.
        """
        new = np.setdiff1d(face, self.features, assume_unique=True)
        gone = np.flatnonzero(np.isin(self.features, face, assume_unique=True, invert=True))
        whole = np.zeros(H.shape[0])
        whole[face] = right
        start = whole[self.features]
        border = np.zeros((self.features.size, new.size + gone.size))
        border[:, : new.size] = H[np.ix_(self.features, new)]
        border[gone, new.size + np.arange(gone.size)] = 1.0
        corner = np.zeros((border.shape[1], border.shape[1]))
        corner[: new.size, : new.size] = H[np.ix_(new, new)] + np.diag(ridge[new])
        both = np.column_stack((start, border))
        solved = cho_solve(self.factor, both, overwrite_b=True, check_finite=False)
        wanted = np.append(whole[new], np.zeros(gone.size)) - border.T @ solved[:, 0]
        rest = np.linalg.solve(corner - border.T @ solved[:, 1:], wanted)
        whole[self.features] = solved[:, 0] - solved[:, 1:] @ rest
        whole[new] = rest[: new.size]
        return whole[face]
