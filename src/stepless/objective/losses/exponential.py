"""Exponentials and logarithms without calls, so that loops over them use vector instructions.

Errors are below two units in the last place. They hold with fused multiplications or without, but
not if sums are reordered, which the loops that call them allow for their own.
"""

from __future__ import annotations

import math

import numpy as np

from stepless.jit import compiled

_FUSED = {"contract"}
_LEAST = -708.0  # below, eˣ is taken for 0
_LOG2 = math.log(2.0)
_LOG2E = 1.0 / _LOG2
_LOG2_HIGH, _LOG2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
_E = tuple(1.0 / math.factorial(k) for k in range(14))
_A = tuple(2.0 / (2 * k + 1) for k in range(11))
_BIAS, _FRACTION = 1023, 52  # of a double's exponent; bits of its fraction
_MASK = 2**_FRACTION - 1
_ROOT = int(np.float64(math.sqrt(0.5)).view(np.int64))
_LARGE = math.sqrt(2.0) - 1.0


@compiled("", fastmath=_FUSED, inline=True)
def exp_below(x: float) -> float:
    """Return eˣ for x ≤ 0: 2ⁿ eʳ with |r| ≤ ½ log 2, and Taylor's series for eʳ."""
    n = np.floor(max(x, _LEAST) * _LOG2E + 0.5)
    r = (x - n * _LOG2_HIGH) - n * _LOG2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_E[0] + r * _E[1]) + r2 * (_E[2] + r * _E[3])
    middle = (_E[4] + r * _E[5]) + r2 * (_E[6] + r * _E[7])
    high = (_E[8] + r * _E[9]) + r2 * (_E[10] + r * _E[11])
    series = low + r4 * (middle + r4 * (high + r4 * (_E[12] + r * _E[13])))
    power = np.int64((np.int64(np.int32(n)) + _BIAS) << _FRACTION).view(np.float64)
    return series * power if x > _LEAST else (0.0 if x <= _LEAST else x)


@compiled("", fastmath=_FUSED, inline=True)
def log1p_below(e: float) -> float:
    """Return log(1 + e) for 0 ≤ e ≤ 1."""
    large = e > _LARGE
    return (_LOG2 if large else 0.0) + _log1p(0.5 * (e - 1.0) if large else e)


@compiled("", fastmath=_FUSED, inline=True)
def log(u: float) -> float:
    """Return log u of a normal number u > 0: n log 2 + log x, with x from √½ to √2."""
    bits = np.float64(u).view(np.int64) - _ROOT
    n = np.float64(np.int32(bits >> _FRACTION))
    x = np.int64((bits & _MASK) + _ROOT).view(np.float64)
    return n * _LOG2_HIGH + (_log1p(x - 1.0) + n * _LOG2_LOW)


@compiled("", fastmath=_FUSED, inline=True)
def _log1p(f: float) -> float:
    """Return log(1 + f) for f from √½ − 1 to √2 − 1: 2 artanh(f/(2 + f)), by its series."""
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (_A[1] + z * _A[2]) + z2 * (_A[3] + z * _A[4])
    middle = (_A[5] + z * _A[6]) + z2 * (_A[7] + z * _A[8])
    series = low + z4 * (middle + z4 * (_A[9] + z * _A[10]))
    return 2.0 * s + s * (z * series)
