"""The compiled parser of svmlight text, and its words for what it refuses.

Tokens are separated by spaces, tabs and carriage returns::

    line    = [label [qid] {feature}] ["#" comment] newline
    label   = number
    qid     = "qid:" digits
    feature = digits ":" number
    number  = [sign] (digits ["." [digits]] | "." digits) [("e" | "E") [sign] digits]

and where features are hashed ::

    feature = name [":" number]

Numbers m 10^q are rounded correctly: one operation on exact operands where m < 2^53 and |q| <= 22
(Clinger 1990), else by 64 bits of 5^q where these decide (after Lemire, "Number parsing at a
gigabyte per second", 2021); the few that remain are left to Python's `float`. Where float32 is
asked for, the same holds of it: a number that float64 puts half-way between two of float32's is
compared with that half as it is written.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepless.data.errors import DataError, ZeroIndex
from stepless.data.hashing import hash_name
from stepless.jit import compiled

MOST_DIGITS = 18  # of an index or a query id: these fit in 64 bits
LAST_INDEX = 10**MOST_DIGITS - 1
_MOST_POWER = 250  # for |q| up to this, m 10^q is a normal number whatever the 64 bits of m

_BLANK, _LINE_END, _DIGIT, _OTHER = range(4)
_KIND = np.full(256, _OTHER, np.uint8)
_KIND[list(b" \t\r")] = _BLANK
_KIND[list(b"\n#")] = _LINE_END
_KIND[list(b"0123456789")] = _DIGIT

_NEWLINE, _PLUS, _MINUS, _POINT, _ZERO, _COLON, _Q, _I, _D, _E = b"\n+-.0:qide"
_LOWER_CASE = 32  # the bit that tells e from E

# m is unsigned, and so are positions: signed ones are tested for Python's negative indices, which
# takes a quarter of the time. Signed and unsigned make a float, so the constants are unsigned too.
_U0, _U1, _U2, _U3, _U5, _U10, _U18, _U32, _U48, _U511, _U512 = (
    np.uint64(k) for k in (0, 1, 2, 3, 5, 10, 18, 32, 48, 511, 512)
)
_10_BITS, _32_BITS, _2_TO_53, _2_TO_63, _10_TO_18 = (
    np.uint64(k) for k in (2**10 - 1, 2**32 - 1, 2**53, 2**63, 10**18)
)


def _powers_of_five() -> NDArray[np.uint64]:
    """The leading 64 bits of 5^q, |q| <= _MOST_POWER, the rest cut off."""
    table = np.full(2 * _MOST_POWER + 1, 2**63, np.uint64)
    for q in range(1, _MOST_POWER + 1):
        power = 5**q
        width = power.bit_length()
        table[_MOST_POWER - q] = (1 << 63 + width) // power
        table[_MOST_POWER + q] = (power << 64) >> width
    return table


_FIVES = _powers_of_five()
_TENS = np.array([10.0**q for q in range(23)])


class Block(NamedTuple):
    """Text whose last byte is a newline, and room for whatever it may hold.

    Of each row: the byte at which it starts, the lines before it, label, query id, and where its
    entries end. Of each entry: index and value.
    """

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lines: NDArray[np.int64]
    labels: NDArray[np.float64]
    qids: NDArray[np.int64]
    ends: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]
    open: NDArray[np.int64]


class Rules(NamedTuple):
    """What a file must keep to."""

    first_index: int
    last_index: int
    largest: float
    with_qid: bool
    single: bool = False  # values are to be float32


class HashRules(NamedTuple):
    """How names become indices, see `Hashing`."""

    mask: int
    seed: int
    signed: bool


class Outcome(NamedTuple):
    """What a block held, and the byte at which a token is refused (-1: none is)."""

    rows: int
    entries: int
    lines: int
    open: int
    refused_at: int
    has_zero: bool
    ascending: bool
    most: int
    most_at: int


@compiled("")
def _scaled(m, q):
    """The number m 10^q correctly rounded, or -1.0 where 64 bits of 5^q do not decide."""
    if m == _U0:
        return 0.0
    if q < -_MOST_POWER or q > _MOST_POWER:
        return -1.0
    exponent = ((217706 * q) >> 16) + 11  # floor(q log2(10)) + 11
    while m < _2_TO_63:
        m <<= _U1
        exponent -= 1
    five = _FIVES[q + _MOST_POWER]
    m0, m1, f0, f1 = m & _32_BITS, m >> _U32, five & _32_BITS, five >> _U32
    middle = m1 * f0 + ((m0 * f0) >> _U32)
    high = m1 * f1 + (middle >> _U32) + ((m0 * f1 + (middle & _32_BITS)) >> _U32)
    # The true product lies in [high, high + 2) 2^64: 5^q has lost less than 1, and m < 2^64.
    if high >= _2_TO_63:
        high >>= _U1
        exponent += 1
    # 53 bits stay. The ten below them say which way to round unless they are at the half, or so
    # little below it that what was lost may reach it.
    if (high & _10_BITS) - _U511 <= _U1:
        return -1.0
    return math.ldexp(float((high + _U512) >> _U10), exponent)


@compiled(
    "block.text[≥size] start:size[len(block.text)] block.starts[r] block.lines[r] "
    "block.labels[r] block.qids[r] block.ends[r] block.indices[e] block.values[e] "
    "block.open[≥r+e-1,2]",
)
def parse(block, start, size, rules, hashing):
    """Fill `block` from bytes `start` to `size` of its text, up to the first token refused.

    `open` receives (byte, slot) of each number left to `float`, slot ~i for the label of row i.
    One function and no helpers on `text`: handing an array over costs two atomic counts a call.
    Where `hashing` is None, what depends on it is not compiled.
    """
    text, starts, lines_before, labels, qids, ends, indices, values, left_open = block
    first_index, last_index, largest, with_qid, single = rules
    token = most_at = row = entry = _U0
    at = np.uint64(start)
    lines = n_open = 0
    most = previous = -1
    ascending, has_zero, in_row, qid_due = True, False, False, False
    size = np.uint64(size)
    while at < size:
        token = at
        kind = _KIND[text[at]]
        if kind == _BLANK:
            at += _U1
            continue
        if kind == _LINE_END:
            if qid_due:
                break
            while text[at] != _NEWLINE and text[at] != 0:
                at += _U1
            if text[at] == 0:
                token = at
                break
            at += _U1
            lines += 1
            if in_row:
                ends[row] = entry
                row += _U1
                in_row = False
            continue

        index = 0
        sign = 1.0
        is_qid = False
        if in_row:  # up to the colon
            is_qid = kind == _OTHER if hashing is None else qid_due
            if is_qid != qid_due:
                break
            if is_qid:
                if text[at] != _Q or text[at + _U1] != _I or text[at + _U2] != _D:
                    break
                at += _U3
            elif hashing is not None:
                name_end, stop = _U0, at
                while _KIND[text[stop]] > _LINE_END and text[stop] != 0:
                    if text[stop] == _COLON:
                        name_end = stop
                    stop += _U1
                bare = name_end == _U0
                if bare:
                    name_end = stop
                if text[stop] == 0 or name_end == token:
                    break
                mixed = hash_name(text, token, name_end, hashing.seed)
                index = mixed & hashing.mask
                if hashing.signed and mixed >> 31:
                    sign = -1.0
                at = name_end
                if bare:
                    indices[entry] = index
                    values[entry] = sign
                    entry += _U1
                    ascending &= index > previous
                    previous = index
                    continue
            else:
                while text[at] - _U48 < _U10:
                    index = index * 10 + (text[at] - _ZERO)
                    at += _U1
                if index < first_index or index > last_index or at - token > _U18:
                    break
            if text[at] != _COLON:
                break
            at += _U1

        number = at  # m 10^q
        negative = text[at] == _MINUS
        if negative or text[at] == _PLUS:
            at += _U1
        m, cut, start, fraction = _U0, 0, at, _U0
        while True:
            if text[at] - _U48 < _U10:
                if m < _10_TO_18:
                    m = m * _U10 + (text[at] - _U48)
                else:
                    cut += 1
            elif text[at] == _POINT and fraction == _U0:
                fraction = at + _U1
            else:
                break
            at += _U1
        digits, q, certain = at - start, cut, True
        if fraction > _U0:
            digits -= _U1
            q += np.int64(fraction - at)
        if digits == _U0:
            break
        if text[at] | _LOWER_CASE == _E:
            at += _U1
            minus = text[at] == _MINUS
            if minus or text[at] == _PLUS:
                at += _U1
            power, start = 0, at
            while text[at] - _U48 < _U10:
                power = power * 10 + (text[at] - _ZERO)
                at += _U1
            if at == start:
                break
            certain = at - start < _U5
            q += -power if minus else power
        if _KIND[text[at]] > _LINE_END:
            break

        if is_qid:
            if at - number != digits or digits > _U18:
                break
            qids[row] = m
            qid_due = False
            continue
        value = -1.0
        if certain and m < _2_TO_53 and -22 <= q <= 22:
            value = float(m) / _TENS[-q] if q < 0 else float(m) * _TENS[q]
        elif certain:
            value = _scaled(m, q)
            if cut > 0 and value != _scaled(m + _U1, q):
                value = -1.0
        if single and value > 0.0 and in_row:
            near = float(np.float32(value))
            if near != value and float(np.float32(2.0 * value - near)) == 2.0 * value - near:
                value = -1.0  # half-way
        if value < 0.0:
            left_open[n_open, 0] = number
            left_open[n_open, 1] = np.int64(entry) if in_row else ~np.int64(row)
            n_open += 1
            value, negative = 1.0, False
        elif in_row and value > largest:
            break
        if negative:
            value = -value

        if in_row:
            indices[entry] = index
            values[entry] = sign * value
            entry += _U1
            has_zero |= index == 0
            ascending &= index > previous
            previous = index
            if index > most:
                most, most_at = index, token
        else:
            starts[row], lines_before[row], labels[row] = token, lines, value
            in_row, qid_due, previous = True, with_qid, -1
    refused_at = np.int64(token) if at < size else -1
    return Outcome(row, entry, lines, n_open, refused_at, has_zero, ascending, most, most_at)


_TOKEN_END = re.compile(rb"[ \t\r\n#]")
_EXAMPLE = re.compile(rb"^[ \t\r]*[+-]?[.\d][^ \t\r\n#]*[ \t\r]*(qid:)?", re.MULTILINE)
_KEY = re.compile(rb"(\d+):")
# possessive: what one part has taken, no other part tries again
_NUMBER = re.compile(rb"[+-]?(\d++\.?\d*+|\.\d++)(e[+-]?\d++)?+", re.IGNORECASE)
_NOT_FINITE = re.compile(rb"[+-]?(inf|infinity|nan)", re.IGNORECASE)


class Refusal(Exception):
    """Why a line is refused, and where: the byte at which it starts, and the column from 1."""

    def __init__(
        self, text: bytearray, at: int, reason: str, error: type[DataError] = DataError
    ) -> None:
        super().__init__(reason)
        self.error = error  # what a reader raises
        self.start = text.rfind(b"\n", 0, at) + 1
        self.column = at - self.start + 1

    def placed(self, name: str, line: int) -> str:
        """The whole message, with the file's name and the number of the line."""
        return f"{name}, line {line}, column {self.column}: {self}"


