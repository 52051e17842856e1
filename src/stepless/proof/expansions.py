"""Proves an interval for the risk of a kernel expansion.

For f = Σ c_i k(x_i, ·) and J = (λ/2) cᵀKc + Σ s_i ℓ((Kc)_i + b, y_i)/m, slopes a, one for each
example and level (`proof.sums`), prove with v_i = s_i a_i/m

    J ≥ min_f (λ/2)‖f‖² + ⟨Σ v_i φ(x_i), f⟩ − Σ s_i ℓ*(a_i, y_i)/m,

whose minimum is −vᵀKv/(2λ). The Gram matrix is computed anew, some rows at a time, each once for
both. Its entries are off by at most δ = `Gram.rounding`: predictions by δ Σ|c_i|, vᵀKv by
δ (Σ|v_i|)². Every rounding is counted: docs/certificates.md.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.arrays import Array
from stepless.data import Block, Column, Source
from stepless.data.gram import Gram, parts
from stepless.design import Dense
from stepless.objective import Objective
from stepless.proof import losses, products
from stepless.proof.arithmetic import two_sums
from stepless.proof.interval import Interval
from stepless.proof.rounding_error import TINY, compensated_sum_error, mean_from_above
from stepless.proof.sums import levelled
from stepless.rounding import UNIT


def verify(
    objective: Objective, gram: Gram, source: Source, c: Array, b: float, slopes: Column | None
) -> Interval:
    """Prove an upper bound on J(c, b), and by slopes a lower bound on all J.

    `source` has the targets and the weights of the examples.
    """
    given = levelled(objective, source, slopes)
    v = np.concatenate([part[0] for part in given.slopes.parts]) / gram.size
    f, Kv = predictions(gram, c, v)
    penalty = 0.5 * objective.strength * square(gram, c, f) * (1.0 + 4.0 * UNIT)
    highest = penalty + risk_from_above(objective, gram, source, c, f, b)
    # the minimum falls with the length of Σ v_i φ(x_i)
    length = math.sqrt(square(gram, v, Kv)) * (1.0 + 4.0 * UNIT)
    least = objective.floor(length, 0.0)
    lowest = max(least - 8.0 * UNIT * abs(least) - given.offset, 0.0)
    return Interval(float(highest), float(min(lowest, highest)), at_zero=-given.offset)


def predictions(gram: Gram, c: Array, v: Array) -> tuple[Array, Array]:
    """Return Kc and Kv: for each example a number, its correction, and its terms' sizes, added."""
    used = np.flatnonzero((c != 0.0) | (v != 0.0))
    found: tuple[list[Array], list[Array]] = ([], [])
    for part in parts(gram.size, used.size):
        rows = np.arange(gram.size)[part]
        none = np.zeros(rows.size)
        block = Block(Dense(gram.block(rows, used)), none, none)
        for of, numbers in zip((c, v), found, strict=True):
            numbers.append(products.predictions(block, of[used], 0.0))
    return np.concatenate(found[0], axis=1), np.concatenate(found[1], axis=1)


def risk_from_above(
    objective: Objective, gram: Gram, source: Source, c: Array, f: Array, b: float
) -> float:
    """Return Σ s_i ℓ(f_i + b, y_i)/m from above, for the predictions f = Kc."""
    rounding = compensated_sum_error(gram.size)
    z = f.copy()
    z[0], correction = two_sums(f[0], b).T
    z[1] += correction
    z[2] += abs(b) + 1.01 * gram.rounding * float(np.abs(c).sum()) / rounding
    column = Column([np.ascontiguousarray(z[:, lo:hi]) for lo, hi in source.cuts])
    given = objective.loss, column, rounding, objective.loss.ulps, math.inf
    return mean_from_above(source.map(losses.values_from_above, *given), gram.size)


def square(gram: Gram, v: Array, Kv: Array) -> float:
    """Return vᵀKv from above, for v that are themselves off by 5 roundings at most.

    With ε for these, (v + ε)ᵀK(v + ε) − vᵀKv is at most max|K| (2 · 5u + 25u²)(Σ|v_i|)².
    """
    size = float(np.abs(v).sum())
    total = math.fsum(v * Kv[0]) + math.fsum(v * Kv[1])
    error = 2.0 * UNIT * float(np.abs(v * Kv[0]).sum())
    error += compensated_sum_error(gram.size) * float(np.abs(v) @ Kv[2])
    error += (gram.rounding + 16.0 * UNIT * float(gram.diagonal.max())) * size * size
    return max(total + 1.01 * error + TINY, 0.0) if size else 0.0
