"""Every loss keeps its contract, and a loss that does not is told so in one line."""

import math

import numpy as np
import pytest

from stepless import ContractError, Loss, check_loss
from stepless.objective import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
)

# A loss that is not named here is tested with its defaults.
PARAMETERS = {
    "smoothed_hinge": (0.05, 1.0, 10.0, 1000.0),
    "huber": (1e-3, 1.0, 7.5, 1e4),
    "epsilon_insensitive": (0.0, 0.1, 3.0),
    "quantile": (0.01, 0.5, 0.9, 0.999),
}
TARGETS = {"signs": (-1.0, 1.0), "reals": (-2.5, 0.0, 0.3, 40.0), "counts": (0.0, 0.5, 3.0, 40.0)}
MEMBERS = [
    kind(*values)
    for name, kind in LOSSES.items()
    for values in ([(p,) for p in PARAMETERS[name]] if name in PARAMETERS else [()])
]


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_contract(loss):
    check_loss(loss)


def _one_sided(loss, z, y, h):
    return (loss.value(z + h, y) - loss.value(z, y)) / h


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_slope_is_the_derivative_where_there_is_one(loss):
    seen = 0
    for y in TARGETS[loss.targets]:
        for z in (
            np.random.default_rng(0).normal(scale=2.0, size=40) + (loss.targets == "reals") * y
        ):
            h = 1e-6
            left, right = _one_sided(loss, z, y, -h), _one_sided(loss, z, y, h)
            if abs(left - right) < 1e-2:  # no kink in between
                central = 0.5 * (left + right)
                assert loss.slope(z, y) == pytest.approx(central, rel=1e-6, abs=1e-6)
                seen += 1
    assert seen > 40


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_constants_are_the_least_that_hold(loss):
    z = np.linspace(-60.0, 60.0, 4001)
    slopes = [np.array([loss.slope(u + y, y) for u in z / 4]) for y in TARGETS[loss.targets]]
    if math.isfinite(loss.lipschitz()):
        wide = [abs(loss.slope(u, y)) for u in (-1e6, 1e6) for y in TARGETS[loss.targets]]
        assert max(wide) == pytest.approx(loss.lipschitz(), rel=1e-6)
    else:
        assert abs(loss.slope(1e6, 1.0)) > 1e5 or abs(loss.slope(-1e6, 1.0)) > 1e5
    if math.isfinite(loss.smoothness()):
        centre = 1.0 if loss.targets == "signs" else 0.3  # where each of ours is most curved
        centre = 0.0 if isinstance(loss, Logistic) else centre
        y = 1.0 if loss.targets == "signs" else 0.3
        h = 1e-6
        left = centre - 3 * h if isinstance(loss, SquaredHinge) else centre - h
        bend = (loss.slope(left + h, y) - loss.slope(left, y)) / h
        assert bend == pytest.approx(loss.smoothness(), rel=1e-4)
    else:
        jump = max(np.abs(np.diff(s)).max() for s in slopes)
        assert jump > 0.4 * min(loss.lipschitz(), 1.0)


KNOWN = [  # loss, z, y, value, slope
    (Hinge(), 0.25, 1.0, 0.75, -1.0),
    (Hinge(), 0.25, -1.0, 1.25, 1.0),
    (Hinge(), 2.0, 1.0, 0.0, 0.0),
    (SquaredHinge(), 0.0, -1.0, 1.0, 2.0),
    (SquaredHinge(), -1.0, 1.0, 4.0, -4.0),
    (SmoothedHinge(2.0), 1.0, 1.0, math.log(2) / 2, -0.5),
    (SmoothedHinge(1.0), -1000.0, 1.0, 1001.0, -1.0),
    (Logistic(), 0.0, -1.0, math.log(2), 0.5),
    (Logistic(), -800.0, 1.0, 800.0, -1.0),
    (Logistic(), 800.0, 1.0, 0.0, 0.0),
    (Squared(), 4.0, 1.0, 4.5, 3.0),
    (Absolute(), -1.0, 1.0, 2.0, -1.0),
    (Absolute(), 1.0, 1.0, 0.0, 0.0),
    (Huber(2.0), 1.0, 0.0, 0.5, 1.0),
    (Huber(2.0), -5.0, 0.0, 8.0, -2.0),
    (EpsilonInsensitive(0.5), 1.4, 1.0, 0.0, 0.0),
    (EpsilonInsensitive(0.5), 0.0, 1.0, 0.5, -1.0),
    (Quantile(0.9), 0.0, 1.0, 0.9, -0.9),
    (Quantile(0.9), 2.0, 1.0, 0.1, 0.1),
    (Poisson(), math.log(3.0), 3.0, 0.0, 0.0),
    (Poisson(), 0.0, 0.0, 1.0, 1.0),
    (Poisson(), 90.0, 0.0, 11 * math.exp(80.0), math.exp(80.0)),
]