def has_qid(text: bytearray, size: int) -> bool | None:
    """Whether the first example has a query id; None where there is no example."""
    first = _EXAMPLE.search(text, 0, size)
    return None if first is None else first[1] is not None


def settle(block: Block, count: int, text: bytearray, rules: Rules) -> list[Refusal]:
    """Read into `block` the numbers that `parse` left open; of each line, the first refused."""
    refusals = []
    refused_to = 0  # the end of a line that is refused already
    for at, slot in block.open[:count].tolist():
        if at < refused_to:
            continue
        token = _token(text, at)
        value = float(token)
        if math.isinf(value) or (slot >= 0 and abs(value) > rules.largest):
            refusals.append(Refusal(text, at, f"{_shown(token)} is too large a number"))
            refused_to = text.index(b"\n", at)
        elif slot >= 0:
            # there stands the sign that the name's hash gives
            block.values[slot] *= _single(token, value) if rules.single else value
        else:
            block.labels[~slot] = value
    return refusals


def _single(token: bytes, value: float) -> float:
    """Round a number to float32, not to float64, `value`, first: that may put it half-way."""
    near = np.float32(value)
    other = np.nextafter(near, np.float32(math.copysign(math.inf, value - float(near))))
    if value != (float(near) + float(other)) / 2 or (exact := Decimal(token.decode())) == value:
        return float(near)
    return float(max(near, other) if exact > value else min(near, other))


