"""What every loss of a ranking answers."""

from __future__ import annotations

from typing import Any, ClassVar

from stepless.arrays import Array, Indices
from stepless.term import Term


class RankingLoss(Term):
    """A convex loss L(z) ≥ 0 of the scores of one query's documents: the largest of many planes.

    Each plane, level + ⟨a, z⟩, belongs to a ranking: the level is that ranking's error, or the
    number of its wrong pairs, and a says by how much its scores exceed those of the right order:
    its entries add up to 0, for what all scores of a query share ranks nothing.
    Documents come in the order of their grades y, the best first.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.risks.ranking import Pairwise
    >>> a, z, y = np.empty(3), np.array([0.2, 0.5, -2.0]), np.array([1.0, 0.0, 0.0])
    >>> Pairwise().plane(a, z, y, np.argsort(-z)), a
    (0.5, array([-0.5,  0.5,  0. ]))
    """

    needs: ClassVar[str] = "two documents of different grades"  # of a query that is_informative

    def admit(self, y: Array) -> None:
        """Raise ValueError where grades make no sense."""

    def is_informative(self, y: Array) -> Any:
        """Whether some order of these documents is better than another, as `needs` says."""
        return y[0] > y[-1]

    def steepness(self, n: int) -> Any:
        """The most that Σ|a_i| of a plane of n documents can be: 4, as of means over wrong pairs.

        A loss of one's own whose slopes may add up to more must say so: what rounding may hide of
        the risk is relative to it.
        """
        return 4.0

    def plane(self, a: Array, z: Array, y: Array, order: Indices) -> Any:
        """Write a; return the level of the plane that is highest at z.

        `order` has the numbers of the documents, the highest score first.
        """
        raise NotImplementedError
