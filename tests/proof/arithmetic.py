"""Numbers that do not round: fractions, and reals of 600 bits where there is no fraction."""

from fractions import Fraction

import numpy as np
from mpmath import MPContext
from scipy import sparse

PRECISION = 600
_MOST_BITS = 20_000
_KEPT_BITS = 300

mp = MPContext()  # of its own: nobody else's precision changes it
mp.prec = PRECISION
INFINITY = mp.inf


def exact(number):
    """Return a finite number as the fraction that it is."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, mp.mpf):
        sign, mantissa, exponent, _ = number._mpf_
        if (not mantissa and exponent) or abs(exponent) > _MOST_BITS + mp.prec:
            raise ValueError(f"{mp.nstr(number)} is no fraction of a bearable length")
        size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        return -size if sign else size
    if isinstance(number, int | np.integer):
        return Fraction(int(number))
    return Fraction(float(number))


def rounded(number):
    """Return a real as a fraction; below 2^−20000, which no sum of 600 bits would see, as 0."""
    return Fraction(0) if abs(number) < mp.mpf(2) ** -_MOST_BITS else exact(number)


def real(number):
    """Return a fraction, a double or infinity as a real, rounded at the context's precision."""
    if isinstance(number, Fraction):
        return mp.mpf(number.numerator) / number.denominator
    return +mp.convert(number)


def vector(numbers):
    return [exact(number) for number in numbers]


def rows(X):
    """Return the rows of a matrix, dense or sparse, as dictionaries from features to fractions."""
    if sparse.issparse(X):
        X = X.tocoo()
        examples = [{} for _ in range(X.shape[0])]
        for i, j, entry in zip(X.row.tolist(), X.col.tolist(), X.data, strict=True):
            examples[i][j] = examples[i].get(j, Fraction(0)) + exact(entry)
        return examples
    return [{j: exact(entry) for j, entry in enumerate(x) if entry != 0} for x in np.asarray(X)]


def add(terms):
    """Return the sum of `terms()`, computed with as many bits as their cancellation asks for."""
    before = mp.prec
    try:
        while True:
            parts = [real(term) for term in terms()]
            sum_ = mp.fsum(parts)
            largest = max((abs(part) for part in parts), default=mp.zero)
            enough = abs(sum_) >= largest * mp.mpf(2) ** (_KEPT_BITS - mp.prec)
            if largest == 0 or mp.isinf(largest) or enough:
                return sum_
            if mp.prec > _MOST_BITS:
                return mp.zero
            mp.prec *= 2
    finally:
        mp.prec = before


def entropy(u):
    """Return u log u of a fraction u ≥ 0, accurate next to 0 and next to 1."""
    if u == 0:
        return mp.zero
    near = abs(u - 1) < Fraction(1, 2)
    return real(u) * (mp.log1p(real(u - 1)) if near else mp.log(real(u)))


def norm(numbers, p=2):
    """Return ‖·‖_p of fractions or reals; p = 1, 2, infinity or a real."""
    sizes = [abs(real(number)) for number in numbers]
    if p == 1:
        return mp.fsum(sizes)
    if p == INFINITY:
        return max(sizes, default=mp.zero)
    if p == 2:
        return mp.sqrt(mp.fsum(size * size for size in sizes))
    return mp.fsum(size**p for size in sizes if size) ** (1 / real(p))
