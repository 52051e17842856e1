"""The errors of the library's doubles of a loss, in units of 2^−53.

`python -m proof.errors` (from tests/) prints the largest errors of each loss found in wide ranges of
arguments: relative to the value itself and, where cancellation leaves no bound to that, to the
natural size that `value_size` and `conjugate_size` name.
"""

import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from proof.arithmetic import exact, mp, real
from proof.losses import conjugate, joint, kind, shares, slope_interval, value
from stepless.objective import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    MulticlassHinge,
    Poisson,
    Quantile,
    SmoothedHinge,
    Softmax,
    Squared,
    SquaredHinge,
)

_UNIT = mp.mpf(2) ** 53
_NORMAL = mp.mpf(2) ** -1022  # below, doubles have fewer digits
_LARGEST = mp.mpf(2) ** 1023

LOSSES = (
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(0.1),
    SmoothedHinge(10.0),
    SmoothedHinge(1000.0),
    Logistic(),
    Squared(),
    Absolute(),
    EpsilonInsensitive(0.1),
    EpsilonInsensitive(1e-9),
    Quantile(0.1),
    Quantile(0.5),
    Quantile(0.999),
    Huber(1.0),
    Huber(1e-6),
    Huber(1e6),
    Poisson(),
    Softmax(2),
    Softmax(4),
    MulticlassHinge(2),
    MulticlassHinge(4),
)

# Units of 2^−53 of the sizes below that bound the errors of value, slope and conjugate.
DECLARED = {
    "Hinge": (1, 0, 0),
    "SquaredHinge": (3, 1, 2),
    "SmoothedHinge": (4, 4, 4),
    "Logistic": (3, 4, 4),
    "Squared": (3, 1, 2),
    "Absolute": (1, 0, 1),
    "EpsilonInsensitive": (2, 0, 2),
    "Quantile": (3, 1, 1),
    "Huber": (4, 1, 2),
    "Poisson": (16, 3, 4),
    "Softmax": (4, 6, 6),
    "MulticlassHinge": (2, 0, 3),
}


def wide(rng, low=-300.0, high=12.0):
    """Return a number of either sign, of any size; now and then 0."""
    if rng.random() < 0.02:
        return 0.0
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(low, high))


def near(rng, at):
    """Return a number near to another: ulps to per cents away."""
    if rng.random() < 0.5:
        for _ in range(rng.integers(4)):
            at = float(np.nextafter(at, rng.choice([-np.inf, np.inf])))
        return at
    return float(at * (1.0 + wide(rng, -17, -0.5)))


def target(loss, rng):
    match loss.targets:
        case "signs":
            return float(rng.choice([-1.0, 1.0]))
        case "classes":
            return float(rng.integers(loss.classes))
        case "counts":
            small, real_, any_ = float(rng.integers(1, 9)), abs(wide(rng, -6, 6)), abs(wide(rng))
            return (0.0, small, real_, any_, near(rng, 1.0))[rng.integers(5)]
    return wide(rng, -6, 6) if rng.random() < 0.5 else wide(rng)


def prediction(loss, rng, y):
    """Return a prediction: of any size, of the usual size, or next to a corner or a minimum."""
    if joint(loss):
        z = np.array([prediction(Logistic(), rng, 1.0) for _ in range(loss.classes)])
        return z + (0.0 if rng.random() < 0.7 else wide(rng, -6, 6))
    choice = rng.integers(4)
    if choice == 0:
        return wide(rng)
    if choice == 1:
        return float(rng.normal() * 10.0 ** rng.uniform(-3, 3))
    match kind(loss):
        case "Poisson":
            if choice == 2:
                return near(rng, 80.0)
            if y == 0.0:
                return float(rng.uniform(-745, 80))
            at = math.log(y)
            return near(rng, at) if rng.random() < 0.5 else at + wide(rng, -4, 1)
        case "EpsilonInsensitive":
            return near(rng, y + rng.choice([-1.0, 1.0]) * loss.epsilon)
        case "Huber":
            return near(rng, y + rng.choice([-1.0, 0.0, 1.0]) * loss.delta)
        case "SmoothedHinge" | "Logistic":
            return float(rng.uniform(-750, 750)) if choice == 2 else near(rng, y)
    return near(rng, y)


