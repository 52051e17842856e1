"""Proves an interval for a risk that is a sum of a joint loss over the rows of a source.

Every distribution p gives a plane under a joint loss: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y). With one
for each example, all W of the domain, all b, and G = Σ s_i x_i ⊗ (p_i − e_y)/m,

    J(W, b) ≥ Ω(W) + ⟨G, W⟩ + ⟨Σ s_i (p_i − e_y)/m, b⟩ + Σ s_i base(p_i, y_i)/m,

whose minimum over W is known. Free intercepts ask for Σ s_i (p_i − e_y) = 0: into all p_i one
distribution Q is mixed with a share θ, so that (1 − θ) Σ s_i p_i + θ Σ s_i Q = Σ s_i e_y. Q is a
real vector; base is concave, so that of a mix is at least the mix of theirs. Every rounding is
counted: docs/certificates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepless.arrays import Array, Mask
from stepless.data import Column, Source
from stepless.objective import JointLoss, Objective
from stepless.proof import distributions
from stepless.proof.arithmetic import TINY, joined, second_order
from stepless.proof.interval import Interval
from stepless.proof.sums import above, floor, idle, penalty
from stepless.rounding import UNIT

_GRAIN = 2**50  # parts of 1 that a distribution of doubles is made of: it adds up to 1


def verify(
    objective: Objective, source: Source, w: Array, b: Array, slopes: Column | None
) -> Interval:
    """Prove an objective of (W, b) from above, and a bound on all from below, by slopes."""
    highest = penalty(objective, w) + risk(objective, source, w, b)
    lowest, at_zero = idle(objective, w.size, highest), 0.0
    if slopes is not None and highest < math.inf:
        proved, at_zero = bound(objective, source, slopes, highest)
        lowest = max(lowest, proved)
    return Interval(highest, min(lowest, highest), at_zero=at_zero)


def risk(objective: Objective, source: Source, w: Array, b: Array) -> float:
    """Σ s_i ℓ(Wᵀx_i + b, y_i)/m, from above."""
    m, d = source.shape
    K = objective.outputs
    given = objective.loss, w.reshape(d, K), b, second_order(d), _ulps(objective)
    return above(source.map(distributions.heights, *given), m)


def bound(
    objective: Objective, source: Source, slopes: Column, ceiling: float
) -> tuple[float, float]:
    """Numbers below J at all W and b, and at W = 0, proved by slopes; `ceiling` is J at one."""
    m, d = source.shape
    K, precision = objective.outputs, second_order(m + objective.outputs)
    shown = np.ones(K, dtype=bool)
    if objective.intercept:  # a class without examples, of an intercept that may be anything
        shown = np.any(source.map(_shown, K), axis=0)
    given = objective.loss, slopes, shown, _ulps(objective)
    parts = source.map(distributions.admitted, *given)
    p = Column([part[0] for part in parts])
    offset = above([part[3] for part in parts], m)
    share, rest = 0.0, np.zeros((K, 2))
    if objective.intercept:
        tilt, counts = (joined([part[k] for part in parts]) for k in (1, 2))
        mixed = Rest.of(tilt, counts, precision)
        share, rest = mixed.share, mixed.numbers
        offset = (1.0 - share) * offset + 4.0 * UNIT * abs(offset)
        offset -= share * mixed.offset(objective, m)
    sums = source.total(distributions.combination, (d, K, 2), p, share, rest, join=joined)
    g = (sums[..., 0] + sums[..., 1]) / m
    # slopes are at most 1, and known to `precision`; Q, times its share, to 4 of it
    weight = math.sqrt(max(1.0, float(source.s.mean())))
    errors = (8.0 + 4.0 * K) * precision * 1.01 * weight * (source.sizes + TINY**0.5)
    off = errors[:, None] + 4.0 * UNIT * np.abs(g)
    return floor(objective, g.ravel(), off.ravel(), ceiling) - offset, -offset


def _ulps(objective: Objective) -> float:
    """Roundings of a value or a base of K classes, in units of its size."""
    return objective.loss.ulps + 4.0 * objective.outputs


def _shown(block: tuple[Array, Array, Array], K: int) -> Mask:
    """Whether each class has an example."""
    _, y, s = block
    return np.bincount(y.astype(int), s > 0.0, K) > 0.0


@dataclass(frozen=True)
class Rest:
    """The distribution Q that makes slopes level, mixed into them by a share θ.

    With t = Σ s_i (p_i − e_y), n = Σ s_i e_y and S = Σ n_c: Q = (n − t (1 − θ)/θ)/S, which is not
    negative if θ/(1 − θ) ≥ t_c/n_c for all c.
    """

    share: float
    numbers: Array  # Q as K numbers and what they lack
    rounded: Array  # doubles that add up to 1 and are about Q …
    missed: float  # … for Q is no less than 1 − `missed` of each
    counts: Array  # n

    @classmethod
    def of(cls, tilt: Array, counts: Array, precision: float) -> Rest:
        """From t and n as numbers and what they lack, known to `precision` of S and of n_c."""
        t, n = ([Fraction(a) + Fraction(b) for a, b in pairs.tolist()] for pairs in (tilt, counts))
        S, known = sum(n), Fraction(precision)
        both = list(zip(t, n, strict=True))
        room = max((tc + 4 * known * S) / (nc * (1 - 4 * known)) for tc, nc in both if nc)
        share = min(float(room / (1 + room)) * (1.0 + 4.0 * UNIT), 1.0)
        ratio = (1 - Fraction(share)) / Fraction(share)
        Q = [(nc - ratio * tc) / S if nc else Fraction(0) for tc, nc in both]
        # in grains, each a little less than surely is there; the largest has what they leave
        surely = [max(q - 8 * known / Fraction(share), Fraction(0)) for q in Q]
        grains = [math.floor(q * _GRAIN) for q in surely]
        top = int(np.argmax(grains))
        grains[top] += _GRAIN - sum(grains)
        missed = max(1 - surely[top] * _GRAIN / grains[top], Fraction(0))
        pairs = [(float(q), float(q - Fraction(float(q)))) for q in Q]
        return cls(
            share,
            np.array(pairs),
            np.array([grain / _GRAIN for grain in grains]),
            min(float(missed) * (1.0 + 4.0 * UNIT), 1.0),
            counts[:, 0],
        )

    def offset(self, objective: Objective, m: int) -> float:
        """Bound the mean of base(Q, y) from below: Q mixes `rounded` and another distribution."""
        loss, total = objective.loss, 0.0
        assert isinstance(loss, JointLoss)
        corners = np.eye(objective.outputs)
        for c, count in enumerate(self.counts):
            given = self.rounded, float(c)
            base = loss.base(*given) - _ulps(objective) * UNIT * loss.base_size(*given)
            lowest = min(0.0, *(float(loss.base(corner, float(c))) for corner in corners))
            total += count * ((1.0 - self.missed) * base + 2.0 * self.missed * lowest)
            total -= (len(corners) + 16) * UNIT * count * (abs(base) - lowest)
        return total / m