def refused_token(text: bytearray, at: int, rules: Rules, hashed: bool) -> Refusal:
    """Why `parse` stopped at this byte."""
    token = _token(text, at)
    if b"\0" in token:
        return Refusal(text, text.index(0, at), "found a NUL byte, so this is not svmlight text")
    before = text[text.rfind(b"\n", 0, at) + 1 : at].split()
    found = f"found {_shown(token)}" if token else "found none"
    if not before:
        return Refusal(text, at, _refused_label(token))
    if len(before) == 1 and rules.with_qid:
        reason = f"expected qid:N, a whole number of at most {MOST_DIGITS} digits, {found}"
        return Refusal(text, at, reason)
    if hashed:
        key, _, value = token.rpartition(b":")
        if not key:
            return Refusal(text, at, f"expected name or name:value, {found}")
        return Refusal(text, at + len(key) + 1, _refused_value(_shown(key), value))
    key, colon, value = token.partition(b":")
    if key == b"qid":
        where = "must follow the label" if rules.with_qid else "is missing in the first example"
        reason = f"qid {where}, but here stands {_shown(token)}"
    elif not colon or not key.removeprefix(b"-").isdigit():
        reason = f"expected index:value, {found}"
    elif key.startswith(b"-"):
        reason = f"index {_shown(key)} is negative"
    elif len(key) > MOST_DIGITS:
        reason = f"index {_shown(key)} has more than {MOST_DIGITS} digits"
    elif int(key) < rules.first_index:
        reason = f"index {int(key)} in a file whose indices start at {rules.first_index}"
        return Refusal(text, at, reason, ZeroIndex)
    elif int(key) > rules.last_index:
        reason = f"index {int(key)} exceeds {rules.last_index}, the last that n_features allows"
    else:
        at += len(key) + 1
        reason = _refused_value(f"index {int(key)}", value)
    return Refusal(text, at, reason)


