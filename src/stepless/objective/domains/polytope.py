"""Weights that obey linear inequalities."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.jit import compiled
from stepless.objective.active_set import nearest
from stepless.objective.assigning import assign
from stepless.objective.domains.domain import Domain, frozen
from stepless.rounding import UNIT

_MOST_ROUNDS = 100  # of the vertex's search, which takes a few
_ULP = 2.0 * UNIT
_LOOSE = 1e-9


class Polytope(Domain):
    """S = {w : Aw ≤ b}; `of` makes one, and finds how far it reaches.

    Parameters
    ----------
    A, b
        The inequalities, one row each; the rows of A are of length 1.
    bound, largest
        The largest norm and the largest |w_j| in S, or numbers above them, or infinity.

    Examples
    --------
    >>> S = Polytope.of([[1, 1], [-1, 0], [0, -1]], [1, 0, 0])  # w ≥ 0, w₁ + w₂ ≤ 1
    >>> w = np.array([2.0, 1.5])
    >>> S.project(w)
    >>> w, round(S.floor(np.array([-1.0, -3.0])), 9)
    (array([0.75, 0.25]), -3.0)
    """

    thin: ClassVar[bool] = True
    _coerce: ClassVar[dict[str, Any]] = {"A": frozen, "b": frozen}
    A: Array
    b: Array
    bound: float = math.inf
    largest: float = math.inf

    @classmethod
    def of(cls, A: ArrayLike, b: ArrayLike) -> Polytope:
        """Scale the inequalities, make sure that they can be met, and find how far they reach."""
        rows, heights = _scaled(frozen(A), frozen(b))
        axes = np.eye(rows.shape[1])
        if not nearest(np.zeros(len(axes)), rows, heights, np.zeros(heights.size, dtype=np.bool_)):
            raise ValueError(_EMPTY)
        ends = [[_solved(rows, heights, sign * e)[0] for sign in (1.0, -1.0)] for e in axes]
        sides = np.abs(ends).max(axis=1)
        # A linear programme is solved to 1e-7 or so, and no point may lie beyond these sizes.
        sides += 1e-6 * (sides + np.abs(heights).max(initial=0.0))
        return cls(rows, heights, float(np.linalg.norm(sides)), float(sides.max()))

    def _check(self) -> None:
        scaled = self.A.ndim == 2 and np.allclose(np.linalg.norm(self.A, axis=1), 1.0)
        if not (scaled and self.A.size and self.b.shape == self.A.shape[:1]):
            raise ValueError(
                "the rows of A must be of length 1, with a number in b for each; "
                "use the classmethod `of`"
            )

    def _key(self) -> tuple[object, ...]:
        return self.A.shape, self.A.tobytes(), self.b.tobytes()

    def __repr__(self) -> str:
        return f"<Polytope: {self.b.size} inequalities for {self.A.shape[1]} weights>"

    def admit(self, d: int) -> None:
        if self.A.shape[1] != d:
            raise ValueError(
                f"the polytope is one of {self.A.shape[1]} weights, but there are {d}; "
                "give A a column for each"
            )

    def project(self, w: Array) -> None:
        if not nearest(w, self.A, self.b, np.zeros(self.b.size, dtype=np.bool_)):
            raise ValueError(_EMPTY)

    def excess(self, w: Array) -> float:
        return float((self.A @ w - self.b).max())

    def outward(self, w: Array, g: Array) -> float:
        heights = self.A @ w - self.b
        worst = heights.argmax()
        assign(g, self.A[worst])
        return float(heights[worst])

    def vertex(self, g: Array, w: Array) -> None:
        if math.isinf(self.bound):
            raise ValueError("a linear function need not have a minimum over an unbounded polytope")
        descend(g, w, self.A, self.b, self.bound)

    def radius(self) -> float:
        return self.bound

    def reach(self) -> float:
        return self.largest

    def inequalities(self, d: int) -> tuple[Array, Array]:
        return self.A, self.b

    def floor(self, a: Array) -> float:
        return self.floor_within(a, self.bound)

    def floor_within(self, a: Array, radius: float) -> float:
        """Bound ⟨a, w⟩ from below, whatever the tolerance and rounding of the linear programme.

        From any u ≥ 0, ⟨a, w⟩ ≥ −⟨u, b⟩ − ‖a + Aᵀu‖‖w‖: without a bound of ‖w‖ that says nothing.
        """
        if not a.any():
            return 0.0
        A, b, bound = self.A, self.b, min(self.bound, radius)
        u = _solved(A, b, a)[1]
        if u is None or math.isinf(bound):
            return -math.inf
        size = np.abs(a).sum() * bound + float(u @ (np.abs(b) + bound))
        rounding = _ULP * (b.size + a.size) * size
        return float(-(u @ b) - np.linalg.norm(a + A.T @ u) * bound - rounding)


_EMPTY = "no w obeys all inequalities Aw ≤ b of the polytope; loosen b"


def _scaled(A: Array, b: Array) -> tuple[Array, Array]:
    """Return the inequalities with rows of length 1, without those that bound nothing."""
    if A.ndim != 2 or b.shape != A.shape[:1]:
        raise ValueError(
            "a polytope Aw ≤ b needs a number in b for each row of A, "
            f"not shapes {A.shape} and {b.shape}"
        )
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ValueError("a polytope needs finite numbers; leave out rows that bound nothing")
    sizes = np.linalg.norm(A, axis=1)
    if (b[sizes == 0.0] < 0.0).any():
        raise ValueError(_EMPTY)
    if not sizes.any():
        raise ValueError("a polytope needs an inequality that bounds something; use domain='free'")
    some = sizes > 0.0
    return A[some] / sizes[some, None], b[some] / sizes[some]


def _solved(A: Array, b: Array, g: Array) -> tuple[float, Array | None]:
    """Return about the minimum of ⟨g, w⟩ over Aw ≤ b, and the multipliers, or None."""
    from scipy.optimize import linprog

    # the programme's tolerances are absolute, and beyond 1e20 all is infinite to it
    size, steepest = (float(np.abs(of).max(initial=0.0)) or 1.0 for of in (b, g))
    # equations written as two inequalities must not fail for rounding
    loose = (b + _LOOSE * np.abs(b).max(initial=0.0)) / size
    found = linprog(g / steepest, A_ub=A, b_ub=loose, bounds=(None, None), method="highs")
    if found.status != 0:  # it falls without end, for all that the programme knows
        return -math.inf, None
    return float(found.fun) * size * steepest, np.maximum(-found.ineqlin.marginals, 0.0) * steepest


def _always(*_: object) -> bool:
    return True


@compiled("A[n,d] b[n] g[d] w[d]", plain=_always)
def descend(g: Array, w: Array, A: Array, b: Array, bound: float) -> None:
    """Write into w a minimiser of ⟨g, ·⟩ over the polytope.

    Proximal steps, each an exact projection: on a linear function they end after a few.
    """
    steepness = math.sqrt(g @ g)
    active = np.zeros(b.size, dtype=np.bool_)
    w[:] = 0.0
    nearest(w, A, b, active)
    if steepness == 0.0:
        return
    for _ in range(_MOST_ROUNDS):
        onward = w - (8.0 * bound / steepness) * g
        nearest(onward, A, b, active)
        if not g @ onward < g @ w - 4.0 * _ULP * steepness * bound:
            break
        w[:] = onward
