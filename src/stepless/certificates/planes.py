"""Cutting planes under a risk, and the best lower bound that they give together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stepless.arrays import Array, Indices
from stepless.certificates.simplex_qp import maximise
from stepless.objective import Penalized
from stepless.plane import Plane
from stepless.proof.witness import Witness, blend

MOST_POINTS = 50  # of a witness: each costs the verifier a call of an oracle
_MOST_PLANES = 250
_MOST_NUMBERS = 2**26  # half a gigabyte of planes and their witnesses
_MULTIPLIERS = 30  # trials of the ball's multiplier; each gives a valid bound


class Planes:
    """max_i ⟨a_i, w⟩ + b_i and 0 lie under the risk, hence their regularized minimum under J*.

    For Ω = (λ/2)‖w‖² the minimum is, by duality (SVL Th. 2, Cor. 3),
    max_α bᵀα − ‖Aα‖²/(2λ) over α ≥ 0, 1ᵀα ≤ 1, attained at w = −Aα/λ: the zero plane takes what is
    left of 1. *Any* such α gives a valid bound, so an inexact one costs tightness, never truth.

    A full bundle drops the plane that has been idle the longest; if none is idle, the two of least
    weight become one (their combination is a plane too, and the bound does not fall).
    """

    def __init__(self, d: int, duals: int = 1, witness_size: int = 0) -> None:
        most = _MOST_NUMBERS // max(d + witness_size, 1)
        self.capacity = max(8, min(_MOST_PLANES, most))
        self.size = 0
        # Room for all planes at once: the system gives memory to a row when it is first written.
        self._A = np.empty((self.capacity, d))
        self._b = np.empty(self.capacity)
        self._gram = np.empty((self.capacity, self.capacity))
        self._duals = np.zeros((duals, self.capacity))
        self._idle = np.zeros(self.capacity, dtype=np.int64)
        self._witnesses: list[Witness | None] = []
        self._best = -math.inf  # the last bound, and for which objective
        self._proved: Penalized | None = None

    @property
    def A(self) -> Array:
        """The planes' slopes, one plane per row."""
        return self._A[: self.size]

    @property
    def b(self) -> Array:
        """The planes' offsets."""
        return self._b[: self.size]

    def products(self, v: Array) -> Array:
        """Return ⟨a_i, v⟩ for each plane."""
        return self.A @ v

    def length(self, v: Array) -> float:
        """Return ‖v‖, of weights or slopes."""
        return float(np.sqrt(v @ v))

    def add(self, plane: Plane) -> None:
        """Add a plane; it must be level (tilt 0)."""
        if self.size == self.capacity:
            self._make_room()
        n = self.size
        self._A[n], self._b[n] = plane.a, plane.offset
        self.size += 1
        self._gram[n, : n + 1] = self._gram[: n + 1, n] = self.products(plane.a)
        self._duals[:, n] = 0.0
        self._idle[n] = 0
        self._witnesses.append(plane.witness)

    def witness(self) -> Witness | None:
        """Return the witness of the bound: the planes' own, weighted by α."""
        return blend(self._duals[0, : self.size].tolist(), self._witnesses)

    def sparser(self, most: int, enough: float, ceiling: float) -> Planes:
        """Return planes with at most `most` points, or as few as prove a bound of `enough`.

        These are the planes of largest weight, weighted anew; all, if they have no more points.
        """
        alpha = self._duals[0, : self.size]
        falling = np.argsort(-alpha, kind="stable")[: int(np.count_nonzero(alpha))]
        used = [self._witnesses[i] for i in falling]
        calls = np.array([one.calls if one else 0 for one in used], dtype=np.int64)
        if self._proved is None or not calls.all() or calls.sum() <= most:
            return self
        n = int(np.searchsorted(np.cumsum(calls), most, side="right"))
        while 0 < n < falling.size:
            few = self._only(falling[:n])
            if few.reweighted(self._proved, ceiling) >= enough:
                return few
            n += max(1, n // 4)
        return self

    def _only(self, kept: Indices) -> Planes:
        few = type(self)(self._A.shape[1])
        for i in kept:
            few.add(Plane(self._A[i], float(self._b[i]), witness=self._witnesses[i]))
        few._duals[0, : few.size] = self._duals[0, kept]
        return few

    def reweighted(self, objective: Penalized, ceiling: float) -> float:
        """Return the bound of the best weights that these planes can have."""
        return self.lower_bound(objective, ceiling)[0]

    def maximise(self, strength: float, linear: Array, dual: int = 0) -> Array:
        """Return argmax_α linearᵀα − ‖Aα‖²/(2 strength), α ≥ 0, 1ᵀα ≤ 1; starts from its last α."""
        n = self.size
        alpha = np.ascontiguousarray(self._duals[dual, :n])
        maximise(self._gram, strength * linear, alpha)
        self._duals[dual, :n] = alpha
        return alpha

    def age_unused(self) -> None:
        """Count one more step for the planes that no dual point uses."""
        n = self.size
        used = (self._duals[:, :n] > 0.0).any(axis=0)
        self._idle[:n] = np.where(used, 0, self._idle[:n] + 1)

    def lower_bound(self, objective: Penalized, ceiling: float = math.inf) -> tuple[float, Array]:
        """Return a bound on the optimum, and the weights at which the planes' minimum lies."""
        strength = objective.strength
        if self.size == 0 or (strength == 0.0 and math.isinf(objective.radius)):
            self.age_unused()
            return 0.0, np.zeros(self._A.shape[1])  # losses are non-negative; planes say no more
        before = self._duals[0, : self.size].copy()
        # Where the ball binds, its multiplier adds to λ: ‖Aα‖ = (λ + μ) R. A μ too small to count,
        # μR² ≪ R(0), only spoils the programme's condition.
        least = max(strength, 1e-7 * float(np.abs(self.b).max()) / objective.radius**2)
        sharpened = max(least, strength or float(np.sqrt(self._gram[0, 0])) / objective.radius)
        for _ in range(_MULTIPLIERS):
            bound, v = self._bound(objective, self.maximise(sharpened, self.b))
            needed = max(least, float(np.sqrt(v @ v)) / objective.radius)
            if abs(needed - sharpened) <= 1e-9 * sharpened:
                break
            sharpened = max(needed, 1e-3 * sharpened)
        if bound < self._best and objective == self._proved:
            # Planes of absurd steepness can mislead the programme: the last answer is still valid.
            self._duals[0, : self.size] = before
            bound = self._best
        self._best, self._proved = bound, objective
        self.age_unused()
        w = v / -sharpened
        return max(bound, 0.0), w * min(1.0, objective.radius / max(float(np.sqrt(w @ w)), 1e-300))

    def _bound(self, objective: Penalized, alpha: Array) -> tuple[float, Array]:
        """Return the bound that α proves, and Aα."""
        v = alpha @ self.A
        return objective.floor(float(np.sqrt(v @ v)), float(alpha @ self.b)), v

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows that are not used yet."""
        n = self.size
        used = {"_A": self.A.copy(), "_b": self.b.copy(), "_gram": self._gram[:n, :n].copy()}
        return vars(self) | used

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        n, most = self.size, self._idle.size
        self._A = np.empty((most, state["_A"].shape[1]))
        self._b, self._gram = np.empty(most), np.empty((most, most))
        self._A[:n], self._b[:n], self._gram[:n, :n] = (
            state[name] for name in ("_A", "_b", "_gram")
        )

    def _make_room(self) -> None:
        weight = self._duals[0, : self.size]
        i, j = np.argsort(weight, kind="stable")[:2]
        leaver = int(np.argmax(self._idle[: self.size]))
        both_witnesses = self._witnesses[i], self._witnesses[j]
        points = sum(one.calls for one in both_witnesses if one)
        if self._idle[leaver] == 0 and points > MOST_POINTS:  # too many for the verifier
            leaver, self._best = int(i), -math.inf
        elif self._idle[leaver] == 0:
            both = weight[i] + weight[j]
            theta = weight[j] / both if both > 0.0 else 1.0
            self._A[j] += (1 - theta) * (self._A[i] - self._A[j])
            self._b[j] += (1 - theta) * (self._b[i] - self._b[j])
            products = self.products(self._A[j])
            self._gram[j, : self.size] = self._gram[: self.size, j] = products
            self._duals[:, j] += self._duals[:, i]
            self._witnesses[j] = blend((1.0 - theta, theta), both_witnesses)
            leaver = int(i)
        last = self.size - 1
        for kept in (self._A, self._b, self._idle, self._gram, self._gram.T, self._duals.T):
            kept[leaver] = kept[last]
        self._witnesses[leaver] = self._witnesses[last]
        del self._witnesses[last:]
        self.size = last