def repeated_index(text: bytearray, start: int) -> Refusal:
    """Where an index stands a second time in the example that starts at this byte."""
    seen: set[int] = set()
    label_end = start + len(_token(text, start))
    for key in _KEY.finditer(text, label_end, text.index(b"\n", start)):
        if int(key[1]) in seen:
            break
        seen.add(int(key[1]))
    return Refusal(text, key.start(), f"index {int(key[1])} stands twice in this line")


def _token(text: bytearray, at: int) -> bytes:
    end = _TOKEN_END.search(text, at)
    return bytes(text[at : end.start() if end else None])


def _shown(token: bytes) -> str:
    shown = token[:40].decode("utf-8", "backslashreplace")
    return repr(shown + "..." if len(token) > 40 else shown)


def _refused_label(token: bytes) -> str:
    if b"," in token and re.search(rb"[^\d.,+-]", token):
        return f"expected a label, found {_shown(token)}; this looks like a table (CSV)"
    if b"," in token:
        return f"expected one label, found {_shown(token)}; several labels are not supported"
    if _NOT_FINITE.fullmatch(token):
        return f"the label must be finite, found {_shown(token)}"
    return f"expected a number as label, found {_shown(token)}"


def _refused_value(owner: str, value: bytes) -> str:
    if not value:
        return f"the value of {owner} is missing"
    if _NOT_FINITE.fullmatch(value):
        return f"the value of {owner} must be finite, found {_shown(value)}"
    if _NUMBER.fullmatch(value):
        return f"{_shown(value)} is too large a number"
    return f"expected a number, found {_shown(value)}"
