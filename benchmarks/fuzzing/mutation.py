"""Damage to bytes: flipped, cut, doubled, spliced; numbers that are hard to read."""

from __future__ import annotations

from decimal import Decimal, localcontext
from random import Random

import numpy as np

PIECES = [b"\0", b"\n", b"\r", b"\t", b" ", b":", b",", b";", b"#", b'"', b"-", b"+", b"e", b"."]
PIECES += [b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\x1b[31m", b"qid:", b"1" * 50, b"\n1 1:1\n"]
NUMBERS = ["nan", "+inf", "0x1", "1_0", "", "--1", "1e", "-0", "1e99999999999", "0e9999999999"]
NUMBERS += ["1e-99999999999", "+.5", "5.", ".", "3.4028235677973366e38", "1.00000017881393421514"]
NUMBERS += ["1.7976931348623158e308", "1.7976931348623159e308", "4.9e-324", "1e-46", "1e300"]


def mutated(rng: Random, data: bytes) -> bytes:
    """Return a copy with a few faults, or none."""
    found = bytearray(data)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 5])):
        found = found or bytearray(b"x")
        at, other = rng.randrange(len(found)), rng.randrange(len(found))
        match rng.randrange(7):
            case 0:
                found[at] = rng.randrange(256)
            case 1:
                found[at] ^= 1 << rng.randrange(8)
            case 2:
                found[at:at] = rng.choice(PIECES)
            case 3:
                found[at:at] = number(rng).encode()
            case 4:
                found[at:at] = found[other : other + rng.randrange(1, 40)]
            case 5:
                del found[at : at + rng.randrange(1, 9)]
            case 6:
                found = found[:at] if rng.random() < 0.5 else found + found[other:]
    return bytes(found)


def number(rng: Random) -> str:
    """Write a number that is hard to read, or what looks like one."""
    digits = "".join(rng.choices("0123456789", k=rng.choice([1, 5, 18, 20, 40, 400])))
    return rng.choice(
        [
            _halfway(rng),
            _halfway(rng),
            repr(rng.gauss(0, 1) * 10.0 ** rng.randrange(-320, 300)),
            f"{digits}.{digits[::-1]}e{rng.randrange(-800, -100)}",
            f".{digits}",
            "0" * rng.randrange(1, 60) + digits,
            "1" * rng.choice([1000, 30000]) + rng.choice(["", "x"]),
            rng.choice(NUMBERS),
        ]
    )


def _halfway(rng: Random) -> str:
    """Write what lies half-way between two numbers of float32 or float64, or just beyond."""
    near = rng.choice([np.float32, np.float64])(rng.uniform(1, 10) * 10.0 ** rng.randrange(-20, 30))
    with localcontext(prec=400):
        half = (Decimal(float(near)) + Decimal(float(np.nextafter(near, near * 2)))) / 2
    text = f"{half:f}"
    return text + ("." if "." not in text else "") + rng.choice(["", "0", "1", "0" * 30 + "1"])
