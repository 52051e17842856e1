"""The compiled parser of svmlight text, and the words for what it does not accept.

The grammar, with blanks = spaces, tabs or carriage returns between tokens::

    line    = [label [qid] {feature}] ["#" comment] newline
    label   = number
    qid     = "qid:" digits
    feature = digits ":" number
    number  = [sign] (digits ["." [digits]] | "." digits) [("e" | "E") [sign] digits]

Numbers are rounded correctly: m 10^q is one exact operation when m < 2^53 and |q| <= 22 (Clinger 1990);
otherwise 128 bits of m 5^q decide (Lemire, "Number parsing at a gigabyte per second", 2021, Algorithm 1);
the few that are still open are left to Python's `float`.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _COLON = 9, 10, 13, 32, 35, 58
_PLUS, _MINUS, _DOT, _EXPONENT, _LOWER = 43, 45, 46, 101, 32
_Q, _I, _D = 113, 105, 100

_ZERO, _TEN = np.uint64(48), np.uint64(10)
_ONE, _EXACT = np.uint64(1), np.uint64(1<<53)
MOST_DIGITS = 18  # of an index or a query id: what surely fits in 64 bits
_MOST_POWER = 250  # m 10^q is then neither subnormal nor infinite for any m of 64 bits


def _fifths() -> NDArray[np.uint64]:
    """The leading 128 bits of 5^q, |q| <= _MOST_POWER, rounded up where q < 0 (Lemire, section 5)."""
    table = np.empty((2 * _MOST_POWER + 1, 2), np.uint64)
    for q in range(-_MOST_POWER, _MOST_POWER + 1):
        power = 5 ** abs(q)
        width = power.bit_length()
        if q < 0:
            leading = (1 << (width + 127)) // power + 1
        else:
            leading = power << 128 - width if width <= 128 else power >> width - 128
        table[q + _MOST_POWER] = leading >> 64, leading & (1 << 64) - 1
    return table


_FIFTHS = _fifths()
_TENS = np.array([10.0**q for q in range(23)])


class Block(NamedTuple):
    """A piece of text that ends with a newline, and room for the most it can hold."""

    text: NDArray[np.uint8]
    labels: NDArray[np.float64]
    qids: NDArray[np.int64]
    ends: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]
    hard: NDArray[np.int64]


class Rules(NamedTuple):
    """What a file's numbers must satisfy."""

    first_index: int
    last_index: int
    largest: float
    with_qid: bool


class Outcome(NamedTuple):
    """How much a block held; `stop` is the byte that begins a refused token, or -1."""

    rows: int
    entries: int
    lines: int
    hard: int
    stop: int
    least: int
    most: int
    most_at: int
    ascending: bool


@njit(cache=True, nogil=True)
def _scaled(m, q):
    """m 10^q correctly rounded, or -1.0 where 128 bits do not decide (Lemire 2021, Algorithm 1)."""
    if q < -_MOST_POWER or q > _MOST_POWER:
        return -1.0
    zeros = 0
    while m < np.uint64(1 << 63):
        m <<= np.uint64(1)
        zeros += 1
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    m0, m1 = m & mask, m >> half
    high = low = np.uint64(0)
    for k in range(2):
        # the 128-bit product of m and a word of the table, by halves
        p0, p1 = _FIFTHS[q + _MOST_POWER, k] & mask, _FIFTHS[q + _MOST_POWER, k] >> half
        middle = m1 * p0 + ((m0 * p0) >> half)
        cross = m0 * p1 + (middle & mask)
        upper = m1 * p1 + (middle >> half) + (cross >> half)
        if k == 0:
            high, low = upper, (cross << half) | ((m0 * p0) & mask)
            if high & np.uint64(0x1FF) != np.uint64(0x1FF):  # line 8: what is dropped cannot carry
                break
        else:
            low += upper
            if low < upper:
                high += np.uint64(1)
    if low == np.uint64(0xFFFFFFFFFFFFFFFF):
        return -1.0
    top = high >> np.uint64(63)
    kept = high >> (top + np.uint64(9))
    if low <= np.uint64(1) and kept & np.uint64(3) == np.uint64(1):  # perhaps half way: line 20
        return -1.0
    kept = (kept + (kept & np.uint64(1))) >> np.uint64(1)
    return math.ldexp(float(kept), ((217706 * q) >> 16) + np.int64(top) - zeros + 11)


