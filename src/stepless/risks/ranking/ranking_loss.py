"""What every loss of a ranking answers."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from stepless.term import Term


class RankingLoss(Term):
    """A convex loss L(z) ≥ 0 of the scores of one query's documents: the largest of many planes.

    Each plane, level + ⟨a, z⟩, belongs to a ranking: the level is that ranking's error, or the
    number of its wrong pairs, and a says by how much its scores exceed those of the right order.
    Documents come in the order of their grades y, the best first.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.risks.ranking import Pairwise
    >>> a = np.empty(3)
    >>> level = Pairwise().plane(a, np.array([0.2, 0.5, -2.0]), np.array([1.0, 0.0, 0.0]))
    >>> level, a
    (0.5, array([-0.5,  0.5,  0. ]))
    """

    def tells(self, y: NDArray) -> Any:
        """Whether some order of these documents is better than another."""
        raise NotImplementedError

    def plane(self, a: NDArray, z: NDArray, y: NDArray) -> Any:
        """Write a; return the level of the plane that is highest at z."""
        raise NotImplementedError