def dual_point(loss, rng, y):
    """Return a slope where the conjugate is finite: anywhere, next to 0, next to the ends."""
    if joint(loss):
        # powers from 1 to what is next to nothing, or all but nothing for one class
        p = 10.0 ** rng.uniform(-rng.choice([1.0, 20.0, 300.0]), 0, size=loss.classes)
        return p / p.sum()
    low, high = _range(loss, y)
    counts = loss.targets == "counts"
    choice = rng.integers(4)
    if choice == 0:
        bounded = not counts and math.isfinite(low) and math.isfinite(high)
        a = wide(rng, -300, 0) * max(-low, high) if bounded else wide(rng)
    elif choice == 1:
        a = near(rng, low if math.isfinite(low) else -1.0)
    elif choice == 2 and math.isfinite(high):
        a = near(rng, high)
    elif not counts and math.isfinite(low) and math.isfinite(high):
        a = float(rng.uniform(low, high))
    else:
        a = near(rng, -y * rng.choice([-1.0, -0.06, 0.06, 0.5, 1.0, 2.0, 4.0]))
    return float(min(max(a, low), high))


def _range(loss, y):
    match kind(loss):
        case "Hinge" | "Logistic" | "SmoothedHinge":
            return (-1.0, 0.0) if y > 0 else (0.0, 1.0)
        case "SquaredHinge":
            return (-math.inf, 0.0) if y > 0 else (0.0, math.inf)
        case "Absolute" | "EpsilonInsensitive":
            return -1.0, 1.0
        case "Quantile":
            return -loss.tau, 1.0 - loss.tau
        case "Huber":
            return -loss.delta, loss.delta
        case "Poisson":
            return -y, 5e34  # e^80 is 5.54e34
    return -math.inf, math.inf


def value_size(loss, z, y, ell):
    """Return what errors of a value are to be compared with, and say it."""
    match kind(loss):
        case "EpsilonInsensitive":
            return real(abs(exact(z) - exact(y)) + exact(loss.epsilon)), "|z − y| + ε"
        case "SmoothedHinge":
            slope = abs(slope_interval(loss, z, y)[0])
            return ell + slope * real(abs(1 - exact(y) * exact(z))), "ℓ + |ℓ'(1 − yz)|"
        case "Poisson":
            slope = abs(slope_interval(loss, z, y)[0])
            logs = abs(real(z)) + (abs(mp.log(real(y))) if y > 0 else 0)
            return ell + slope * logs, "ℓ + |ℓ'|(|z| + |log y|)"
        case "Softmax":
            p, top = shares(loss, z, y), max(map(exact, z))
            apart = (pc * real(top - exact(zc)) for pc, zc in zip(p, z, strict=True))
            return ell + mp.fsum(apart), "ℓ + Σ p_c |z_c − max z|"
        case "MulticlassHinge":
            return ell + 1 + max(abs(real(zc)) for zc in z), "ℓ + 1 + max |z|"
    return abs(ell), "ℓ"


def slope_size(loss, z, y, slope):
    match kind(loss):
        case "SmoothedHinge":
            far = real(exact(loss.gamma) * abs(1 - exact(y) * exact(z)))
            return abs(slope) * (1 + far), "|ℓ'|(1 + γ|1 − yz|)"
        case "Poisson":
            return slope + 2 * real(y), "eᶻ + y"
        case "Softmax":
            spread = max(map(exact, z)) - min(map(exact, z))
            return slope * (1 + real(spread)), "p_c(1 + max z − min z)"
    return abs(slope), "|ℓ'|"