@njit(cache=True, nogil=True, error_model="numpy")
def parse(block, size, rules):
    """Fill `block` from its first `size` bytes of text, up to the first refused token.

    `hard` receives (byte, slot) of the numbers left to `float`; slot ~i means the label of row i.
    """
    text, labels, qids, ends, indices, values, hard = block
    first_index, last_index, largest, with_qid = rules
    row = entry = lines = n_hard = at = token = most_at = 0
    least, most, previous = last_index, -1, -1
    ascending, in_row, qid_due = True, False, False
    while at < size:
        token = at
        byte = text[at]
        if byte == _SPACE or byte == _TAB or byte == _RETURN:
            at += 1
            continue
        if byte == _NEWLINE or byte == _HASH:
            if qid_due:
                break
            while text[at] != _NEWLINE and text[at] != 0:
                at += 1
            if text[at] == 0:
                token = at
                break
            at += 1
            lines += 1
            if in_row:
                ends[row] = entry
                row += 1
                in_row = False
            continue

        index = 0
        is_qid = byte == _Q
        if in_row:  # what stands before the colon
            if is_qid != qid_due:
                break
            if is_qid:
                if text[at + 1] != _I or text[at + 2] != _D:
                    break
                at += 3
            digit = byte - _ZERO
            while digit < _TEN:
                index = index * 10 + np.int64(digit)
                at += 1
                digit = text[at] - _ZERO
            if text[at] != _COLON or index < first_index and not is_qid or index > last_index or at == token or at - token > MOST_DIGITS:
                break
            at += 1

        # the number m 10^q
        start = at
        negative = text[at] == _MINUS
        if negative or text[at] == _PLUS:
            at += 1
        m, q, digits, leading = np.uint64(0), 0, at, at
        digit = text[at] - _ZERO
        while digit < _TEN:
            m = m * _TEN + digit
            at += 1
            digit = text[at] - _ZERO
        digits = at - digits
        if text[at] == _DOT:
            at += 1
            q = at
            digit = text[at] - _ZERO
            while digit < _TEN:
                m = m * _TEN + digit
                at += 1
                digit = text[at] - _ZERO
            q -= at
            digits -= q
        if digits == 0:
            break
        if digits > 19:
            while text[leading] == _ZERO or text[leading] == _DOT:
                digits -= text[leading] == _ZERO
                leading += 1
        if text[at] | _LOWER == _EXPONENT:
            at += 1
            minus = text[at] == _MINUS
            if minus or text[at] == _PLUS:
                at += 1
            power = 0
            digit = text[at] - _ZERO
            if digit >= _TEN:
                break
            while digit < _TEN:
                power = min(power * 10 + np.int64(digit), 1 << 40)
                at += 1
                digit = text[at] - _ZERO
            q += -power if minus else power
        byte = text[at]
        if byte != _SPACE and byte != _NEWLINE and byte != _TAB and byte != _RETURN and byte != _HASH:
            break
        if digits <= 19 and m < _EXACT and -22 <= q <= 22:
            value = float(m) / _TENS[-q] if q < 0 else float(m) * _TENS[q]
        else:
            value = -1.0
            if digits <= 19:
                value = _scaled(m, q)
            if value < 0.0:
                hard[n_hard, 0], hard[n_hard, 1] = start, entry if in_row else ~row
                n_hard += 1
        if negative:
            value = -value

        if not in_row:
            labels[row] = value
            in_row, qid_due, previous = True, with_qid, -1
        elif is_qid:
            if at - start != digits or digits > MOST_DIGITS:
                break
            qids[row] = np.int64(m)
            qid_due = False
        else:
            if abs(value) > largest:
                break
            indices[entry] = index
            values[entry] = value
            entry += 1
            ascending &= index > previous
            previous = index
            least = min(least, index)
            if index > most:
                most, most_at = index, token
    return Outcome(row, entry, lines, n_hard, token if at < size else -1, least, most, most_at, ascending)