@pytest.mark.parametrize(("loss", "z", "y", "value", "slope"), KNOWN)
def test_known_values(loss, z, y, value, slope):
    assert loss.value(z, y) == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert loss.slope(z, y) == pytest.approx(slope, rel=1e-12, abs=1e-12)


def test_every_loss_has_a_known_value():
    assert {type(loss) for loss, *_ in KNOWN} >= set(LOSSES.values())


def test_smoothed_hinge_lies_between_the_hinge_and_its_bound():
    for z in np.linspace(-3, 3, 61):
        excess = SmoothedHinge(4.0).value(z, 1.0) - Hinge().value(z, 1.0)
        assert 0.0 <= excess <= math.log(2) / 4 + 1e-15


def test_means_are_where_the_slope_is_zero_on_average():
    z = 0.7  # the mean of a prediction makes it the best one: E ℓ'(z, y) = 0
    p = Logistic().mean(z)
    assert p * Logistic().slope(z, 1.0) + (1 - p) * Logistic().slope(z, -1.0) == pytest.approx(0.0)
    assert Poisson().slope(z, Poisson().mean(z)) == pytest.approx(0.0)


@pytest.mark.parametrize("kind", [Huber, SmoothedHinge, EpsilonInsensitive, Quantile])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, -math.inf])
def test_impossible_parameters_get_one_clear_sentence(kind, value):
    with pytest.raises(ValueError, match=kind._fields[0]) as caught:
        kind(value)
    assert "\n" not in str(caught.value)
    assert f"{value:g}" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "value"), [(Huber, 0.0), (SmoothedHinge, 0.0), (Quantile, 0.0), (Quantile, 1.0)]
)
def test_boundary_parameters_are_refused(kind, value):
    with pytest.raises(ValueError, match="must"):
        kind(value)


# -- losses that break their contract ----------------------------------------------------------


class PseudoHuber(Loss):
    delta: float = 1.0

    def value(self, z, y):
        return self.delta**2 * (math.sqrt(1 + ((z - y) / self.delta) ** 2) - 1)

    def slope(self, z, y):
        return (z - y) / math.sqrt(1 + ((z - y) / self.delta) ** 2)

    def lipschitz(self):
        return self.delta


class WrongSign(PseudoHuber):
    def slope(self, z, y):
        return (y - z) / math.sqrt(1 + ((z - y) / self.delta) ** 2)


class SlightlyWrong(PseudoHuber):
    def slope(self, z, y):
        return 1.001 * (z - y) / math.sqrt(1 + ((z - y) / self.delta) ** 2)


class UnderstatedLipschitz(PseudoHuber):
    def lipschitz(self):
        return 0.9 * self.delta


class NegativeLipschitz(PseudoHuber):
    def lipschitz(self):
        return -1.0


class UnderstatedSmoothness(SmoothedHinge):
    def smoothness(self):
        return 0.2 * self.gamma


class KinkThatClaimsToBeSmooth(Absolute):
    def smoothness(self):
        return 1e5


class Negative(Loss):
    def value(self, z, y):
        return abs(z - y) - 0.5

    def slope(self, z, y):
        return 1.0 if z > y else -1.0


class NotConvex(Loss):
    def value(self, z, y):
        return math.sqrt(abs(z - y))

    def slope(self, z, y):
        return 0.5 / math.sqrt(abs(z - y)) if z > y else 0.0


class NarrowlyNotConvex(PseudoHuber):  # a dent
    def value(self, z, y):
        r = abs(z - y)
        return math.sqrt(1 + r * r) - 1 - (0.05 if 0.9 < r < 1.1 else 0.0)


class Overflows(Loss):
    targets = "signs"

    def value(self, z, y):
        return math.log(1 + math.exp(-y * z))

    def slope(self, z, y):
        return -y / (1 + math.exp(y * z))


class NotANumber(PseudoHuber):
    def slope(self, z, y):
        return math.inf - math.inf if abs(z) > 1e6 else PseudoHuber.slope(self, z, y)