def conjugate_size(loss, a, y, star):
    match kind(loss):
        case "Squared" | "Huber" | "SquaredHinge" | "EpsilonInsensitive":
            return abs(star) + abs(real(a) * real(y)), "|ℓ*| + |ay|"
        case "Poisson":
            u = exact(a) + exact(y)
            logs = abs(mp.log(real(y))) if y > 0 else mp.zero
            logs += abs(mp.log(real(u / exact(y)))) if y > 0 and u > 0 else 0
            return abs(star) + abs(real(a)) * (1 + logs), "|ℓ*| + |a|(1 + |log y| + |log(u/y)|)"
        case "Softmax":
            others = sum(exact(pc) for c, pc in enumerate(a) if c != int(y))
            own = 1 - others
            log = abs(mp.log(real(own))) if own > 0 else mp.zero
            return abs(star) + real(others) * (1 + log), "|ℓ*| + q(1 + |log(1 − q)|), q = 1 − p_y"
    return abs(star), "|ℓ*|"


@dataclass
class Worst:
    """The largest errors so far, with where they were."""

    relative: float = 0.0
    natural: float = 0.0
    where: tuple = ()
    odd: list = field(default_factory=list)  # finite for one, infinite or no number for the other
    size: str = ""

    def see(self, found, truth, sized, where):
        size, self.size = sized
        if mp.isinf(truth) or not math.isfinite(found):
            if found != float(truth):
                self.odd.append((where, found, float(truth)))
            return
        error = abs(real(Fraction(found)) - truth) * _UNIT
        if abs(truth) >= _NORMAL:
            self.relative = max(self.relative, float(error / abs(truth)))
        elif truth == 0 and error and size >= _NORMAL:
            self.relative = math.inf
        if size >= _NORMAL and float(error / size) > self.natural:
            self.natural, self.where = float(error / size), where


def measure(loss, cases, seed=0):
    """Return the largest errors of a loss's value, slope and conjugate."""
    rng = np.random.default_rng([seed, cases])
    values, slopes, conjugates = Worst(), Worst(), Worst()
    for _ in range(cases):
        y = target(loss, rng)
        z = prediction(loss, rng, y)
        a = dual_point(loss, rng, y)
        truth = value(loss, z, y)
        where = (_listed(z), y)
        if joint(loss):
            g = np.empty(loss.classes)
            found = float(loss.slopes(z, int(y), g))
            p = shares(loss, z, y)
            for c in range(loss.classes):
                if kind(loss) == "Softmax" and c != int(y):
                    slopes.see(float(g[c]), p[c], slope_size(loss, z, y, p[c]), where)
        else:
            found = float(loss.value(z, y))
            low, high = slope_interval(loss, z, y)
            slope = float(loss.slope(z, y))
            if low == high and not _at_corner(loss, z, y):
                slopes.see(slope, low, slope_size(loss, z, y, low), where)
            elif not _at_corner(loss, z, y):
                assert low <= real(slope) <= high
        if truth < _LARGEST:
            values.see(found, truth, value_size(loss, z, y, truth), where)
        star = conjugate(loss, a, y)
        found = -float(loss.base(a, int(y))) if joint(loss) else float(loss.conjugate(a, y))
        if mp.isinf(star) or abs(star) < _LARGEST:
            sized = (star, "") if mp.isinf(star) else conjugate_size(loss, a, y, star)
            conjugates.see(found, star, sized, (_listed(a), y))
            conjugates.size = sized[1] or conjugates.size
    return values, slopes, conjugates


def _at_corner(loss, z, y):
    """Return whether rounding of a difference may decide the side of a corner."""
    if kind(loss) != "EpsilonInsensitive":
        return False
    r = abs(exact(z) - exact(y))
    return abs(r - exact(loss.epsilon)) <= r * Fraction(1, 2**51)


def _listed(number):
    return number.tolist() if isinstance(number, np.ndarray) else number


def main(cases):
    for loss in LOSSES:
        print(loss)
        for name, worst in zip(("value", "slope", "conjugate"), measure(loss, cases), strict=True):
            print(
                f"  {name:9s} {worst.relative:10.3g} relative, {worst.natural:8.3g} to "
                f"{worst.size or '-'}  at {worst.where}; odd {len(worst.odd)} {worst.odd[:2]}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
