"""Proves an interval for a risk that is a sum of a joint loss over the rows of a source.

Every distribution p gives a plane under a joint loss: ℓ(z, y) ≥ ⟨p − e_y, z⟩ + base(p, y). With one
for each example, all W of the domain, all b, and G = Σ s_i x_i ⊗ (p_i − e_y)/m,

    J(W, b) ≥ Ω(W) + ⟨G, W⟩ + ⟨Σ s_i (p_i − e_y)/m, b⟩ + Σ s_i base(p_i, y_i)/m,

whose minimum over W is known. Free intercepts need Σ s_i (p_i − e_y) = 0: one distribution Q is
mixed into all p_i with a share θ, so that (1 − θ) Σ s_i p_i + θ Σ s_i Q = Σ s_i e_y. Q is a real
vector; base is concave, so that of a mixture is at least the mixture of theirs. Every rounding is
counted: docs/certificates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stepless.arrays import Array, Mask
from stepless.compiled.light import rowless
from stepless.data import Block, Column, Source, apply_numpy
from stepless.objective import JointLoss, Objective
from stepless.proof import distributions
from stepless.proof.arithmetic import sum_of_blocks
from stepless.proof.interval import Interval
from stepless.proof.rounding_error import TINY, compensated_sum_error, mean_from_above
from stepless.proof.sums import least_penalty, minimum_from_below, penalty_from_above
from stepless.rounding import UNIT

_GRAIN = 2**50  # entries of a distribution are multiples of 1/grain: they add up to 1 exactly


def verify(
    objective: Objective, source: Source, w: Array, b: Array, slopes: Column | None
) -> Interval:
    """Prove an upper bound on J(W, b), and by slopes a lower bound on all J."""
    highest = penalty_from_above(objective, w) + risk_from_above(objective, source, w, b)
    lowest, at_zero = least_penalty(objective, w.size, highest), 0.0
    if slopes is not None and highest < math.inf:
        proved, at_zero = lower_bound(objective, source, slopes, highest)
        lowest = max(lowest, proved)
    return Interval(highest, min(lowest, highest), at_zero=at_zero)


def risk_from_above(objective: Objective, source: Source, w: Array, b: Array) -> float:
    """Return Σ s_i ℓ(Wᵀx_i + b, y_i)/m from above."""
    m, d = source.shape
    K = objective.outputs
    given = objective.loss, w.reshape(d, K), b, compensated_sum_error(d), _ulps(objective)
    return mean_from_above(source.map(distributions.values_from_above, *given), m)


def lower_bound(
    objective: Objective, source: Source, slopes: Column, ceiling: float
) -> tuple[float, float]:
    """Return numbers below J at all W and b, and at W = 0; J is at most `ceiling` somewhere."""
    m, d = source.shape
    K, precision = objective.outputs, compensated_sum_error(m + objective.outputs)
    present = np.ones(K, dtype=bool)
    if objective.intercept:  # the intercept of a class without examples may be anything
        present = np.any(source.map(_present_classes, K), axis=0)
    p, given = source.empty(after=(K,)), (objective.loss, slopes, present, _ulps(objective))
    parts = source.update(p, distributions.admissible, *given)
    offset = mean_from_above([part[2] for part in parts], m)
    share, rest = 0.0, np.zeros((K, 2))
    if objective.intercept:
        tilt, counts = (sum_of_blocks([part[k] for part in parts]) for k in (0, 1))
        mixed = LevellingMixture.of(tilt, counts, precision)
        share, rest = mixed.share, mixed.numbers
        offset = (1.0 - share) * offset + 4.0 * UNIT * abs(offset)
        offset -= share * mixed.offset(objective, m)
    sums = source.total(distributions.slope_sums, (d, K, 2), p, share, rest, join=sum_of_blocks)
    g = (sums[..., 0] + sums[..., 1]) / m
    # slopes are at most 1, and known to `precision`; Q, times its share, to 4 of it
    mean = math.fsum(source.map(apply_numpy, np.sum, source.weights)) / m
    weight = math.sqrt(max(1.0, mean))
    errors = (8.0 + 4.0 * K) * precision * 1.01 * weight * (source.sizes + TINY**0.5)
    off = errors[:, None] + 4.0 * UNIT * np.abs(g)
    return minimum_from_below(objective, g.ravel(), off.ravel(), ceiling) - offset, -offset


def _ulps(objective: Objective) -> float:
    """Return the roundings of a value or a base of K classes, in units of its size."""
    return objective.loss.ulps + 4.0 * objective.outputs


@rowless
def _present_classes(block: Block, K: int) -> Mask:
    return np.bincount(block.y.astype(int), block.s > 0.0, K) > 0.0


@dataclass(frozen=True)
class LevellingMixture:
    """The distribution Q that makes slopes level, mixed into them with a share θ.

    With t = Σ s_i (p_i − e_y), n = Σ s_i e_y and S = Σ n_c: Q = (n − t (1 − θ)/θ)/S, which is not
    negative if θ/(1 − θ) ≥ t_c/n_c for all c.
    """

    share: float
    numbers: Array  # Q as K numbers and their corrections
    rounded: Array  # doubles that add up to 1 and are about Q …
    missed: float  # … for Q is at least 1 − `missed` times each
    counts: Array  # n

    @classmethod
    def of(cls, tilt: Array, counts: Array, precision: float) -> LevellingMixture:
        """Make it from t and n, numbers and corrections, known to `precision` of S and of n_c."""
        t, n = ([Fraction(a) + Fraction(b) for a, b in pairs.tolist()] for pairs in (tilt, counts))
        S, known = sum(n), Fraction(precision)
        both = list(zip(t, n, strict=True))
        room = max((tc + 4 * known * S) / (nc * (1 - 4 * known)) for tc, nc in both if nc)
        share = min(float(room / (1 + room)) * (1.0 + 4.0 * UNIT), 1.0)
        ratio = (1 - Fraction(share)) / Fraction(share)
        Q = [(nc - ratio * tc) / S if nc else Fraction(0) for tc, nc in both]
        # in grains, each entry a little less than is certain; the largest gets the remainder
        certain = [max(q - 8 * known / Fraction(share), Fraction(0)) for q in Q]
        grains = [math.floor(q * _GRAIN) for q in certain]
        top = int(np.argmax(grains))
        grains[top] += _GRAIN - sum(grains)
        missed = max(1 - certain[top] * _GRAIN / grains[top], Fraction(0))
        pairs = [(float(q), float(q - Fraction(float(q)))) for q in Q]
        return cls(
            share,
            np.array(pairs),
            np.array([grain / _GRAIN for grain in grains]),
            min(float(missed) * (1.0 + 4.0 * UNIT), 1.0),
            counts[:, 0],
        )

    def offset(self, objective: Objective, m: int) -> float:
        """Bound the mean of base(Q, y) from below: Q is a mixture of `rounded` and another one."""
        loss, total, corners = objective.loss, 0.0, np.eye(objective.outputs)
        assert isinstance(loss, JointLoss)
        for c, count in enumerate(self.counts):
            given = self.rounded, float(c)
            base = loss.base(*given) - _ulps(objective) * UNIT * loss.base_size(*given)
            lowest = min(0.0, *(float(loss.base(corner, float(c))) for corner in corners))
            total += count * ((1.0 - self.missed) * base + 2.0 * self.missed * lowest)
            total -= (len(corners) + 16) * UNIT * count * (abs(base) - lowest)
        return total / m