class Forgetful(PseudoHuber):
    def value(self, z, y):
        math.sqrt(1 + (z - y) ** 2)


class NoSlope(Loss):
    def value(self, z, y):
        return abs(z - y)


class TooFewParameters(PseudoHuber):
    def value(self, z):
        return abs(z)


def square(x):  # not compiled, so that numba does not know it
    return x * x


class PlainHelper(Loss):
    def value(self, z, y):
        return 0.5 * square(z - y)

    def slope(self, z, y):
        return z - y


class UnknownAttribute(Squared):
    width = 2.0  # no annotation: not a field

    def slope(self, z, y):
        return (z - y) * (self.width / 2.0)


class ConjugateOfAnother(Squared):
    def conjugate(self, a, y):
        return 0.25 * a * a + a * y


class ConjugateTooLow(Absolute):
    def conjugate(self, a, y):
        return a * y


class ConjugateInfinite(Hinge):
    def conjugate(self, a, y):
        return a * y if -1.0 < a * y <= 0.0 else math.inf


class StrangeTargets(PseudoHuber):
    targets = "colours"


BROKEN = [
    (WrongSign(), r"^WrongSign\.slope\(.*\) is .*, but the value rises by .* a unit there$"),
    (SlightlyWrong(), r"^SlightlyWrong\.slope\(.*\) is .*, but the value rises by"),
    (UnderstatedLipschitz(2.0), r"^UnderstatedLipschitz\.lipschitz\(\) is 1\.8, but .*slope"),
    (NegativeLipschitz(), r"^NegativeLipschitz\.lipschitz\(\) is -1, but must not be negative"),
    (UnderstatedSmoothness(1000.0), r"smoothness\(\) is 200, but the slope rises by 2[45]"),
    (KinkThatClaimsToBeSmooth(), r"smoothness\(\) is 100000, but the slope rises by"),
    (Negative(), r"^Negative\.value\(.*\) is -0\.0001, below 0"),
    (NotConvex(), r"^NotConvex\.value\(.*\) is .* above the chord .* not convex"),
    (NarrowlyNotConvex(), r"above the chord .* not convex"),
    (Overflows(), r"^Overflows\.value\(999\.9, -1\) raises OverflowError: math range error"),
    (NotANumber(), r"^NotANumber\.slope\(-1\.?\d*e\+08, 0\) is nan"),
    (Forgetful(), r"^Forgetful\.value\(.*\) is None, not a number"),
    (NoSlope(), r"^NoSlope\.slope\(.*\) raises NotImplementedError"),
    (TooFewParameters(), r"value\(.*\) raises TypeError: .*takes 2 positional arguments but 3"),
    (PlainHelper(), r"^PlainHelper\.value cannot be compiled: .*'square'"),
    (UnknownAttribute(), r"^UnknownAttribute\.slope cannot be compiled: Unknown attribute 'width'"),
    (ConjugateOfAnother(), r"conjugate\(.*\) is .*, but az − value is .* where that is the slope"),
    (ConjugateTooLow(), r"conjugate\(.*\) is .*, below az − value, which is"),
    (ConjugateInfinite(), r"conjugate\(1, -1\) is inf, but az − value is"),
    (StrangeTargets(), r"targets is 'colours', but must be one of 'signs', 'reals', 'counts'"),
    (Hinge, r"needs a Loss, such as Hinge\(\), not the class Hinge"),
    ("hinge", r"needs a Loss, such as Hinge\(\), not 'hinge'"),
]


@pytest.mark.parametrize(("loss", "message"), BROKEN, ids=[str(loss) for loss, _ in BROKEN])
def test_broken_losses_are_caught_in_one_line(loss, message):
    with pytest.raises(ContractError, match=message) as caught:
        check_loss(loss)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_loss_of_ones_own_is_accepted():
    check_loss(PseudoHuber(2.0))


_scale = 1.0


class Drifting(Loss):
    def value(self, z, y):
        return _scale * abs(z - y)

    def slope(self, z, y):
        return _scale if z > y else -_scale


def test_a_loss_that_is_another_when_compiled(monkeypatch):
    check_loss(Drifting())
    monkeypatch.setattr(f"{__name__}._scale", 2.0)  # compiled code has the old one in it
    with pytest.raises(ContractError, match=r"Drifting\.value\(.* in Python, but .* when compiled"):
        check_loss(Drifting())
