"""The contract of ranking losses."""

from __future__ import annotations

from typing import ClassVar

from stepless.arrays import Array, Indices
from stepless.term import Term


class RankingLoss(Term):
    """A convex loss L(z) ≥ 0 of the scores of one query's documents: a maximum of planes.

    Each plane, level + ⟨a, z⟩, belongs to a ranking: the level is the error of that ranking, or its
    number of wrong pairs, and ⟨a, z⟩ compares its score with that of the right order. The entries
    of a add up to 0, since a shift of all scores does not change the order. Documents are sorted by
    their grades y, the best first. A subclass has `plane`.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.risks.ranking import Pairwise
    >>> a, z, y = np.empty(3), np.array([0.2, 0.5, -2.0]), np.array([1.0, 0.0, 0.0])
    >>> Pairwise().plane(a, z, y, np.argsort(-z)), a
    (0.5, array([-0.5,  0.5,  0. ]))
    """

    needs: ClassVar[str] = "two documents of different grades"  # in an informative query

    def admit(self, y: Array) -> None:
        """Raise ValueError if the loss is not defined for these grades."""

    def is_informative(self, y: Array) -> bool:
        """Return whether some order of these documents is better than another, see `needs`."""
        return bool(y[0] > y[-1])

    def steepness(self, n: int) -> float:
        """Return a bound of Σ|a_i| of a plane of n documents: 4, as for means over wrong pairs.

        A user-defined loss whose slopes may add up to more must override it: the rounding error
        of the risk is relative to it.
        """
        return 4.0

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> float:
        """Write a; return the level of the plane that is highest at z.

        `order` has the indices of the documents, the highest score first.
        """
        raise NotImplementedError
