"""The probability of a class whose log-odds are uncertain."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from stepless.arrays import Array

# 1/(1 + e⁻ᶻ) = Σ p_k Φ(s_k z) to 3e-9 (Monahan and Stefanski 1992, eight terms)
_TERMS = [
    (0.003246343272134, 1.365340806296348),
    (0.051517477033972, 1.059523971016916),
    (0.195077912673858, 0.830791313765644),
    (0.315569823632818, 0.650732166639391),
    (0.274149576158423, 0.508135425366489),
    (0.131076880695470, 0.396313345166341),
    (0.027912418727972, 0.308904252267995),
    (0.001449567805354, 0.238212616409306),
]
_SHARES, _SCALES = np.array(_TERMS).T.copy()


def averaged_sigmoid(mean: Array, variance: Array) -> Array:
    """Return E 1/(1 + e⁻ᶻ) of normal z, to 3e-9: the normal average of Φ is a Φ.

    Examples
    --------
    >>> averaged_sigmoid(np.array([0.0, 2.0, 2.0]), np.array([9.0, 0.0, 9.0])).round(4)
    array([0.5   , 0.8808, 0.7174])
    """
    z = _SCALES * mean[..., None] / np.sqrt(1.0 + _SCALES**2 * variance[..., None])
    averages: Array = ndtr(z) @ _SHARES
    return averages
