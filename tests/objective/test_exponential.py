"""Exponentials and logarithms beside 200-bit arithmetic, and where they end."""

import math

import mpmath
import numpy as np
import pytest

from stepless.objective.losses.exponential import exp_below, log, log1p_below
from stepless.objective.losses.softplus import negentropy, sigmoid, sigmoid_slope, softplus

UNIT = 2.0**-52
_rng = np.random.default_rng(0)
SHARES = np.concatenate(
    [
        _rng.uniform(size=300),
        10.0 ** _rng.uniform(-300, 0, 300),
        1.0 - 10.0 ** _rng.uniform(-16, 0, 300),
        [math.sqrt(0.5), math.sqrt(2.0) - 1.0, 0.5, 2.0**-1022, 1.0 - 2.0**-53],
    ]
)


def _entropy(u):
    return u * mpmath.log(u) + (1 - u) * mpmath.log(1 - u)


CASES = [
    (exp_below, mpmath.exp, -700.0 * SHARES),
    (exp_below, mpmath.exp, -SHARES),
    (log1p_below, mpmath.log1p, SHARES),
    (log, mpmath.log, SHARES),
    (log, mpmath.log, 1.5 / SHARES[SHARES > 1e-300]),
    (negentropy, _entropy, SHARES),
    (softplus, lambda u: mpmath.log1p(mpmath.exp(u)), 1400.0 * (SHARES - 0.5)),
    (sigmoid, lambda u: 1 / (1 + mpmath.exp(-u)), 1400.0 * (SHARES - 0.5)),
    (
        sigmoid_slope,
        lambda u: mpmath.exp(u) / (1 + mpmath.exp(u)) ** 2,
        1400.0 * (SHARES - 0.5),
    ),
]


@pytest.mark.parametrize(("found", "exact", "at"), CASES)
def test_they_are_right_to_some_units_in_the_last_place(found, exact, at):
    with mpmath.workprec(1300):  # of which 1 − u needs as many as u has zeros
        for u in at.tolist():
            right = exact(mpmath.mpf(u))
            assert abs(mpmath.mpf(found(u)) - right) <= 4.0 * UNIT * abs(right), u


def test_far_out_they_are_0_or_infinite():
    assert [exp_below(x) for x in (0.0, -708.0, -1e5, -math.inf)] == [1.0, 0.0, 0.0, 0.0]
    assert [softplus(u) for u in (-math.inf, -1e5, 1e5, math.inf)] == [0.0, 0.0, 1e5, math.inf]
    assert [sigmoid(u) for u in (-math.inf, -1e5, 1e5, math.inf)] == [0.0, 0.0, 1.0, 1.0]
    assert [negentropy(u) for u in (0.0, -0.0, 1.0)] == [0.0, 0.0, 0.0]
    assert [negentropy(u) for u in (-1e-300, 1.0 + UNIT, -math.inf, math.inf)] == [math.inf] * 4


@pytest.mark.parametrize("found", [exp_below, softplus, sigmoid, sigmoid_slope])
def test_they_keep_what_is_not_a_number(found):
    assert math.isnan(found(math.nan))
